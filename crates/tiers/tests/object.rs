//! The object store as a medium: the one suite on memory, on a folder and on a real S3 server, and what only stores have:
//! servers that are down, slow, full of errors, killed or paused under load. Nothing that was acknowledged is lost, nothing
//! wrong is served, nothing hangs.
#![cfg(feature = "s3")]

mod proxy;
mod seaweed;

use std::sync::Arc;
use std::time::{Duration, Instant};

use proxy::{Harm, Proxy};
use seaweed::Seaweed;
use tierscope_tiers::object::{ObjectError, ObjectMedium, ObjectOptions, Patience};
use tierscope_tiers::{
    Arena, Batch, BatchId, Ended, Fault, Key, Medium, Move, Slot, Way, conformance, content,
};

const SLOTS: u32 = 24;

/// Short enough for tests, long enough for a server that shares two processors with them.
const PATIENCE: Patience = Patience {
    attempt: Duration::from_secs(10),
    budget: Duration::from_secs(40),
    pause: Duration::from_millis(10),
    pause_max: Duration::from_millis(500),
};

fn arena(block_bytes: usize) -> Arc<Arena> {
    Arc::new(Arena::new(64, block_bytes, false).expect("some kilobytes"))
}

fn options(slots: u32, variables: Vec<(String, String)>) -> ObjectOptions {
    ObjectOptions { slots, threads: 4, patience: PATIENCE, variables }
}

fn open(url: &str, arena: &Arc<Arena>, options: &ObjectOptions) -> ObjectMedium {
    ObjectMedium::open(url, Arc::clone(arena), options).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(url: &str, block_bytes: usize, options: &ObjectOptions) -> ObjectError {
    let opened = ObjectMedium::open(url, arena(block_bytes), options).map(|_| ());
    let error = opened.expect_err("it cannot be opened");
    assert!(error.to_string().contains("mend: "), "{error}");
    error
}

fn passes(arena: &Arena, medium: &mut dyn Medium) {
    for check in conformance::run(arena, medium) {
        assert_eq!(check.failure, None, "{}: {}", medium.capability().name, check.name);
    }
}

/// The next batch that ends; one that does not, hangs.
fn next(medium: &mut ObjectMedium) -> Ended {
    medium.next_ended(Duration::from_secs(60)).expect("every batch ends")
}

fn copy(medium: &mut ObjectMedium, way: Way, block: Move) -> Result<(), Fault> {
    medium.submit(Batch { id: BatchId(0), way, moves: vec![block], look: false });
    next(medium).results[0]
}

/// A block of its key in one slot, here and there.
fn block(key: u64, slot: u32) -> Move {
    Move { key: Key(key), there: Slot(slot), here: Slot(slot) }
}

fn store(arena: &Arena, medium: &mut ObjectMedium, block: Move) -> Result<(), Fault> {
    content::fill(block.key, &mut arena.write(block.here).expect("nobody has it"));
    copy(medium, Way::Store, block)
}

fn load(arena: &Arena, medium: &mut ObjectMedium, block: Move) -> Result<(), Fault> {
    arena.write(block.here).expect("nobody has it").fill(0);
    copy(medium, Way::Load, block)?;
    assert!(content::is_of(block.key, &arena.read(block.here).expect("nobody has it")), "other bytes");
    Ok(())
}

#[test]
fn memory_and_a_folder_conform() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = format!("file://{}/deep/folder", folder.path().display());
    for (url, block_bytes) in [("memory:///", 8), ("memory:///", 65_536), (&file, 4_096)] {
        let arena = arena(block_bytes);
        let mut medium = open(url, &arena, &options(SLOTS, Vec::new()));
        assert_eq!(medium.capability().outlives_process, url.starts_with("file"));
        passes(&arena, &mut medium);
    }
}

/// What a former life persisted is found, and nothing else; sizes stay; what is of no use is removed.
fn lives(url: &str, options: &ObjectOptions) {
    let arena = arena(4_096);
    let mut medium = open(url, &arena, options);
    for at in 0..8 {
        store(&arena, &mut medium, block(100 + u64::from(at), at)).expect("it works");
    }
    medium.forget(Slot(7));
    medium.persist().expect("it works");
    // Stored over, and stored anew, and not persisted.
    store(&arena, &mut medium, block(200, 0)).expect("it works");
    store(&arena, &mut medium, block(201, 9)).expect("it works");
    drop(medium);
    let mut medium = open(url, &arena, options);
    let mut left = medium.survivors();
    left.sort_unstable();
    let expected: Vec<(Key, Slot)> = (0..7).map(|at| (Key(100 + u64::from(at)), Slot(at))).collect();
    assert_eq!(left, expected);
    assert_eq!(load(&arena, &mut medium, block(100, 0)), Err(Fault::Missing), "stored over");
    assert_eq!(load(&arena, &mut medium, block(201, 9)), Err(Fault::Missing), "not persisted");
    assert_eq!(load(&arena, &mut medium, block(107, 7)), Err(Fault::Missing), "forgotten");
    for at in 1..7 {
        load(&arena, &mut medium, block(100 + u64::from(at), at)).expect("it was persisted");
    }
    // One content in two slots, one of which is stored over.
    store(&arena, &mut medium, block(101, 2)).expect("it works");
    store(&arena, &mut medium, block(300, 1)).expect("it works");
    load(&arena, &mut medium, block(101, 2)).expect("the other one is still there");
    drop(medium);
    for (slots, block_bytes) in [(options.slots, 8_192), (options.slots + 1, 4_096)] {
        let other = refused(url, block_bytes, &ObjectOptions { slots, ..options.clone() });
        assert!(matches!(other, ObjectError::OtherSizes { block_bytes: 4_096, slots: SLOTS, .. }), "{other}");
    }
}

#[test]
fn a_folder_has_what_was_persisted_and_stays_as_small_as_its_slots() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("b-readme"), "not ours").expect("a small file");
    let url = format!("file://{}", folder.path().display());
    for life in 0..4 {
        if life > 0 {
            std::fs::remove_file(newest(&folder, "i-")).expect("it is there");
        }
        lives(&url, &options(SLOTS, Vec::new()));
    }
    let left = std::fs::read_dir(folder.path()).expect("it is there").count();
    assert!(left <= SLOTS as usize + 2, "{left} files: objects of former lives are removed");
}

fn newest(folder: &tempfile::TempDir, kind: &str) -> std::path::PathBuf {
    let files = std::fs::read_dir(folder.path()).expect("it is there").flatten().map(|entry| entry.path());
    let name = |path: &std::path::PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    files.filter(|path| name(path).is_some_and(|name| name.starts_with(kind))).max().expect("there is one")
}

#[test]
fn what_is_wrong_in_a_folder_is_not_served() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = format!("file://{}", folder.path().display());
    let arena = arena(4_096);
    let mut medium = open(&url, &arena, &options(SLOTS, Vec::new()));
    let one = block(7, 3);
    store(&arena, &mut medium, one).expect("it works");
    let object = newest(&folder, "b-");
    let whole = std::fs::read(&object).expect("it is there");
    for at in [0, 9, 20, 31, 32, 2_000, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        std::fs::write(&object, flipped).expect("it is ours");
        assert_eq!(load(&arena, &mut medium, one), Err(Fault::Corrupt), "byte {at}");
    }
    for length in [0, 31, 32, whole.len() - 1] {
        std::fs::write(&object, &whole[..length]).expect("it is ours");
        assert_eq!(load(&arena, &mut medium, one), Err(Fault::Corrupt), "cut to {length}");
    }
    // Whole, and another's.
    store(&arena, &mut medium, block(8, 4)).expect("it works");
    std::fs::copy(newest(&folder, "b-00000004"), &object).expect("it is ours");
    assert_eq!(load(&arena, &mut medium, one), Err(Fault::Missing));
    std::fs::write(&object, &whole).expect("it is ours");
    assert_eq!(load(&arena, &mut medium, one), Ok(()));
    std::fs::remove_file(&object).expect("it is ours");
    assert_eq!(load(&arena, &mut medium, one), Err(Fault::Missing));
}

#[test]
fn what_is_no_store_is_said_before_anything_is_copied() {
    let none = options(SLOTS, Vec::new());
    assert!(matches!(refused("kvblocks", 8, &none), ObjectError::BadUrl { .. }));
    assert!(matches!(refused("s3://kvblocks/x", 8, &none), ObjectError::NoKeys { .. }));
    assert!(matches!(refused("memory:///", 8, &options(0, Vec::new())), ObjectError::BadSizes { .. }));
    assert!(matches!(refused("file:///dev/null/x", 8, &none), ObjectError::Io { .. }));
    // Nobody listens there.
    let begun = Instant::now();
    let down = refused("s3://kvblocks/x", 8, &options(SLOTS, Seaweed::variables(9)));
    assert!(matches!(down, ObjectError::Unreachable { .. }), "{down}");
    assert!(begun.elapsed() < Duration::from_secs(30), "who waits at a command line is told soon");
}

#[test]
fn a_real_server_conforms_and_has_what_was_persisted() {
    let Some(server) = Seaweed::start() else { return };
    let options = options(SLOTS, Seaweed::variables(server.port()));
    let arena = arena(65_536);
    let mut medium = open(&server.url("a/suite"), &arena, &options);
    assert!(medium.capability().outlives_process);
    passes(&arena, &mut medium);
    lives(&server.url("lives"), &options);
    let no_bucket = refused("s3://nowhere-to-be-found/x", 8, &options);
    assert!(matches!(no_bucket, ObjectError::NoBucket { .. }), "{no_bucket}");
    let mut wrong = options.clone();
    wrong.variables.retain(|(name, _)| name != "AWS_SECRET_ACCESS_KEY");
    wrong.variables.push(("AWS_SECRET_ACCESS_KEY".to_owned(), "guessed".to_owned()));
    let denied = refused(&server.url("x"), 8, &wrong);
    assert!(matches!(denied, ObjectError::Refused { .. }), "{denied}");
}

#[test]
fn a_bad_line_to_a_server_costs_time_and_serves_nothing_wrong() {
    let Some(server) = Seaweed::start() else { return };
    let proxy = Proxy::before(server.port());
    let patience = Patience { attempt: Duration::from_secs(3), ..PATIENCE };
    let options = ObjectOptions { patience, ..options(SLOTS, Seaweed::variables(proxy.port())) };
    let arena = arena(65_536);
    let mut medium = open(&server.url("proxy"), &arena, &options);
    let mut key = 0;
    let cases = [
        ("PUT", Harm::Unavailable, 3),
        ("PUT", Harm::Reset, 2),
        ("PUT", Harm::LostAnswer, 2),
        ("PUT", Harm::Stall, 1),
        ("GET", Harm::Unavailable, 3),
        ("GET", Harm::Reset, 2),
        ("GET", Harm::LostAnswer, 2),
        ("GET", Harm::Stall, 1),
        ("GET", Harm::Cut, 2),
        ("GET", Harm::Slow, 1),
    ];
    for (method, harm, times) in cases {
        key += 1;
        let one = block(key, key as u32 % SLOTS);
        proxy.does(method, harm, times);
        store(&arena, &mut medium, one).unwrap_or_else(|fault| panic!("{method} {harm:?}: {fault}"));
        load(&arena, &mut medium, one).unwrap_or_else(|fault| panic!("{method} {harm:?}: {fault}"));
        assert_eq!(proxy.done(method), times, "{method} {harm:?}");
    }
    // What no attempt mends is told, and the next one is served again.
    let one = block(1_000, 5);
    store(&arena, &mut medium, one).expect("the line is good");
    proxy.does("GET", Harm::Flip, 1);
    assert_eq!(load(&arena, &mut medium, one), Err(Fault::Corrupt));
    load(&arena, &mut medium, one).expect("what lies there is whole");
    cancelled_soon(&proxy, &arena, &mut medium);
    store(&arena, &mut medium, one).expect("the line is good");
    load(&arena, &mut medium, one).expect("the line is good");
    // And it is closed soon.
    proxy.does("GET", Harm::Stall, u32::MAX);
    medium.submit(Batch { id: BatchId(2), way: Way::Load, moves: vec![one], look: false });
    proxy.wait("GET");
    let begun = Instant::now();
    medium.close();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(next(&mut medium).results, [Err(Fault::Cancelled)]);
}

#[test]
fn a_line_that_stays_bad_is_told_in_time() {
    let Some(server) = Seaweed::start() else { return };
    let proxy = Proxy::before(server.port());
    let patience = Patience { attempt: Duration::from_secs(1), budget: Duration::from_secs(3), ..PATIENCE };
    let options = ObjectOptions { patience, ..options(SLOTS, Seaweed::variables(proxy.port())) };
    let arena = arena(4_096);
    let mut medium = open(&server.url("bad"), &arena, &options);
    let (old, new) = (block(1, 5), block(2, 5));
    // The last attempt of those that reach the server may end with the budget.
    let cases: [(Harm, &[Fault]); 4] = [
        (Harm::Unavailable, &[Fault::Device]),
        (Harm::Reset, &[Fault::Device]),
        (Harm::LostAnswer, &[Fault::Device, Fault::TimedOut]),
        (Harm::Stall, &[Fault::TimedOut]),
    ];
    for (harm, faults) in cases {
        let is_told = |found: Result<(), Fault>| found.is_err_and(|fault| faults.contains(&fault));
        store(&arena, &mut medium, old).expect("the line is good");
        for method in ["PUT", "GET"] {
            proxy.does(method, harm, u32::MAX);
        }
        let begun = Instant::now();
        assert!(is_told(copy(&mut medium, Way::Load, old)), "{harm:?}");
        assert!(is_told(store(&arena, &mut medium, new)), "{harm:?}");
        let took = begun.elapsed();
        assert!(took < 2 * patience.budget + Duration::from_secs(5), "{harm:?}: {took:?}");
        for method in ["PUT", "GET"] {
            proxy.does(method, harm, 0);
        }
        // Whatever arrived of it: what failed is not there, and what comes after it is.
        for gone in [old, new] {
            assert_eq!(load(&arena, &mut medium, gone), Err(Fault::Missing), "{harm:?}");
        }
    }
    store(&arena, &mut medium, old).expect("the line is good");
    load(&arena, &mut medium, old).expect("the line is good");
}

/// Nobody waits for a server for what nobody wants: neither while it is copied nor while it is looked at.
fn cancelled_soon(proxy: &Proxy, arena: &Arena, medium: &mut ObjectMedium) {
    content::fill(Key(2_000), &mut arena.write(Slot(6)).expect("nobody has it"));
    for (method, other) in [("PUT", "GET"), ("GET", "PUT")] {
        proxy.does(method, Harm::Stall, u32::MAX);
        proxy.does(other, Harm::Stall, 0);
        medium.submit(Batch { id: BatchId(1), way: Way::Store, moves: vec![block(2_000, 6)], look: true });
        proxy.wait(method);
        let begun = Instant::now();
        medium.cancel(BatchId(1));
        assert_eq!(next(medium).results, [Err(Fault::Cancelled)], "{method}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{method}: {:?}", begun.elapsed());
    }
    proxy.does("GET", Harm::Stall, 0);
}

/// What is stored while a server comes to harm, and what became of it.
struct Load {
    arena: Arc<Arena>,
    medium: ObjectMedium,
    patience: Patience,
    /// By slot, what is there as far as it was acknowledged.
    stored: Vec<Option<Key>>,
    failed: Vec<Fault>,
    next: u64,
}

impl Load {
    fn on(server: &Seaweed, prefix: &str, patience: Patience) -> Self {
        let options = ObjectOptions { patience, ..options(SLOTS, Seaweed::variables(server.port())) };
        let arena = arena(65_536);
        let medium = open(&server.url(prefix), &arena, &options);
        Self { arena, medium, patience, stored: vec![None; SLOTS as usize], failed: Vec::new(), next: 0 }
    }

    /// Stores into every slot, all at once; `harm` is done when so many have ended.
    fn round(&mut self, after: usize, harm: impl FnOnce()) {
        let mut harm = Some(harm);
        let begun = Instant::now();
        for slot in 0..SLOTS {
            self.next += 1;
            let block = block(self.next * 1_000, slot);
            self.stored[slot as usize] = None;
            content::fill(block.key, &mut self.arena.write(block.here).expect("nobody has it"));
            let id = BatchId(u64::from(slot) << 32 | self.next);
            self.medium.submit(Batch { id, way: Way::Store, moves: vec![block], look: false });
        }
        for ended in 0..SLOTS as usize {
            if ended == after
                && let Some(harm) = harm.take()
            {
                harm();
            }
            let ended = self.medium.next_ended(self.patience.budget * SLOTS).expect("every batch ends");
            let slot = (ended.id.0 >> 32) as usize;
            match ended.results[0] {
                Ok(()) => self.stored[slot] = Some(Key((ended.id.0 & 0xffff_ffff) * 1_000)),
                Err(fault) => self.failed.push(fault),
            }
        }
        // Four at once, each within its budget.
        let most = self.patience.budget * SLOTS.div_ceil(4) + Duration::from_secs(10);
        assert!(begun.elapsed() < most, "{:?}", begun.elapsed());
    }

    /// Every store that was acknowledged is loaded; how many they are.
    fn check(&mut self) -> usize {
        for (slot, key) in (0..SLOTS).zip(self.stored.clone()) {
            let Some(Key(key)) = key else { continue };
            let loaded = load(&self.arena, &mut self.medium, block(key, slot));
            assert_eq!(loaded, Ok(()), "slot {slot} was acknowledged");
        }
        self.stored.iter().flatten().count()
    }
}

#[test]
fn a_server_that_is_killed_and_comes_back_loses_nothing_that_it_acknowledged() {
    let Some(mut server) = Seaweed::start() else { return };
    // A server takes seconds to start, and on a busy machine many of them.
    let patience = Patience { budget: Duration::from_secs(200), ..PATIENCE };
    let mut patient = Load::on(&server, "patient", patience);
    // It is away for less than the budget: who waits notices nothing.
    patient.round(7, || server.spawn());
    assert_eq!((patient.check(), &patient.failed[..]), (SLOTS as usize, &[][..]));
    patient.medium.persist().expect("it is back");
    // It is away for longer: what was not acknowledged is told, and what was is still there.
    let short = Patience { attempt: Duration::from_secs(2), budget: Duration::from_secs(4), ..PATIENCE };
    let mut hasty = Load::on(&server, "hasty", short);
    hasty.round(7, || server.kill());
    assert!(!hasty.failed.is_empty());
    let told = |fault: &Fault| matches!(fault, Fault::Device | Fault::TimedOut);
    assert!(hasty.failed.iter().all(told), "{:?}", hasty.failed);
    assert_eq!(
        copy(&mut patient.medium, Way::Load, block(1_000_000, 0)),
        Err(Fault::Missing),
        "nobody is asked"
    );
    server.restart();
    // Who is patient finds out when it serves again, and not only answers.
    assert_eq!(patient.check(), SLOTS as usize);
    let acknowledged = hasty.check();
    assert_eq!(acknowledged + hasty.failed.len(), SLOTS as usize, "each of them is one or the other");
    hasty.failed.clear();
    hasty.round(0, || ());
    hasty.check();
}

#[test]
fn a_server_that_is_paused_carries_out_late_what_was_given_up_and_that_does_no_harm() {
    let Some(server) = Seaweed::start() else { return };
    let short = Patience { attempt: Duration::from_secs(1), budget: Duration::from_secs(2), ..PATIENCE };
    let mut load = Load::on(&server, "paused", short);
    load.round(0, || ());
    load.failed.clear();
    load.round(5, || server.pause());
    assert!(!load.failed.is_empty());
    assert!(load.failed.iter().all(|fault| *fault == Fault::TimedOut), "{:?}", load.failed);
    // What hangs in its sockets is carried out now, at the same time as what is stored anew.
    server.go_on();
    for _ in 0..4 {
        load.failed.clear();
        load.round(0, || ());
        let acknowledged = load.check();
        assert_eq!(acknowledged + load.failed.len(), SLOTS as usize, "each of them is one or the other");
    }
    assert!(load.check() > 0);
}

#[test]
fn what_is_taken_back_leaves_no_block_behind() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arena = arena(4_096);
    let url = format!("file://{}", folder.path().display());
    let mut medium = open(&url, &arena, &options(SLOTS, Vec::new()));
    for slot in 0..SLOTS {
        let block = block(u64::from(slot) + 1, slot);
        content::fill(block.key, &mut arena.write(block.here).expect("nobody has it"));
        assert_eq!(copy(&mut medium, Way::Store, block), Ok(()));
    }
    medium.persist().expect("the folder works");
    let objects = || std::fs::read_dir(folder.path()).expect("the folder").count();
    assert!(objects() > SLOTS as usize);
    medium.close();
    medium.empty().expect("the folder works");
    assert!(objects() <= 1, "{} objects are left", objects());
}
