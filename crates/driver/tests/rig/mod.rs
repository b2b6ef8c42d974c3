//! A small hierarchy of real tiers for tests: G1 and G4 in memory, G3 on a disk or a device of the test's own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tierscope_driver::{Ends, Live, Mirror, MirrorError, Pace};
use tierscope_engine::{FactLog, Tier};
use tierscope_scenario::{Recording, Scenario, Workload, expand, parse_any};
use tierscope_sim::{Run, RunOptions, RunState};
use tierscope_tiers::device::Device;
use tierscope_tiers::disk::{DiskMedium, DiskOptions};
use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Capability, Kind, Medium, Pooled};

pub(crate) const BLOCK_BYTES: usize = 4_096;

/// Every tier is short: blocks go down, come back, and are lost.
pub(crate) const FOUR_TIERS: &str = r#"
tierscope = 1
title = "four short tiers"
seed = 11

[engine]
g1_blocks = 40
block_size_tokens = 16
max_num_batched_tokens = 512

[g2]
blocks = 48

[g3]
blocks = 70

[g4]
blocks = 200

[offload]
store = "on_compute"
load = "always"

[timing]
model = "fixed"
prefill_per_token_ns = 1000
decode_ns = 200000

[workload]
kind = "synthetic"
requests = 60
arrival = "poisson"
rate_per_s = 100.0
prompt_tokens = { min = 40, max = 200 }
output_tokens = { min = 5, max = 30 }
shared_prefix = { tokens = 96, groups = 5 }
"#;

pub(crate) fn scenario(text: &str) -> Scenario {
    parse_any(text).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

pub(crate) fn workload(scenario: &Scenario) -> Arc<Workload> {
    Arc::new(expand(scenario, None).unwrap_or_else(|problems| panic!("{}", problems[0])))
}

/// A hierarchy that is not yet driven.
pub(crate) struct Rig {
    pub(crate) arena: Arc<Arena>,
    pub(crate) g1: Box<dyn Medium>,
    pub(crate) g3: Box<dyn Medium>,
    pub(crate) g4: Box<dyn Medium>,
}

pub(crate) fn arena(scenario: &Scenario) -> Arc<Arena> {
    Arc::new(Arena::new(Mirror::arena_slots(scenario), BLOCK_BYTES, false).expect("some memory"))
}

pub(crate) fn memory(arena: &Arc<Arena>, slots: u32) -> Box<dyn Medium> {
    Box::new(HostMedium::of_memory(Arc::clone(arena), slots, 2).expect("some memory"))
}

pub(crate) fn disk(arena: &Arc<Arena>, slots: u32, folder: &Path) -> Box<dyn Medium> {
    let options = DiskOptions { slots, block_bytes: BLOCK_BYTES, threads: 2, direct: true };
    Box::new(DiskMedium::open(folder, Arc::clone(arena), options).unwrap_or_else(|error| panic!("{error}")))
}

pub(crate) fn device(arena: &Arc<Arena>, slots: u32, device: impl Device) -> Box<dyn Medium> {
    let capability = Capability {
        kind: Kind::Disk,
        name: "a device of the test".to_owned(),
        slots,
        block_bytes: BLOCK_BYTES,
        concurrency: 2,
        outlives_process: false,
        stand_in: false,
        shortfalls: Vec::new(),
    };
    Box::new(Pooled::new(device, Arc::clone(arena), capability).expect("two threads"))
}

impl Rig {
    /// G1 and G4 in memory, G3 as it is given.
    pub(crate) fn new(scenario: &Scenario, arena: Arc<Arena>, g3: Box<dyn Medium>) -> Self {
        let tiers = scenario.engine.tiers.as_ref().expect("tiers");
        let g4 = memory(&arena, tiers.g4.map_or(1, |tier| tier.blocks));
        Self { g1: memory(&arena, Mirror::medium_slots(scenario, Tier::G1)), g3, g4, arena }
    }

    pub(crate) fn mirror(self, scenario: &Scenario, ends: Ends) -> Mirror {
        let below = [Some(self.g1), Some(self.g3), Some(self.g4)];
        Mirror::new(scenario, self.arena, below, ends).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn live(self, scenario: &Scenario, pace: Pace) -> Live {
        let mirror = self.mirror(scenario, Ends::Real);
        Live::new(scenario, workload(scenario), mirror, pace)
    }
}

/// Runs on the clock to the end, in slices; a run that hangs is ended by the test runner.
pub(crate) fn to_the_end(live: &mut Live, mut sink: impl FnMut(&FactLog)) -> RunState {
    loop {
        let advanced = live.advance(Duration::from_millis(20), &mut sink);
        match advanced.unwrap_or_else(|error| panic!("{error}")) {
            RunState::Running => {}
            state => return state,
        }
    }
}

/// Runs in lock-step to the end, or to where real tiers could not follow; after each instant `then` is done.
pub(crate) fn in_lockstep(
    run: &mut Run,
    mirror: &mut Mirror,
    mut then: impl FnMut(),
) -> Result<(), MirrorError> {
    while run.state() == RunState::Running {
        let mut followed = Ok(());
        let advanced = run.advance(1, |log| {
            if followed.is_ok() {
                followed = mirror.take(log);
            }
        });
        advanced.expect("time stays within bounds");
        followed?;
        then();
    }
    mirror.finish()
}

/// A run that is only simulated.
pub(crate) fn simulated(scenario: &Scenario) -> Run {
    Run::new(scenario, workload(scenario), RunOptions::default())
}

/// What a driven run was told, as its recording has it.
pub(crate) fn recording(live: &Live, text: &str) -> Recording {
    let run = live.run();
    let over = run.state() != RunState::Running;
    Recording {
        version: String::new(),
        scenario: text.to_owned(),
        block_bytes: BLOCK_BYTES as u64,
        media: Vec::new(),
        told: live.told().to_vec(),
        stopped: (!over).then(|| run.simulation().now()),
        digest: run.report().digest,
    }
}

/// The same run again, from its recording as text.
pub(crate) fn replay(live: &Live, text: &str) -> Run {
    let written = recording(live, text).to_text();
    let recording = Recording::parse(&written).unwrap_or_else(|problem| panic!("{problem}"));
    let scenario = scenario(&recording.scenario);
    let mut run = Run::replay(&scenario, workload(&scenario), RunOptions::default(), &recording);
    run.finish().expect("time stays within bounds");
    run
}

/// Nobody has any slot of host memory any more.
pub(crate) fn nothing_is_held(arena: &Arena) {
    for slot in (0..arena.slots()).map(tierscope_tiers::Slot) {
        assert!(arena.write(slot).is_some(), "slot {} of host memory is still held", slot.0);
    }
}
