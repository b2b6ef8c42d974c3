//! A block's content in words: where it is, and what happened to it.

use tierscope_worker::protocol::{BlockState, BlockWhat, Resident};

use super::super::moves::lane;
use super::super::selection::Selection;
use super::{Piece, transfer};

/// Where a content is.
pub fn here(resident: &Resident) -> Vec<Piece> {
    let mut said: Vec<Piece> = vec![format!("{} slot {}", resident.tier.as_str(), resident.slot).into()];
    if let Some(worker) = resident.worker.filter(|_| resident.owners.is_empty()) {
        said.push(" of ".into());
        said.push(Selection::Worker(worker).into());
    }
    let state = match (resident.state, resident.owners.is_empty()) {
        (BlockState::Cached, _) => ": cached, held by nobody",
        (BlockState::SourceHold, _) => ": evicted, still read by a copy",
        (BlockState::Reserved, _) => ": on its way in",
        (_, true) => ": read by a copy",
        (_, false) => ": held by ",
    };
    said.push(state.into());
    said.extend(list(resident.owners.iter().map(|&owner| Selection::Request(owner))));
    said
}

/// Names, with commas between them; of many the first.
fn list(names: impl ExactSizeIterator<Item = Selection>) -> Vec<Piece> {
    const SHOWN: usize = 6;
    let more = names.len().saturating_sub(SHOWN);
    let mut said = Vec::new();
    for (place, name) in names.take(SHOWN).enumerate() {
        if place > 0 {
            said.push(", ".into());
        }
        said.push(name.into());
    }
    if more > 0 {
        said.push(format!(" and {more} more").into());
    }
    said
}

/// What happened, as a sentence without its time.
pub fn event(what: BlockWhat) -> Vec<Piece> {
    let request = |number: u32| Piece::Pick(Selection::Request(number));
    match what {
        BlockWhat::Stored { request: by } => vec!["stored in G1 by ".into(), request(by)],
        BlockWhat::Hit { request: by } => vec!["hit by ".into(), request(by)],
        BlockWhat::Released { request: by, last: true } => {
            vec!["released by ".into(), request(by), ", its last holder: cached".into()]
        }
        BlockWhat::Released { request: by, last: false } => vec!["released by ".into(), request(by)],
        BlockWhat::Leased { request: of } => vec!["kept for the follower of ".into(), request(of)],
        BlockWhat::Held { request: of } => vec!["held for the worker that goes on with ".into(), request(of)],
        BlockWhat::Claimed => vec!["came with a claim: stored in G1".into()],
        BlockWhat::Evicted => vec!["evicted from G1".into()],
        BlockWhat::Queued { transfer: by, from, to } => {
            vec![format!("queued for {} as ", lane(from, to)).into(), transfer(by).into()]
        }
        BlockWhat::Started { transfer: by, from, to } => {
            vec![format!("on its way {}, ", lane(from, to)).into(), transfer(by).into()]
        }
        BlockWhat::Ended { transfer: by, to, failed, .. } => {
            let end = if failed { "did not reach" } else { "copied to" };
            vec![format!("{end} {}, ", to.as_str()).into(), transfer(by).into()]
        }
        BlockWhat::StoredBelow { tier } => vec![format!("resident in {}", tier.as_str()).into()],
        BlockWhat::RemovedBelow { tier } => vec![format!("removed from {}", tier.as_str()).into()],
    }
}

#[cfg(test)]
mod tests {
    use tierscope_worker::protocol::TierName;

    use super::super::plain;
    use super::*;

    #[test]
    fn events_name_who_and_where() {
        let said = |what| plain(&event(what));
        assert_eq!(said(BlockWhat::Hit { request: 3 }), "hit by request 3");
        assert_eq!(
            said(BlockWhat::Released { request: 3, last: true }),
            "released by request 3, its last holder: cached"
        );
        let down = BlockWhat::Started { transfer: 5.0, from: TierName::G1, to: TierName::G2 };
        assert_eq!(said(down), "on its way G1→G2, transfer 5");
        let failed = BlockWhat::Ended { transfer: 5.0, from: TierName::G1, to: TierName::G2, failed: true };
        assert_eq!(said(failed), "did not reach G2, transfer 5");
    }

    #[test]
    fn a_place_names_its_holders() {
        let resident = |state, owners: &[u32]| Resident {
            tier: TierName::G1,
            worker: Some(0),
            slot: 7,
            state,
            owners: owners.to_vec(),
        };
        let said = |resident: &Resident| plain(&here(resident));
        assert_eq!(said(&resident(BlockState::Shared, &[1, 2])), "G1 slot 7: held by request 1, request 2");
        assert_eq!(said(&resident(BlockState::Cached, &[])), "G1 slot 7 of worker 0: cached, held by nobody");
    }
}
