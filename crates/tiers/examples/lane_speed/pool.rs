//! What handing blocks over costs: the CPU time of all threads for a block of eight bytes, of which copying is next to nothing.

use std::fs;
use std::sync::Arc;

use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Move, Way};

use crate::{Outcome, Plan, ours};

const BLOCKS: u32 = 65_536;

pub(crate) fn measure(plan: &Plan) -> Outcome {
    let small = Plan { block_bytes: 8, blocks: BLOCKS, ..plan.clone() };
    let (arena, moves): (Arc<Arena>, _) = (small.arena()?, small.moves());
    let mut medium =
        HostMedium::of_memory(Arc::clone(&arena), BLOCKS, plan.threads).map_err(|error| error.to_string())?;
    for batch in [1, 16, 64, 1_024] {
        ours(&mut medium, &moves, batch, Way::Store)?;
        let mut costs = Vec::new();
        for _round in 0..plan.rounds {
            let before = cpu_ns()?;
            ours(&mut medium, &moves, batch, Way::Load)?;
            costs.push((cpu_ns()? - before) as f64 / f64::from(BLOCKS));
        }
        costs.sort_by(f64::total_cmp);
        println!(
            "pool, batches of {batch:<5}       {:8.3} µs of CPU for each block",
            costs[costs.len() / 2] / 1e3
        );
    }
    one_by_one(plan, &mut medium, &moves[..4_096])
}

/// Each batch is submitted when the one before it has ended: every time, threads fall asleep and are woken.
fn one_by_one(plan: &Plan, medium: &mut HostMedium, moves: &[Move]) -> Outcome {
    let mut costs = Vec::new();
    for _round in 0..plan.rounds {
        let before = cpu_ns()?;
        for block in moves.chunks(1) {
            ours(medium, block, 1, Way::Load)?;
        }
        costs.push((cpu_ns()? - before) as f64 / moves.len() as f64);
    }
    costs.sort_by(f64::total_cmp);
    println!("pool, one block at a time     {:8.3} µs of CPU for each block", costs[costs.len() / 2] / 1e3);
    Ok(())
}

/// Nanoseconds of CPU that the threads of this process have had.
fn cpu_ns() -> Outcome<u64> {
    let mut total = 0;
    for task in fs::read_dir("/proc/self/task").map_err(|error| error.to_string())?.flatten() {
        let told = fs::read_to_string(task.path().join("schedstat")).map_err(|error| error.to_string())?;
        let first = told.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        total += first.ok_or("the kernel counts no CPU time of threads")?;
    }
    Ok(total)
}
