//! The one trait of all media.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::capability::Capability;
use crate::fault::Fault;

/// A slot of a medium, or of the arena: which one is said where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// What a block's content is known by: its sequence hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u64);

/// Names a batch while it is under way; chosen by who submits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(pub u64);

/// Which way a batch goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// From the arena into the medium.
    Store,
    /// From the medium into the arena.
    Load,
}

/// One block of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The content.
    pub key: Key,
    /// Its slot in the medium.
    pub there: Slot,
    /// Its slot in the arena.
    pub here: Slot,
}

/// Blocks that move together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Its name.
    pub id: BatchId,
    /// Where to.
    pub way: Way,
    /// The blocks, in the order in which their results are told.
    pub moves: Vec<Move>,
    /// Look at every block where it has arrived: the content of a key follows from the key (`content`). One that is not
    /// as it should be is [`Fault::Corrupt`].
    pub look: bool,
}

/// A batch that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its name.
    pub id: BatchId,
    /// For each block, in order.
    pub results: Vec<Result<(), Fault>>,
    /// From its submission until a worker took it.
    pub queued: Duration,
    /// From then until the last of its blocks was copied.
    pub copied: Duration,
    /// From then until all of them had been looked at.
    pub looked: Duration,
    /// When the last of its blocks was copied.
    pub copied_at: Instant,
}

impl Ended {
    /// A batch that was never begun.
    pub(crate) fn at_once(id: BatchId, results: Vec<Result<(), Fault>>) -> Self {
        let none = Duration::ZERO;
        Self { id, results, queued: none, copied: none, looked: none, copied_at: Instant::now() }
    }
}

/// Rung whenever a batch has ended, by whoever ended it: quick, and it waits for nothing.
pub type Bell = Arc<dyn Fn() + Send + Sync>;

/// Somewhere that blocks can be.
///
/// Who submits a batch keeps its slots in the arena and in the medium apart from those of all other batches under way:
/// sources may be shared by stores, destinations are nobody else's. That is the engine's rule (L5, L6), not the medium's.
pub trait Medium: Send {
    /// What it is, and what was got of what was asked for.
    fn capability(&self) -> &Capability;

    /// Begins a batch. A medium that is gone ends it at once, with [`Fault::Gone`] for each block.
    fn submit(&mut self, batch: Batch);

    /// The next batch that has ended, waiting so long for one; `None` when none has by then.
    fn next_ended(&mut self, wait: Duration) -> Option<Ended>;

    /// From now on this bell is rung as well, so that one thread can wait for several media.
    fn ring(&mut self, bell: Bell);

    /// Batches under way whose blocks nobody wants any more end soon, those blocks that were not begun with
    /// [`Fault::Cancelled`].
    fn cancel(&mut self, id: BatchId);

    /// The content of a slot is forgotten: a load of it is [`Fault::Missing`] from now on.
    fn forget(&mut self, slot: Slot);

    /// What was stored so far survives a crash from now on, as far as the medium can promise that.
    ///
    /// # Errors
    ///
    /// What the device says.
    fn persist(&mut self) -> Result<(), Fault>;

    /// Takes back what was stored, where it would stay behind as something that nobody else removes: objects in a store. To
    /// be called when no batch is under way; nothing is served afterwards.
    ///
    /// # Errors
    ///
    /// What the device says; then some of it stays behind.
    fn empty(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// Ends everything: batches that were not begun with [`Fault::Gone`], those under way soon, and every later one at once.
    /// Nothing touches the arena any more when this returns.
    fn close(&mut self);

    /// Keys that a former life left, each with its slot; only of media that outlive the process.
    fn survivors(&self) -> Vec<(Key, Slot)> {
        Vec::new()
    }
}
