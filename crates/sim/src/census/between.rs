//! Requests that are at no worker, or at two: what they wait for, and what is missing where nothing will come.

use tierscope_engine::{FleetWait, HandoffPhase, Leg, Role, WorkerState};
use tierscope_report::CensusRow;
use tierscope_units::{Idx, RequestId, WorkerId};

use crate::simulation::Simulation;

/// The rows of requests between the workers.
pub(super) fn rows(simulation: &Simulation) -> impl Iterator<Item = CensusRow> {
    simulation.fleet().between().map(|wait| row(wait, simulation))
}

fn row(wait: FleetWait, simulation: &Simulation) -> CensusRow {
    let (request, needed_blocks) = (wait.request(), blocks_of(wait, simulation));
    let blank = CensusRow {
        request: request.0,
        phase: String::new(),
        owner: "the router".to_owned(),
        wakeup: None,
        held_blocks: 0,
        needed_blocks,
    };
    match wait {
        FleetWait::AtRouter { leg, .. } => {
            let who = who(leg, simulation);
            let phase = format!("held for want of a {who} worker that is ready");
            CensusRow { phase, wakeup: coming(leg, simulation), ..blank }
        }
        FleetWait::HandedOff { phase, source, destination, lease_until, .. } => {
            let to = destination.map_or(String::new(), |worker| format!(" to worker {worker}"));
            // The prompt's blocks are at the source once it is computed.
            let held = simulation.fleet().worker(source).source_blocks(request);
            CensusRow {
                phase: format!("handed on, {}", phase_in_words(phase)),
                owner: format!("worker {source}{to}"),
                wakeup: next_step(request, phase, simulation)
                    .or_else(|| lease_until.map(|at| format!("end of its lease at {at}"))),
                held_blocks: held,
                ..blank
            }
        }
    }
}

/// What moves a handoff on by itself.
fn next_step(request: RequestId, phase: HandoffPhase, simulation: &Simulation) -> Option<String> {
    if phase == HandoffPhase::Transferring {
        // The end of one that is lost on the way is never reported.
        return simulation.handoff_copy_ends(request).then(|| "end of its copy".to_owned());
    }
    let message = simulation.messages_to_come(request).next();
    message.map(|(at, message)| format!("message \"{}\" at {at}", message.kind.name()))
}

/// Blocks of a request's prompt.
fn blocks_of(wait: FleetWait, simulation: &Simulation) -> u32 {
    let workload = simulation.workload();
    let Some(plan) = workload.requests.get(wait.request().index()) else { return 0 };
    let prompt: u64 = workload.prompt(plan).iter().map(|run| u64::from(run.len)).sum();
    let block = u64::from(simulation.fleet().config().engine.block_size_tokens);
    u32::try_from(prompt.div_ceil(block)).unwrap_or(u32::MAX)
}

fn phase_in_words(phase: HandoffPhase) -> String {
    match phase {
        HandoffPhase::Preparing => "its prompt is not computed".to_owned(),
        other => other.name().replace('_', " "),
    }
}

/// The role that a request waits for.
fn role(leg: Leg, simulation: &Simulation) -> Role {
    let splits = simulation.fleet().config().roles.contains(&Role::Prefill);
    match leg {
        Leg::Prefill => Role::Prefill,
        Leg::Decode => Role::Decode,
        Leg::Whole if splits => Role::Decode,
        Leg::Whole => Role::Whole,
    }
}

/// The word before "worker": none where all do both.
fn who(leg: Leg, simulation: &Simulation) -> &'static str {
    // Under destination-first a request stands at the router for both: what is missing is said.
    let is_missing = |role: Role| !is_there(role, simulation);
    match role(leg, simulation) {
        Role::Prefill if is_missing(Role::Prefill) => "prefill",
        Role::Prefill | Role::Decode => "decode",
        Role::Whole => "serving",
    }
}

fn is_there(role: Role, simulation: &Simulation) -> bool {
    of_role(role, simulation).any(|worker| simulation.fleet().state_of(worker) == WorkerState::Ready)
}

fn of_role(role: Role, simulation: &Simulation) -> impl Iterator<Item = WorkerId> {
    let fleet = simulation.fleet();
    let workers = (0..fleet.workers().len()).map(|worker| WorkerId(worker as u16));
    workers.filter(move |&worker| fleet.role_of(worker) == role)
}

/// What will bring a worker that a request waits for; `None` is the fault.
fn coming(leg: Leg, simulation: &Simulation) -> Option<String> {
    let missing = match role(leg, simulation) {
        Role::Prefill if is_there(Role::Prefill, simulation) => Role::Decode,
        role => role,
    };
    let starting = of_role(missing, simulation)
        .find(|&worker| simulation.fleet().state_of(worker) == WorkerState::Starting);
    let to_start =
        simulation.starts_to_come().find(|&(_, worker)| simulation.fleet().role_of(worker) == missing);
    match (starting, to_start) {
        (Some(worker), _) => Some(format!("worker {worker}, which is starting")),
        (None, Some((at, worker))) => Some(format!("start of worker {worker} at {at}")),
        (None, None) => None,
    }
}
