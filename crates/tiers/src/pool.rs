//! Threads that copy blocks for a device: batches go in, their ends come out, each once.
//!
//! A batch is divided among the threads, so that one alone can keep a device busy. Its blocks are copied first, all of
//! them, and looked at afterwards where that is asked for: how long the copying took is not mixed with the looking.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::arena::{Arena, Reading, Writing};
use crate::capability::Capability;
use crate::content;
use crate::device::{Device, Loaded, Outcome, Stored, Wanted};
use crate::fault::Fault;
use crate::medium::{Batch, BatchId, Bell, Ended, Key, Medium, Move, Slot, Way};

/// A device with threads that copy between it and an arena.
pub struct Pooled<D: Device> {
    capability: Capability,
    shared: Arc<Shared<D>>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared<D> {
    device: D,
    arena: Arc<Arena>,
    /// A slot for each thread to look at blocks in: page-aligned, as direct I/O wants it.
    glass: Arena,
    /// Slots of the device.
    slots: u32,
    state: Mutex<State>,
    /// There is work, or the pool closes.
    work: Condvar,
    /// A batch has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Batches with blocks that no thread has taken.
    queue: VecDeque<Arc<Job>>,
    /// Batches that have not ended, by their number.
    open: BTreeMap<u64, Arc<Job>>,
    /// The number of the next batch.
    next: u64,
    ended: VecDeque<Ended>,
    bell: Option<Bell>,
    closed: bool,
}

/// A batch in work.
struct Job {
    /// In the order of submission; names of batches are others' business, and may come twice.
    number: u64,
    batch: Batch,
    wanted: Wanted,
    submitted: Instant,
    state: Mutex<JobState>,
}

struct JobState {
    phase: Phase,
    /// Blocks that a thread has taken, and those that are done, in this phase.
    taken: usize,
    done: usize,
    results: Vec<Outcome>,
    begun: Option<Instant>,
    copied: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Copies,
    Looks,
}

/// A part of a batch, for one thread.
struct Part {
    job: Arc<Job>,
    phase: Phase,
    blocks: Range<usize>,
}

/// A thread that panicked held no lock while it copied: what is behind a lock is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<D: Device> Pooled<D> {
    /// A device as a medium beside an arena, with as many threads as its capability says.
    ///
    /// # Errors
    ///
    /// When the system starts no threads, or gives no memory for a block for each.
    pub fn new(device: D, arena: Arc<Arena>, capability: Capability) -> io::Result<Self> {
        let (slots, count) = (capability.slots, capability.concurrency.max(1));
        let glass = Arena::new(count, arena.block_bytes(), false).map_err(io::Error::other)?;
        let name = capability.kind.name();
        let (work, ended) = (Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { device, arena, glass, slots, state: Mutex::default(), work, ended });
        let mut pooled = Self { capability, shared, threads: Vec::new() };
        for number in 0..count {
            let shared = Arc::clone(&pooled.shared);
            let thread = std::thread::Builder::new().name(format!("tier-{name}-{number}"));
            pooled.threads.push(thread.spawn(move || shared.serve(Slot(number)))?);
        }
        Ok(pooled)
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.shared.device
    }
}

impl<D: Device> Medium for Pooled<D> {
    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn submit(&mut self, batch: Batch) {
        let mut state = lock(&self.shared.state);
        if state.closed || batch.moves.is_empty() {
            let results = vec![Err(Fault::Gone); batch.moves.len()];
            self.shared.end(&mut state, Ended::at_once(batch.id, results));
            drop(state);
            return self.shared.ended.notify_all();
        }
        let parts = batch.moves.len().div_ceil(self.shared.grain());
        let number = state.next;
        state.next += 1;
        let job = Arc::new(Job::new(number, batch));
        state.open.insert(number, Arc::clone(&job));
        state.queue.push_back(job);
        drop(state);
        self.shared.wake(parts);
    }

    fn next_ended(&mut self, wait: Duration) -> Option<Ended> {
        let mut state = lock(&self.shared.state);
        if state.ended.is_empty() && !wait.is_zero() {
            let waits = |state: &mut State| state.ended.is_empty();
            let waited = self.shared.ended.wait_timeout_while(state, wait, waits);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.ended.pop_front()
    }

    fn ring(&mut self, bell: Bell) {
        lock(&self.shared.state).bell = Some(bell);
    }

    fn cancel(&mut self, id: BatchId) {
        let state = lock(&self.shared.state);
        if let Some(job) = state.open.values().find(|job| job.batch.id == id) {
            job.wanted.drop_it();
        }
    }

    fn forget(&mut self, slot: Slot) {
        if slot.0 < self.shared.slots {
            self.shared.device.forget(slot);
        }
    }

    fn persist(&mut self) -> Outcome {
        self.shared.device.persist()
    }

    fn empty(&mut self) -> Outcome {
        self.shared.device.empty()
    }

    fn close(&mut self) {
        {
            let mut state = lock(&self.shared.state);
            state.closed = true;
            for job in std::mem::take(&mut state.queue) {
                if lock(&job.state).abandon() {
                    self.shared.end_job(&mut state, &job);
                }
            }
            for job in state.open.values() {
                job.wanted.drop_it();
            }
            self.shared.work.notify_all();
            self.shared.ended.notify_all();
        }
        for thread in self.threads.drain(..) {
            // Its panics were caught block by block.
            let _ = thread.join();
        }
    }

    fn survivors(&self) -> Vec<(Key, Slot)> {
        self.shared.device.survivors()
    }
}

impl<D: Device> Drop for Pooled<D> {
    fn drop(&mut self) {
        self.close();
    }
}

impl Job {
    fn new(number: u64, batch: Batch) -> Self {
        let state = JobState {
            phase: Phase::Copies,
            taken: 0,
            done: 0,
            results: vec![Err(Fault::Gone); batch.moves.len()],
            begun: None,
            copied: None,
        };
        Self { number, batch, wanted: Wanted::default(), submitted: Instant::now(), state: Mutex::new(state) }
    }
}

impl JobState {
    /// What no thread has taken is not begun any more. Whether that was all there was to do.
    fn abandon(&mut self) -> bool {
        let rest = &mut self.results[self.taken..];
        self.done += rest.len();
        // Also what was copied and not looked at.
        rest.fill(Err(Fault::Gone));
        self.taken = self.results.len();
        self.done == self.results.len()
    }
}

impl<D: Device> Shared<D> {
    /// A thread's life.
    fn serve(&self, glass: Slot) {
        while let Some(part) = self.next() {
            let outcomes = self.work_on(&part, glass);
            self.done(part, outcomes);
        }
    }

    fn grain(&self) -> usize {
        self.device.grain().max(1)
    }

    /// As many threads as there are parts to take; called without the lock that they need first.
    fn wake(&self, parts: usize) {
        if parts >= self.glass.slots() as usize {
            return self.work.notify_all();
        }
        (0..parts).for_each(|_| self.work.notify_one());
    }

    fn next(&self) -> Option<Part> {
        let grain = self.grain();
        let mut state = lock(&self.state);
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = state.queue.front().map(Arc::clone) {
                let mut inner = lock(&job.state);
                let (first, all) = (inner.taken, job.batch.moves.len());
                // Looking is done one by one: it needs a buffer for each.
                let last = first.saturating_add(grain).min(all);
                inner.taken = last;
                // How long copies take is what is to be told of a real medium: measured, and decided nothing by.
                inner.begun.get_or_insert_with(Instant::now);
                let phase = inner.phase;
                if last == all {
                    state.queue.pop_front();
                }
                drop(inner);
                return Some(Part { job, phase, blocks: first..last });
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work_on(&self, part: &Part, glass: Slot) -> Vec<Outcome> {
        let moves = &part.job.batch.moves[part.blocks.clone()];
        let way = part.job.batch.way;
        match part.phase {
            Phase::Looks => {
                let copied = lock(&part.job.state).results[part.blocks.clone()].to_vec();
                let looks = moves.iter().zip(copied);
                let look = |block: &Move| self.look(way, block, glass, &part.job.wanted);
                looks.map(|(block, copied)| copied.and_then(|()| look(block))).collect()
            }
            Phase::Copies => {
                let copy = || match way {
                    Way::Store => self.store(moves, &part.job.wanted),
                    Way::Load => self.load(moves, &part.job.wanted),
                };
                let copied = catch_unwind(AssertUnwindSafe(copy));
                copied.unwrap_or_else(|_| vec![Err(Fault::Panicked); moves.len()])
            }
        }
    }

    /// Whether a block can be begun at all.
    fn check(&self, block: &Move, wanted: &Wanted) -> Outcome {
        if block.here.0 >= self.arena.slots() || block.there.0 >= self.slots {
            return Err(Fault::OutOfRange);
        }
        if wanted.is_wanted() { Ok(()) } else { Err(Fault::Cancelled) }
    }

    fn store(&self, moves: &[Move], wanted: &Wanted) -> Vec<Outcome> {
        let claim = |block: &Move| -> Result<Reading<'_>, Fault> {
            self.check(block, wanted)?;
            self.arena.read(block.here).ok_or(Fault::Busy)
        };
        let claims: Vec<Result<Reading<'_>, Fault>> = moves.iter().map(claim).collect();
        let claimed = moves.iter().zip(&claims).filter_map(|(block, claim)| {
            Some(Stored { key: block.key, there: block.there, from: claim.as_ref().ok()? })
        });
        let blocks: Vec<Stored<'_>> = claimed.collect();
        let mut stored = self.device.store_many(&blocks, wanted).into_iter();
        // A device that tells less than it was asked has failed in the rest.
        let outcome = |claim: &Result<Reading<'_>, Fault>| match claim {
            Ok(_) => stored.next().unwrap_or(Err(Fault::Device)),
            Err(fault) => Err(*fault),
        };
        claims.iter().map(outcome).collect()
    }

    fn load(&self, moves: &[Move], wanted: &Wanted) -> Vec<Outcome> {
        let claim = |block: &Move| -> Result<Writing<'_>, Fault> {
            self.check(block, wanted)?;
            self.arena.write(block.here).ok_or(Fault::Busy)
        };
        let mut claims: Vec<Result<Writing<'_>, Fault>> = moves.iter().map(claim).collect();
        let claimed = moves.iter().zip(&mut claims).filter_map(|(block, claim)| {
            Some(Loaded { key: block.key, there: block.there, into: claim.as_mut().ok()? })
        });
        let blocks: Vec<Loaded<'_>> = claimed.collect();
        let mut loaded = self.device.load_many(blocks, wanted).into_iter();
        let outcome = |claim: Result<Writing<'_>, Fault>| {
            claim.and_then(|_| loaded.next().unwrap_or(Err(Fault::Device)))
        };
        claims.into_iter().map(outcome).collect()
    }

    /// Looks at a block where it has arrived: in the arena, or read back from the device.
    fn look(&self, way: Way, block: &Move, glass: Slot, wanted: &Wanted) -> Outcome {
        let right = match way {
            Way::Load => content::is_of(block.key, &self.arena.read(block.here).ok_or(Fault::Busy)?),
            Way::Store => {
                let mut bytes = self.glass.write(glass).ok_or(Fault::Busy)?;
                let into = Loaded { key: block.key, there: block.there, into: &mut bytes };
                let read = || self.device.load(into, wanted);
                catch_unwind(AssertUnwindSafe(read)).unwrap_or(Err(Fault::Panicked))?;
                content::is_of(block.key, &bytes)
            }
        };
        right.then_some(()).ok_or(Fault::Corrupt)
    }

    fn done(&self, part: Part, outcomes: Vec<Outcome>) {
        let job = part.job;
        let mut state = lock(&self.state);
        let mut inner = lock(&job.state);
        inner.done += part.blocks.len();
        for (at, outcome) in part.blocks.zip(outcomes) {
            inner.results[at] = outcome;
        }
        if inner.done < job.batch.moves.len() {
            return;
        }
        if inner.phase == Phase::Copies {
            inner.copied = Some(Instant::now());
            if job.batch.look && !state.closed && inner.results.iter().any(Result::is_ok) {
                (inner.phase, inner.taken, inner.done) = (Phase::Looks, 0, 0);
                drop(inner);
                let parts = job.batch.moves.len().div_ceil(self.grain());
                // What is begun is finished before anything new.
                state.queue.push_front(job);
                drop(state);
                return self.wake(parts);
            }
        }
        drop(inner);
        self.end_job(&mut state, &job);
        drop(state);
        self.ended.notify_all();
    }

    fn end_job(&self, state: &mut State, job: &Arc<Job>) {
        state.open.remove(&job.number);
        let inner = &mut *lock(&job.state);
        let now = Instant::now();
        let begun = inner.begun.unwrap_or(now);
        let copied = inner.copied.unwrap_or(now);
        let ended = Ended {
            id: job.batch.id,
            results: std::mem::take(&mut inner.results),
            queued: begun - job.submitted,
            copied: copied - begun,
            looked: now - copied,
            copied_at: copied,
        };
        self.end(state, ended);
    }

    /// Who waits for `ended` is told by the caller, once the lock is free.
    fn end(&self, state: &mut State, ended: Ended) {
        state.ended.push_back(ended);
        if let Some(bell) = &state.bell {
            bell();
        }
    }
}
