//! A copy between tiers: its lane, its phases and their times, whom it concerns, what it carries.

use tierscope_worker::protocol::{CopyView, TransferTold};
use yew::prelude::*;

use super::{View, facts};
use crate::state::format::{count, counted, time};
use crate::state::moves;
use crate::state::picked::{block, concerned};

pub(super) fn transfer(told: &TransferTold, view: &View<'_>) -> Html {
    let copy = &told.copy;
    let concerned = concerned(copy);
    html! {
        <>
            <p class="picked__first" id="picked-reason">{ standing(copy, view.at_ns) }{ " " }{ moves::story(copy, view.end_ns) }</p>
            { facts(vec![
                ("Lane", html! { { moves::lane(copy.from, copy.to) } }),
                ("Blocks", html! { { count(copy.blocks.into()) } }),
                ("Why", html! { { moves::cause_word(copy.cause) } }),
                ("Who waits", if concerned.is_empty() { html! { { "nobody" } } } else { view.names(concerned) }),
            ]) }
            <h3>{ "Its phases" }</h3>
            <ol class="picked__list" id="picked-phases">{ for phases(copy).into_iter().map(|(at_ns, words)| html! {
                <li>{ view.time(at_ns) }<span>{ words }</span></li>
            }) }</ol>
            { blocks(told, view) }
        </>
    }
}

/// How it stands at the cursor.
fn standing(copy: &CopyView, at_ns: f64) -> String {
    if copy.queued_ns > at_ns {
        return "Not queued yet.".to_owned();
    }
    if copy.ended_ns.is_some_and(|ended| ended <= at_ns) {
        return "Over.".to_owned();
    }
    match copy.progress(at_ns).filter(|_| copy.is_moving(at_ns)) {
        Some(share) => format!("Under way, {:.0} %.", share * 100.0),
        None if copy.is_moving(at_ns) => "Under way.".to_owned(),
        None => "Queued.".to_owned(),
    }
}

fn phases(copy: &CopyView) -> Vec<(f64, String)> {
    let mut phases = Vec::new();
    let begun = copy.started_ns.or(copy.ended_ns);
    let waited = begun.map(|begun| begun - copy.queued_ns).filter(|&waited| waited > 0.0);
    let waited = waited.map_or(String::new(), |waited| format!(" for {}", time(waited)));
    phases.push((copy.queued_ns, format!("queued{waited}")));
    if let Some(started) = copy.started_ns {
        let took = copy.ended_ns.map_or(String::new(), |ended| format!(" for {}", time(ended - started)));
        let again = if copy.retries > 0 {
            format!(", tried again {}", counted(copy.retries, "time", "times"))
        } else {
            String::new()
        };
        phases.push((started, format!("in flight{took}{again}")));
    }
    if let Some(ended) = copy.ended_ns {
        let how = match &copy.end {
            Some(tierscope_worker::protocol::CopyOutcome::Failed(why)) => {
                format!("failed: {}", why.replace('_', " "))
            }
            Some(tierscope_worker::protocol::CopyOutcome::Cancelled) => "given up".to_owned(),
            _ => "settled: its blocks are where they were to go".to_owned(),
        };
        phases.push((ended, how));
    }
    phases
}

fn blocks(told: &TransferTold, view: &View<'_>) -> Html {
    if told.hashes.is_empty() {
        return html!();
    }
    html! {
        <details class="picked__more">
            <summary>{ format!("Its blocks ({} shown)", told.hashes.len()) }</summary>
            <p class="picked__names">{ view.names(told.hashes.iter().filter_map(|hash| block(hash))) }</p>
        </details>
    }
}

#[cfg(test)]
mod tests {
    use tierscope_worker::protocol::{CopyCause, CopyOutcome, TierName};

    use super::*;

    #[test]
    fn a_copy_has_a_phase_at_each_time() {
        let copy = CopyView {
            transfer: 5.0,
            from: TierName::G2,
            to: TierName::G1,
            cause: CopyCause::Wanted,
            request: Some(4),
            blocks: 3,
            queued_ns: 10.0,
            started_ns: Some(20.0),
            ended_ns: Some(40.0),
            end: Some(CopyOutcome::Completed),
            retries: 0,
            waiting: Vec::new(),
        };
        let said = [5.0, 10.0, 30.0, 40.0].map(|at| standing(&copy, at));
        assert_eq!(said, ["Not queued yet.", "Queued.", "Under way, 50 %.", "Over."]);
        assert_eq!(phases(&copy).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [10.0, 20.0, 40.0]);
    }
}
