//! Runs on the clock: real tiers say when copies end, what was told gives the same run again, and stopping leaves nothing.

#[allow(dead_code, reason = "the other files of tests use more of it")]
mod rig;

use std::sync::Arc;
use std::time::Duration;

use rig::{
    FOUR_TIERS, Rig, arena, disk, in_lockstep, nothing_is_held, replay, scenario, simulated, to_the_end,
};
use tierscope_driver::{Ends, Gauge, Pace};
use tierscope_engine::Lane;
use tierscope_sim::RunState;

#[test]
fn a_driven_run_is_what_it_was_told_and_every_block_is_right() {
    let scenario = scenario(FOUR_TIERS);
    for pace in [Pace::Wall, Pace::Skipping] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let arena = arena(&scenario);
        let g3 = disk(&arena, 70, folder.path());
        let mut live = Rig::new(&scenario, Arc::clone(&arena), g3).live(&scenario, pace);
        assert_eq!(to_the_end(&mut live, |_| {}), RunState::Finished);
        live.finish().unwrap_or_else(|error| panic!("{error}"));

        let report = live.run().report();
        assert_eq!(report.requests.completed, 60);
        let totals = live.mirror().totals();
        let mut loaded = 0;
        for lane in Lane::ALL {
            let moved = &totals.lanes[lane.index()];
            assert!(moved.faults.is_empty(), "{}: {:?}", lane.name(), moved.faults);
            // Which lanes are used depends on how fast they are.
            let told = report.lanes.get(lane.name()).map_or((0, 0), |told| (told.completed, told.blocks));
            assert_eq!((moved.batches, moved.blocks), told, "{}", lane.name());
            assert_eq!(live.readout().gauge(Gauge::Completed(lane)), moved.batches, "{}", lane.name());
            assert!(!lane.is_down() || moved.blocks > 0, "nothing went down {}", lane.name());
            loaded += if lane.is_down() { 0 } else { moved.blocks };
        }
        assert!(loaded > 0, "nothing came back");
        let again = replay(&live, FOUR_TIERS);
        assert_eq!(again.report().digest, report.digest, "{pace:?}: told again, it is the same run");
        assert_eq!(again.state(), RunState::Finished);
        drop(live);
        nothing_is_held(&arena);
    }
}

#[test]
fn on_the_wall_clock_time_passes_and_a_copy_takes_as_long_as_it_takes() {
    let scenario = scenario(FOUR_TIERS);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arena = arena(&scenario);
    let g3 = disk(&arena, 70, folder.path());
    let begun = std::time::Instant::now();
    let mut live = Rig::new(&scenario, arena, g3).live(&scenario, Pace::Wall);
    to_the_end(&mut live, |_| {});
    let passed = begun.elapsed();
    let last = Duration::from_nanos(live.run().simulation().now().as_ns());
    assert!(last <= passed, "the run is at {last:?}, and {passed:?} have passed");
    assert!(live.told().windows(2).all(|pair| pair[0].at <= pair[1].at));
}

#[test]
fn a_run_that_is_stopped_holds_nothing_and_replays_up_to_there() {
    let scenario = scenario(FOUR_TIERS);
    for slices in [0, 1, 3, 9, 40] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let arena = arena(&scenario);
        let g3 = disk(&arena, 70, folder.path());
        let mut live = Rig::new(&scenario, Arc::clone(&arena), g3).live(&scenario, Pace::Wall);
        for _ in 0..slices {
            live.advance(Duration::from_millis(5), |_| {}).unwrap_or_else(|error| panic!("{error}"));
        }
        live.stop().unwrap_or_else(|error| panic!("{error}"));
        let digest = live.run().report().digest;
        let over = live.run().state() != RunState::Running;
        let again = replay(&live, FOUR_TIERS);
        assert_eq!(again.report().digest, digest, "stopped after {slices} slices");
        assert_eq!(again.state(), if over { RunState::Finished } else { RunState::Stopped });
        drop(live);
        nothing_is_held(&arena);
        // The folder can be used again at once.
        drop(disk(&rig::arena(&scenario), 70, folder.path()));
    }
}

/// The same content lies twice in a tier: nothing filters what goes down. A copy reads from the slot that the engine named.
#[test]
fn a_content_that_lies_twice_in_a_tier_is_read_where_the_engine_says() {
    let text = "tierscope = 1\n[engine]\nblock_size_tokens = 1\ng1_blocks = 6\n[g2]\nblocks = 10\n[g3]\nblocks = 9\n[g4]\nblocks = 9\n\
                [lanes.g1_g2]\nfilter = \"none\"\n[lanes.g2_g3]\nfilter = \"none\"\n[workload]\nkind = \"synthetic\"\nrequests = 40\n\
                arrival = \"closed_loop\"\nconcurrency = 2\nprompt_tokens = 1\noutput_tokens = 1\n\
                shared_prefix = { tokens = 1, groups = 3 }\n";
    let scenario = scenario(text);
    for ends in [Ends::Modelled, Ends::Real] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let arena = arena(&scenario);
        let rig = Rig::new(&scenario, Arc::clone(&arena), disk(&arena, 9, folder.path()));
        if ends == Ends::Real {
            let mut live = rig.live(&scenario, Pace::Skipping);
            assert_eq!(to_the_end(&mut live, |_| {}), RunState::Finished);
            live.finish().unwrap_or_else(|error| panic!("{error}"));
            continue;
        }
        let mut mirror = rig.mirror(&scenario, ends);
        in_lockstep(&mut simulated(&scenario), &mut mirror, || {}).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Three workers on two hosts: each has its own G1 and G2, hosts share their disk, all share G4. One worker is lost.
#[test]
fn several_workers_share_the_media_and_one_that_is_lost_takes_nothing_with_it() {
    let fleet =
        "[workers]\ncount = 3\nper_host = 2\n\n[[worker]]\nat_ms = 250\nworker = 1\nchange = \"lose\"\n";
    let text = FOUR_TIERS.replace("[g2]", &format!("{fleet}\n[g2]"));
    let scenario = scenario(&text);
    for pace in [Pace::Wall, Pace::Skipping] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let arena = arena(&scenario);
        let g3 = disk(&arena, 140, folder.path());
        let mut live = Rig::new(&scenario, Arc::clone(&arena), g3).live(&scenario, pace);
        assert_eq!(to_the_end(&mut live, |_| {}), RunState::Finished);
        live.finish().unwrap_or_else(|error| panic!("{error}"));
        let report = live.run().report();
        assert_eq!(report.requests.completed, 60);
        assert_eq!(replay(&live, &text).report().digest, report.digest, "{pace:?}");
        drop(live);
        nothing_is_held(&arena);
    }
}

#[test]
fn other_threads_read_while_the_run_goes_on() {
    let scenario = scenario(FOUR_TIERS);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arena = arena(&scenario);
    let g3 = disk(&arena, 70, folder.path());
    let mut live = Rig::new(&scenario, arena, g3).live(&scenario, Pace::Skipping);
    let readout = live.readout();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut looks, mut before) = (0u32, 0);
            while !over.load(std::sync::atomic::Ordering::Acquire) {
                let completed = readout.gauge(Gauge::Completed(Lane::G1ToG2));
                assert!(completed >= before, "batches are completed for good");
                before = completed;
                // The first batch registers blocks in G2 before it counts as completed.
                assert!(completed == 0 || readout.matchable(tierscope_engine::Tier::G2) > 0);
                looks += 1;
            }
            looks
        });
        to_the_end(&mut live, |_| {});
        over.store(true, std::sync::atomic::Ordering::Release);
        assert!(reader.join().expect("the reader does not panic") > 0);
    });
}
