//! `bench sweep`: 64 runs with one thread and with two. What counts is the ratio of the wall times; on a machine
//! that others use too, the share of the cores that the sweep really had says how to read it.

use std::process::Stdio;
use std::time::Instant;

use crate::bench::children_cpu_s;
use crate::check;
use crate::run::{Cmd, Failure, Result};

/// 16 capacities × 4 seeds of a scenario that is always at hand, made larger.
const SWEEP: &str = "sweep web/gallery/rush-hour.toml --set workload.requests=6000 --knob engine.g1_blocks=200..3200:16 \
    --seeds 1..4 --quiet --json /dev/null";
const TRIES: usize = 3;
const TARGET: f64 = 1.9;

struct Cost {
    wall_s: f64,
    cpu_s: Option<f64>,
}

pub(crate) fn run() -> Result {
    check::build_release().run()?;
    println!("\n{:>8} {:>9} {:>9} {:>22}", "threads", "wall s", "CPU s", "CPU ÷ (wall × threads)");
    let mut best = 0.0_f64;
    for _ in 0..TRIES {
        let [one, two] = [measure(1)?, measure(2)?];
        best = best.max(one.wall_s / two.wall_s);
    }
    let mark = if best < TARGET { "*" } else { "" };
    println!(
        "two threads are {best:.2}{mark} times as fast as one (target {TARGET}; the best of {TRIES} tries)"
    );
    Ok(())
}

fn measure(threads: u32) -> Result<Cost> {
    let words = SWEEP.split_whitespace().map(str::to_owned);
    let command =
        Cmd::program(check::release_binary()).args(words.chain(["--jobs".into(), threads.to_string()]));
    let before = children_cpu_s();
    // The wall clock is what two threads are measured by; no result looks at it.
    let started = Instant::now();
    let status = command.command().stdin(Stdio::null()).stdout(Stdio::null()).status();
    let wall_s = started.elapsed().as_secs_f64();
    let status = status.map_err(|error| Failure::new(format!("tierscope could not be started: {error}")))?;
    if !status.success() {
        return Err(Failure::new(format!("tierscope sweep failed ({status})")));
    }
    let cost = Cost { wall_s, cpu_s: children_cpu_s().zip(before).map(|(after, before)| after - before) };
    println!("{}", row(threads, &cost));
    Ok(cost)
}

fn row(threads: u32, cost: &Cost) -> String {
    let busy = cost.cpu_s.map(|cpu_s| cpu_s / (cost.wall_s * f64::from(threads)));
    let shown = |value: Option<f64>| value.map_or("?".to_owned(), |value| format!("{value:.2}"));
    format!("{threads:>8} {:>9.2} {:>9} {:>22}", cost.wall_s, shown(cost.cpu_s), shown(busy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_how_busy_the_cores_were() {
        let shared = row(2, &Cost { wall_s: 4.0, cpu_s: Some(6.0) });
        assert!(shared.ends_with("0.75"), "{shared}");
        assert!(row(1, &Cost { wall_s: 4.0, cpu_s: None }).ends_with('?'));
    }
}
