//! The block states in words and with exact counts. It is the board's twin for those who cannot see it.

use tierscope_worker::protocol::{BlockState, Totals};
use yew::prelude::*;

use crate::state::format;

/// A state's name.
pub(crate) fn name(state: BlockState) -> &'static str {
    match state {
        BlockState::Free => "free",
        BlockState::Reserved => "reserved",
        BlockState::Active => "active",
        BlockState::Shared => "active, shared",
        BlockState::Cached => "cached",
        BlockState::SourceHold => "source hold",
    }
}

/// The state of a cell that holds one block.
pub(crate) fn state_of(totals: Totals) -> Option<BlockState> {
    BlockState::ALL.into_iter().find(|&state| totals.of(state) > 0)
}

/// All counts in one phrase; states without blocks are left out.
pub(crate) fn in_words(totals: Totals) -> String {
    let counts: Vec<String> = BlockState::ALL
        .into_iter()
        .rev()
        .filter(|&state| totals.of(state) > 0)
        .map(|state| format!("{} {}", format::count(u64::from(totals.of(state))), name(state)))
        .collect();
    if counts.is_empty() { "no blocks".to_owned() } else { counts.join(", ") }
}

/// The legend: a table of states and counts.
pub(crate) fn legend(totals: Totals, per_cell: u32) -> Html {
    let order = [
        BlockState::Active,
        BlockState::Shared,
        BlockState::Cached,
        BlockState::SourceHold,
        BlockState::Reserved,
        BlockState::Free,
    ];
    html! {
        <div class="legend">
            <table class="legend__table">
                <caption class="legend__caption">
                    { "G1" }
                    <span>{ format!(" {} blocks", format::count(u64::from(totals.capacity()))) }</span>
                    if per_cell > 1 {
                        <span>{ format!(", {} a cell", format::count(u64::from(per_cell))) }</span>
                    }
                </caption>
                <tbody>
                    for state in order {
                        <tr class="legend__row">
                            <th scope="row">
                                <i class={format!("swatch swatch--{}", class(state))} aria-hidden="true" />
                                { if state == BlockState::Shared { "shared" } else { name(state) } }
                            </th>
                            <td data-state={class(state)}>{ format::count(u64::from(totals.of(state))) }</td>
                        </tr>
                    }
                </tbody>
            </table>
        </div>
    }
}

fn class(state: BlockState) -> &'static str {
    match state {
        BlockState::Free => "free",
        BlockState::Reserved => "reserved",
        BlockState::Active => "active",
        BlockState::Shared => "shared",
        BlockState::Cached => "cached",
        BlockState::SourceHold => "source-hold",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_there_is_named() {
        let totals = Totals { free: 1_000, cached: 3, ..Totals::default() };
        assert_eq!(in_words(totals), "3 cached, 1\u{202f}000 free");
        assert_eq!(in_words(Totals::default()), "no blocks");
    }
}
