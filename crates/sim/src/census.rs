//! Who waits for what, over the machines and the world (rule R3): also the requests between workers, and those that
//! have not arrived.

mod between;

use tierscope_engine::{Reason, Wait, Wakeup};
use tierscope_report::{Census, CensusRow};
use tierscope_scenario::Start;
use tierscope_units::RequestId;

use crate::simulation::Simulation;

/// Rows of requests that have not arrived are cut off here: the census is for people.
const UNARRIVED_ROWS_MAX: usize = 100;

/// The census of the instant.
pub fn census(simulation: &Simulation) -> Census {
    let workers = simulation.fleet().workers();
    let mut rows: Vec<CensusRow> =
        workers.flat_map(|engine| engine.census()).map(|row| at_worker(row, simulation)).collect();
    rows.extend(between::rows(simulation));
    // A request that is handed on is at two workers for a while: its rows stand together.
    if simulation.fleet().workers().len() > 1 {
        rows.sort_by_key(|row| row.request);
    }
    let to_come = simulation.arrivals_to_come().map(|(at, request)| (request, format!("arrival at {at}")));
    let waiting = followers_to_come(simulation);
    for (request, wakeup) in to_come.chain(waiting).take(UNARRIVED_ROWS_MAX) {
        rows.push(CensusRow {
            request: request.0,
            phase: "not arrived".to_owned(),
            owner: "client".to_owned(),
            wakeup: Some(wakeup),
            held_blocks: 0,
            needed_blocks: 0,
        });
    }
    let cycles = simulation.fleet().workers().flat_map(|engine| engine.wait_cycle());
    Census { rows, wait_cycle: cycles.map(in_words).collect() }
}

fn at_worker(row: tierscope_engine::CensusRow, simulation: &Simulation) -> CensusRow {
    // Who is preempted again and again wakes, and gets nowhere.
    let circling = simulation.is_going_in_circles();
    CensusRow {
        request: row.request.0,
        phase: row.phase.name().to_owned(),
        owner: format!("worker {}", row.owner),
        wakeup: row.wakeup.filter(|_| !circling).map(|wakeup| match wakeup {
            Wakeup::PassEnd(pass) => format!("end of pass {pass}"),
            Wakeup::Transfer(dependency) => {
                format!("end of transfer {}, expected at {}", dependency.transfer, dependency.deadline)
            }
            Wakeup::Scheduling => "scheduling at this instant".to_owned(),
        }),
        held_blocks: row.held_blocks,
        needed_blocks: row.needed_blocks,
    }
}

fn in_words(wait: Wait) -> String {
    let Wait { request, waits_for, reason } = wait;
    match reason {
        Reason::Line => format!("request {request} stands in the line behind request {waits_for}"),
        Reason::Blocks { lacking, held } => {
            let noun = if lacking == 1 { "block" } else { "blocks" };
            format!("request {request} lacks {lacking} {noun}, and request {waits_for} holds {held}")
        }
    }
}

/// Requests that follow one that is live now.
fn followers_to_come(simulation: &Simulation) -> impl Iterator<Item = (RequestId, String)> {
    let workload = simulation.workload();
    let plans = (0..).map(RequestId).zip(&workload.requests);
    plans.filter_map(|(id, plan)| {
        let Start::After { request, .. } = plan.start else { return None };
        let mut waits = std::iter::once(request).chain(workload.joins_of(id));
        let live = waits.find(|&request| simulation.fleet().is_live(request))?;
        Some((id, format!("end of request {live}")))
    })
}
