//! Questions in words, answered by going through the indices: `request 17`, `outcome:blocked`, `preempted`, a block's hash,
//! `transfer 5`, `worker 2`.

mod query;

use tierscope_engine::Tier;
use tierscope_units::{RequestId, SequenceHash, TransferId, WorkerId};

use crate::protocol::{
    About, HITS_SHOWN, Happening, Hit, Hits, LANES, OutcomeFilter, QUERY_MAX, SpanKind, TxnFilter,
    TxnOutcome, WorkerState,
};
use crate::read::Read;
use query::Query;

/// The answer to a question.
pub fn answer(text: &str, read: &Read) -> Hits {
    let query = if text.len() <= QUERY_MAX { query::read(text) } else { None };
    let Some(query) = query else { return Hits::default() };
    let mut found = Found { hits: Hits { understood: true, ..Hits::default() }, newest_first: Vec::new() };
    match query {
        Query::Request(request) => found.request(RequestId(request), read),
        Query::Transactions(outcome, request) => found.transactions(outcome, request, read),
        Query::Marks(kinds) => found.marks(kinds, read),
        Query::Block(from, to) => found.blocks(from, to, read),
        Query::Transfer(transfer) => found.transfer(TransferId(transfer), read),
        Query::Worker(worker) => found.worker(worker, read),
    }
    found.told()
}

/// The answers so far.
struct Found {
    hits: Hits,
    /// Not in order yet.
    newest_first: Vec<(u64, String, About)>,
}

impl Found {
    fn add(&mut self, at: u64, about: About, words: impl FnOnce() -> String) {
        self.hits.total = self.hits.total.saturating_add(1);
        self.newest_first.push((at, words(), about));
    }

    fn caveat(&mut self, words: String) {
        self.hits.caveat = Some(words);
    }

    /// In order of time, the first of them.
    fn told(mut self) -> Hits {
        self.newest_first.sort_by_key(|(at, _, _)| *at);
        let shown = self.newest_first.into_iter().take(HITS_SHOWN);
        self.hits.hits = shown.map(|(at, words, about)| Hit { at_ns: at as f64, words, about }).collect();
        self.hits
    }

    fn request(&mut self, request: RequestId, read: &Read) {
        for (whose, phase) in read.tracks.phases.all() {
            if whose == request {
                self.add(phase.start, About::Request(request.0), || {
                    format!("request {}: {}", request.0, phase_words(phase.kind))
                });
            }
        }
    }

    fn transactions(&mut self, outcome: OutcomeFilter, request: Option<u32>, read: &Read) {
        for (worker, ledger) in read.ledgers().iter().enumerate() {
            let filter = TxnFilter { worker: worker as u32, outcome, request };
            // What is not sent is counted only.
            let room = HITS_SHOWN;
            for (number, transaction) in ledger.matching(filter).enumerate() {
                if number >= room {
                    self.hits.total = self.hits.total.saturating_add(1);
                    continue;
                }
                let of = transaction.request;
                self.add(transaction.at_ns as u64, About::Request(of), || {
                    format!("request {of}: {}", outcome_words(transaction.outcome, transaction.retried))
                });
            }
            if ledger.dropped() > 0 {
                self.caveat(format!(
                    "Of worker {worker}, the first {} transactions are not listed.",
                    ledger.dropped()
                ));
            }
        }
    }

    fn marks(&mut self, kinds: &[SpanKind], read: &Read) {
        for (worker, marks) in read.tracks.marks.iter().enumerate() {
            let wanted = marks.iter().filter(|mark| kinds.contains(&mark.kind));
            for (number, mark) in wanted.enumerate() {
                // They are in order of time: what is not sent is counted only.
                if number >= HITS_SHOWN {
                    self.hits.total = self.hits.total.saturating_add(1);
                    continue;
                }
                let about = match mark.kind {
                    SpanKind::MarkCopyFailed => {
                        About::Transfer((worker as f64) * (1u64 << 40) as f64 + f64::from(mark.number))
                    }
                    SpanKind::MarkWorker | SpanKind::MarkLost => About::Worker(mark.number),
                    _ => About::Request(mark.number),
                };
                self.add(mark.start, about, || mark_words(mark.kind, mark.number));
            }
            if marks.left_out() > 0 {
                self.caveat(format!(
                    "Of worker {worker}, the last {} marks are not listed.",
                    marks.left_out()
                ));
            }
        }
    }

    /// All contents whose hashes lie in a range: of one what happened to it, of several the first of each.
    fn blocks(&mut self, from: u64, to: u64, read: &Read) {
        let all = || read.tracks.contents.iter().filter(|content| (from..=to).contains(&content.hash.0));
        let mut hashes: Vec<SequenceHash> = all().map(|content| content.hash).collect();
        hashes.sort_unstable_by_key(|hash| hash.0);
        hashes.dedup();
        let many = hashes.len() > 1;
        for content in all() {
            if many
                && hashes
                    .binary_search_by_key(&content.hash.0, |hash| hash.0)
                    .map(|at| hashes.remove(at))
                    .is_err()
            {
                continue;
            }
            let what = if content.stored { "matchable in" } else { "removed from" };
            let about = About::Block(content.hash.to_string());
            self.add(content.at, about, || {
                format!("block {:016x}: {what} {}", content.hash.0, tier_name(content.tier))
            });
        }
        if many {
            self.caveat(format!("{} blocks begin so: more digits tell one.", self.hits.total));
        } else if read.tracks.contents.dropped() > 0 {
            let dropped = read.tracks.contents.dropped();
            self.caveat(format!(
                "Only the newest events of blocks are kept: the first {dropped} are not searched."
            ));
        }
    }

    fn transfer(&mut self, transfer: TransferId, read: &Read) {
        let Some(times) = read.copies.find(transfer).map(crate::copies::Entry::times) else {
            if read.copies.dropped() > 0 {
                self.caveat(format!(
                    "Only the newest copies are kept: the first {} are not.",
                    read.copies.dropped()
                ));
            }
            return;
        };
        let (from, to) = LANES[times.lane as usize];
        let steps = [(Some(times.queued), "queued"), (times.started, "starts"), (times.ended, "ends")];
        for (at, what) in steps {
            if let Some(at) = at {
                self.add(at, About::Transfer(transfer.0 as f64), || {
                    format!("transfer {}, {} blocks, {from} to {to}: {what}", transfer.0, times.blocks)
                });
            }
        }
    }

    fn worker(&mut self, worker: u32, read: &Read) {
        let Some(passes) = read.tracks.passes.get(worker as usize) else { return };
        if let Some(first) = passes.all().next() {
            self.add(first.start, About::Worker(worker), || format!("worker {worker}: its first pass"));
        }
        for news in read.between.all() {
            if let Happening::Worker { worker: whose, state } = news.what
                && whose == worker
            {
                self.add(news.at_ns as u64, About::Worker(worker), || {
                    format!("worker {worker}: {}", state_words(state))
                });
            }
        }
        if let Some(passes) = read.tracks.passes.get(WorkerId(worker as u16).0 as usize)
            && let Some(last) = passes.all().last()
        {
            self.add(last.start, About::Worker(worker), || format!("worker {worker}: its last pass"));
        }
    }
}

fn phase_words(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Decode => "gets its answer",
        SpanKind::Prefill => "its prompt is computed",
        SpanKind::Leased => "is done, its blocks are kept for its follower",
        SpanKind::Handoff => "is handed over to another worker",
        SpanKind::Loading => "content is loaded from below",
        SpanKind::Awaiting => "waits for a copy of its content",
        SpanKind::Blocked => "is blocked on an offload",
        SpanKind::Preempted => "is preempted, and waits again",
        _ => "waits",
    }
}

fn outcome_words(outcome: TxnOutcome, retried: bool) -> String {
    let again = if retried { ", tried twice" } else { "" };
    match outcome {
        TxnOutcome::Ready { active_hits, cached_hits, missing, .. } => {
            format!("ready, {} hits and {missing} new blocks{again}", active_hits + cached_hits)
        }
        TxnOutcome::Exhausted { needed, obtainable } => {
            format!("exhausted, {} needed and {obtainable} obtainable{again}", blocks(needed))
        }
        TxnOutcome::Blocked { needed } => format!("blocked on an offload, {} needed{again}", blocks(needed)),
    }
}

fn mark_words(kind: SpanKind, number: u32) -> String {
    match kind {
        SpanKind::MarkCopyFailed => format!("transfer {number}: an attempt failed"),
        SpanKind::MarkLost => format!("worker {number} is lost"),
        SpanKind::MarkWorker => format!("worker {number} comes or goes"),
        SpanKind::MarkCancelled => format!("request {number} is cancelled"),
        SpanKind::MarkRejected => format!("request {number} is refused"),
        SpanKind::MarkPreempted => format!("request {number} is preempted"),
        SpanKind::MarkBlocked => format!("request {number} is blocked on an offload"),
        _ => format!("request {number} finds too few blocks"),
    }
}

fn state_words(state: WorkerState) -> &'static str {
    match state {
        WorkerState::Absent => "is absent",
        WorkerState::Starting => "starts",
        WorkerState::Ready => "is ready",
        WorkerState::Draining => "drains",
        WorkerState::Lost => "is lost",
    }
}

fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::G1 => "G1",
        Tier::G2 => "G2",
        Tier::G3 => "G3",
        Tier::G4 => "G4",
    }
}

fn blocks(count: u32) -> String {
    if count == 1 { "1 block".to_owned() } else { format!("{count} blocks") }
}
