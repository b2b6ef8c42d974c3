//! How much memory this process may have, as far as that can be read: the machine's, and each control group's that it is in.
//! A container is killed for taking more, so it is asked before anything is taken.

use std::fs;
use std::path::{Path, PathBuf};

/// A bound on memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    /// Bytes that are allowed or there.
    pub(super) bytes: u64,
    /// Bytes of them that can be had now.
    pub(super) free: u64,
    /// What bounds it, in words.
    pub(super) whose: String,
}

/// Version 1 writes "no limit" as the largest multiple of a page.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// All limits that can be read below this root, which is `/` but for tests.
pub(super) fn read(root: &Path) -> Vec<Limit> {
    let groups = text(&root.join("proc/self/cgroup")).unwrap_or_default();
    let groups = groups.lines().filter_map(group).flat_map(|group| group.limits(root));
    machine(root).into_iter().chain(groups).collect()
}

/// What `ulimit -l` says, in words: "8192 KiB", "unlimited".
pub(super) fn locked(root: &Path) -> Option<String> {
    let limits = text(&root.join("proc/self/limits"))?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"))?;
    let soft = line.split_whitespace().next()?;
    Some(soft.parse::<u64>().map_or_else(|_| soft.to_owned(), |bytes| format!("{} KiB", bytes >> 10)))
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn number(path: &Path) -> Option<u64> {
    text(path)?.trim().parse().ok()
}

fn machine(root: &Path) -> Option<Limit> {
    let table = text(&root.join("proc/meminfo"))?;
    let bytes = |name: &str| {
        let line = table.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1_024)
    };
    let (total, swap) = (bytes("MemTotal")?, bytes("SwapTotal").unwrap_or(0));
    let free = bytes("MemAvailable").unwrap_or(total);
    Some(Limit { bytes: total.saturating_add(swap), free, whose: "the machine's memory".to_owned() })
}

/// A control group that bounds memory.
struct Group<'a> {
    mounts: &'static [&'static str],
    path: &'a str,
    /// Its limit, what is used of it, and the beginning of the names of what of that is only kept files.
    files: [&'static str; 2],
    prefix: &'static str,
}

/// A line of `/proc/self/cgroup`: number, controllers, path.
fn group(line: &str) -> Option<Group<'_>> {
    let mut fields = line.splitn(3, ':');
    let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    if controllers.is_empty() {
        let mounts = &["sys/fs/cgroup", "sys/fs/cgroup/unified"];
        return Some(Group { mounts, path, files: ["memory.max", "memory.current"], prefix: "" });
    }
    let files = ["memory.limit_in_bytes", "memory.usage_in_bytes"];
    let bounds = controllers.split(',').any(|name| name == "memory");
    bounds.then_some(Group { mounts: &["sys/fs/cgroup/memory"], path, files, prefix: "total_" })
}

impl Group<'_> {
    /// Its own limit and those of all that it lies in: the path from inside a container may be one that is not seen there.
    fn limits(&self, root: &Path) -> Vec<Limit> {
        let own = Path::new(self.path.trim_start_matches('/'));
        let at = |mount: &str, folder: &Path| self.limit(root.join(mount).join(folder));
        self.mounts
            .iter()
            .flat_map(|mount| own.ancestors().filter_map(move |folder| at(mount, folder)))
            .collect()
    }

    fn limit(&self, folder: PathBuf) -> Option<Limit> {
        let file = folder.join(self.files[0]);
        let bytes = number(&file).filter(|&bytes| bytes < NO_LIMIT_BYTES)?;
        let used = number(&folder.join(self.files[1])).unwrap_or(0);
        let used = used.saturating_sub(self.kept_files(&folder));
        Some(Limit {
            bytes,
            free: bytes.saturating_sub(used),
            whose: format!("the limit {}", file.display()),
        })
    }

    /// Bytes of the page cache, which gives way.
    fn kept_files(&self, folder: &Path) -> u64 {
        let table = text(&folder.join("memory.stat")).unwrap_or_default();
        let fields = table.lines().filter_map(|line| line.strip_prefix(self.prefix)?.split_once(' '));
        let kept = fields.filter(|(name, _)| matches!(*name, "active_file" | "inactive_file"));
        kept.filter_map(|(_, bytes)| bytes.parse::<u64>().ok()).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("a folder");
            fs::write(path, text).expect("a small file");
        }
        root
    }

    fn found(files: &[(&str, &str)]) -> Vec<(u64, u64)> {
        read(root(files).path()).into_iter().map(|limit| (limit.bytes, limit.free)).collect()
    }

    #[test]
    fn the_machine_has_what_its_table_says() {
        let table = "MemTotal:  100 kB\nMemFree: 1 kB\nMemAvailable: 40 kB\nSwapTotal: 10 kB\n";
        assert_eq!(found(&[("proc/meminfo", table)]), [(110 << 10, 40 << 10)]);
        assert_eq!(found(&[("proc/meminfo", "no table")]), []);
        assert_eq!(found(&[]), []);
    }

    #[test]
    fn control_groups_of_both_versions_bound_it_and_so_do_those_that_they_lie_in() {
        let second = [
            ("proc/self/cgroup", "0::/pods/one\n"),
            ("sys/fs/cgroup/pods/one/memory.max", "max\n"),
            ("sys/fs/cgroup/pods/memory.max", "4096\n"),
            ("sys/fs/cgroup/pods/memory.current", "1024\n"),
            ("sys/fs/cgroup/pods/memory.stat", "anon 500\nactive_file 24\ninactive_file 500\n"),
        ];
        assert_eq!(found(&second), [(4_096, 4_096 - 500)]);
        let first = [
            ("proc/self/cgroup", "4:cpu,memory:/box\n3:cpuset:/\n0::/\n"),
            ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "8192\n"),
            ("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "9000\n"),
            ("sys/fs/cgroup/memory/box/memory.stat", "active_file 1\ntotal_active_file 1808\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        assert_eq!(found(&first), [(8_192, 1_000)]);
        // From inside a container the path is often that of the host, and only the root is mounted.
        let inside = [("proc/self/cgroup", "0::/host/path\n"), ("sys/fs/cgroup/memory.max", "2048")];
        assert_eq!(found(&inside), [(2_048, 2_048)]);
    }

    #[test]
    fn the_limit_on_locked_memory_is_read() {
        let line =
            "Limit  Soft Limit  Hard Limit  Units\nMax locked memory         8388608    8388608    bytes\n";
        assert_eq!(locked(root(&[("proc/self/limits", line)]).path()).as_deref(), Some("8192 KiB"));
        let line = "Max locked memory         unlimited    unlimited    bytes\n";
        assert_eq!(locked(root(&[("proc/self/limits", line)]).path()).as_deref(), Some("unlimited"));
        assert_eq!(locked(root(&[]).path()), None);
    }
}
