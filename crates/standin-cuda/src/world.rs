//! What the device has: memory, streams, events, users; and which call is the one that fails.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::ORDERS;
use crate::orders::{self, Orders};
use crate::stream::{Event, Stream};

/// The driver's answers that are given here.
pub(crate) mod code {
    pub(crate) const SUCCESS: u32 = 0;
    pub(crate) const INVALID_VALUE: u32 = 1;
    pub(crate) const OUT_OF_MEMORY: u32 = 2;
    pub(crate) const NO_DEVICE: u32 = 100;
    pub(crate) const INVALID_DEVICE: u32 = 101;
    pub(crate) const INVALID_CONTEXT: u32 = 201;
    pub(crate) const OPERATING_SYSTEM: u32 = 304;
    pub(crate) const INVALID_HANDLE: u32 = 400;
    pub(crate) const NOT_READY: u32 = 600;
    pub(crate) const ILLEGAL_ADDRESS: u32 = 700;
    pub(crate) const ALREADY_REGISTERED: u32 = 712;
    pub(crate) const NOT_REGISTERED: u32 = 713;
}

/// Everything, once in a process.
pub(crate) struct World {
    pub(crate) orders: Orders,
    /// The orders could not be read: nothing works, so that a test with a slip does not pass.
    pub(crate) misread: bool,
    lost: AtomicBool,
    copies: AtomicU64,
    state: Mutex<State>,
}

/// What changes.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) calls: BTreeMap<&'static str, u64>,
    pub(crate) users: u32,
    /// Memory of the device, by where it begins.
    pub(crate) memory: BTreeMap<usize, Vec<u64>>,
    /// Registered host memory: bytes, by where it begins.
    pub(crate) registered: BTreeMap<usize, usize>,
    pub(crate) streams: BTreeMap<usize, Stream>,
    pub(crate) events: BTreeMap<usize, Arc<Event>>,
    last_handle: usize,
}

impl World {
    pub(crate) fn get() -> &'static Self {
        static WORLD: OnceLock<World> = OnceLock::new();
        WORLD.get_or_init(|| {
            let asked = std::env::var(ORDERS).unwrap_or_default();
            let read = orders::parse(&asked);
            if read.is_none() {
                eprintln!("stand-in for CUDA: {ORDERS}={asked} means nothing");
            }
            let (misread, orders) = (read.is_none(), read.unwrap_or_default());
            Self {
                orders,
                misread,
                lost: AtomicBool::new(false),
                copies: AtomicU64::new(0),
                state: Mutex::default(),
            }
        })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    /// The number of the next copy, from 1.
    pub(crate) fn next_copy(&self) -> u64 {
        self.copies.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// What a call is ordered to answer instead of being done.
    pub(crate) fn ordered(&self, name: &'static str) -> Option<u32> {
        let number = {
            let mut state = self.state();
            let calls = state.calls.entry(name).or_default();
            *calls += 1;
            *calls
        };
        let due = |failure: &&orders::Failure| {
            failure.name == name && (failure.first..=failure.last).contains(&number)
        };
        self.orders.failures.iter().find(due).map(|failure| failure.code)
    }
}

impl State {
    pub(crate) fn handle(&mut self) -> usize {
        // Like an address: never 0, and never that of another.
        self.last_handle += 64;
        self.last_handle
    }

    pub(crate) fn used(&self) -> usize {
        self.memory.values().map(|words| words.len() * 8).sum()
    }

    /// Whether all of these bytes are one allocation's of the device.
    pub(crate) fn on_device(&self, at: usize, bytes: usize) -> bool {
        let below = self.memory.range(..=at).next_back();
        below.is_some_and(|(base, words)| ends_within(at, bytes, *base, words.len() * 8))
    }

    /// Whether all of these bytes are registered.
    pub(crate) fn is_registered(&self, at: usize, bytes: usize) -> bool {
        let below = self.registered.range(..=at).next_back();
        below.is_some_and(|(base, length)| ends_within(at, bytes, *base, *length))
    }

    /// What nobody has given back, in words.
    pub(crate) fn left(&self) -> String {
        format!(
            "stand-in for CUDA: given back, with {} allocations, {} registrations, {} streams and {} events left",
            self.memory.len(),
            self.registered.len(),
            self.streams.len(),
            self.events.len()
        )
    }
}

fn ends_within(at: usize, bytes: usize, base: usize, length: usize) -> bool {
    at.checked_add(bytes).is_some_and(|end| end <= base.saturating_add(length))
}
