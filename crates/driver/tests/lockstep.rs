//! A run whose blocks are real: the same decisions as the simulation, every block verified, and nothing wrong passed over.

#[allow(dead_code, reason = "the other files of tests use more of it")]
mod rig;

use std::sync::Arc;

use rig::{FOUR_TIERS, Rig, arena, disk, in_lockstep, memory, scenario, simulated};
use tierscope_driver::{Ends, Mirror, MirrorError, Totals};
use tierscope_engine::Lane;

/// Without an object store, and without hurry: no copy is given up before it has begun.
fn three_tiers() -> String {
    FOUR_TIERS
        .replace("[g4]\nblocks = 200\n\n", "")
        .replace("blocks = 70", "blocks = 120")
        .replace(
            "model = \"fixed\"\nprefill_per_token_ns = 1000\ndecode_ns = 200000",
            "model = \"polynomial\"",
        )
        .replace("rate_per_s = 100.0", "rate_per_s = 8.0")
}

#[test]
fn real_blocks_go_where_the_simulation_says_and_each_is_right() {
    let scenario = scenario(&three_tiers());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arena = arena(&scenario);
    let (mut plain, mut driven) = (simulated(&scenario), simulated(&scenario));
    plain.finish().expect("time stays within bounds");
    let g3 = disk(&arena, 120, folder.path());
    let mut mirror = Rig::new(&scenario, arena, g3).mirror(&scenario, Ends::Modelled);
    in_lockstep(&mut driven, &mut mirror, || {}).unwrap_or_else(|error| panic!("{error}"));
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
    let scenario = scenario(&three_tiers());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arena = arena(&scenario);
    let g3 = disk(&arena, 120, folder.path());
    let mut mirror = Rig::new(&scenario, arena, g3).mirror(&scenario, Ends::Modelled);
    let file = folder.path().join("blocks");
    let spoil = || {
        let mut bytes = std::fs::read(&file).expect("the slab");
        bytes.iter_mut().step_by(512).for_each(|byte| *byte ^= 1);
        std::fs::write(&file, bytes).expect("the slab");
    };
    let ended =
        in_lockstep(&mut simulated(&scenario), &mut mirror, spoil).expect_err("every block of it is spoilt");
    assert!(matches!(ended, MirrorError::Wrong { .. }), "{ended}");
}

#[test]
fn what_cannot_be_driven_is_refused_in_words() {
    let refused = |text: &str| {
        let scenario = scenario(text);
        let arena = arena(&scenario);
        let media = [Some(memory(&arena, 40)), None, None];
        let refused = Mirror::new(&scenario, Arc::clone(&arena), media, Ends::Modelled);
        refused.map(|_| ()).expect_err("refused").to_string()
    };
    let text = three_tiers();
    assert!(refused(&text).contains("remove [g3]"));
    let fleet = text.replace("[g2]", "[workers]\nprefill = 1\ndecode = 1\n\n[g2]");
    assert!(refused(&fleet).contains("workers that prefill and others that decode"));
    let vllm = text.replace("[g3]\nblocks = 120\n", "").replace("[offload]", "[offload]\nflavour = \"vllm\"");
    assert!(refused(&vllm).contains("vLLM"));
}
