//! What an acquire of G1 slots costs, per block in time and in instructions; and what the transaction adds to
//! taking the same slots in a straight line. Run by `cargo xtask bench transactions`.
//!
//! Time is the median over batches of machines, so that the clock is read seldom and the state stays in the
//! cache. Instructions are counted by callgrind, which runs this program again with `count WAY KIND BLOCKS` and
//! counts only inside the acquires: they do not depend on how busy the machine is.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use tierscope_engine::bench::{Case, Kind};

const BLOCKS: u32 = 64;
const LARGE_BLOCKS: u32 = 4_096;
/// Acquires under callgrind.
const COUNTED: u32 = 200;
/// Most that the transaction may add, in percent of the straight line's instructions.
const TARGET_PERCENT: f64 = 5.0;

/// A way to take slots: its name, its function, and the function's name for callgrind.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    take: fn(&mut Case) -> u32,
    symbol: &'static str,
}

const ACQUIRE: Way = Way { name: "acquire", take: Case::acquire, symbol: "*bench*Case*acquire*" };
const RESERVED: Way =
    Way { name: "reserved", take: Case::take_reserved, symbol: "*bench*Case*take_reserved*" };
const STRAIGHT: Way =
    Way { name: "straight", take: Case::take_straight, symbol: "*bench*Case*take_straight*" };
const WAYS: [Way; 3] = [ACQUIRE, RESERVED, STRAIGHT];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [count, way, kind, blocks] = &args[..]
        && count == "count"
    {
        return run_counted(way, kind, blocks);
    }
    let valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    println!("one acquire, per block{:12}{:>10}{:>14}", "", "ns", "instructions");
    let kinds = Kind::ALL.map(|kind| (kind, BLOCKS));
    for (kind, blocks) in kinds.into_iter().chain([(Kind::AllMissing, LARGE_BLOCKS)]) {
        let instructions = if valgrind { per_block(count(ACQUIRE, kind, blocks), blocks) } else { None };
        let shown = instructions.map_or("?".to_owned(), |count| format!("{count:.1}"));
        println!(
            "  {:31} {:>10.2}{shown:>14}",
            format!("{}, {blocks} blocks", words(kind)),
            nanoseconds(kind, blocks)
        );
    }
    if valgrind {
        ratios();
    } else {
        println!("instructions skipped: valgrind is not installed");
    }
}

/// The transaction against the straight line, on the same pools.
fn ratios() {
    println!("\nallocation of {BLOCKS} blocks{:8}{:>12}{:>12}{:>10}", "", "transaction", "straight", "more");
    for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Exhausted) {
        let (reserved, straight) = (count(RESERVED, kind, BLOCKS), count(STRAIGHT, kind, BLOCKS));
        let (Some(reserved), Some(straight)) = (reserved, straight) else {
            println!("  {:28} callgrind counted nothing", words(kind));
            continue;
        };
        let more = (reserved / straight - 1.0) * 100.0;
        let mark = if more > TARGET_PERCENT { "*" } else { " " };
        println!("  {:28} {reserved:>12.0}{straight:>12.0}{more:>+9.2}%{mark}", words(kind));
    }
    println!("target: at most {TARGET_PERCENT} % more; a figure over it is marked *");
}

fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::AllHits => "all hits",
        Kind::AllMissing => "all missing",
        Kind::AllVictims => "all missing, evicting",
        Kind::HalfHits => "half hits",
        Kind::HalfVictims => "half hits, evicting",
        Kind::Exhausted => "exhausted",
    }
}

/// Median time of one acquire per wanted block.
fn nanoseconds(kind: Kind, blocks: u32) -> f64 {
    let machines = if blocks > 1_000 { 1 } else { 16 };
    let rounds = if blocks > 1_000 { 500 } else { 4_000 };
    let mut cases: Vec<Case> = (0..machines).map(|_| Case::new(kind, blocks)).collect();
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let started = Instant::now();
        for case in &mut cases {
            black_box((ACQUIRE.take)(case));
        }
        times.push(started.elapsed());
        cases.iter_mut().for_each(Case::restore);
    }
    times.sort_unstable();
    times[rounds / 2].as_secs_f64() * 1e9 / f64::from(machines * blocks)
}

fn per_block(instructions: Option<f64>, blocks: u32) -> Option<f64> {
    instructions.map(|count| count / f64::from(blocks))
}

/// Instructions of one acquire, by callgrind.
fn count(way: Way, kind: Kind, blocks: u32) -> Option<f64> {
    let this = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg(format!("--toggle-collect={}", way.symbol))
        .arg(this)
        .args(["count", way.name, words(kind), &blocks.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected :"))?.1.trim().parse::<f64>();
    collected.ok().filter(|&count| count > 0.0).map(|count| count / f64::from(COUNTED))
}

/// The program under callgrind.
fn run_counted(way: &str, kind: &str, blocks: &str) {
    let way = WAYS.iter().find(|known| known.name == way).expect("a way that this program named");
    let kind = Kind::ALL.into_iter().find(|&known| words(known) == kind).expect("a kind that it named");
    let mut case = Case::new(kind, blocks.parse().expect("a number"));
    for _ in 0..COUNTED {
        black_box((way.take)(&mut case));
        case.restore();
    }
}
