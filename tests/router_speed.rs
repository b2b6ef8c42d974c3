//! What a routing decision costs: nanoseconds each, printed (`cargo test --release --test router_speed -- --nocapture`).
//!
//! The bounds asserted are far above what is measured, even without optimization: they find a decision whose cost grows with
//! the wrong thing, not a slow machine.

use std::time::Instant;

use tierscope_engine::{Ask, CacheEvent, CostTerms, Router, RouterConfig, RouterKind, Stage, Tier};
use tierscope_units::{RequestId, SequenceHash, SimTime, WorkerId};

/// Requests that are active at a time, for each worker.
const ACTIVE: u32 = 4;

#[derive(Clone, Copy)]
struct Load {
    workers: u16,
    requests: u32,
    blocks: u32,
    /// Blocks at the beginning that all workers hold.
    shared: u32,
    temperature: f64,
}

fn router(load: Load) -> Router {
    let cost = CostTerms { temperature: load.temperature, ..CostTerms::default() };
    let config = RouterConfig { cost, ..RouterConfig::of(RouterKind::KvAware) };
    let mut router = Router::new(config, u32::from(load.workers), Vec::new());
    let shared: Vec<SequenceHash> = (0..load.shared).map(|block| hash(0, block)).collect();
    for worker in (0..load.workers).map(WorkerId) {
        router.join(SimTime::ZERO, worker, Stage::Whole);
        router.publish(SimTime::ZERO, worker, CacheEvent::Stored { tier: Tier::G1, hashes: &shared });
    }
    router
}

fn hash(name: u32, block: u32) -> SequenceHash {
    SequenceHash((u64::from(name) << 32 | u64::from(block)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
}

/// The prompt of a request: the shared part, then that of its session; every third request goes on with an old one.
fn prompt(load: Load, request: u32) -> Vec<SequenceHash> {
    let session = if request.is_multiple_of(3) { request } else { request / 3 };
    let block = |at| if at < load.shared { hash(0, at) } else { hash(session + 1, at) };
    (0..load.blocks).map(block).collect()
}

/// The middle one: what else the machine does does not count.
fn median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Nanoseconds a decision, and nanoseconds a request with its events.
fn measure(name: &str, load: Load) -> (u64, u64) {
    let mut router = router(load);
    let active = ACTIVE * u32::from(load.workers);
    let prompts: Vec<Vec<SequenceHash>> = (0..load.requests).map(|at| prompt(load, at)).collect();
    let mut placed = Vec::with_capacity(prompts.len());
    let (mut deciding, mut all) = (Vec::new(), Vec::new());
    for (request, hashes) in (0..).zip(&prompts) {
        let now = SimTime::from_ns(u64::from(request));
        let ask = Ask {
            request: RequestId(request),
            hashes,
            prompt_blocks: load.blocks,
            output_blocks_hint: 4,
            stage: Stage::Whole,
            draw: u64::from(request).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        };
        // How long a decision takes is what is measured here; what is decided does not look at this clock.
        let decide = Instant::now();
        let choice = router.route(now, &ask).expect("all workers are candidates");
        deciding.push(decide.elapsed().as_nanos() as u64);
        placed.push(choice.worker);
        router.publish(now, choice.worker, CacheEvent::Stored { tier: Tier::G1, hashes });
        router.prefilled(now, ask.request);
        if let Some(old) = request.checked_sub(active) {
            // The request's own blocks leave with it, so the index stays as large as what is active.
            let hashes = &prompts[old as usize][load.shared as usize..];
            router.ended(now, RequestId(old));
            router.publish(now, placed[old as usize], CacheEvent::Removed { tier: Tier::G1, hashes });
        }
        all.push(decide.elapsed().as_nanos() as u64);
    }
    let (each, whole) = (median(deciding), median(all));
    println!("{name}: {each} ns a decision, {whole} ns a request with its news");
    (each, whole)
}

#[test]
fn a_decision_is_cheap_however_many_workers_there_are() {
    let few = Load { workers: 4, requests: 12_000, blocks: 300, shared: 0, temperature: 0.0 };
    let many = Load { workers: 1_000, requests: 20_000, blocks: 30, ..few };
    let all = Load { blocks: 40, shared: 30, ..many };
    let costs = [
        measure("4 workers, 300 blocks", few),
        measure("4 workers, 300 blocks, 299 shared", Load { shared: 299, ..few }),
        measure("10 workers, 30 blocks", Load { workers: 10, ..many }),
        measure("1,000 workers, 30 blocks", many),
        measure("1,000 workers, 40 blocks, 30 shared", all),
        measure("1,000 workers, 30 blocks, drawn", Load { temperature: 0.5, requests: 2_000, ..many }),
    ];
    for (each, whole) in costs {
        assert!(each < 1_000_000 && whole < 2_000_000, "{each} ns a decision, {whole} ns with its news");
    }
}
