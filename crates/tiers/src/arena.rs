//! Host memory (G2): one mapping, page-aligned, locked where the system lets it, divided into slots.
//!
//! Slots are borrowed: many readers or one writer, checked when the borrow begins, never waited for. Who would have to
//! wait has a fault in their bookkeeping, since the engine gives no slot to two writers; they are told so.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::{MmapMut, MmapOptions};

use crate::medium::Slot;

/// Why host memory could not be had.
#[derive(Debug)]
pub enum ArenaError {
    /// So many bytes cannot be addressed.
    TooLarge {
        /// Slots asked for.
        slots: u32,
        /// Bytes of each.
        block_bytes: usize,
    },
    /// A block of no bytes, or of a size that is no multiple of 8.
    BadBlock {
        /// Bytes asked for.
        block_bytes: usize,
    },
    /// The system refuses.
    Refused {
        /// Bytes asked for.
        bytes: usize,
        /// What it says.
        error: std::io::Error,
    },
}

impl fmt::Display for ArenaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { slots, block_bytes } => {
                write!(f, "{slots} blocks of {block_bytes} bytes are more than this machine can address")
            }
            Self::BadBlock { block_bytes } => {
                write!(f, "a block has {block_bytes} bytes; it needs a positive multiple of 8")
            }
            Self::Refused { bytes, error } => {
                write!(
                    f,
                    "the system gives no {bytes} bytes of memory: {error}\n  mend: fewer blocks of G2, or a higher limit"
                )
            }
        }
    }
}

impl std::error::Error for ArenaError {}

/// The claim of a slot's one writer.
const WRITER: u32 = u32::MAX;

/// Host memory in slots.
pub struct Arena {
    /// Owns the mapping; reached through `base` only.
    _map: MmapMut,
    base: *mut u8,
    block_bytes: usize,
    /// By slot: [`WRITER`], or how many read it.
    claims: Vec<AtomicU32>,
    locked: bool,
    shortfalls: Vec<String>,
}

#[expect(unsafe_code, reason = "slots are parts of one mapping; `claims` keeps writers apart from everybody")]
// SAFETY: the mapping is plain memory that lives as long as the arena; every access goes through a claim, taken and
// given back atomically, so that no two threads have a slot while one of them writes.
unsafe impl Send for Arena {}
#[expect(unsafe_code, reason = "as above")]
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Arena {
    /// So many slots of so many bytes. With `lock`, the pages are asked to stay in memory; where the system refuses
    /// that, it is said in [`Arena::shortfalls`] and the arena works all the same.
    ///
    /// # Errors
    ///
    /// When the size makes no sense or the system gives no memory.
    pub fn new(slots: u32, block_bytes: usize, lock: bool) -> Result<Self, ArenaError> {
        if block_bytes == 0 || !block_bytes.is_multiple_of(8) {
            return Err(ArenaError::BadBlock { block_bytes });
        }
        let too_large = ArenaError::TooLarge { slots, block_bytes };
        let bytes =
            (slots.max(1) as usize).checked_mul(block_bytes).filter(|&bytes| bytes <= isize::MAX as usize);
        let Some(bytes) = bytes else { return Err(too_large) };
        let mut map =
            MmapOptions::new().len(bytes).map_anon().map_err(|error| ArenaError::Refused { bytes, error })?;
        let mut shortfalls = Vec::new();
        #[cfg(target_os = "linux")]
        if let Err(error) = map.advise(memmap2::Advice::HugePage) {
            shortfalls.push(format!("no huge pages: {error}"));
        }
        let mut locked = false;
        if lock {
            match map.lock() {
                Ok(()) => locked = true,
                Err(error) => shortfalls.push(format!(
                    "{bytes} bytes could not be locked ({error}): pages may be swapped out; raise `ulimit -l`"
                )),
            }
        }
        let base = map.as_mut_ptr();
        let claims = (0..slots).map(|_| AtomicU32::new(0)).collect();
        Ok(Self { _map: map, base, block_bytes, claims, locked, shortfalls })
    }

    /// Slots.
    pub fn slots(&self) -> u32 {
        self.claims.len() as u32
    }

    /// Bytes of each.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Whether the pages stay in memory.
    pub fn is_locked(&self) -> bool {
        self.locked
    }

    /// What was asked for and not got, in words.
    pub fn shortfalls(&self) -> &[String] {
        &self.shortfalls
    }

    /// A slot to read; `None` when there is none of this number, or somebody writes it.
    pub fn read(&self, slot: Slot) -> Option<Reading<'_>> {
        let claim = self.claims.get(slot.0 as usize)?;
        let more = |claimed: u32| (claimed < WRITER - 1).then(|| claimed + 1);
        claim.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).ok()?;
        Some(Reading { arena: self, slot })
    }

    /// A slot to write; `None` when there is none of this number, or somebody has it.
    pub fn write(&self, slot: Slot) -> Option<Writing<'_>> {
        let claim = self.claims.get(slot.0 as usize)?;
        claim.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).ok()?;
        Some(Writing { arena: self, slot })
    }

    fn start(&self, slot: Slot) -> *mut u8 {
        self.base.wrapping_add(slot.0 as usize * self.block_bytes)
    }
}

/// A slot that is being read.
pub struct Reading<'a> {
    arena: &'a Arena,
    slot: Slot,
}

impl Deref for Reading<'_> {
    type Target = [u8];

    #[expect(unsafe_code, reason = "a part of the mapping")]
    fn deref(&self) -> &[u8] {
        // SAFETY: the claim of a reader keeps writers out until this value is dropped, and the slot lies within the mapping.
        unsafe { std::slice::from_raw_parts(self.arena.start(self.slot), self.arena.block_bytes) }
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.arena.claims[self.slot.0 as usize].fetch_sub(1, Ordering::Release);
    }
}

/// A slot that is being written.
pub struct Writing<'a> {
    arena: &'a Arena,
    slot: Slot,
}

impl Deref for Writing<'_> {
    type Target = [u8];

    #[expect(unsafe_code, reason = "a part of the mapping")]
    fn deref(&self) -> &[u8] {
        // SAFETY: the claim of the writer keeps all others out until this value is dropped.
        unsafe { std::slice::from_raw_parts(self.arena.start(self.slot), self.arena.block_bytes) }
    }
}

impl DerefMut for Writing<'_> {
    #[expect(unsafe_code, reason = "a part of the mapping")]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.arena.start(self.slot), self.arena.block_bytes) }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.arena.claims[self.slot.0 as usize].store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_many_readers_or_one_writer() {
        let arena = Arena::new(2, 64, false).expect("128 bytes");
        let (a, b) = (arena.read(Slot(0)), arena.read(Slot(0)));
        assert!(a.is_some() && b.is_some() && arena.write(Slot(0)).is_none());
        drop((a, b));
        let mut writing = arena.write(Slot(0)).expect("nobody has it");
        assert!(arena.read(Slot(0)).is_none() && arena.write(Slot(0)).is_none());
        assert!(arena.write(Slot(1)).is_some(), "the other one is free");
        writing.fill(7);
        drop(writing);
        assert!(arena.read(Slot(0)).expect("nobody writes it").iter().all(|&byte| byte == 7));
        assert!(arena.read(Slot(1)).expect("nobody writes it").iter().all(|&byte| byte == 0));
        assert!(arena.read(Slot(2)).is_none());
    }

    #[test]
    fn what_one_thread_wrote_another_reads() {
        let arena = Arena::new(1, 4096, false).expect("a page");
        std::thread::scope(|scope| {
            for round in 0..4u8 {
                let arena = &arena;
                scope.spawn(move || {
                    for _ in 0..2_000 {
                        if let Some(mut slot) = arena.write(Slot(0)) {
                            slot.fill(round);
                        }
                        if let Some(slot) = arena.read(Slot(0)) {
                            assert!(slot.iter().all(|&byte| byte == slot[0]), "half of one, half of another");
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused_before_memory_is_taken() {
        assert!(matches!(Arena::new(1, 0, false), Err(ArenaError::BadBlock { .. })));
        assert!(matches!(Arena::new(1, 12, false), Err(ArenaError::BadBlock { .. })));
        assert!(matches!(Arena::new(u32::MAX, usize::MAX & !7, false), Err(ArenaError::TooLarge { .. })));
        let refused = Arena::new(u32::MAX, 1 << 30, false).map(|_| ()).expect_err("four exabytes");
        assert!(refused.to_string().contains("mend"), "{refused}");
    }
}
