//! Threads that copy blocks for a medium: batches go in, their ends come out, each once.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::fault::Fault;
use crate::medium::{Batch, BatchId, Ended, Move, Way};

/// What a medium does with one block, on a thread of the pool.
pub(crate) trait Copier: Send + Sync + 'static {
    /// Copies one block.
    fn copy(&self, way: Way, block: Move) -> Result<(), Fault>;
}

/// The threads of a medium.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// There is work, or the pool closes.
    work: Condvar,
    /// A batch has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<(Batch, Instant)>,
    /// Of those that are queued or under way.
    unwanted: HashSet<BatchId>,
    under_way: HashSet<BatchId>,
    ended: VecDeque<Ended>,
    closed: bool,
}

impl Shared {
    /// A thread that panicked held no lock while it copied: what is behind the lock is whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    /// So many threads, at least one.
    pub(crate) fn new(threads: u32, name: &str, copier: &Arc<impl Copier>) -> std::io::Result<Self> {
        let state = Mutex::new(State::default());
        let shared = Arc::new(Shared { state, work: Condvar::new(), ended: Condvar::new() });
        let spawn = |number: u32| {
            let (shared, copier) = (Arc::clone(&shared), Arc::clone(copier));
            std::thread::Builder::new()
                .name(format!("{name}-{number}"))
                .spawn(move || serve(&shared, &*copier))
        };
        let threads = (0..threads.max(1)).map(spawn).collect::<std::io::Result<Vec<_>>>()?;
        Ok(Self { shared, threads })
    }

    pub(crate) fn submit(&self, batch: Batch) {
        let mut state = self.shared.state();
        if state.closed {
            state.ended.push_back(all(batch, Fault::Gone));
        } else {
            state.queue.push_back((batch, Instant::now()));
            self.shared.work.notify_one();
        }
    }

    pub(crate) fn cancel(&self, id: BatchId) {
        let mut state = self.shared.state();
        if state.under_way.contains(&id) || state.queue.iter().any(|(batch, _)| batch.id == id) {
            state.unwanted.insert(id);
        }
    }

    pub(crate) fn next_ended(&self, wait: Duration) -> Option<Ended> {
        let state = self.shared.state();
        let waits = |state: &mut State| state.ended.is_empty();
        let waited = self.shared.ended.wait_timeout_while(state, wait, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended.pop_front()
    }

    /// No thread works any more when this returns. What was queued ends with [`Fault::Gone`].
    pub(crate) fn close(&mut self) {
        {
            let mut state = self.shared.state();
            state.closed = true;
            for (batch, _) in std::mem::take(&mut state.queue) {
                state.ended.push_back(all(batch, Fault::Gone));
            }
            let under_way: Vec<BatchId> = state.under_way.iter().copied().collect();
            state.unwanted.extend(under_way);
            self.shared.work.notify_all();
            self.shared.ended.notify_all();
        }
        for thread in self.threads.drain(..) {
            // Its panics were caught block by block.
            let _ = thread.join();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

fn all(batch: Batch, fault: Fault) -> Ended {
    Ended {
        id: batch.id,
        results: vec![Err(fault); batch.moves.len()],
        queued: Duration::ZERO,
        copied: Duration::ZERO,
    }
}

fn serve(shared: &Shared, copier: &impl Copier) {
    while let Some((batch, submitted)) = next(shared) {
        // How long copies take is what is to be told of a real medium: measured, and decided nothing by.
        let begun = Instant::now();
        let results = batch.moves.iter().map(|&block| {
            if shared.state().unwanted.contains(&batch.id) {
                return Err(Fault::Cancelled);
            }
            // One block's panic is that block's: the thread, the batch and the medium go on.
            catch_unwind(AssertUnwindSafe(|| copier.copy(batch.way, block))).unwrap_or(Err(Fault::Panicked))
        });
        let results = results.collect();
        let ended = Ended { id: batch.id, results, queued: begun - submitted, copied: begun.elapsed() };
        let mut state = shared.state();
        state.under_way.remove(&batch.id);
        state.unwanted.remove(&batch.id);
        state.ended.push_back(ended);
        shared.ended.notify_all();
    }
}

fn next(shared: &Shared) -> Option<(Batch, Instant)> {
    let mut state = shared.state();
    loop {
        if state.closed {
            return None;
        }
        if let Some((batch, submitted)) = state.queue.pop_front() {
            state.under_way.insert(batch.id);
            return Some((batch, submitted));
        }
        state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}
