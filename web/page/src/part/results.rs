//! What came of the run, in numbers.

mod below;

use std::rc::Rc;

use yew::prelude::*;

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
            <p class="empty">{ "The numbers appear when a run ends." }</p>
        };
    };
    let report = &ended.report;
    html! {
        <>
            { latencies(report) }
            <dl class="figures">
                { for figures(report).into_iter().map(figure) }
            </dl>
            { below::tables(report) }
            { refusals(report) }
        </>
    }
}

fn latencies(report: &ReportView) -> Html {
    let latency = &report.latency;
    let rows = [
        ("TTFT", "Time to first token", latency.ttft_ns),
        ("ITL", "Time between two tokens", latency.itl_ns),
        ("E2E", "From arrival to the last token", latency.e2e_ns),
    ];
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
                for (name, meaning, summary) in rows {
                    <tr>
                        <th scope="row"><abbr title={meaning}>{ name }</abbr></th>
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

fn figures(report: &ReportView) -> [Figure; 6] {
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
    [
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
            format!("{} recomputed", count(report.tokens.recomputed)),
            "Times a running request gave its blocks back, and the tokens computed again for it",
        ),
        (
            "Tokens",
            count(report.tokens.output),
            format!("out, {} in", count(report.tokens.input)),
            "Tokens made, and tokens of the prompts",
        ),
    ]
}

fn figure((name, value, remark, meaning): Figure) -> Html {
    html! {
        <div class="figure" title={meaning}>
            <dt>{ name }</dt>
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
