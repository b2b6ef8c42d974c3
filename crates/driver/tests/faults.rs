//! Tiers that fail while a run is driven: nothing wrong is served, nothing hangs, nothing is lost, and the report says what
//! happened.

#[allow(dead_code, reason = "the other files of tests use more of it")]
mod rig;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;

use rig::{
    BLOCK_BYTES, FOUR_TIERS, Rig, arena, device, disk, in_lockstep, nothing_is_held, replay, scenario,
    simulated, to_the_end,
};
use tierscope_driver::{Ends, Live, MirrorError, Pace};
use tierscope_engine::{FactLog, Lane};
use tierscope_sim::RunState;
use tierscope_tiers::device::{Device, Loaded, Outcome, Stored, Wanted};
use tierscope_tiers::{Fault, Key, Slot};

/// What befalls the copies of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bad {
    /// Every so many stores, or loads, fail so.
    Stores(Fault),
    Loads(Fault),
    /// The thread panics.
    Panics,
    /// Other bytes come than were stored, and the device does not notice.
    Lies,
    /// It works until then, and never again.
    Dies,
    /// A load does not end until nobody wants it any more.
    Hangs,
}

const EVERY: u64 = 5;

/// Blocks in memory behind a device that has bad days.
struct Flaky {
    bad: Bad,
    copies: AtomicU64,
    blocks: Mutex<BTreeMap<Slot, (Key, Vec<u8>)>>,
}

impl Flaky {
    fn new(bad: Bad) -> Self {
        Self { bad, copies: AtomicU64::new(0), blocks: Mutex::default() }
    }

    fn is_bad_now(&self) -> bool {
        let copies = self.copies.fetch_add(1, Ordering::Relaxed);
        if self.bad == Bad::Dies { copies > 40 } else { copies % EVERY == EVERY - 1 }
    }
}

impl Device for Flaky {
    fn store(&self, block: Stored<'_>, _: &Wanted) -> Outcome {
        match self.bad {
            Bad::Stores(fault) if self.is_bad_now() => return Err(fault),
            Bad::Dies if self.is_bad_now() => return Err(Fault::Device),
            _ => {}
        }
        let mut blocks = self.blocks.lock().expect("nobody panics with it");
        blocks.insert(block.there, (block.key, block.from.to_vec()));
        Ok(())
    }

    fn load(&self, block: Loaded<'_>, wanted: &Wanted) -> Outcome {
        let bad = self.is_bad_now();
        match self.bad {
            Bad::Loads(fault) if bad => return Err(fault),
            Bad::Dies if bad => return Err(Fault::Device),
            Bad::Panics if bad => panic!("a bad day"),
            Bad::Hangs if bad => {
                while wanted.is_wanted() {
                    std::thread::yield_now();
                }
                return Err(Fault::Cancelled);
            }
            _ => {}
        }
        let blocks = self.blocks.lock().expect("nobody panics with it");
        let (_, bytes) =
            blocks.get(&block.there).filter(|(key, _)| *key == block.key).ok_or(Fault::Missing)?;
        block.into.copy_from_slice(bytes);
        if self.bad == Bad::Lies && bad {
            block.into[17] ^= 4;
        }
        Ok(())
    }

    fn forget(&self, slot: Slot) {
        self.blocks.lock().expect("nobody panics with it").remove(&slot);
    }
}

/// A run on the clock whose G3 is a real disk, with the folder that it lies in.
fn on_a_disk() -> (TempDir, Live) {
    let scenario = scenario(FOUR_TIERS);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arena = arena(&scenario);
    let g3 = disk(&arena, 70, folder.path());
    let live = Rig::new(&scenario, arena, g3).live(&scenario, Pace::Skipping);
    (folder, live)
}

#[test]
fn whatever_the_disk_does_every_request_ends_and_the_report_says_what_happened() {
    let scenario = scenario(FOUR_TIERS);
    let days = [
        (Bad::Stores(Fault::NoSpace), Fault::NoSpace),
        (Bad::Stores(Fault::ReadOnly), Fault::ReadOnly),
        (Bad::Loads(Fault::Device), Fault::Device),
        (Bad::Loads(Fault::TimedOut), Fault::TimedOut),
        (Bad::Panics, Fault::Panicked),
        (Bad::Lies, Fault::Corrupt),
        (Bad::Dies, Fault::Device),
    ];
    for (bad, fault) in days {
        let arena = arena(&scenario);
        let g3 = device(&arena, 70, Flaky::new(bad));
        let mut live = Rig::new(&scenario, Arc::clone(&arena), g3).live(&scenario, Pace::Skipping);
        assert_eq!(to_the_end(&mut live, |_| {}), RunState::Finished, "{bad:?}");
        let report = live.run().report();
        assert_eq!(report.requests.completed, 60, "{bad:?}");
        // What is stored is read back to be looked at: a load that fails shows on either lane.
        let lanes = [Lane::G2ToG3, Lane::G3ToG2];
        let told = lanes.map(|lane| live.mirror().totals().lanes[lane.index()].faults.get(&fault).copied());
        let failed = lanes.map(|lane| report.lanes.get(lane.name()).map_or(0, |lane| lane.failed));
        for (told, failed) in told.into_iter().zip(failed) {
            assert_eq!(told.is_some(), failed > 0, "{bad:?}: the report does not say what the tiers say");
        }
        assert!(told.iter().flatten().sum::<u64>() > 0, "{bad:?}: nothing failed");
        assert_eq!(replay(&live, FOUR_TIERS).report().digest, report.digest, "{bad:?}");
        // What is not there any more at the end is told, and ends nothing.
        live.finish().unwrap_or_else(|error| panic!("{bad:?}: {error}"));
        let lost = live.mirror().totals().lost.keys().any(|(tier, _)| *tier == "g3");
        assert!(lost || bad != Bad::Dies, "a disk that is gone at the end is not told of");
        drop(live);
        nothing_is_held(&arena);
    }
}

/// The lane's time-out notices; the copy is cancelled, and its slots are free only once the device has let go of them.
#[test]
fn a_copy_that_hangs_is_given_up_after_its_time_out() {
    let text = FOUR_TIERS.replace(
        "[offload]",
        "[lanes.g3_g2]\ntimeout_ms = 30\n\n[lanes.g2_g3]\ntimeout_ms = 30\n\n[offload]",
    );
    let scenario = scenario(&text);
    let arena = arena(&scenario);
    let g3 = device(&arena, 70, Flaky::new(Bad::Hangs));
    let mut live = Rig::new(&scenario, Arc::clone(&arena), g3).live(&scenario, Pace::Wall);
    assert_eq!(to_the_end(&mut live, |_| {}), RunState::Finished);
    let report = live.run().report();
    assert_eq!(report.requests.completed, 60);
    let failed: u64 = [Lane::G2ToG3, Lane::G3ToG2]
        .iter()
        .filter_map(|lane| report.lanes.get(lane.name())?.failures.get("timed_out").copied())
        .sum();
    assert!(failed > 0, "nothing hung");
    assert_eq!(replay(&live, &text).report().digest, report.digest);
    live.stop().unwrap_or_else(|error| panic!("{error}"));
    drop(live);
    nothing_is_held(&arena);
}

#[test]
fn bits_that_flip_in_the_slab_are_failures_and_are_never_served() {
    let (folder, mut live) = on_a_disk();
    let slab = folder.path().join("blocks");
    let mut instants = 0;
    let spoil = |_: &FactLog| {
        instants += 1;
        if instants % 50 == 0 {
            let mut bytes = std::fs::read(&slab).expect("the slab");
            // A byte of every third block.
            bytes.iter_mut().step_by(3 * BLOCK_BYTES).for_each(|byte| *byte ^= 1);
            std::fs::write(&slab, bytes).expect("the slab");
        }
    };
    assert_eq!(to_the_end(&mut live, spoil), RunState::Finished);
    let report = live.run().report();
    assert_eq!(report.requests.completed, 60);
    let faults: Vec<&BTreeMap<Fault, u64>> = [Lane::G2ToG3, Lane::G3ToG2]
        .iter()
        .map(|lane| &live.mirror().totals().lanes[lane.index()].faults)
        .collect();
    assert!(faults.iter().any(|faults| faults.contains_key(&Fault::Corrupt)), "{faults:?}");
    assert_eq!(replay(&live, FOUR_TIERS).report().digest, report.digest);
}

#[test]
fn a_slab_that_is_cut_is_a_failure_too() {
    let (folder, mut live) = on_a_disk();
    let slab = folder.path().join("blocks");
    let mut instants = 0;
    let cut = |_: &FactLog| {
        instants += 1;
        if instants == 200 {
            let file = std::fs::File::options().write(true).open(&slab).expect("the slab");
            file.set_len(3 * BLOCK_BYTES as u64).expect("it is cut");
        }
    };
    assert_eq!(to_the_end(&mut live, cut), RunState::Finished);
    assert_eq!(live.run().report().requests.completed, 60);
}

#[test]
fn a_gpu_that_dies_ends_the_run_in_words_and_nothing_is_held() {
    let scenario = scenario(FOUR_TIERS);
    let arena = arena(&scenario);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut rig = Rig::new(&scenario, Arc::clone(&arena), disk(&arena, 70, folder.path()));
    rig.g1 = device(&arena, 40, Flaky::new(Bad::Dies));
    let mut live = rig.live(&scenario, Pace::Skipping);
    let error = loop {
        match live.advance(Duration::from_millis(20), |_| {}) {
            Ok(RunState::Running) => {}
            Ok(state) => panic!("it ended: {state:?}"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("the device failed"), "{error}");
    live.stop().unwrap_or_else(|error| panic!("{error}"));
    drop(live);
    nothing_is_held(&arena);
}

#[test]
fn in_lock_step_any_failure_ends_the_run_since_the_modelled_world_knows_none() {
    let scenario = scenario(FOUR_TIERS);
    for (bad, wrong) in [(Bad::Lies, true), (Bad::Loads(Fault::Device), false), (Bad::Panics, false)] {
        let arena = arena(&scenario);
        let g3 = device(&arena, 70, Flaky::new(bad));
        let mut mirror = Rig::new(&scenario, Arc::clone(&arena), g3).mirror(&scenario, Ends::Modelled);
        let followed = in_lockstep(&mut simulated(&scenario), &mut mirror, || {});
        let error = followed.expect_err("a bad day");
        assert_eq!(matches!(error, MirrorError::Wrong { .. }), wrong, "{bad:?}: {error}");
        mirror.stop().unwrap_or_else(|error| panic!("{error}"));
        drop(mirror);
        nothing_is_held(&arena);
    }
}
