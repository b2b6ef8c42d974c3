//! The live table of a driven run, where somebody watches: drawn by a thread of its own, which only reads what is published.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::MultiProgress;
use tierscope_driver::{Gauge, Readout};
use tierscope_engine::{Lane, Tier};
use tierscope_units::SimTime;

use crate::progress;

/// Between two drawings.
const PERIOD: Duration = Duration::from_millis(200);

/// A thread that draws; it ends when this is dropped, and nothing of the table stays.
pub(crate) struct LiveTable {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LiveTable {
    /// Draws from now on, if standard error is a terminal.
    pub(crate) fn start(readout: Readout, requests: u32, block_bytes: u64, quiet: bool) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        if !progress::is_watched(quiet) {
            return Self { over, thread: None };
        }
        let told = Arc::clone(&over);
        let draw = move || draw(&readout, requests, block_bytes, &told);
        // A run without a table is a run all the same.
        let thread = std::thread::Builder::new().name("live-table".to_owned()).spawn(draw).ok();
        Self { over, thread }
    }
}

impl Drop for LiveTable {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn draw(readout: &Readout, requests: u32, block_bytes: u64, over: &AtomicBool) {
    let all = MultiProgress::new();
    let line = |template: &str, total: u64| all.add(progress::bar(template, total));
    let bar = line("{bar:40} {pos}/{len} requests, {msg}", requests.into());
    let lanes = Lane::ALL.map(|lane| (lane, line("{msg}", 0)));
    let tiers = line("{msg}", 0);
    let mut before = Lane::ALL.map(|_| 0);
    // The clock is read for the rates that are shown, and for nothing else.
    let mut drawn = Instant::now();
    while !over.load(Ordering::Acquire) {
        std::thread::park_timeout(PERIOD);
        let passed = drawn.elapsed().as_secs_f64().max(1e-3);
        drawn = Instant::now();
        let gauge = |gauge| readout.gauge(gauge);
        bar.set_position(gauge(Gauge::Ended));
        let now = SimTime::from_ns(gauge(Gauge::NowNs));
        bar.set_message(format!(
            "{} waiting, {} running, at {now}",
            gauge(Gauge::Waiting),
            gauge(Gauge::Running)
        ));
        for (lane, line) in &lanes {
            let blocks = gauge(Gauge::Blocks(*lane));
            let new = blocks - std::mem::replace(&mut before[lane.index()], blocks);
            line.set_message(lane_line(readout, *lane, (new * block_bytes) as f64 / passed / 1e9));
        }
        let matchable = Tier::ALL.map(|tier| format!("{} {}", tier.name(), readout.matchable(tier)));
        tiers.set_message(format!("matchable blocks: {}", matchable.join(", ")));
    }
    let _ = all.clear();
}

fn lane_line(readout: &Readout, lane: Lane, gb_per_s: f64) -> String {
    let (queued, moving) = (readout.gauge(Gauge::Queued(lane)), readout.gauge(Gauge::InFlight(lane)));
    let name = lane.name();
    let done = readout.gauge(Gauge::Completed(lane));
    format!("  {name:6} {gb_per_s:>7.3} GB/s   {queued:>4} queued {moving:>4} in flight {done:>8} done")
}
