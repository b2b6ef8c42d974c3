//! Several workers beside each other in numbers.

use yew::prelude::*;

use crate::state::format::{count, percent};
use crate::state::report::{ReportView, WorkerCounts};

/// The table of workers; nothing where there is one alone.
pub(super) fn table(report: &ReportView) -> Html {
    if report.workers.is_empty() {
        return html!();
    }
    let row = |worker: &WorkerCounts| {
        html! {
            <tr>
                <th scope="row">{ worker.worker }</th>
                <td class="words">{ if worker.role == "whole" { "both".to_owned() } else { worker.role.clone() } }</td>
                <td class="words">{ &worker.state }</td>
                <td>{ count(worker.routed) }</td>
                <td>{ count(worker.finished) }</td>
                <td>{ percent(worker.busy_share) }</td>
                <td>{ percent(worker.hit_ratio) }</td>
                <td>{ count(worker.preemptions) }</td>
            </tr>
        }
    };
    html! {
        <>
            <h3 class="latency__title">{ "Workers" }</h3>
            <table class="table latencies latencies--dense" id="workers-result">
                <caption class="visually-hidden">{ "Workers" }</caption>
                <thead>
                    <tr>
                        <th scope="col"><abbr title="Worker">{ "No." }</abbr></th>
                        <th scope="col" class="words">{ "Role" }</th>
                        <th scope="col" class="words"><abbr title="At the end of the run">{ "State" }</abbr></th>
                        <th scope="col"><abbr title="Times the router chose it">{ "Routed" }</abbr></th>
                        <th scope="col"><abbr title="Requests that it finished">{ "Done" }</abbr></th>
                        <th scope="col"><abbr title="Share of the run with a pass under way">{ "Busy" }</abbr></th>
                        <th scope="col"><abbr title="Prompt tokens found at its first admissions">{ "Hits" }</abbr></th>
                        <th scope="col"><abbr title="Preemptions">{ "Pre." }</abbr></th>
                    </tr>
                </thead>
                <tbody>{ for report.workers.iter().map(row) }</tbody>
            </table>
        </>
    }
}
