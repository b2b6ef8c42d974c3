//! Which chunk makes room: the policies behind one trait.
//!
//! To add one: a file that implements `Order`, a variant of `ChunkEviction` and of `Orders`.

use tierscope_units::SequenceHash;

use super::NONE;
use super::access::Access;
use super::arc::Arc;
use super::chunk::{Chunks, Resident};
use super::lru::Lru;
use crate::lower::config::ChunkEviction;

/// A key of one operation, looked up once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) key: SequenceHash,
    /// Where it is; [`NONE`] when it is not resident.
    pub(super) slot: u32,
    /// Its number in the request's record; [`NONE`] where no request is concerned.
    pub(super) number: u32,
}

impl Named {
    pub(super) fn slot(self) -> Option<u32> {
        Some(self.slot).filter(|&slot| slot != NONE)
    }
}

/// The order in which resident chunks make room, as an observer sees it. Each list with the next to go first.
#[derive(Clone, Debug, PartialEq)]
pub enum ChunkOrder {
    /// Least recently used first.
    Lru(Vec<Resident>),
    /// Adaptive replacement: chunks used by one request, and by several.
    Arc {
        /// T1: used once.
        once: Vec<Resident>,
        /// T2: used again.
        again: Vec<Resident>,
        /// B1: given up from T1 lately, contents only.
        once_ghosts: Vec<SequenceHash>,
        /// B2: given up from T2 lately, contents only.
        again_ghosts: Vec<SequenceHash>,
        /// The length of T1 that is aimed at, in chunks.
        target: f64,
    },
}

/// An order of chunks. `chunks` tells their state after the change that is reported.
pub(super) trait Order {
    /// `named` is being written from now on.
    fn insert(&mut self, chunks: &Chunks, named: Named, access: &mut Access);
    /// The write of `slot` failed.
    fn remove(&mut self, slot: u32);
    /// `slot` may be given up from now on.
    fn release(&mut self, chunks: &Chunks, slot: u32);
    /// `slot` may not be given up any more.
    fn hold(&mut self, chunks: &Chunks, slot: u32);
    /// Keys of one request were used, head first.
    fn touch(&mut self, chunks: &Chunks, keys: &[Named]);
    /// A request offered keys that are not resident, for the first time.
    fn miss(&mut self, _keys: &[Named]) {}
    /// A request met keys for the first time.
    fn access(&mut self, _chunks: &Chunks, _keys: &[Named], _access: &mut Access) {}
    /// A request that met these keys, head first, is done.
    fn finish(&mut self, chunks: &Chunks, keys: &[Named], access: &Access);
    /// Appends the next `count` victims to `out`: evictable, not protected. There are so many.
    fn pick(&self, chunks: &Chunks, count: u32, out: &mut Vec<u32>);
    /// A victim goes; it is still in `chunks`.
    fn give_up(&mut self, chunks: &Chunks, slot: u32);
    /// Forgets everything.
    fn clear(&mut self);
    /// The lists, for people and tests.
    fn show(&self, chunks: &Chunks) -> ChunkOrder;
    /// The first broken invariant, in words.
    fn check(&self, chunks: &Chunks) -> Result<(), String>;
}

/// A policy with its state: an enum, so that it is cloned with the tier.
#[derive(Clone, Debug)]
pub(super) enum Orders {
    Lru(Lru),
    Arc(Box<Arc>),
}

impl Orders {
    pub(super) fn new(policy: ChunkEviction, capacity: u32) -> Self {
        match policy {
            ChunkEviction::Lru => Self::Lru(Lru::default()),
            ChunkEviction::Arc => Self::Arc(Box::new(Arc::new(capacity))),
        }
    }

    pub(super) fn policy(&self) -> &dyn Order {
        match self {
            Self::Lru(lru) => lru,
            Self::Arc(arc) => &**arc,
        }
    }

    pub(super) fn policy_mut(&mut self) -> &mut dyn Order {
        match self {
            Self::Lru(lru) => lru,
            Self::Arc(arc) => &mut **arc,
        }
    }
}
