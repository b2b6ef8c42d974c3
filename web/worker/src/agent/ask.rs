//! What can be asked of a run that is over: its tracks, questions in words, and the facts of an instant.

use tierscope_engine::FactLog;
use tierscope_report::compare::{read_line, sentence};
use tierscope_report::jsonl::write_fact;
use tierscope_units::{SimTime, WorkerId};

use super::Job;
use crate::protocol::{FACTS_SHOWN, FromWorker, Hits, Instant};
use crate::search;
use crate::tracks::{Sources, gather};

impl Job {
    /// Its tracks, once it is over.
    pub(super) fn tracks(&self) -> Option<FromWorker> {
        let workers = self.start.fleet().workers().len();
        let sources = Sources {
            index: &self.read.tracks,
            copies: &self.read.copies,
            occupancies: (0..workers).map(|worker| self.read.occupancy(WorkerId(worker as u16))).collect(),
            below: self.run.folds().below(),
            has_below: self.has_below(),
            end: self.end_at().as_ns(),
        };
        self.over.then(|| FromWorker::Tracks { run: self.id, tracks: Box::new(gather(&sources)) })
    }

    /// Which of G2, G3 and G4 there are.
    fn has_below(&self) -> [bool; 3] {
        let engine = self.start.fleet().worker(WorkerId::default());
        let tiers = engine.config().tiers.as_ref();
        [
            tiers.is_some(),
            tiers.is_some_and(|tiers| tiers.g3.is_some()),
            tiers.is_some_and(|tiers| tiers.g4.is_some()),
        ]
    }

    /// The answer to a question in words.
    pub(super) fn search(&self, query: &str) -> Hits {
        search::answer(query, &self.read)
    }

    /// What happened at the instant at or before a time.
    pub(super) fn facts_at(&mut self, at_ns: f64) -> Instant {
        let at = self.seek(at_ns).now();
        let mut state = self.before(at);
        let mut instant = Instant { at_ns: at.as_ns() as f64, ..Instant::default() };
        while state.next_time().is_some_and(|next| next <= at) {
            let stepped = state.step(|log| tell(log, at, &mut instant));
            if stepped.is_err() {
                break;
            }
        }
        instant
    }
}

fn tell(log: &FactLog, instant: SimTime, out: &mut Instant) {
    let mut line = String::new();
    for (at, fact) in log.iter().filter(|(at, _)| *at == instant) {
        out.total += 1;
        if out.facts.len() < FACTS_SHOWN {
            line.clear();
            write_fact(&mut line, at, fact, log);
            // What was just written can be read.
            out.facts.extend(read_line(&line, 1).map(|record| sentence(&record)));
        }
    }
}
