//! A disk beside `pread` and `pwrite`, past the page cache both.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tierscope_tiers::disk::{DiskMedium, DiskOptions};
use tierscope_tiers::{Arena, Medium, Slot, Way};

use crate::{Outcome, Plan, compare, on_threads, ours};

pub(crate) fn measure(plan: &Plan) -> Outcome {
    let folder = Path::new(&plan.folder).join(format!("lane-speed-{}", std::process::id()));
    let measured = within(plan, &folder);
    // What is left there is in nobody's way but the disk's.
    drop(std::fs::remove_dir_all(&folder));
    measured
}

fn within(plan: &Plan, folder: &Path) -> Outcome {
    let (arena, moves) = (plan.arena()?, plan.moves());
    let options = DiskOptions {
        slots: plan.blocks,
        block_bytes: plan.block_bytes,
        threads: plan.threads,
        direct: true,
    };
    let mut medium =
        DiskMedium::open(folder, Arc::clone(&arena), options).map_err(|error| error.to_string())?;
    for words in &medium.capability().shortfalls {
        println!("note: disk: {words}");
    }
    let plain = Plain::new(plan, &folder.join("plain")).map_err(|error| error.to_string())?;
    for (way, what) in [(Way::Store, "disk, store"), (Way::Load, "disk, load")] {
        let beside = || plain.copy(plan, &arena, way);
        compare(plan, what, || ours(&mut medium, &moves, plan.batch, way), beside)?;
    }
    Ok(())
}

struct Plain {
    file: File,
    scattered: Vec<u32>,
}

impl Plain {
    fn new(plan: &Plan, path: &Path) -> std::io::Result<Self> {
        let bytes = u64::from(plan.blocks) * plan.block_bytes as u64;
        let made = File::create(path)?;
        rustix::fs::fallocate(&made, rustix::fs::FallocateFlags::empty(), 0, bytes)?;
        let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
        Ok(Self { file, scattered: plan.scattered() })
    }

    fn copy(&self, plan: &Plan, arena: &Arena, way: Way) -> Outcome<Duration> {
        on_threads(plan.threads, self.scattered.len(), |_, number| {
            let (here, there) = (Slot(number as u32), self.scattered[number]);
            let at = u64::from(there) * plan.block_bytes as u64;
            let done = match way {
                Way::Store => self.file.write_all_at(&arena.read(here).ok_or("in use")?, at),
                Way::Load => self.file.read_exact_at(&mut arena.write(here).ok_or("in use")?, at),
            };
            done.map_err(|error| error.to_string())
        })
    }
}
