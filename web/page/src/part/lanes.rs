//! The lanes beside a tier: what is queued, what moves and how far it is, what came of it, and the link's use.

use tierscope_worker::protocol::{Board, CopyView, LaneView, TierName};
use yew::prelude::*;

use crate::state::format::{count, counted, percent};
use crate::state::moves;

/// Marks on one lane; the counts say how many there are.
const MARKS_SHOWN: usize = 12;

/// The lanes that join `tier` to the tier above it.
pub(crate) fn lanes(board: &Board, tier: TierName) -> Html {
    let beside = board.lanes.iter().filter(|lane| lane.from.max(lane.to) == tier);
    html! {
        <ul class="lanes" aria-label={format!("Lanes beside {}", tier.as_str())}>
            { for beside.map(|lane| one(board, lane)) }
        </ul>
    }
}

fn one(board: &Board, lane: &LaneView) -> Html {
    let name = moves::lane(lane.from, lane.to);
    let key = format!("{}-{}", lane.from.as_str(), lane.to.as_str());
    let busy = if lane.in_flight > 0 { "lane lane--busy" } else { "lane" };
    html! {
        <li class={busy} data-lane={key}>
            <span class="lane__name">{ name }</span>
            <span class="lane__track" aria-hidden="true">{ for marks(board, lane) }</span>
            <span class="lane__counts" title={in_full(lane, board.at_ns)}>
                { number("queued", lane.queued.into(), "queued") }
                { number("moving", lane.in_flight.into(), "moving") }
                if lane.in_flight > 0 {
                    <span>{ format!("({})", counted(lane.moving_blocks, "block", "blocks")) }</span>
                }
                { number("completed", lane.completed as u64, "done") }
                if lane.failed > 0.0 {
                    <span class="lane__failed">{ number("failed", lane.failed as u64, "failed") }</span>
                }
                <span class="lane__use" data-count="use">{ moves::link_use(lane) }</span>
            </span>
        </li>
    }
}

fn number(what: &'static str, n: u64, word: &'static str) -> Html {
    html! {
        <span><b data-count={what}>{ count(n) }</b>{ format!(" {word}") }</span>
    }
}

/// Every phase, for those who point at the lane.
fn in_full(lane: &LaneView, at_ns: f64) -> String {
    format!(
        "{} queued, {} starting, {} in flight, {} settling, of {} at once; {} completed, {} failed, {} cancelled; {} \
         moved, its link in use {} of the time so far",
        lane.queued,
        lane.starting,
        lane.in_flight,
        lane.settling,
        lane.permits,
        count(lane.completed as u64),
        count(lane.failed as u64),
        count(lane.cancelled as u64),
        moves::bytes(lane.moved_bytes),
        percent(lane.busy_ns / at_ns.max(1.0))
    )
}

/// A mark for each copy under way, as far along as it is at the cursor.
fn marks<'a>(board: &'a Board, lane: &'a LaneView) -> impl Iterator<Item = Html> + 'a {
    let on_it =
        |copy: &&CopyView| (copy.from, copy.to) == (lane.from, lane.to) && copy.is_moving(board.at_ns);
    board.copies.iter().filter(on_it).take(MARKS_SHOWN).map(|copy| {
        let known = copy.progress(board.asked_ns);
        let class = if known.is_some() { "lane__mark" } else { "lane__mark lane__mark--unknown" };
        let style = format!("left:{:.1}%", known.unwrap_or(0.5) * 100.0);
        html! { <i key={copy.transfer.to_string()} {class} {style} /> }
    })
}
