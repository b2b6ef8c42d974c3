//! Host memory where the system gives less than is asked for: locks refused, and a container's limit. Each case is a
//! process of its own, since limits are a process's.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use tierscope_tiers::{Arena, Residence, Slot};

const ROLE: &str = "TIERSCOPE_MEMORY_ROLE";
const MIB: u32 = 1 << 20;

/// What the children do; by itself, nothing.
#[test]
fn child() {
    let residence = match std::env::var(ROLE).as_deref() {
        Ok("locked") => Residence::Locked,
        Ok("present") => Residence::Present,
        Ok("lazy") => Residence::Lazy,
        _ => return,
    };
    for slots in [4, 64] {
        match Arena::with(slots, MIB as usize, residence) {
            Ok(arena) => {
                for slot in 0..4 {
                    arena.write(Slot(slot)).expect("nobody has it").fill(7);
                    assert!(arena.read(Slot(slot)).expect("nobody writes it").iter().all(|&byte| byte == 7));
                }
                println!("{slots}: works, locked: {}, {}", arena.is_locked(), arena.pages());
                arena.shortfalls().iter().for_each(|words| println!("{slots}: {words}"));
            }
            Err(error) => println!("{slots}: {error}"),
        }
    }
}

/// A command that runs this test again in a role.
fn again(role: &str, through: &[&str]) -> Command {
    let this = std::env::current_exe().expect("this test has a path");
    let mut words = through.iter().map(PathBuf::from).chain([this]);
    let mut command = Command::new(words.next().expect("at least this test"));
    command.args(words).args(["child", "--exact", "--nocapture"]).env(ROLE, role);
    command
}

#[track_caller]
fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Whether a test may pass without what it needs.
fn skip(name: &str, reason: &str) {
    let required = std::env::var("TIERSCOPE_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|required| required == name), "{name} is required: {reason}");
    eprintln!("skipped: {reason}");
}

/// Who may lock memory whatever the limit is has to be kept from it.
fn may_lock_anything() -> bool {
    const IPC_LOCK: u64 = 1 << 14;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap_or("0");
    u64::from_str_radix(effective.trim(), 16).is_ok_and(|capabilities| capabilities & IPC_LOCK != 0)
}

#[test]
fn memory_that_may_not_be_locked_works_and_says_so() {
    for (limit, words) in [("--memlock=0:0", "which is 0 KiB"), ("--memlock=65536:65536", "which is 64 KiB")]
    {
        let mut through = vec!["prlimit", limit];
        if may_lock_anything() {
            through.extend(["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]);
        }
        let Ok(output) = again("locked", &through).output() else {
            return skip("memlock", "there is no prlimit here");
        };
        let said = said(&output);
        assert!(said.contains("4: works, locked: false"), "{said}");
        assert!(said.contains("4: 4194304 bytes could not be locked") && said.contains(words), "{said}");
        assert!(said.contains("raise `ulimit -l`"), "{said}");
        // What is not to be locked says nothing of locks.
        let said = self::said(&again("present", &through).output().expect("as before"));
        assert!(said.contains("4: works") && !said.contains("could not be locked"), "{said}");
    }
}

/// A control group below this process's own, with a limit; removed when it is dropped.
struct Group(PathBuf);

impl Group {
    fn with_limit(bytes: u64) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let path =
            |begins: &str| own.lines().find_map(|line| Some(line.split_once(begins)?.1.trim_matches('/')));
        let first = path(":memory:")
            .map(|path| (PathBuf::from("/sys/fs/cgroup/memory").join(path), "memory.limit_in_bytes"));
        let (parent, limit) =
            first.or_else(|| Some((PathBuf::from("/sys/fs/cgroup").join(path("0::")?), "memory.max")))?;
        let group = Self(parent.join(format!("tierscope-{}", std::process::id())));
        fs::create_dir(&group.0).ok()?;
        // Without the file the group bounds no memory.
        let file = group.0.join(limit);
        (file.exists() && fs::write(file, bytes.to_string()).is_ok()).then_some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn more_than_a_container_may_have_is_refused_before_it_is_taken() {
    let Some(group) = Group::with_limit(32 << 20) else {
        return skip("control-group", "no control group can be made here that bounds memory");
    };
    let join = format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", group.0.display());
    for role in ["locked", "present", "lazy"] {
        let said = said(&again(role, &["sh", "-c", &join]).output().expect("there is a shell"));
        assert!(said.contains("4: works"), "{said}");
        let words = "64: host memory: 67108864 bytes are asked for, and the limit /sys/fs/cgroup";
        assert!(said.contains(words) && said.contains("is 33554432 bytes"), "{said}");
        assert!(said.contains("mend: fewer or smaller blocks of G2"), "{said}");
    }
}
