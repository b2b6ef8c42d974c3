//! A run whose blocks are real: the same decisions as the simulation, every block verified, and nothing wrong passed over.

use std::path::Path;
use std::sync::Arc;

use tierscope_driver::{Ends, Mirror, MirrorError, Totals};
use tierscope_engine::Lane;
use tierscope_scenario::{Scenario, expand, parse_any};
use tierscope_sim::{Run, RunOptions, RunState};
use tierscope_tiers::disk::{DiskMedium, DiskOptions};
use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Medium};

const BLOCK_BYTES: usize = 4_096;

/// Both tiers below are short: blocks go down, come back, and are lost.
const THREE_TIERS: &str = r#"
tierscope = 1
title = "three tiers"
seed = 11

[engine]
g1_blocks = 40
block_size_tokens = 16
max_num_batched_tokens = 512

[g2]
blocks = 48

[g3]
blocks = 120

[offload]
store = "on_compute"
load = "always"

[timing]
model = "polynomial"

[workload]
kind = "synthetic"
requests = 60
arrival = "poisson"
rate_per_s = 8.0
prompt_tokens = { min = 40, max = 200 }
output_tokens = { min = 5, max = 30 }
shared_prefix = { tokens = 96, groups = 5 }
"#;

fn scenario(text: &str) -> Scenario {
    parse_any(text).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

fn run_of(scenario: &Scenario) -> Run {
    let workload = expand(scenario, None).unwrap_or_else(|problems| panic!("{}", problems[0]));
    Run::new(scenario, Arc::new(workload), RunOptions::default())
}

fn mirror(scenario: &Scenario, folder: &Path) -> Mirror {
    let arena = Arc::new(Arena::new(Mirror::arena_slots(scenario), BLOCK_BYTES, false).expect("some memory"));
    let g1 = HostMedium::of_memory(Arc::clone(&arena), scenario.engine.g1_blocks, 2).expect("some memory");
    let tiers = scenario.engine.tiers.as_ref().expect("tiers");
    let g3 = tiers.g3.map(|tier| {
        let options = DiskOptions { slots: tier.blocks, block_bytes: BLOCK_BYTES, threads: 2, direct: true };
        DiskMedium::open(folder, Arc::clone(&arena), options).unwrap_or_else(|error| panic!("{error}"))
    });
    let boxed = |medium: DiskMedium| Box::new(medium) as Box<dyn Medium>;
    Mirror::new(scenario, arena, [Some(Box::new(g1)), g3.map(boxed), None], Ends::Modelled)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Runs to the end; what the mirror said, and after each instant what `then` does.
fn drive(run: &mut Run, mirror: &mut Mirror, mut then: impl FnMut(u64)) -> Result<(), MirrorError> {
    let mut instants = 0;
    while run.state() == RunState::Running {
        let mut said = Ok(());
        let told = run.advance(1, |log| {
            if said.is_ok() {
                said = mirror.take(log);
            }
        });
        told.expect("time stays within bounds");
        said?;
        instants += 1;
        then(instants);
    }
    mirror.finish()
}

#[test]
fn real_blocks_go_where_the_simulation_says_and_each_is_right() {
    let scenario = scenario(THREE_TIERS);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut plain, mut driven) = (run_of(&scenario), run_of(&scenario));
    plain.finish().expect("time stays within bounds");
    let mut mirror = mirror(&scenario, folder.path());
    drive(&mut driven, &mut mirror, |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let (plain, driven) = (plain.report(), driven.report());
    assert_eq!(plain.digest, driven.digest, "the same decisions");
    let Totals { lanes, computed_blocks, verified_blocks, .. } = mirror.totals();
    assert!(
        *computed_blocks > 100 && *verified_blocks > 300,
        "{computed_blocks} computed, {verified_blocks} verified"
    );
    for lane in [Lane::G1ToG2, Lane::G2ToG1, Lane::G2ToG3, Lane::G3ToG2] {
        let told = &driven.lanes[lane.name()];
        let moved = &lanes[lane.index()];
        assert!(moved.blocks > 0, "nothing went along {}", lane.name());
        assert_eq!((moved.batches, moved.blocks), (told.batches, told.blocks), "{}", lane.name());
    }
}

#[test]
fn a_flipped_bit_on_the_disk_ends_the_run_and_is_not_served() {
    let scenario = scenario(THREE_TIERS);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut run = run_of(&scenario);
    let mut mirror = mirror(&scenario, folder.path());
    let file = folder.path().join("blocks");
    let spoil = |_| {
        let mut bytes = std::fs::read(&file).expect("the slab");
        bytes.iter_mut().step_by(512).for_each(|byte| *byte ^= 1);
        std::fs::write(&file, bytes).expect("the slab");
    };
    let ended = drive(&mut run, &mut mirror, spoil).expect_err("every block of it is spoilt");
    assert!(matches!(ended, MirrorError::Wrong { .. }), "{ended}");
}

#[test]
fn what_cannot_be_driven_is_refused_in_words() {
    let arena = || Arc::new(Arena::new(100, BLOCK_BYTES, false).expect("some memory"));
    let g1 = |arena: &Arc<Arena>| {
        Some(Box::new(HostMedium::of_memory(Arc::clone(arena), 40, 1).expect("memory")) as Box<dyn Medium>)
    };
    let refused = |text: &str| {
        let arena = arena();
        let media = [g1(&arena), None, None];
        Mirror::new(&scenario(text), arena, media, Ends::Modelled)
            .map(|_| ())
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(THREE_TIERS).contains("remove [g3]"));
    let fleet = THREE_TIERS.replace("[g2]", "[workers]\nprefill = 1\ndecode = 1\n\n[g2]");
    assert!(refused(&fleet).contains("workers that prefill and others that decode"));
    let vllm =
        THREE_TIERS.replace("[g3]\nblocks = 120\n", "").replace("[offload]", "[offload]\nflavour = \"vllm\"");
    assert!(refused(&vllm).contains("vLLM"));
}
