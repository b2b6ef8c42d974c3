//! Benchmarks: criterion's, and whole runs of a real trace held against their targets.
//!
//! CPU time is user and system time of the child, read from Linux's /proc in hundredths of a second; peak memory is
//! the kernel's own high-water mark, asked for every millisecond while the child lives. Elsewhere only wall time is
//! measured. Missing a target is shown, not failed: machines differ (docs/PERFORMANCE.md keeps the record).

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::check;
use crate::run::{Cmd, Failure, Result, root};
use crate::transactions;

pub(crate) const TRACE: &str = "../shared/data/traces/mooncake/conversation_trace.jsonl";
/// A hundred thousand drawn requests.
const FLEET: &str = "tests/benches/fleet.toml";
const TRIES: usize = 3;
const RSS_TARGET_MB: f64 = 300.0;

/// A run of the trace, and what it should cost.
#[derive(Debug)]
struct Whole {
    name: &'static str,
    input: &'static str,
    settings: &'static [&'static str],
    cpu_target: Target,
}

/// The most CPU time that a run should take.
#[derive(Clone, Copy, Debug)]
enum Target {
    Seconds(f64),
    /// So many times what the run before it took.
    TimesTheLast(f64),
}

const G1_2048: [&str; 2] = ["engine.block_size_tokens=512", "engine.g1_blocks=2048"];

const WHOLE: [Whole; 10] = [
    Whole { name: "block 512", input: TRACE, settings: &[], cpu_target: Target::Seconds(0.4) },
    Whole {
        name: "block 16",
        input: TRACE,
        settings: &["engine.block_size_tokens=16", "engine.g1_blocks=524288"],
        cpu_target: Target::Seconds(2.0),
    },
    Whole {
        name: "block 512, G1 to G3",
        input: TRACE,
        settings: &[
            G1_2048[0],
            G1_2048[1],
            "g2.blocks=8192",
            "g3.blocks=32768",
            "offload.store=\"on_compute\"",
        ],
        cpu_target: Target::Seconds(1.2),
    },
    Whole {
        name: "block 512, G1 to G4",
        input: TRACE,
        settings: &[
            G1_2048[0],
            G1_2048[1],
            "g2.blocks=8192",
            "g3.blocks=32768",
            "g4.blocks=131072",
            "offload.store=\"on_compute\"",
        ],
        cpu_target: Target::Seconds(1.2),
    },
    Whole {
        name: "first 1,000, block 16, G1 to G3",
        input: TRACE,
        settings: &[
            "workload.limit=1000",
            "engine.block_size_tokens=16",
            "engine.g1_blocks=65536",
            "g2.blocks=262144",
            "g3.blocks=1048576",
            "offload.store=\"on_compute\"",
        ],
        cpu_target: Target::Seconds(1.0),
    },
    // An eighth, a half and the rest of the 5.85 million distinct blocks of the trace.
    Whole {
        name: "block 16, G1 an eighth",
        input: TRACE,
        settings: &["engine.block_size_tokens=16", "engine.g1_blocks=731000"],
        cpu_target: Target::Seconds(2.0),
    },
    Whole {
        name: "the same, with G2 and G3",
        input: TRACE,
        settings: &[
            "engine.block_size_tokens=16",
            "engine.g1_blocks=731000",
            "g2.blocks=2925000",
            "g3.blocks=2200000",
            "offload.store=\"on_compute\"",
        ],
        cpu_target: Target::TimesTheLast(3.0),
    },
    Whole {
        name: "block 512, 4 workers, KV-aware",
        input: TRACE,
        settings: &[G1_2048[0], G1_2048[1], "workers.count=4", "router.kind=\"kv_aware\""],
        cpu_target: Target::Seconds(1.0),
    },
    Whole { name: "drawn, 10 workers", input: FLEET, settings: &[], cpu_target: Target::Seconds(5.0) },
    Whole {
        name: "drawn, 1,000 workers",
        input: FLEET,
        settings: &["workers.count=1000", "workload.rate_per_s=2000"],
        cpu_target: Target::TimesTheLast(2.0),
    },
];

/// What one run cost.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    wall_s: f64,
    cpu_s: Option<f64>,
    rss_mb: Option<f64>,
}

/// `cargo xtask bench [NAME]`.
pub(crate) fn run(name: Option<&str>) -> Result {
    match name {
        None => {
            criterion(None)?;
            transactions::run()?;
            whole_runs()
        }
        Some("transactions") => transactions::run(),
        Some("whole") => whole_runs(),
        Some(filter) => criterion(Some(filter)),
    }
}

fn criterion(filter: Option<&str>) -> Result {
    let bench = Cmd::new("cargo bench --package tierscope-tests --benches");
    match filter {
        None => bench.run(),
        Some(filter) => bench.arg("--").arg(filter).run(),
    }
}

fn whole_runs() -> Result {
    if !root().join(TRACE).is_file() {
        println!("whole runs skipped: {TRACE} absent");
        return Ok(());
    }
    check::build_release().run()?;
    println!(
        "\n{:32} {:>9} {:>9} {:>9} {:>10}",
        "conversation_trace", "wall s", "CPU s", "target s", "peak MB"
    );
    let mut last_cpu_s = None;
    for whole in &WHOLE {
        let mut least: Option<f64> = None;
        for _ in 0..TRIES {
            let cost = measure(whole)?;
            println!("{}", row(whole, cost, last_cpu_s));
            least = cost.cpu_s.map(|cpu_s| least.map_or(cpu_s, |least| cpu_s.min(least)));
        }
        last_cpu_s = least;
    }
    println!("target for memory: {RSS_TARGET_MB:.0} MB; a figure over its target is marked *");
    Ok(())
}

fn row(whole: &Whole, cost: Cost, last_cpu_s: Option<f64>) -> String {
    let shown = |value: Option<f64>, limit: f64, digits: usize| match value {
        None => "?".to_owned(),
        Some(value) => format!("{value:.digits$}{}", if value > limit { "*" } else { " " }),
    };
    let target_s = match whole.cpu_target {
        Target::Seconds(seconds) => seconds,
        Target::TimesTheLast(times) => last_cpu_s.map_or(f64::INFINITY, |last| last * times),
    };
    let (cpu, rss) = (shown(cost.cpu_s, target_s, 2), shown(cost.rss_mb, RSS_TARGET_MB, 0));
    format!("{:32} {:>8.2}  {cpu:>9} {target_s:>8.2}  {rss:>10}", whole.name, cost.wall_s)
}

fn measure(whole: &Whole) -> Result<Cost> {
    let settings = whole.settings.iter().flat_map(|setting| ["--set", setting]);
    let command = Cmd::program(check::release_binary())
        .args(["run", whole.input, "--quiet", "--digest"])
        .args(settings);
    let cpu_before = children_cpu_s();
    let started = Instant::now();
    let child = command.command().stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    let mut child =
        child.map_err(|error| Failure::new(format!("tierscope could not be started: {error}")))?;
    let peak_kb = watch(&mut child)?;
    let cpu_s = children_cpu_s().zip(cpu_before).map(|(after, before)| after - before);
    let wall_s = started.elapsed().as_secs_f64();
    Ok(Cost { wall_s, cpu_s, rss_mb: peak_kb.map(|kb| kb * 1024.0 / 1e6) })
}

/// Waits for the child and returns its peak resident memory in KiB, where the system tells.
fn watch(child: &mut Child) -> Result<Option<f64>> {
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        // The mark only rises; once the child has ended it is gone, and the last one seen stands.
        peak = fs::read_to_string(&status_file).ok().and_then(|status| high_water_kb(&status)).or(peak);
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(peak),
            Ok(Some(status)) => return Err(Failure::new(format!("tierscope run failed ({status})"))),
            Ok(None) => thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(Failure::new(format!("tierscope run was lost: {error}"))),
        }
    }
}

fn high_water_kb(status: &str) -> Option<f64> {
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// CPU seconds of all children that this process has waited for.
pub(crate) fn children_cpu_s() -> Option<f64> {
    children_ticks(&fs::read_to_string("/proc/self/stat").ok()?).map(|ticks| ticks / 100.0)
}

/// Fields 16 and 17 of proc(5)'s stat, in the hundredths of a second that Linux shows to programs. The second field,
/// a name in brackets, may hold anything.
fn children_ticks(stat: &str) -> Option<f64> {
    let after_name = &stat[stat.rfind(')')? + 1..];
    let mut fields = after_name.split_whitespace().skip(13);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_figures_are_read() {
        let stat = "42 (a ) name) S 1 2 3 4 5 6 7 8 9 10 11 12 150 25 20 0";
        assert_eq!(children_ticks(stat), Some(175.0));
        assert_eq!(children_ticks("no bracket"), None);
        assert_eq!(high_water_kb("Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t  2048 kB\n"), Some(2048.0));
    }

    #[test]
    fn a_figure_over_its_target_is_marked() {
        let good = row(&WHOLE[0], Cost { wall_s: 0.4, cpu_s: Some(0.39), rss_mb: Some(120.0) }, None);
        let bad = row(&WHOLE[0], Cost { wall_s: 0.5, cpu_s: Some(0.41), rss_mb: Some(301.0) }, None);
        assert!(!good.contains('*'), "{good}");
        assert!(bad.contains("0.41*") && bad.contains("301*"), "{bad}");
        assert!(row(&WHOLE[0], Cost { wall_s: 0.5, cpu_s: None, rss_mb: None }, None).contains('?'));
        let slow = Cost { wall_s: 3.1, cpu_s: Some(3.1), rss_mb: None };
        assert!(row(&WHOLE[6], slow, Some(1.0)).contains("3.10*"), "three times the last is the limit");
    }
}
