//! What came of the run, in numbers.

mod below;
mod verdicts;
mod workers;

use std::rc::Rc;

use yew::prelude::*;

use super::term::Term;
use crate::state::Ended;
use crate::state::format::{count, percent, rate, time};
use crate::state::report::{ReportView, Summary};

#[derive(Properties, PartialEq)]
pub(crate) struct ResultsProps {
    pub(crate) ended: Option<Rc<Ended>>,
}

#[component]
pub(crate) fn Results(props: &ResultsProps) -> Html {
    let Some(ended) = &props.ended else {
        return html! {
            <p class="empty empty--room">{ "The numbers appear when a run has ended." }</p>
        };
    };
    let report = &ended.report;
    html! {
        <>
            { verdicts::verdicts(&ended.result.verdicts) }
            { latencies(report) }
            <dl class="figures">
                { for figures(report).into_iter().map(figure) }
            </dl>
            { below::tables(report) }
            { workers::table(report) }
            { refusals(report) }
        </>
    }
}

fn latencies(report: &ReportView) -> Html {
    let latency = &report.latency;
    let rows = [("ttft", latency.ttft_ns), ("itl", latency.itl_ns), ("e2e", latency.e2e_ns)];
    html! {
        <table class="table latencies" id="results">
            <caption class="visually-hidden">{ "Latencies of completed requests" }</caption>
            <thead>
                <tr>
                    <th scope="col"><span class="visually-hidden">{ "Latency" }</span></th>
                    for name in ["avg", "p50", "p90", "p99"] {
                        <th scope="col">{ name }</th>
                    }
                </tr>
            </thead>
            <tbody>
                for (word, summary) in rows {
                    <tr>
                        <th scope="row"><Term {word} place="results" /></th>
                        { for cells(summary).into_iter().map(|cell| html! { <td>{ cell }</td> }) }
                    </tr>
                }
            </tbody>
        </table>
    }
}

fn cells(summary: Summary) -> [String; 4] {
    [summary.avg, summary.p50, summary.p90, summary.p99]
        .map(|ns| if summary.count == 0 { "–".to_owned() } else { time(ns) })
}

/// A name, its value, a remark, and what it means.
type Figure = (&'static str, String, String, &'static str);

fn figures(report: &ReportView) -> Vec<Figure> {
    let requests = &report.requests;
    let hits = &report.hit_ratio;
    let mut ends = vec![format!("of {}", count(requests.total))];
    for (n, word) in [
        (requests.rejected, "refused"),
        (requests.cancelled, "cancelled"),
        (requests.failed, "failed"),
        (requests.unfinished, "unfinished"),
    ] {
        if n > 0 {
            ends.push(format!("{} {word}", count(n)));
        }
    }
    let mut figures = vec![
        ("Completed", count(requests.completed), ends.join(", "), "Requests with all their output"),
        (
            "Throughput",
            rate(report.throughput.output_tokens_per_s),
            "tokens/s".to_owned(),
            "Output tokens by the time from the first arrival to the last end",
        ),
        (
            "Hit ratio",
            hits.first_admission.total.or(hits.first_admission.g1).map_or("–".to_owned(), percent),
            "first admission".to_owned(),
            "Prompt tokens found cached when a request was first admitted",
        ),
        (
            "Best possible",
            hits.infinite_cache.map_or("–".to_owned(), percent),
            "infinite cache".to_owned(),
            "The hit ratio of a cache that never forgets",
        ),
        (
            "Preemptions",
            count(report.preemptions),
            format!("{} tokens recomputed", count(report.tokens.recomputed)),
            "Times a running request gave its blocks back, and the tokens computed again for it",
        ),
        (
            "Tokens",
            count(report.tokens.output),
            format!("out, {} in", count(report.tokens.input)),
            "Tokens made, and tokens of the prompts",
        ),
    ];
    if let Some(goodput) = report.throughput.goodput_requests_per_s {
        let met = match report.slo {
            Some(_) => "requests/s within the SLO".to_owned(),
            None => "requests/s: no SLO stated".to_owned(),
        };
        figures.push((
            "Goodput",
            rate(goodput),
            met,
            "Completed requests that met the scenario's [slo], per second",
        ));
    }
    figures
}

/// The glossary's word for a figure.
fn word(name: &str) -> Option<&'static str> {
    match name {
        "Hit ratio" => Some("hit-ratio"),
        "Preemptions" => Some("preempted"),
        "Goodput" => Some("goodput"),
        _ => None,
    }
}

fn figure((name, value, remark, meaning): Figure) -> Html {
    html! {
        <div class="figure" title={meaning}>
            <dt>
                if let Some(word) = word(name) {
                    <Term {word} place="figures" text={name} />
                } else {
                    { name }
                }
            </dt>
            <dd>
                <span class="figure__value">{ value }</span>
                <span class="figure__remark">{ remark }</span>
            </dd>
        </div>
    }
}

fn refusals(report: &ReportView) -> Html {
    if report.rejected.is_empty() {
        return html!();
    }
    html! {
        <div class="refusals">
            <h3>{ "Refused at arrival" }</h3>
            <ul>
                for refused in report.rejected.iter().take(20) {
                    <li>{ format!("Request {}: {}.", refused.request, refused.explanation) }</li>
                }
            </ul>
            if report.rejected.len() > 20 {
                <p class="empty">{ format!("and {} more", count(report.rejected.len() as u64 - 20)) }</p>
            }
        </div>
    }
}
