//! Which of several workers is looked at.

use std::rc::Rc;

use tierscope_worker::protocol::{Direction, Sample, TxnFilter, WorkerRole, WorkerState, WorkerView};

use super::inspector::Inspector;
use super::{AppState, Ended, Phase};

impl AppState {
    /// The worker that is looked at; 0 where there is only one.
    pub fn worker(&self) -> u32 {
        self.inspector.filter.worker
    }

    /// All workers, where there are several.
    pub fn workers(&self) -> &[WorkerView] {
        let all = self.board.as_ref().map_or(&[][..], |board| &board.workers);
        if all.len() > 1 { all } else { &[] }
    }

    pub(super) fn with_worker(self, worker: u32) -> Self {
        if worker == self.worker() || worker as usize >= self.workers().len() {
            return self;
        }
        // Transactions, marks and slots of the other one mean nothing here.
        let filter = TxnFilter { worker, ..self.inspector.filter };
        Self { inspector: Inspector::default().with(filter), slot: None, ..self }
    }

    pub(super) fn with_next_worker(self, direction: Direction) -> Self {
        let count = self.workers().len() as u32;
        if count == 0 {
            return self;
        }
        let step = match direction {
            Direction::Forward => 1,
            Direction::Back => count - 1,
        };
        let next = (self.worker() + step) % count;
        self.with_worker(next)
    }

    pub(super) fn with_occupancy(self, occupancy: Vec<Sample>) -> Self {
        let Some(ended) = self.ended() else { return self };
        let mut ended = Ended::clone(ended);
        ended.result.occupancy = occupancy;
        Self { phase: Phase::Ended(Rc::new(ended)), ..self }
    }
}

/// What a worker does, in a word; nothing for one that does all.
pub fn role(role: WorkerRole) -> &'static str {
    match role {
        WorkerRole::Whole => "",
        WorkerRole::Prefill => "prefill",
        WorkerRole::Decode => "decode",
    }
}

/// Whether a worker is there, in a word.
pub fn state(state: WorkerState) -> &'static str {
    match state {
        WorkerState::Absent => "absent",
        WorkerState::Starting => "starting",
        WorkerState::Ready => "ready",
        WorkerState::Draining => "draining",
        WorkerState::Lost => "lost",
    }
}

/// A worker in the list: `worker 2 (decode), ready`.
pub fn name(number: usize, worker: WorkerView) -> String {
    let role = match role(worker.role) {
        "" => String::new(),
        role => format!(" ({role})"),
    };
    format!("worker {number}{role}, {}", state(worker.state))
}

/// A worker as a sentence: what it does and how busy it is.
pub fn sentence(worker: WorkerView, running_max: u32) -> String {
    let does = match worker.role {
        WorkerRole::Whole => "Computes prompts and answers",
        WorkerRole::Prefill => "Computes prompts, and hands them on",
        WorkerRole::Decode => "Answers prompts that were computed elsewhere",
    };
    let there = match worker.state {
        WorkerState::Ready => String::new(),
        other => format!(" It is {}.", state(other)),
    };
    format!(
        "{does}: {} of {} in its batch, {} in its line.{there}",
        worker.running, running_max, worker.waiting
    )
}

/// How many are in which state: `4 workers: 3 ready, 1 lost`.
pub fn summary(workers: &[WorkerView]) -> String {
    let states = [
        WorkerState::Ready,
        WorkerState::Starting,
        WorkerState::Draining,
        WorkerState::Lost,
        WorkerState::Absent,
    ];
    let count = |wanted| workers.iter().filter(|worker| worker.state == wanted).count();
    let counts: Vec<String> = states
        .into_iter()
        .filter(|&wanted| count(wanted) > 0)
        .map(|wanted| format!("{} {}", count(wanted), state(wanted)))
        .collect();
    format!("{} workers: {}", workers.len(), counts.join(", "))
}

#[cfg(test)]
mod tests {
    use tierscope_worker::protocol::Totals;

    use super::*;

    #[test]
    fn workers_are_told_in_words() {
        let worker = |role, state| WorkerView { role, state, running: 1, waiting: 2, g1: Totals::default() };
        let prefill = worker(WorkerRole::Prefill, WorkerState::Ready);
        let decode = worker(WorkerRole::Decode, WorkerState::Lost);
        assert_eq!(name(0, prefill), "worker 0 (prefill), ready");
        assert_eq!(name(3, worker(WorkerRole::Whole, WorkerState::Draining)), "worker 3, draining");
        assert_eq!(
            sentence(decode, 8),
            "Answers prompts that were computed elsewhere: 1 of 8 in its batch, 2 in its line. It is lost."
        );
        assert_eq!(summary(&[prefill, prefill, decode]), "3 workers: 2 ready, 1 lost");
    }
}
