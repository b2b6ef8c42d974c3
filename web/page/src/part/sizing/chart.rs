//! The sizing chart: what caches of every size would hit, where the tiers stand, and how fast they must be to pay.

use std::rc::Rc;

use tierscope_worker::protocol::{PathView, SizingView};
use yew::prelude::*;

use crate::chart::palette::Palette;
use crate::chart::sizing;
use crate::glue::dom::use_size;
use crate::part::compare::{faults, progress};
use crate::state::Action;
use crate::state::format::{count, percent};
use crate::state::jobs::{JobEvent, Jobs, Slot};

#[derive(Properties, PartialEq)]
pub(super) struct ChartProps {
    pub(super) text: Rc<str>,
    pub(super) valid: bool,
    pub(super) jobs: Jobs,
    pub(super) palette: Palette,
    pub(super) act: Callback<Action>,
}

#[component]
pub(super) fn Chart(props: &ChartProps) -> Html {
    let job = props.jobs.of(Slot::Sizing);
    let busy = job.is_some_and(|job| job.is_under_way());
    let stale = props.jobs.sizing.as_ref().is_some_and(|(text, _)| *text != props.text);
    html! {
        <section class="sizing__chart" aria-label="Sizing chart">
            <div class="compare__title">
                <h3>{ "How much cache is worth having?" }</h3>
                <button type="button" id="size" class="button button--small" disabled={busy || !props.valid}
                    onclick={props.act.reform(|_: MouseEvent| Action::Job(JobEvent::Size))}>{ "Sizing chart" }</button>
            </div>
            if let Some(job) = job {
                if busy { { progress("Trying every size", job.share(), Slot::Sizing, &props.act) } }
                if !job.problems().is_empty() { { faults(job.problems()) } }
            }
            if let Some((_, sizing)) = &props.jobs.sizing {
                if stale { <p class="sizing__stale">{ "The scenario has changed since." }</p> }
                <Drawing sizing={Rc::clone(sizing)} palette={props.palette} />
                { enough(sizing) }
                { tiers(sizing) }
                { worth(sizing) }
                { twin(sizing) }
            } else if !busy {
                <p class="compare__aspects">{ "Hit ratio over capacity: LRU, the best possible, and a cache without limits; with your tiers marked, and how fast each must be to beat computing." }</p>
            }
        </section>
    }
}

#[derive(Properties, PartialEq)]
struct DrawingProps {
    sizing: Rc<SizingView>,
    palette: Palette,
}

#[component]
fn Drawing(props: &DrawingProps) -> Html {
    let node = use_node_ref();
    let size = use_size(&node);
    let svg = use_memo((Rc::clone(&props.sizing), props.palette, *size), |(sizing, palette, size)| {
        if size.0 > 80 && size.1 > 60 {
            sizing::svg(sizing, palette, *size).unwrap_or_default()
        } else {
            String::new()
        }
    });
    html! {
        <figure class="chart sizing__figure" id="sizing-figure">
            <figcaption>
                <span class="controls__legend" aria-hidden="true">
                    <span><i class="stroke stroke--ttft" />{ "LRU" }</span>
                    <span><i class="stroke stroke--itl" />{ "best possible" }</span>
                    <span><i class="stroke stroke--e2e" />{ "speed of light" }</span>
                </span>
                <span class="visually-hidden">{ "Hit ratio by the number of blocks in the cache. The tables below have the figures." }</span>
            </figcaption>
            <div class="chart__room" ref={node} aria-hidden="true">
                <div class="chart__svg">{ Html::from_html_unchecked(AttrValue::from((*svg).clone())) }</div>
            </div>
            <p class="sizing__axis" aria-hidden="true">{ format!("blocks of {} tokens", count(props.sizing.block_tokens.into())) }</p>
        </figure>
    }
}

fn gib(sizing: &SizingView, blocks: f64) -> String {
    let gib = blocks * sizing.block_bytes / f64::from(1 << 30);
    match gib {
        _ if gib >= 100.0 => format!("{} GiB", count(gib.round() as u64)),
        _ if gib >= 1.0 => format!("{gib:.1} GiB"),
        _ => format!("{:.0} MiB", gib * 1024.0),
    }
}

/// The question that the chart is there for, answered: where more memory hardly pays any more.
fn enough(found: &SizingView) -> Html {
    let Some(point) = sizing::enough(found) else {
        return html! {
            <p id="sizing-enough">{ "No prompt block comes twice: no cache would be hit." }</p>
        };
    };
    let now = found
        .tiers
        .last()
        .map_or(String::new(), |tier| format!("; your tiers hit {}", percent(tier.cache.lru)));
    html! {
        <p id="sizing-enough">{ format!(
            "{} blocks ({}) under LRU hit {}, {} of what any cache could{now}.",
            count(point.blocks as u64), gib(found, point.blocks), percent(point.lru), percent(point.lru / found.infinite)
        ) }</p>
    }
}

fn tiers(sizing: &SizingView) -> Html {
    html! {
        <table class="table differences" id="sizing-tiers">
            <caption>{ format!(
                "Your tiers as one cache{}; without limits {} of {} prompt blocks",
                if sizing.workers > 1 { format!(" of all {} workers", sizing.workers) } else { String::new() },
                percent(sizing.infinite),
                count(sizing.distinct_blocks as u64)
            ) }</caption>
            <thead><tr><th scope="col">{ "Tiers" }</th><th scope="col">{ "Blocks" }</th><th scope="col">{ "Size" }</th>
                <th scope="col">{ "LRU" }</th><th scope="col">{ "Best" }</th></tr></thead>
            <tbody>
                for tier in &sizing.tiers {
                    <tr><th scope="row">{ tier.name.clone() }</th>
                        <td>{ count(tier.cache.blocks as u64) }</td><td>{ gib(sizing, tier.cache.blocks) }</td>
                        <td>{ percent(tier.cache.lru) }</td><td>{ percent(tier.cache.optimal) }</td></tr>
                }
                <tr><th scope="row">{ "no limit" }</th><td>{ "∞" }</td><td />
                    <td>{ percent(sizing.infinite) }</td><td>{ percent(sizing.infinite) }</td></tr>
            </tbody>
        </table>
    }
}

/// Which tiers load faster than computing.
fn worth(sizing: &SizingView) -> Html {
    let Some(needed) = sizing.break_even_gb_per_s else {
        return html! { <p class="compare__aspects" id="break-even">{ "Computing takes no time here: no tier can be faster." }</p> };
    };
    html! {
        <>
            <p class="compare__aspects" id="break-even">{ format!(
                "Break-even: {} GB/s. There loading a block takes as long as computing it ({} timing).",
                rate(needed), sizing.timing
            ) }</p>
            if !sizing.paths.is_empty() {
                <table class="table differences" id="sizing-paths">
                    <caption class="visually-hidden">{ "Rates of the ways from the tiers to G1, beside what they need" }</caption>
                    <thead><tr><th scope="col">{ "From" }</th><th scope="col">{ "GB/s to G1" }</th>
                        <th scope="col">{ "Its link" }</th><th scope="col">{ "must reach" }</th><th scope="col">{ "Pays" }</th></tr></thead>
                    <tbody>{ for sizing.paths.iter().map(|path| way(path, needed)) }</tbody>
                </table>
            }
        </>
    }
}

fn way(path: &PathView, needed: f64) -> Html {
    let (word, shape) = if path.gb_per_s > needed { ("better", "✓ yes") } else { ("worse", "✗ no") };
    html! {
        <tr data-tier={path.tier.clone()}>
            <th scope="row">{ path.tier.clone() }</th>
            <td>{ rate(path.gb_per_s) }</td>
            <td>{ format!("{} {}", path.link, rate(path.link_gb_per_s)) }</td>
            <td>{ path.link_break_even_gb_per_s.map_or_else(|| "none is enough".to_owned(), rate) }</td>
            <td><span class={format!("odds odds--{word}")}>{ shape }</span></td>
        </tr>
    }
}

fn rate(gb_per_s: f64) -> String {
    match gb_per_s {
        _ if gb_per_s >= 100.0 => format!("{gb_per_s:.0}"),
        _ if gb_per_s >= 10.0 => format!("{gb_per_s:.1}"),
        _ => format!("{gb_per_s:.2}"),
    }
}

/// The chart as a table.
fn twin(sizing: &SizingView) -> Html {
    html! {
        <details class="twin">
            <summary>{ "The curve as a table" }</summary>
            <table class="table differences" id="sizing-table">
                <thead><tr><th scope="col">{ "Blocks" }</th><th scope="col">{ "Size" }</th>
                    <th scope="col">{ "LRU" }</th><th scope="col">{ "Best" }</th></tr></thead>
                <tbody>
                    for point in &sizing.points {
                        <tr><th scope="row">{ count(point.blocks as u64) }</th><td>{ gib(sizing, point.blocks) }</td>
                            <td>{ percent(point.lru) }</td><td>{ percent(point.optimal) }</td></tr>
                    }
                </tbody>
            </table>
        </details>
    }
}
