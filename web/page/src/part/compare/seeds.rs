//! Both sides over several seeds: medians, paired differences, and how sure they are.

use tierscope_worker::protocol::{MetricUnit, MetricView, SpreadView};
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use crate::part::compare::{faults, progress};
use crate::state::Action;
use crate::state::differences::{by, signed};
use crate::state::format::{count, counted, percent, rate, time};
use crate::state::jobs::{JobEvent, Jobs, Slot, Standing};

#[derive(Properties, PartialEq)]
pub(super) struct SeedsProps {
    pub(super) jobs: Jobs,
    pub(super) ready: bool,
    /// A was driven.
    pub(super) driven: bool,
    pub(super) act: Callback<Action>,
}

const COUNTS: [u32; 3] = [5, 10, 20];

#[component]
pub(super) fn Seeds(props: &SeedsProps) -> Html {
    let chosen = use_state_eq(|| COUNTS[1]);
    let onchange = {
        let chosen = chosen.clone();
        Callback::from(move |event: Event| {
            let select: HtmlSelectElement = event.target_unchecked_into();
            chosen.set(select.value().parse().unwrap_or(COUNTS[1]));
        })
    };
    if props.driven {
        return html! {
            <p class="compare__aspects" id="no-seeds">{ "A was driven once, with one seed: what real tiers would have done with others, nobody told." }</p>
        };
    }
    let seeds = *chosen;
    let job = props.jobs.of(Slot::Seeds);
    let busy = job.is_some_and(|job| job.is_under_way());
    html! {
        <section class="seeds" aria-label="Several seeds">
            <h3>{ "Several seeds" }</h3>
            <p class="compare__aspects">{ "Is the difference more than chance? Both sides are run with the same seeds, and compared pair by pair." }</p>
            <div class="compare__buttons">
                <label>{ "Seeds 1 to " }
                    <select id="seed-count" class="select select--small" {onchange}>
                        for n in COUNTS { <option value={n.to_string()} selected={n == seeds}>{ n }</option> }
                    </select></label>
                <button type="button" id="run-seeds" class="button button--small" disabled={busy || !props.ready}
                    onclick={props.act.reform(move |_: MouseEvent| Action::Job(JobEvent::Seeds(seeds)))}>{ "Run both" }</button>
            </div>
            if let Some(job) = job {
                if job.is_under_way() {
                    { progress(&format!("{} of {} pairs", job.progress().0, job.progress().1), job.share(), Slot::Seeds, &props.act) }
                }
                if job.standing == Standing::Cancelled { <p class="empty">{ "Stopped." }</p> }
                if !job.problems().is_empty() { { faults(job.problems()) } }
            }
            if let Some(spread) = &props.jobs.spread { { table(spread) } }
        </section>
    }
}

fn table(spread: &SpreadView) -> Html {
    let differing: Vec<&MetricView> = spread.metrics.iter().filter(|metric| !metric.same).collect();
    if differing.is_empty() {
        return html! {
            <p id="without-difference">{ "None of the metrics differs, at any of the seeds." }</p>
        };
    }
    let pairs = counted(spread.pairs, "seed", "seeds");
    html! {
        <>
            if spread.without_chance {
                <p id="without-chance">{ "Every seed gives the same two runs: nothing is drawn. One pair stands for all of them." }</p>
            }
            if spread.other_work > 0 {
                <p>{ format!("At {} of the seeds the two sides had different requests.", spread.other_work) }</p>
            }
            <table class="table differences" id="spread">
                <caption>{ format!("Medians over {pairs}; the difference with its 95 % interval") }</caption>
                <thead><tr><th scope="col"><span class="visually-hidden">{ "Metric" }</span></th>
                    <th scope="col">{ "A" }</th><th scope="col">{ "B" }</th>
                    <th scope="col">{ "B − A" }</th><th scope="col">{ "By A" }</th></tr></thead>
                <tbody>{ for differing.iter().copied().map(row) }</tbody>
            </table>
            <p class="compare__aspects">{ "sure: the interval leaves out zero. unsure: it may be chance." }</p>
        </>
    }
}

fn row(metric: &MetricView) -> Html {
    let print = |value: f64| shown(value, metric.unit);
    let [a, b] = metric.medians.map(print);
    let difference = match metric.unit {
        MetricUnit::Share => format!("{} pt", signed(metric.difference * 100.0, |it| format!("{it:.1}"))),
        _ => signed(metric.difference, print),
    };
    let word = if metric.stands_out { "sure" } else { "unsure" };
    html! {
        <tr data-line={metric.name.clone()} class={format!("spread--{word}")}>
            <th scope="row">{ metric.name.clone() }</th>
            <td>{ a }</td><td>{ b }</td>
            <td>{ difference }
                if let Some([low, high]) = metric.interval {
                    <small>{ ends(low, high, metric.unit) }</small>
                }
            </td>
            <td>{ by(metric.medians[0], metric.difference) }
                if metric.interval.is_some() {
                    <small class={format!("spread__word spread__word--{word}")}>{ word }</small>
                }
            </td>
        </tr>
    }
}

/// Both ends of an interval, the unit once where it is the same.
fn ends(low: f64, high: f64, unit: MetricUnit) -> String {
    let [from, to] = [low, high].map(|end| signed(end, |value| shown(value, unit)));
    match from.rsplit_once(' ').zip(to.rsplit_once(' ')) {
        Some(((number, one), (_, other))) if one == other => format!("{number} … {to}"),
        _ => format!("{from} … {to}"),
    }
}

fn shown(value: f64, unit: MetricUnit) -> String {
    match unit {
        MetricUnit::Ns => time(value),
        MetricUnit::PerSecond => format!("{}/s", rate(value)),
        MetricUnit::Share => percent(value),
        MetricUnit::Count if value.fract() == 0.0 => count(value as u64),
        MetricUnit::Count => format!("{value:.1}"),
    }
}
