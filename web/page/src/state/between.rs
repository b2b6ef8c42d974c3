//! What goes on between workers, in plain words.

use tierscope_worker::protocol::{HandoffFailure, HandoffPhase, HandoffView, Happening, RequestLeg};

use super::format::{clock, count, counted};
use super::workers;

/// What happened, as a sentence.
pub fn sentence(what: &Happening) -> String {
    match *what {
        Happening::Routed { request, worker, leg, .. } => {
            format!("Request {request} goes to worker {worker}{}: {}.", for_leg(leg), why(what))
        }
        Happening::Held { request, leg } => {
            format!("Request {request} waits at the router{}: no worker can take it.", for_leg(leg))
        }
        Happening::Handoff { request, phase } => format!("Request {request}: {}.", phase_words(phase)),
        Happening::HandoffCopy { request, source, destination, blocks } => {
            let whose = request.map_or(String::new(), |request| format!(" of request {request}"));
            let verb = if blocks == 1 { "begins" } else { "begin" };
            let blocks = counted(blocks, "block", "blocks");
            format!("{blocks}{whose} {verb} to move from worker {source} to worker {destination}.")
        }
        Happening::MessageIgnored { request, stale } => {
            let whose = request.map_or(String::new(), |request| format!(" about request {request}"));
            let why =
                if stale { "it is of an earlier attempt, or of one that is over" } else { "it came before" };
            format!("A message{whose} is ignored: {why}.")
        }
        Happening::Worker { worker, state } => {
            format!("Worker {worker} is {}.", workers::state(state))
        }
    }
}

fn for_leg(leg: RequestLeg) -> &'static str {
    match leg {
        RequestLeg::Whole => "",
        RequestLeg::Prefill => " for its prompt",
        RequestLeg::Decode => " for its answer",
    }
}

/// What the router believed, what was so, and the cost.
fn why(what: &Happening) -> String {
    let Happening::Routed { candidates, believed_blocks, resident_blocks, cost_milliblocks, .. } = *what
    else {
        return String::new();
    };
    let [g1, below] = believed_blocks;
    let below = match below {
        0 => String::new(),
        below => format!(" and {} below", count(below.into())),
    };
    let so = if g1 == resident_blocks {
        String::new()
    } else {
        format!(", it has {} in G1", count(resident_blocks.into()))
    };
    let cost = match cost_milliblocks {
        0.0 => String::new(),
        cost => format!("; cost {:.3} blocks", cost / 1_000.0),
    };
    let of = counted(candidates, "candidate", "candidates");
    format!("of {of}; believed to have {} in G1{below}{so}{cost}", counted(g1, "block", "blocks"))
}

fn phase_words(phase: HandoffPhase) -> &'static str {
    match phase {
        HandoffPhase::Preparing => "a handoff is prepared",
        HandoffPhase::SourceHeld => "its prompt is computed, and held for the worker that will answer",
        HandoffPhase::DestinationReserved => "the worker that will answer has reserved slots",
        HandoffPhase::Transferring => "its blocks are on their way",
        HandoffPhase::Activated => "its blocks have come, and it goes on there",
        HandoffPhase::SourceReleased => "the source has freed its blocks: the handoff is over",
        HandoffPhase::Cancelled => "its handoff was cancelled, and neither side holds anything for it",
        HandoffPhase::Failed(HandoffFailure::WorkerLost) => {
            "its handoff failed, as a worker was lost; it is computed again"
        }
        HandoffPhase::Failed(HandoffFailure::Copy) => {
            "its handoff failed, as the blocks did not arrive; it is computed again"
        }
        HandoffPhase::Failed(HandoffFailure::LeaseExpired) => {
            "its handoff failed, as one side had held blocks as long as it may; it is computed again"
        }
        HandoffPhase::Failed(HandoffFailure::Refused) => {
            "its handoff failed, as the worker that should answer can never hold it"
        }
    }
}

/// Blocks on their way between workers: `8 blocks of request 3, since 12.3 ms`.
pub fn headline(handoff: &HandoffView, end_ns: f64) -> String {
    let whose = handoff.request.map_or(String::new(), |request| format!(" of request {request}"));
    let blocks = counted(handoff.blocks, "block", "blocks");
    let until = handoff.ended_ns.map_or(String::new(), |end| format!(" until {}", clock(end, end_ns)));
    format!("{blocks}{whose}, since {}{until}", clock(handoff.started_ns, end_ns))
}

#[cfg(test)]
mod tests {
    use tierscope_worker::protocol::WorkerState;

    use super::*;

    fn routed(g1: u32, below: u32, resident_blocks: u32, cost_milliblocks: f64) -> String {
        sentence(&Happening::Routed {
            request: 3,
            worker: 1,
            leg: RequestLeg::Prefill,
            candidates: 2,
            believed_blocks: [g1, below],
            resident_blocks,
            cost_milliblocks,
        })
    }

    #[test]
    fn a_route_tells_belief_truth_and_cost() {
        assert_eq!(
            routed(4, 0, 4, 2_500.0),
            "Request 3 goes to worker 1 for its prompt: of 2 candidates; believed to have 4 blocks in G1; cost 2.500 \
             blocks."
        );
        assert_eq!(
            routed(4, 2, 1, 0.0),
            "Request 3 goes to worker 1 for its prompt: of 2 candidates; believed to have 4 blocks in G1 and 2 below, \
             it has 1 in G1."
        );
    }

    #[test]
    fn what_happens_between_workers_is_a_sentence() {
        let said = [
            Happening::Held { request: 7, leg: RequestLeg::Decode },
            Happening::Handoff { request: 7, phase: HandoffPhase::SourceReleased },
            Happening::HandoffCopy { request: Some(7), source: 0, destination: 2, blocks: 8 },
            Happening::Worker { worker: 2, state: WorkerState::Lost },
            Happening::MessageIgnored { request: Some(7), stale: false },
        ];
        assert_eq!(
            said.map(|what| sentence(&what)),
            [
                "Request 7 waits at the router for its answer: no worker can take it.",
                "Request 7: the source has freed its blocks: the handoff is over.",
                "8 blocks of request 7 begin to move from worker 0 to worker 2.",
                "Worker 2 is lost.",
                "A message about request 7 is ignored: it came before.",
            ]
        );
    }
}
