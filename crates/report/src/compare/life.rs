//! Records back to facts, as far as latencies, hits and passes depend on them: so the metrics of a fact log come from the
//! folds that make every other report.

use tierscope_engine::{Fact, Loaded, Occupancy, PassStart, Rejection};
use tierscope_units::{PassId, RequestId, WorkerId};

use super::record::{Record, Value};

/// Requests that a log may name: as many as a workload may have, so that a wrong number takes no memory.
const REQUESTS_MAX: u32 = 1 << 24;

/// The fact about a request's life or a pass that a record says; `None` for other facts, and for one that lacks
/// something. Why a request was refused is not read.
pub fn fact_of_life(record: &Record<'_>) -> Option<Fact> {
    let number = |key: &str| record.number(key).and_then(|number| u32::try_from(number).ok());
    let request = || number("request").filter(|request| *request < REQUESTS_MAX).map(RequestId);
    Some(match record.kind {
        "arrived" => Fact::Arrived {
            request: request()?,
            prompt_tokens: number("prompt_tokens")?,
            output_tokens: number("output_tokens")?,
        },
        "rejected" => Fact::Rejected { request: request()?, reason: Rejection::Empty },
        "admitted" => Fact::Admitted {
            request: request()?,
            cached_tokens: number("cached_tokens")?,
            loaded: Loaded {
                g2_tokens: number("loaded_g2_tokens").unwrap_or(0),
                g3_tokens: number("loaded_g3_tokens").unwrap_or(0),
                g4_tokens: number("loaded_g4_tokens").unwrap_or(0),
            },
            readmission: record.get("readmission") == Some(&Value::Flag(true)),
        },
        "preempted" => Fact::Preempted {
            request: request()?,
            lost_tokens: number("lost_tokens")?,
            released: number("released_blocks")?,
        },
        "prefilled" => Fact::Prefilled {
            request: request()?,
            tokens: number("tokens")?,
            computed_before: number("computed_before_tokens")?,
            recomputed: number("recomputed_tokens")?,
        },
        "first_token" => Fact::FirstToken { request: request()? },
        "second_token" => Fact::SecondToken { request: request()? },
        "finished" => Fact::Finished { request: request()?, output_tokens: number("output_tokens")? },
        "cancelled" => Fact::Cancelled { request: request()?, output_tokens: number("output_tokens")? },
        "pass_started" => Fact::PassStarted(pass_start(record)?),
        "pass_ended" => {
            Fact::PassEnded { worker: WorkerId(number("worker")?.try_into().ok()?), pass: PassId(0) }
        }
        _ => return None,
    })
}

fn pass_start(record: &Record<'_>) -> Option<PassStart> {
    let number = |key: &str| record.number(key).and_then(|number| u32::try_from(number).ok());
    Some(PassStart {
        worker: WorkerId(number("worker")?.try_into().ok()?),
        pass: PassId(0),
        prefill_rows: number("prefill_rows")?,
        prefill_tokens: number("prefill_tokens")?,
        decode_rows: number("decode_rows")?,
        decode_tokens: number("decode_tokens")?,
        waiting: number("waiting_requests")?,
        g1: Occupancy::default(),
    })
}
