//! G1 of all workers together: of each the state as its newest pass began.

use tierscope_engine::{Occupancy, PassStart};
use tierscope_units::{Idx, WorkerId};

/// All workers, and their sum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occupied {
    workers: Vec<Occupancy>,
    sum: Occupancy,
}

impl Occupied {
    /// A pass begins: the sum over the workers at this instant.
    #[inline]
    pub(crate) fn start(&mut self, start: &PassStart) -> Occupancy {
        self.put(start.worker, start.g1);
        self.sum
    }

    /// A worker is gone, with all that it held.
    pub(crate) fn gone(&mut self, worker: WorkerId) {
        self.put(worker, Occupancy::default());
    }

    fn put(&mut self, worker: WorkerId, new: Occupancy) {
        let at = worker.index();
        if at >= self.workers.len() {
            self.workers.resize(at + 1, Occupancy::default());
        }
        let old = std::mem::replace(&mut self.workers[at], new);
        let sum = &mut self.sum;
        replace(&mut sum.free, old.free, new.free);
        replace(&mut sum.reserved, old.reserved, new.reserved);
        replace(&mut sum.active, old.active, new.active);
        replace(&mut sum.cached, old.cached, new.cached);
        replace(&mut sum.source_hold, old.source_hold, new.source_hold);
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

    fn pass(worker: u16, active: u32) -> PassStart {
        PassStart {
            worker: WorkerId(worker),
            pass: PassId(0),
            prefill_rows: 1,
            prefill_tokens: 8,
            decode_rows: 2,
            decode_tokens: 2,
            waiting: 0,
            g1: Occupancy { active, free: 100 - active, ..Occupancy::default() },
        }
    }

    #[test]
    fn each_worker_counts_once_with_its_newest_pass() {
        let mut all = Occupied::default();
        let told = |now: Occupancy| (now.active, now.free);
        assert_eq!(told(all.start(&pass(1, 30))), (30, 70));
        assert_eq!(told(all.start(&pass(0, 50))), (80, 120));
        assert_eq!(told(all.start(&pass(1, 10))), (60, 140));
        assert_eq!(told(all.start(&pass(0, 20))), (30, 170));
        all.gone(WorkerId(0));
        assert_eq!(told(all.start(&pass(1, 5))), (5, 95));
    }
}
