//! The block states in words and with exact counts. It is the board's twin for those who cannot see it.
//! Below G1 the same shapes have the words of a tier that copies fill and read.

use tierscope_worker::protocol::{BlockState, Totals};
use yew::prelude::*;

use crate::state::format;

/// Whose words the states have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// G1's.
    G1,
    /// Those of the tiers below.
    Below,
}

impl Words {
    /// A state's name.
    pub(crate) fn name(self, state: BlockState) -> &'static str {
        match (self, state) {
            (Self::Below, BlockState::Reserved) => "incoming",
            (Self::Below, BlockState::Active | BlockState::Shared) => "being read",
            (Self::Below, BlockState::Cached) => "resident",
            _ => name(state),
        }
    }

    /// The states that the legend lists, in its order.
    fn order(self) -> &'static [BlockState] {
        use BlockState::{Active, Cached, Free, Reserved, Shared, SourceHold};
        match self {
            Self::G1 => &[Active, Shared, Cached, SourceHold, Reserved, Free],
            Self::Below => &[Cached, Active, Reserved, Free],
        }
    }
}

/// A state's name in G1.
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
pub(crate) fn in_words(words: Words, totals: Totals) -> String {
    let counts: Vec<String> = BlockState::ALL
        .into_iter()
        .rev()
        .filter(|&state| totals.of(state) > 0)
        .map(|state| format!("{} {}", format::count(u64::from(totals.of(state))), words.name(state)))
        .collect();
    if counts.is_empty() { "no blocks".to_owned() } else { counts.join(", ") }
}

/// The legend of a tier: a table of states and counts.
pub(crate) fn legend(tier: &'static str, words: Words, totals: Totals, per_cell: u32) -> Html {
    html! {
        <div class="legend">
            <table class="legend__table">
                <caption class="legend__caption">
                    { tier }
                    <span>{ format!(" {} blocks", format::count(u64::from(totals.capacity()))) }</span>
                    if per_cell > 1 {
                        <span>{ format!(", {} a cell", format::count(u64::from(per_cell))) }</span>
                    }
                </caption>
                <tbody>
                    for &state in words.order() {
                        <tr class="legend__row">
                            <th scope="row">
                                <i class={format!("swatch swatch--{}", class(state))} aria-hidden="true" />
                                { if state == BlockState::Shared { "shared" } else { words.name(state) } }
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
        assert_eq!(in_words(Words::G1, totals), "3 cached, 1\u{202f}000 free");
        assert_eq!(in_words(Words::Below, totals), "3 resident, 1\u{202f}000 free");
        assert_eq!(in_words(Words::G1, Totals::default()), "no blocks");
    }
}
