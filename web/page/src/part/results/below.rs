//! Tiers and lanes in numbers, where something lies below G1.

use yew::prelude::*;

use crate::part::term::Term;
use crate::state::format::{count, percent, time};
use crate::state::glossary::word;
use crate::state::moves::bytes;
use crate::state::report::{Lane, Loads, ReportView, Tier};

/// The tables of tiers and lanes, and a line about loads.
pub(super) fn tables(report: &ReportView) -> Html {
    if report.tiers.len() < 2 {
        return html!();
    }
    html! {
        <div class="tiers">
            { tiers(report) }
            if !report.lanes.is_empty() {
                { lanes(report) }
            }
            if let Some(loads) = report.loads {
                <p class="tiers__loads" id="loads-result">{ in_words(loads) }</p>
            }
        </div>
    }
}

fn tiers(report: &ReportView) -> Html {
    let hits = &report.hit_ratio.first_admission;
    let row = |(key, tier): (&String, &Tier)| {
        let resident = tier.resident_max.map_or("–".to_owned(), |blocks| count(blocks.into()));
        html! {
            <tr data-tier={key.clone()}>
                <th scope="row">
                    if let Some(word) = word(key) {
                        <Term word={word.key} place="tiers" />
                    } else {
                        { key.to_uppercase() }
                    }
                </th>
                <td>{ count(tier.capacity_blocks.into()) }</td>
                <td>{ resident }</td>
                <td>{ count(tier.stored) }</td>
                <td>{ count(tier.removed) }</td>
                <td>{ hits.of(key).map_or("–".to_owned(), percent) }</td>
            </tr>
        }
    };
    html! {
        <table class="table latencies" id="tiers-result">
            <caption class="visually-hidden">{ "Tiers, in blocks" }</caption>
            <thead>
                <tr>
                    <th scope="col">{ "Tier" }</th>
                    <th scope="col">{ "Blocks" }</th>
                    <th scope="col"><abbr title="Most matchable blocks at once">{ "Most" }</abbr></th>
                    <th scope="col">{ "Stored" }</th>
                    <th scope="col">{ "Removed" }</th>
                    <th scope="col"><abbr title="Prompt tokens found there at first admission">{ "Hits" }</abbr></th>
                </tr>
            </thead>
            <tbody>{ for report.tiers.iter().map(row) }</tbody>
        </table>
    }
}

fn lanes(report: &ReportView) -> Html {
    let row = |(key, lane): (&String, &Lane)| {
        let summary = |count: u64, ns: f64| if count == 0 { "–".to_owned() } else { time(ns) };
        let ends = format!(
            "{} completed, {} failed, {} cancelled",
            count(lane.completed),
            count(lane.failed),
            count(lane.cancelled)
        );
        html! {
            <tr data-lane={key.clone()}>
                <th scope="row">{ key.to_uppercase().replace('_', "→") }</th>
                <td title={ends}>{ count(lane.batches) }</td>
                <td>{ count(lane.failed) }</td>
                <td>{ bytes(lane.bytes) }</td>
                <td>{ percent(lane.utilisation) }</td>
                <td>{ summary(lane.queue_wait_ns.count, lane.queue_wait_ns.p50) }</td>
                <td>{ summary(lane.copy_ns.count, lane.copy_ns.p50) }</td>
            </tr>
        }
    };
    html! {
        <table class="table latencies" id="lanes-result">
            <caption class="visually-hidden">{ "Lanes between tiers" }</caption>
            <thead>
                <tr>
                    <th scope="col">{ "Lane" }</th>
                    <th scope="col">{ "Batches" }</th>
                    <th scope="col">{ "Failed" }</th>
                    <th scope="col">{ "Copied" }</th>
                    <th scope="col"><abbr title="Share of the run with a copy under way">{ "Busy" }</abbr></th>
                    <th scope="col"><abbr title="Median time in the queue">{ "Wait" }</abbr></th>
                    <th scope="col"><abbr title="Median time of a copy">{ "Copy" }</abbr></th>
                </tr>
            </thead>
            <tbody>{ for report.lanes.iter().map(row) }</tbody>
        </table>
    }
}

fn in_words(loads: Loads) -> String {
    format!(
        "{} loads: {} blocks loaded instead of computed, {} that did not come. Waits for another's copy: {}. Blocked on \
         an offload: {}.",
        count(loads.started),
        count(loads.loaded_blocks),
        count(loads.failed_blocks),
        count(loads.waits_for_copy),
        count(loads.blocked_on_offload)
    )
}
