//! G1 of all workers together: of each the state as its newest pass began.

use tierscope_engine::{Occupancy, PassStart};
use tierscope_units::{Idx, WorkerId};

/// One worker as its newest pass began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    pub(crate) g1: Occupancy,
    pub(crate) waiting: u32,
    pub(crate) running: u32,
    /// Passes under way.
    passes: u32,
}

/// All workers, and their sum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occupied {
    workers: Vec<Standing>,
    sum: Standing,
}

impl Occupied {
    /// A pass begins: the sum over the workers at this instant.
    #[inline]
    pub(crate) fn start(&mut self, start: &PassStart) -> Standing {
        let running = start.prefill_rows + start.decode_rows;
        let old = self.worker(start.worker);
        let new = Standing { g1: start.g1, waiting: start.waiting, running, passes: old.passes + 1 };
        self.put(start.worker, new);
        self.sum
    }

    /// A pass ends; with the last of a worker nothing runs there.
    #[inline]
    pub(crate) fn end(&mut self, worker: WorkerId) {
        let old = self.worker(worker);
        let passes = old.passes.saturating_sub(1);
        let running = if passes == 0 { 0 } else { old.running };
        self.put(worker, Standing { passes, running, ..old });
    }

    /// A worker is gone, with all that it held.
    pub(crate) fn gone(&mut self, worker: WorkerId) {
        self.put(worker, Standing::default());
    }

    fn worker(&mut self, worker: WorkerId) -> Standing {
        let at = worker.index();
        if at >= self.workers.len() {
            self.workers.resize(at + 1, Standing::default());
        }
        self.workers[at]
    }

    fn put(&mut self, worker: WorkerId, new: Standing) {
        let old = self.worker(worker);
        self.workers[worker.index()] = new;
        let Standing { g1, waiting, running, .. } = &mut self.sum;
        replace(&mut g1.free, old.g1.free, new.g1.free);
        replace(&mut g1.reserved, old.g1.reserved, new.g1.reserved);
        replace(&mut g1.active, old.g1.active, new.g1.active);
        replace(&mut g1.cached, old.g1.cached, new.g1.cached);
        replace(&mut g1.source_hold, old.g1.source_hold, new.g1.source_hold);
        replace(waiting, old.waiting, new.waiting);
        replace(running, old.running, new.running);
    }
}

/// One part of a sum changes. Sums of what fits memory fit their type; of facts that were made up they may not.
fn replace(sum: &mut u32, old: u32, new: u32) {
    *sum = sum.wrapping_sub(old).wrapping_add(new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use tierscope_units::PassId;

    fn pass(worker: u16, active: u32, waiting: u32) -> PassStart {
        PassStart {
            worker: WorkerId(worker),
            pass: PassId(0),
            prefill_rows: 1,
            prefill_tokens: 8,
            decode_rows: 2,
            decode_tokens: 2,
            waiting,
            g1: Occupancy { active, free: 100 - active, ..Occupancy::default() },
        }
    }

    #[test]
    fn each_worker_counts_once_with_its_newest_pass() {
        let mut all = Occupied::default();
        let told = |now: Standing| (now.g1.active, now.g1.free, now.waiting, now.running);
        assert_eq!(told(all.start(&pass(1, 30, 2))), (30, 70, 2, 3));
        assert_eq!(told(all.start(&pass(0, 50, 1))), (80, 120, 3, 6));
        assert_eq!(told(all.start(&pass(1, 10, 0))), (60, 140, 1, 6));
        all.end(WorkerId(1));
        all.end(WorkerId(1));
        // Nothing runs at the first any more; its cache is as it was.
        assert_eq!(told(all.start(&pass(0, 20, 0))), (30, 170, 0, 3));
        all.gone(WorkerId(0));
        assert_eq!(told(all.start(&pass(1, 5, 0))), (5, 95, 0, 3));
    }
}
