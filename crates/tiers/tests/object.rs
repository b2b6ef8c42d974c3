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
    let patience = Patience {
        attempt: Duration::from_secs(3),
        budget: Duration::from_secs(20),
        pause: Duration::from_millis(5),
        pause_max: Duration::from_millis(50),
    };
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
    for (harm, fault) in [(Harm::Unavailable, Fault::Device), (Harm::Stall, Fault::TimedOut)] {
        proxy.does("PUT", harm, u32::MAX);
        assert_eq!(store(&arena, &mut medium, block(1_001, 5)), Err(fault), "{harm:?}");
        assert_eq!(copy(&mut medium, Way::Load, block(1_001, 5)), Err(Fault::Missing), "{harm:?}");
    }
    cancelled_soon(&proxy, &arena, &mut medium);
    proxy.does("GET", Harm::Stall, 0);
    proxy.does("PUT", Harm::Stall, 0);
    store(&arena, &mut medium, one).expect("the line is good");
    load(&arena, &mut medium, one).expect("the line is good");
}

/// Nobody waits for a server for what nobody wants, and a medium is closed soon.
fn cancelled_soon(proxy: &Proxy, arena: &Arena, medium: &mut ObjectMedium) {
    proxy.does("PUT", Harm::Stall, u32::MAX);
    content::fill(Key(2_000), &mut arena.write(Slot(6)).expect("nobody has it"));
    let begun = Instant::now();
    medium.submit(Batch { id: BatchId(1), way: Way::Store, moves: vec![block(2_000, 6)], look: false });
    medium.cancel(BatchId(1));
    assert_eq!(next(medium).results, [Err(Fault::Cancelled)]);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}
