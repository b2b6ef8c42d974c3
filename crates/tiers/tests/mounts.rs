//! File systems that are full, read-only, or whose device dies under load: real ones, mounted for the test. Where mounting is
//! not allowed they are skipped, unless TIERSCOPE_REQUIRE names `mounts`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tierscope_tiers::disk::{DiskError, DiskMedium, DiskOptions};
use tierscope_tiers::{Arena, Batch, BatchId, Ended, Fault, Key, Medium, Move, Slot, Way, content};

const BLOCK_BYTES: usize = 65_536;
const SLOTS: u32 = 24;

fn arena() -> Arc<Arena> {
    Arc::new(Arena::new(SLOTS, BLOCK_BYTES, false).expect("a megabyte and a half"))
}

fn open(folder: &Path) -> Result<DiskMedium, DiskError> {
    let options = DiskOptions { slots: SLOTS, block_bytes: BLOCK_BYTES, threads: 2, direct: true };
    DiskMedium::open(folder, arena(), options)
}

/// Whether the tests may do without what they need.
fn skipped(what: &str) {
    let required = std::env::var("TIERSCOPE_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == "mounts"), "mounts are required: {what}");
    eprintln!("skipped: {what}");
}

fn run(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output().map_err(|error| format!("{program}: {error}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(said(&output.stdout))
    } else {
        Err(format!("{program}: {}", said(&output.stderr)))
    }
}

/// A mounted file system; unmounted, whoever still uses it, when the test ends.
struct Mount {
    folder: tempfile::TempDir,
    backing: Option<(PathBuf, String)>,
}

impl Mount {
    /// Memory of so many bytes.
    fn memory(bytes: u64) -> Result<Self, String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = folder.path().to_str().expect("a path in UTF-8").to_owned();
        run("mount", &["-t", "tmpfs", "-o", &format!("size={bytes}"), "none", &at])?;
        Ok(Self { folder, backing: None })
    }

    /// A disk of 32 MiB in a file.
    fn disk(file: &Path) -> Result<Self, String> {
        File::create(file).and_then(|made| made.set_len(32 << 20)).expect("a sparse file");
        let path = file.to_str().expect("a path in UTF-8");
        run("mkfs.ext4", &["-q", "-F", "-O", "^has_journal", path])?;
        let device = run("losetup", &["--find", "--show", path])?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mount = Self { folder, backing: Some((file.to_owned(), device.clone())) };
        run("mount", &[&device, mount.at().to_str().expect("a path in UTF-8")])?;
        Ok(mount)
    }

    fn at(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = run("umount", &["-l", &self.at().display().to_string()]);
        if let Some((_, device)) = &self.backing {
            let _ = run("losetup", &["-d", device]);
        }
    }
}

#[test]
fn a_full_disk_is_told_before_anything_runs_and_nothing_is_half_made() {
    let mount = match Mount::memory(1 << 20) {
        Ok(mount) => mount,
        Err(why) => return skipped(&why),
    };
    let full = open(mount.at()).map(|_| ()).expect_err("a megabyte is too little");
    assert!(matches!(full, DiskError::Io { doing: "set room aside", .. }), "{full}");
    assert!(full.to_string().contains("fewer slots, or a disk with more room"), "{full}");
    let slab = std::fs::metadata(mount.at().join("blocks"));
    assert!(slab.is_err(), "what could not be made is not there, and takes no room");
    // With more room it works, whatever was left there.
    let at = mount.at().display().to_string();
    run("mount", &["-o", "remount,size=16777216", &at]).expect("it grows");
    drop(open(mount.at()).unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn a_read_only_disk_is_told_with_a_mend_and_what_was_on_it_survives() {
    let mount = match Mount::memory(16 << 20) {
        Ok(mount) => mount,
        Err(why) => return skipped(&why),
    };
    drop(open(mount.at()).unwrap_or_else(|error| panic!("{error}")));
    let at = mount.at().display().to_string();
    run("mount", &["-o", "remount,ro", &at]).expect("nobody writes to it");
    let refused = open(mount.at()).map(|_| ()).expect_err("it may only be read");
    assert!(refused.to_string().contains("a folder that this user may write to"), "{refused}");
    run("mount", &["-o", "remount,rw", &at]).expect("it can be written to again");
    drop(open(mount.at()).unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn a_disk_that_dies_under_load_fails_block_by_block_and_serves_nothing() {
    let place = match Mount::memory(40 << 20) {
        Ok(place) => place,
        Err(why) => return skipped(&why),
    };
    let file = place.at().join("disk");
    let mount = match Mount::disk(&file) {
        Ok(mount) => mount,
        Err(why) => return skipped(&why),
    };
    let arena = arena();
    let options = DiskOptions { slots: SLOTS, block_bytes: BLOCK_BYTES, threads: 2, direct: true };
    let mut disk =
        DiskMedium::open(mount.at(), Arc::clone(&arena), options).unwrap_or_else(|error| panic!("{error}"));
    let key = |slot: u32| Key(u64::from(slot) * 7 + 1);
    let moves: Vec<Move> =
        (0..SLOTS).map(|slot| Move { key: key(slot), there: Slot(slot), here: Slot(slot) }).collect();
    for slot in 0..SLOTS {
        content::fill(key(slot), &mut arena.write(Slot(slot)).expect("nobody has it"));
    }
    let copy = |disk: &mut DiskMedium, way| -> Ended {
        disk.submit(Batch { id: BatchId(0), way, moves: moves.clone(), look: false });
        disk.next_ended(Duration::from_secs(60)).expect("a batch ends")
    };
    assert!(copy(&mut disk, Way::Store).results.iter().all(Result::is_ok));
    assert!(copy(&mut disk, Way::Load).results.iter().all(Result::is_ok));
    disk.persist().expect("the disk works");

    // Nothing is behind the file system any more, and nothing can be put there: both reads and writes fail.
    File::options().write(true).open(&file).and_then(|backing| backing.set_len(0)).expect("the backing file");
    let full = std::fs::write(place.at().join("rest"), vec![0; 64 << 20]);
    assert!(full.is_err(), "a full memory has no room");
    for way in [Way::Load, Way::Store, Way::Load] {
        let ended = copy(&mut disk, way);
        for (slot, result) in (0..SLOTS).zip(&ended.results) {
            match (way, result) {
                // Direct I/O waits for the device, so that a store that says it succeeded would be a lie.
                (Way::Store, Ok(())) => panic!("slot {slot} was stored on a disk that is gone"),
                (Way::Load, Ok(())) => {
                    let bytes = arena.read(Slot(slot)).expect("nobody writes it");
                    assert!(content::is_of(key(slot), &bytes), "other bytes were served");
                }
                (_, Err(fault)) => assert!(
                    matches!(fault, Fault::Device | Fault::Missing | Fault::Corrupt | Fault::NoSpace),
                    "{fault}"
                ),
            }
        }
    }
    disk.close();
}
