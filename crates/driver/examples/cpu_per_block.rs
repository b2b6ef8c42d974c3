//! What the engine and the driver cost: CPU time of the whole process for each block moved, with blocks so small that
//! copying them costs next to nothing. `cargo run --release -p tierscope-driver --example cpu_per_block`

use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use tierscope_driver::{Ends, Live, Mirror, Pace};
use tierscope_scenario::{expand, parse_any};
use tierscope_sim::{Run, RunOptions, RunState};
use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Medium};

const SCENARIO: &str = r#"
tierscope = 1
title = "many small blocks"
seed = 3

[engine]
g1_blocks = 2000
block_size_tokens = 16
max_num_batched_tokens = 8192

[g2]
blocks = 3000

[g3]
blocks = 20000

[g4]
blocks = 60000

[offload]
store = "on_compute"
load = "always"

[workload]
kind = "synthetic"
requests = 4000
arrival = "poisson"
rate_per_s = 30.0
prompt_tokens = { min = 200, max = 2000 }
output_tokens = { min = 2, max = 20 }
shared_prefix = { tokens = 640, groups = 100 }
"#;

fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn main() {
    let scenario = parse_any(SCENARIO).unwrap_or_else(|problems| panic!("{}", problems[0]));
    let workload = Arc::new(expand(&scenario, None).unwrap_or_else(|problems| panic!("{}", problems[0])));
    let begun = cpu_s();
    let mut run = Run::new(&scenario, Arc::clone(&workload), RunOptions::default());
    run.finish().expect("time stays within bounds");
    let simulated = cpu_s() - begun;

    let arena = Arc::new(Arena::new(Mirror::arena_slots(&scenario), 8, false).expect("some kilobytes"));
    let memory = |slots| -> Option<Box<dyn Medium>> {
        Some(Box::new(HostMedium::of_memory(Arc::clone(&arena), slots, 1).expect("some kilobytes")))
    };
    let below = [memory(2_000), memory(20_000), memory(60_000)];
    let mirror = Mirror::new(&scenario, Arc::clone(&arena), below, Ends::Real)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut live = Live::new(&scenario, workload, mirror, Pace::Skipping);
    let begun = cpu_s();
    while live.advance(std::time::Duration::from_secs(1), |_| {}).unwrap_or_else(|error| panic!("{error}"))
        == RunState::Running
    {}
    let driven = cpu_s() - begun;
    let totals = live.mirror().totals();
    let moved: u64 = totals.lanes.iter().map(|lane| lane.blocks).sum();
    let batches: u64 = totals.lanes.iter().map(|lane| lane.batches).sum();
    let blocks = moved as f64;
    println!("{moved} blocks in {batches} batches, and {} computed", totals.computed_blocks);
    println!("driven:    {driven:.2} s of CPU, {:.2} us a block moved", driven * 1e6 / blocks);
    println!("simulated: {simulated:.2} s of CPU, {:.2} us a block moved", simulated * 1e6 / blocks);
}
