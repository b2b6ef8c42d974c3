//! Every medium that is at hand passes the one suite; and what only disks have: kills, full and read-only file systems.

use std::path::Path;
use std::sync::Arc;

use tierscope_tiers::conformance;
use tierscope_tiers::disk::{DiskError, DiskMedium, DiskOptions};
use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Medium};

fn arena(block_bytes: usize) -> Arc<Arena> {
    Arc::new(Arena::new(32, block_bytes, false).expect("some kilobytes"))
}

fn options(block_bytes: usize, direct: bool) -> DiskOptions {
    DiskOptions { slots: 24, block_bytes, threads: 3, direct }
}

fn passes(arena: &Arena, medium: &mut dyn Medium) {
    for check in conformance::run(arena, medium) {
        assert_eq!(check.failure, None, "{}: {}", medium.capability().name, check.name);
    }
}

#[test]
fn host_memory_conforms() {
    for (block_bytes, threads) in [(8, 1), (4_096, 4), (65_536, 2)] {
        let arena = arena(block_bytes);
        let mut medium = HostMedium::of_memory(Arc::clone(&arena), 16, threads).expect("some kilobytes");
        passes(&arena, &mut medium);
    }
}

#[test]
fn a_disk_conforms_with_and_without_the_page_cache() {
    for (block_bytes, direct) in [(4_096, true), (65_536, true), (4_096, false), (72, true)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let arena = arena(block_bytes);
        let mut medium = DiskMedium::open(folder.path(), Arc::clone(&arena), options(block_bytes, direct))
            .unwrap_or_else(|error| panic!("{error}"));
        let odd = !block_bytes.is_multiple_of(4_096);
        assert!(!odd || medium.capability().shortfalls.iter().any(|words| words.contains("no multiple")));
        passes(&arena, &mut medium);
    }
}

#[test]
fn a_disk_that_is_opened_again_has_what_was_persisted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arena = arena(4_096);
    let open = || DiskMedium::open(folder.path(), Arc::clone(&arena), options(4_096, true));
    let mut medium = open().unwrap_or_else(|error| panic!("{error}"));
    passes(&arena, &mut medium);
    let left = medium.survivors();
    assert!(!left.is_empty());
    medium.persist().expect("the disk works");
    drop(medium);
    let mut again = open().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.survivors(), left);
    passes(&arena, &mut again);
}

#[test]
fn a_folder_has_one_user_and_keeps_its_sizes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = |block_bytes, slots| {
        let options = DiskOptions { slots, ..options(block_bytes, false) };
        DiskMedium::open(folder.path(), arena(block_bytes), options).map(|_| ())
    };
    let first = DiskMedium::open(folder.path(), arena(4_096), options(4_096, false));
    let taken = open(4_096, 24).expect_err("it is in use");
    assert!(matches!(taken, DiskError::InUse { .. }) && taken.to_string().contains("mend"), "{taken}");
    drop(first);
    let length = |name: &str| std::fs::metadata(folder.path().join(name)).expect("it is there").len();
    let before = [length("blocks"), length("index.0"), length("index.1")];
    for (block_bytes, slots) in [(8_192, 24), (4_096, 25), (4_096, 3)] {
        let other = open(block_bytes, slots).expect_err("other sizes");
        assert!(matches!(other, DiskError::OtherSizes { block_bytes: 4_096, slots: 24, .. }), "{other}");
    }
    assert_eq!([length("blocks"), length("index.0"), length("index.1")], before, "nothing was cut");
    open(4_096, 24).expect("those that it was made with");
}

#[test]
fn sizes_that_make_no_file_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = |slots| {
        let options = DiskOptions { slots, ..options(4_096, false) };
        DiskMedium::open(folder.path(), arena(4_096), options).map(|_| ())
    };
    assert!(matches!(open(0), Err(DiskError::BadSizes { .. })));
    let file = folder.path().join("a file");
    std::fs::write(&file, "x").expect("a small file");
    let refused =
        DiskMedium::open(&file, arena(4_096), options(4_096, false)).map(|_| ()).expect_err("no folder");
    assert!(refused.to_string().contains(&file.display().to_string()), "{refused}");
    // More than any disk has: told at once, with the mend, and nothing is half-made.
    let options = DiskOptions { slots: u32::MAX, block_bytes: 1 << 21, threads: 1, direct: false };
    let large = Arc::new(Arena::new(1, 1 << 21, false).expect("two megabytes"));
    let full = DiskMedium::open(Path::new(&folder.path().join("large")), large, options).map(|_| ());
    assert!(full.expect_err("eight petabytes").to_string().contains("mend"));
}

#[test]
fn what_is_somebody_elses_is_not_touched() {
    let open = |folder: &Path| {
        DiskMedium::open(folder, arena(4_096), options(4_096, false))
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    type Make = fn(&Path);
    let foreign: [(&str, Make); 3] = [
        ("blocks", |at| std::fs::write(at, "a letter").expect("a file")),
        ("lock", |at| std::fs::write(at, "4711\n").expect("a file")),
        ("index.0", |at| std::fs::create_dir(at).expect("a folder")),
    ];
    for (name, make) in foreign {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = folder.path().join(name);
        make(&at);
        let told = open(folder.path()).expect_err("it is somebody's");
        assert!(told.contains(name) && told.contains("mend: another folder"), "{told}");
        assert!(at.is_dir() || std::fs::read(&at).expect("it is there").len() < 10, "{name} was written to");
    }
    let (folder, letters) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let letter = letters.path().join("letter");
    std::fs::write(&letter, "precious").expect("a file");
    std::os::unix::fs::symlink(&letter, folder.path().join("blocks")).expect("a link");
    assert!(open(folder.path()).expect_err("a link").contains("no regular file"));
    assert_eq!(std::fs::read(&letter).expect("it is there"), b"precious");
    // What a tier made is a tier's again.
    let folder = tempfile::tempdir().expect("a temporary folder");
    open(folder.path()).expect("an empty one");
    open(folder.path()).expect("its own");
}
