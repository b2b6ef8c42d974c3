//! The metrics that are compared: a table of names, units, and where each stands in a report.

use crate::report::Report;
use crate::statistics::Summary;

/// One number of a report.
#[derive(Debug)]
pub struct Metric {
    /// The key in JSON: the path in the report where it is one number there.
    pub key: &'static str,
    /// What it is called in the table.
    pub name: &'static str,
    /// What it is counted in.
    pub unit: Unit,
    /// Whether a fact log alone has it.
    pub in_logs: bool,
    /// Reads it; `None` where the run has none.
    pub read: fn(&Report) -> Option<f64>,
}

/// What a metric is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds; shown as milliseconds.
    Ns,
    /// A rate per second.
    PerSecond,
    /// A share of one; shown in percent.
    Share,
    /// A number of things.
    Count,
}

/// All metrics, in the order in which they are told.
pub const METRICS: &[Metric] = &[
    ns("latency.ttft_ns.avg", "TTFT mean", |r| of(&r.latency.ttft_ns, r.latency.ttft_ns.avg)),
    ns("latency.ttft_ns.p50", "TTFT p50", |r| of(&r.latency.ttft_ns, r.latency.ttft_ns.p50)),
    ns("latency.ttft_ns.p99", "TTFT p99", |r| of(&r.latency.ttft_ns, r.latency.ttft_ns.p99)),
    ns("latency.itl_ns.avg", "ITL mean", |r| of(&r.latency.itl_ns, r.latency.itl_ns.avg)),
    ns("latency.itl_ns.p50", "ITL p50", |r| of(&r.latency.itl_ns, r.latency.itl_ns.p50)),
    ns("latency.itl_ns.p99", "ITL p99", |r| of(&r.latency.itl_ns, r.latency.itl_ns.p99)),
    ns("latency.e2e_ns.avg", "E2E mean", |r| of(&r.latency.e2e_ns, r.latency.e2e_ns.avg)),
    ns("latency.e2e_ns.p50", "E2E p50", |r| of(&r.latency.e2e_ns, r.latency.e2e_ns.p50)),
    ns("latency.e2e_ns.p99", "E2E p99", |r| of(&r.latency.e2e_ns, r.latency.e2e_ns.p99)),
    rate("throughput.output_tokens_per_s", "output tokens", |r| Some(r.throughput.output_tokens_per_s)),
    rate("throughput.requests_per_s", "requests", |r| Some(r.throughput.requests_per_s)),
    // Without limits goodput is the rate of requests, which stands above.
    rate("throughput.goodput_requests_per_s", "goodput", |r| {
        r.slo.map(|_| r.throughput.goodput_requests_per_s)
    }),
    share("hit_ratio.first_admission.g1", "hits in G1", |r| Some(r.hit_ratio.first_admission.g1)),
    share("hit_ratio.first_admission.g2", "hits in G2", |r| Some(r.hit_ratio.first_admission.g2)),
    share("hit_ratio.first_admission.g3", "hits in G3", |r| Some(r.hit_ratio.first_admission.g3)),
    share("hit_ratio.first_admission.g4", "hits in G4", |r| Some(r.hit_ratio.first_admission.g4)),
    share("hit_ratio.first_admission.total", "hits in all", |r| Some(r.hit_ratio.first_admission.total)),
    count("requests.completed", "completed", |r| Some(r.requests.completed as f64)),
    count("preemptions", "preemptions", |r| Some(r.preemptions as f64)),
    count("tokens.recomputed", "tokens recomputed", |r| Some(r.tokens.recomputed as f64)),
    count("passes", "passes", |r| Some(r.passes as f64)),
    // Of a log, the table of lanes has them.
    Metric {
        key: "transfers",
        name: "transfers",
        unit: Unit::Count,
        in_logs: false,
        read: |r| Some(r.lanes.values().map(|lane| lane.completed).sum::<u64>() as f64),
    },
    ns("makespan_ns", "makespan", |r| Some(r.makespan_ns as f64)),
];

/// A statistic of a latency that some request has.
fn of(summary: &Summary, value: u64) -> Option<f64> {
    (summary.count > 0).then_some(value as f64)
}

const fn ns(key: &'static str, name: &'static str, read: fn(&Report) -> Option<f64>) -> Metric {
    Metric { key, name, unit: Unit::Ns, in_logs: true, read }
}

const fn rate(key: &'static str, name: &'static str, read: fn(&Report) -> Option<f64>) -> Metric {
    Metric { key, name, unit: Unit::PerSecond, in_logs: true, read }
}

const fn share(key: &'static str, name: &'static str, read: fn(&Report) -> Option<f64>) -> Metric {
    Metric { key, name, unit: Unit::Share, in_logs: true, read }
}

const fn count(key: &'static str, name: &'static str, read: fn(&Report) -> Option<f64>) -> Metric {
    Metric { key, name, unit: Unit::Count, in_logs: true, read }
}
