//! A transaction in plain words, with its numbers.

use tierscope_worker::protocol::{Transaction, TxnCaller, TxnDetail, TxnOutcome};

use super::format::{clock, count, counted};

/// For what blocks were asked.
pub fn caller(caller: TxnCaller) -> &'static str {
    match caller {
        TxnCaller::Admission => "admission",
        TxnCaller::PrefillChunk => "prefill chunk",
        TxnCaller::DecodeGrowth => "decode growth",
        TxnCaller::Speculation => "speculation",
        TxnCaller::Destination => "destination",
        TxnCaller::Onboard => "onboard",
    }
}

/// Why it came out as it did. `end_ns` is the run's end: times are written as its clock does.
pub fn reason(transaction: &Transaction, end_ns: f64) -> String {
    let detail = transaction.detail.as_ref();
    let first = match transaction.outcome {
        TxnOutcome::Ready { active_hits, cached_hits, missing, victims } => {
            ready(transaction, [active_hits, cached_hits, missing, victims])
        }
        TxnOutcome::Exhausted { needed, obtainable } => exhausted(transaction, needed, obtainable),
        TxnOutcome::Blocked { needed } => blocked(transaction, needed, end_ns),
    };
    match detail.filter(|_| transaction.retried) {
        Some(detail) => {
            format!(
                "{} in cached slots were below already, so the slots came free at once without a copy, and it tried \
                 again. {first}",
                counted(detail.released, "block", "blocks")
            )
        }
        None => first,
    }
}

fn blocks(n: u32) -> String {
    counted(n, "block", "blocks")
}

fn ready(transaction: &Transaction, [active, cached, missing, victims]: [u32; 4]) -> String {
    let request = transaction.request;
    let hits = match (active, cached) {
        (0, 0) => String::new(),
        (active, 0) => format!("finds {} that others hold", blocks(active)),
        (0, cached) => format!("finds {} cached", blocks(cached)),
        (active, cached) => {
            format!("finds {} held by others and {} cached", blocks(active), count(cached.into()))
        }
    };
    let new = match (missing, victims) {
        (0, _) => "needs no new one".to_owned(),
        (missing, 0) => format!("takes {} from free slots", blocks(missing)),
        (missing, victims) if missing == victims => {
            format!("takes {} from cached slots, whose content is evicted", blocks(missing))
        }
        (missing, victims) => format!(
            "takes {}: {} from free slots, {} from evicted blocks",
            blocks(missing),
            count((missing - victims).into()),
            count(victims.into())
        ),
    };
    let both = if hits.is_empty() { new } else { format!("{hits} and {new}") };
    let detail = transaction.detail.as_ref();
    let end = match (transaction.caller, detail) {
        (TxnCaller::Admission, Some(detail)) if !detail.admitted => {
            " It keeps them and is not admitted: a part of what it needs, held while it waits."
        }
        (TxnCaller::Admission, Some(_)) => " It is admitted.",
        _ => "",
    };
    format!("Request {request} {both}.{end}")
}

fn exhausted(transaction: &Transaction, needed: u32, obtainable: u32) -> String {
    let detail = transaction.detail.as_ref();
    let split = detail.and_then(|detail| detail.room).map_or(String::new(), |room| {
        format!(": {} free + {} cached", count(room.free.into()), count(room.cached.into()))
    });
    let numbers = format!("needs {}, {} obtainable{split}", blocks(needed), count(obtainable.into()));
    let gate = if needed <= obtainable {
        ". That would do, but it must leave more available: room for the rest of its prompt, or the watermark"
    } else {
        ""
    };
    let request = transaction.request;
    format!("Request {request} {numbers}{gate}{}", consequence(transaction, detail))
}

fn consequence(transaction: &Transaction, detail: Option<&TxnDetail>) -> String {
    let Some(detail) = detail else { return ".".to_owned() };
    let Some(gave_way) = detail.preempted else {
        return match transaction.caller {
            TxnCaller::Admission => ". Nothing changes: it stays at the head of the line.".to_owned(),
            _ => ". Nobody is preempted: it keeps its place and waits until blocks come free.".to_owned(),
        };
    };
    let released = blocks(gave_way.released);
    if gave_way.request == transaction.request {
        format!(
            "; no other running request can give way, so it is preempted itself and gives back {released}."
        )
    } else {
        format!("; the running request {} is preempted and gives back {released}.", gave_way.request)
    }
}

fn blocked(transaction: &Transaction, needed: u32, end_ns: f64) -> String {
    let request = transaction.request;
    let needs = format!("Request {request} needs {}. The slots exist", blocks(needed));
    let Some(detail) = &transaction.detail else {
        return format!("{needs}, but an offload still reads them.");
    };
    let until = detail.transfer.as_ref().map_or(String::new(), |transfer| {
        format!(
            " It waits for the end of transfer {}, expected at {}, and is not preempted.",
            transfer.transfer,
            clock(transfer.deadline_ns, end_ns)
        )
    });
    if detail.held.is_empty() {
        format!("{needs}, but a copy under way still reads them.{until}")
    } else {
        let held = counted(detail.held.len() as u32, "of them holds", "of them hold");
        format!("{needs}, but {held} evicted content that a copy to the tier below still reads.{until}")
    }
}

#[cfg(test)]
mod tests {
    use tierscope_worker::protocol::{PreemptedRequest, Room, Transfer, TxnBlock};

    use super::*;

    fn of(caller: TxnCaller, outcome: TxnOutcome, detail: Option<TxnDetail>) -> Transaction {
        Transaction { txn: 8.0, at_ns: 5e8, request: 0, caller, outcome, retried: false, detail }
    }

    fn said(caller: TxnCaller, outcome: TxnOutcome, detail: TxnDetail) -> String {
        reason(&of(caller, outcome, Some(detail)), 1e9)
    }

    #[test]
    fn exhausted_names_the_numbers_and_who_gives_way() {
        let room = Some(Room { free: 0, cached: 1 });
        let outcome = TxnOutcome::Exhausted { needed: 3, obtainable: 1 };
        let preempted = Some(PreemptedRequest { request: 3, released: 3, lost_tokens: 9 });
        let detail = TxnDetail { room, preempted, ..TxnDetail::default() };
        assert_eq!(
            said(TxnCaller::DecodeGrowth, outcome, detail.clone()),
            "Request 0 needs 3 blocks, 1 obtainable: 0 free + 1 cached; the running request 3 is preempted and gives \
             back 3 blocks."
        );
        let itself = Some(PreemptedRequest { request: 0, released: 1, lost_tokens: 9 });
        let itself = TxnDetail { preempted: itself, ..detail.clone() };
        assert!(
            said(TxnCaller::DecodeGrowth, outcome, itself)
                .ends_with("preempted itself and gives back 1 block.")
        );
        let nobody = TxnDetail { preempted: None, ..detail };
        assert!(
            said(TxnCaller::Admission, outcome, nobody.clone())
                .ends_with("it stays at the head of the line.")
        );
        assert!(said(TxnCaller::PrefillChunk, outcome, nobody).contains("Nobody is preempted"));
    }

    #[test]
    fn a_gate_is_not_called_a_want_of_blocks() {
        let outcome = TxnOutcome::Exhausted { needed: 1, obtainable: 2 };
        assert!(said(TxnCaller::Admission, outcome, TxnDetail::default()).contains("the watermark"));
    }

    #[test]
    fn ready_tells_hits_free_slots_and_victims() {
        let ready = |active_hits, cached_hits, missing, victims| TxnOutcome::Ready {
            active_hits,
            cached_hits,
            missing,
            victims,
        };
        let words = |outcome| reason(&of(TxnCaller::DecodeGrowth, outcome, None), 1e9);
        assert_eq!(words(ready(0, 0, 1, 0)), "Request 0 takes 1 block from free slots.");
        assert_eq!(
            words(ready(2, 1, 5, 3)),
            "Request 0 finds 2 blocks held by others and 1 cached and takes 5 blocks: 2 from free slots, 3 from \
             evicted blocks."
        );
        assert_eq!(words(ready(0, 2, 0, 0)), "Request 0 finds 2 blocks cached and needs no new one.");
        let part = said(TxnCaller::Admission, ready(0, 0, 9, 0), TxnDetail::default());
        assert!(part.contains("is not admitted"), "{part}");
    }

    #[test]
    fn blocked_and_retried_name_the_copy() {
        let transfer = Some(Transfer { transfer: 4.0, deadline_ns: 120e6, story: None });
        let held = vec![TxnBlock { slot: 1, hash: None }];
        let detail = TxnDetail { transfer, held, ..TxnDetail::default() };
        let words = said(TxnCaller::Admission, TxnOutcome::Blocked { needed: 6 }, detail);
        assert!(
            words.contains("1 of them holds evicted content")
                && words.contains("transfer 4, expected at 0.120 s"),
            "{words}"
        );
        let again = TxnDetail { released: 4, admitted: true, ..TxnDetail::default() };
        let outcome = TxnOutcome::Ready { active_hits: 0, cached_hits: 0, missing: 4, victims: 0 };
        let again = Transaction { retried: true, ..of(TxnCaller::Admission, outcome, Some(again)) };
        assert!(reason(&again, 1e9).starts_with("4 blocks in cached slots were below already"));
    }
}
