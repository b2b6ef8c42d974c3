//! A request in words: what it is in, why it waits, and how its life went.

use tierscope_worker::protocol::{CensusRow, LifePhase, LifeSpan, RequestTold, Transaction, TxnOutcome, Why};

use super::super::format::{clock, counted, time};
use super::super::moves::lane;
use super::super::selection::Selection;
use super::{Piece, transfer};

/// A phase in a word or two.
pub fn phase(phase: LifePhase) -> &'static str {
    match phase {
        LifePhase::AtRouter => "at the router",
        LifePhase::Waiting => "waiting",
        LifePhase::Blocked => "blocked",
        LifePhase::Loading => "loading",
        LifePhase::Loaded => "loaded, waiting",
        LifePhase::Prefill => "prefill",
        LifePhase::Decode => "decode",
        LifePhase::Preempted => "preempted",
        LifePhase::Handoff => "handed on",
        LifePhase::Finished => "finished",
        LifePhase::Cancelled => "cancelled",
        LifePhase::Rejected => "refused",
    }
}

/// A part of a life: how long it lasted, and for what it waited.
pub fn life(span: &LifeSpan, end_ns: f64) -> Vec<Piece> {
    let mut said: Vec<Piece> = vec![phase(span.phase).into()];
    match span.until_ns {
        Some(until) if until > span.from_ns => {
            said.push(format!(" for {}", time(until - span.from_ns)).into())
        }
        Some(_) => {}
        None => said.push(format!(" until the run stopped, {}", time(end_ns - span.from_ns)).into()),
    }
    if let Some(by) = span.transfer {
        said.push(", waits for ".into());
        said.push(transfer(by).into());
    }
    said
}

/// The first line: what it does at a time, or why it does not.
pub fn first_line(told: &RequestTold, at_ns: f64, end_ns: f64) -> Vec<Piece> {
    let Some(row) = told.rows.first() else { return outside(told, at_ns, end_ns) };
    match row.phase.as_str() {
        "not arrived" => {
            vec![format!("Has not arrived: {}.", row.wakeup.as_deref().unwrap_or("nothing starts it")).into()]
        }
        "prefill" | "decode" if row.transfer.is_none() => vec![running(told, row).into()],
        _ => waiting(told, row, end_ns),
    }
}

fn outside(told: &RequestTold, at_ns: f64, end_ns: f64) -> Vec<Piece> {
    let last = told.spans.last();
    let words = match (told.arrived_ns, told.ended_ns) {
        (_, Some(ended)) if ended <= at_ns => {
            let how = last.map_or("ended", |span| phase(span.phase));
            let took = told
                .arrived_ns
                .map_or(String::new(), |arrived| format!(", {} after it arrived", time(ended - arrived)));
            format!("Is {how} since {}{took}.", clock(ended, end_ns))
        }
        (Some(arrived), _) if arrived > at_ns => {
            format!("Has not arrived: it comes at {}.", clock(arrived, end_ns))
        }
        (None, _) => "Has not arrived, and does not until the run stops.".to_owned(),
        _ => "Is between two workers.".to_owned(),
    };
    vec![words.into()]
}

fn running(told: &RequestTold, row: &CensusRow) -> String {
    if row.phase == "prefill" {
        return format!("Computes its prompt of {}.", counted(told.prompt_tokens, "token", "tokens"));
    }
    let made = told.made_tokens.unwrap_or_default();
    format!("Generates: {} of {} so far.", made, counted(told.output_tokens, "token", "tokens"))
}

fn waiting(told: &RequestTold, row: &CensusRow, end_ns: f64) -> Vec<Piece> {
    let lacks = row.needed_blocks.saturating_sub(row.held_blocks);
    let mut said = Vec::new();
    if let Some(why) = &told.why {
        said = because(why, row, lacks, end_ns);
    }
    if said.is_empty() {
        let wakeup = row.wakeup.as_deref().map_or(String::new(), |wakeup| format!(" Wakes on {wakeup}."));
        said.push(format!("Waits: {}.{wakeup}", row.phase).into());
    }
    if row.wakeup.is_none() {
        said.push(" Nothing will wake it.".into());
    }
    said
}

fn because(why: &Why, row: &CensusRow, lacks: u32, end_ns: f64) -> Vec<Piece> {
    if let Some((number, deadline)) = why.until {
        return for_copy(why, row, (number, deadline), lacks, end_ns);
    }
    if let Some(cycle) = &why.cycle {
        return vec![format!("{}.", upper(cycle)).into()];
    }
    if let Some(refused) = &why.refused {
        let mut said: Vec<Piece> = vec![refusal(refused).into()];
        said.push(behind(why));
        if let Some(head) = why.head {
            said.extend([Selection::Request(head).into(), ".".into()]);
        }
        return said;
    }
    if let Some(head) = why.head {
        let before = counted(why.ahead, "request is", "requests are");
        let mut said: Vec<Piece> = vec!["Waits in the line behind ".into(), Selection::Request(head).into()];
        said.push(format!(": {before} before it").into());
        if let Some(refused) = &why.head_refused {
            said.push(
                format!(", and {}", lower(&refusal(refused)).replacen("needs", "the first needs", 1)).into(),
            );
        } else {
            said.push(".".into());
        }
        if why.running >= why.running_max {
            said.push(full(why).into());
        }
        return said;
    }
    if why.running >= why.running_max {
        return vec!["Waits at the head of the line.".into(), full(why).into()];
    }
    if lacks > 0 {
        let lacks = counted(lacks, "block", "blocks");
        return vec![format!("Waits at the head of the line: it lacks {lacks}.").into()];
    }
    Vec::new()
}

fn full(why: &Why) -> String {
    format!(" The batch is full: {} of {} run.", why.running, why.running_max)
}

fn behind(why: &Why) -> Piece {
    if why.head.is_none() { "".into() } else { " It stands behind ".into() }
}

fn upper(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn lower(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// What an acquire that came to nothing lacked.
fn refusal(refused: &Transaction) -> String {
    match refused.outcome {
        TxnOutcome::Exhausted { needed, obtainable } if needed > obtainable => format!(
            "Needs {}, and {} can be had: running requests hold the others.",
            counted(needed, "block", "blocks"),
            if obtainable == 0 { "none".to_owned() } else { format!("only {obtainable}") }
        ),
        TxnOutcome::Exhausted { needed, .. } => format!(
            "Needs {} now, and room for the rest of its prompt and the watermark besides.",
            counted(needed, "block", "blocks")
        ),
        TxnOutcome::Blocked { needed } => {
            format!("Needs {}, whose slots a copy still reads.", counted(needed, "block", "blocks"))
        }
        TxnOutcome::Ready { .. } => String::new(),
    }
}

fn for_copy(
    why: &Why,
    row: &CensusRow,
    (number, deadline): (f64, f64),
    lacks: u32,
    end_ns: f64,
) -> Vec<Piece> {
    let mut said: Vec<Piece> = vec!["Waits for ".into(), transfer(number).into()];
    if let Some(copy) = &why.copy {
        let blocks = counted(copy.blocks, "block", "blocks");
        said.push(format!(" ({}, {blocks})", lane(copy.from, copy.to)).into());
    }
    if deadline > 0.0 {
        let what = if row.phase == "loading" { "all of the load" } else { "its end" };
        said.push(format!(", {what} expected at {}", clock(deadline, end_ns)).into());
    }
    // What is being loaded has its slots: how many lie elsewhere still is the copies' to say.
    let missing = if lacks > 0 && row.phase != "loading" {
        format!("; {} missing, because ", counted(lacks, "block is", "blocks are"))
    } else {
        ", because ".to_owned()
    };
    let cause = match (&why.refused, row.phase.as_str()) {
        (_, "loading") => "its content is on its way into G1.".to_owned(),
        (Some(Transaction { outcome: TxnOutcome::Blocked { needed }, .. }), _) => format!(
            "of the {needed} that it needs some slots hold evicted content that the copy still reads."
        ),
        _ => match why.copy.as_ref().and_then(|copy| copy.request) {
            Some(_) => "content that it wants is on its way for another request.".to_owned(),
            None => "slots or content that it wants are the copy's until it ends.".to_owned(),
        },
    };
    said.push(format!("{missing}{cause}").into());
    said
}

#[cfg(test)]
mod tests {
    use tierscope_worker::protocol::{CopyCause, CopyView, TierName, TxnCaller};

    use super::super::plain;
    use super::*;

    fn row(phase: &str, wakeup: Option<&str>) -> CensusRow {
        CensusRow {
            request: 1,
            phase: phase.to_owned(),
            owner: "worker 0".to_owned(),
            wakeup: wakeup.map(str::to_owned),
            held_blocks: 2,
            needed_blocks: 5,
            transfer: None,
        }
    }

    fn refused(outcome: TxnOutcome) -> Option<Transaction> {
        let caller = TxnCaller::Admission;
        Some(Transaction { txn: 8.0, at_ns: 5e8, request: 1, caller, outcome, retried: false, detail: None })
    }

    fn said(row: CensusRow, why: Option<Why>) -> String {
        let told = RequestTold { request: 1, rows: vec![row], why, ..RequestTold::default() };
        plain(&first_line(&told, 5e8, 1e9))
    }

    #[test]
    fn a_wait_for_a_copy_names_it_its_lane_and_its_end() {
        let copy = CopyView {
            transfer: 5.0,
            from: TierName::G1,
            to: TierName::G2,
            cause: CopyCause::Evicted,
            request: None,
            blocks: 12,
            queued_ns: 1e8,
            started_ns: Some(1e8),
            ended_ns: None,
            end: None,
            retries: 0,
            waiting: vec![1],
        };
        let why = Why {
            refused: refused(TxnOutcome::Blocked { needed: 6 }),
            copy: Some(copy),
            until: Some((5.0, 5.2e8)),
            ..Why::default()
        };
        let words = said(row("waiting", Some("end of transfer 5")), Some(why));
        assert!(
            words.starts_with(
                "Waits for transfer 5 (G1→G2, 12 blocks), its end expected at 0.520 s; 3 blocks are missing, because"
            ),
            "{words}"
        );
        assert!(words.contains("evicted content that the copy still reads"), "{words}");
    }

    #[test]
    fn a_want_of_blocks_has_its_numbers() {
        let exhausted = TxnOutcome::Exhausted { needed: 3, obtainable: 0 };
        let why = Why { refused: refused(exhausted), running: 2, running_max: 8, ..Why::default() };
        assert_eq!(
            said(row("waiting", Some("end of pass 3")), Some(why)),
            "Needs 3 blocks, and none can be had: running requests hold the others."
        );
        let behind = Why {
            head: Some(4),
            ahead: 1,
            head_refused: refused(exhausted),
            running: 2,
            running_max: 8,
            ..Why::default()
        };
        assert_eq!(
            said(row("waiting", None), Some(behind)),
            "Waits in the line behind request 4: 1 request is before it, and the first needs 3 blocks, and none can be \
             had: running requests hold the others. Nothing will wake it."
        );
        let full = Why { running: 8, running_max: 8, ..Why::default() };
        assert!(
            said(row("waiting", Some("end of pass 3")), Some(full))
                .ends_with("The batch is full: 8 of 8 run.")
        );
    }

    #[test]
    fn who_runs_or_is_done_says_so() {
        assert!(said(row("decode", Some("end of pass 3")), None).starts_with("Generates: 0 of"));
        let told = RequestTold { arrived_ns: Some(1e8), ended_ns: Some(4e8), ..RequestTold::default() };
        assert_eq!(plain(&first_line(&told, 5e8, 1e9)), "Is ended since 0.400 s, 300 ms after it arrived.");
        assert_eq!(plain(&first_line(&told, 5e7, 1e9)), "Has not arrived: it comes at 0.100 s.");
    }
}
