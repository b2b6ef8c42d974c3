//! Host memory (G2): one mapping, page-aligned, locked where the system lets it, divided into slots.
//!
//! Slots are borrowed: many readers or one writer, checked when the borrow begins, never waited for. Who would have to
//! wait has a fault in their bookkeeping, since the engine gives no slot to two writers; they are told so.

mod limits;
mod pages;

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use memmap2::MmapMut;

use crate::claim::{Claims, ReadClaim, WriteClaim};
use crate::medium::Slot;

pub use pages::Pages;

use limits::Limit;

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
    /// More than this process may have: told before anything is taken, since whoever takes it is killed.
    OverLimit {
        /// Bytes asked for.
        bytes: usize,
        /// Bytes allowed.
        limit: u64,
        /// Bytes of them that could be had.
        free: u64,
        /// What bounds them, in words.
        whose: String,
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
            Self::OverLimit { bytes, limit, free, whose } => {
                write!(
                    f,
                    "host memory: {bytes} bytes are asked for, and {whose} is {limit} bytes, of which {free} can be \
                     had\n  mend: fewer or smaller blocks of G2, or a higher limit (of a container: its memory limit)"
                )
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

/// How much is done for pages to be there when they are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residence {
    /// Nothing: they come when they are touched.
    Lazy,
    /// They are there from the beginning. For memory that a GPU's driver will lock by itself.
    Present,
    /// They are there, and stay: they are locked.
    Locked,
}

/// Memory that this process may still have, by the machine's and every control group's word; `None` where none tells.
pub fn free_memory_bytes() -> Option<u64> {
    limits::read(Path::new("/")).iter().map(|limit| limit.free).min()
}

/// Host memory in slots.
pub struct Arena {
    /// Owns the mapping; reached through `base` only.
    _map: MmapMut,
    base: *mut u8,
    block_bytes: usize,
    claims: Claims,
    locked: bool,
    pages: Pages,
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
    /// So many slots of so many bytes: [`Residence::Locked`] with `lock`, else [`Residence::Lazy`].
    ///
    /// # Errors
    ///
    /// As [`Arena::with`].
    pub fn new(slots: u32, block_bytes: usize, lock: bool) -> Result<Self, ArenaError> {
        Self::with(slots, block_bytes, if lock { Residence::Locked } else { Residence::Lazy })
    }

    /// So many slots of so many bytes. What the system refuses of the pages' kind and residence is said in
    /// [`Arena::shortfalls`], and the arena works all the same.
    ///
    /// # Errors
    ///
    /// When the size makes no sense, is more than this process may have, or the system gives no memory.
    pub fn with(slots: u32, block_bytes: usize, residence: Residence) -> Result<Self, ArenaError> {
        if block_bytes == 0 || !block_bytes.is_multiple_of(8) {
            return Err(ArenaError::BadBlock { block_bytes });
        }
        let too_large = ArenaError::TooLarge { slots, block_bytes };
        let bytes =
            (slots.max(1) as usize).checked_mul(block_bytes).filter(|&bytes| bytes <= isize::MAX as usize);
        let Some(bytes) = bytes else { return Err(too_large) };
        let present = residence != Residence::Lazy;
        let mut shortfalls = check_limits(bytes, present, Path::new("/"))?;
        let mapped = pages::map(bytes, present).map_err(|error| ArenaError::Refused { bytes, error })?;
        shortfalls.extend(mapped.shortfalls);
        let (mut map, pages) = (mapped.map, mapped.pages);
        let mut locked = false;
        if residence == Residence::Locked {
            match map.lock() {
                Ok(()) => locked = true,
                Err(error) => shortfalls.push(not_locked(bytes, &error)),
            }
        }
        let base = map.as_mut_ptr();
        Ok(Self { _map: map, base, block_bytes, claims: Claims::new(slots), locked, pages, shortfalls })
    }

    /// Slots.
    pub fn slots(&self) -> u32 {
        self.claims.slots()
    }

    /// Bytes of each.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Whether the pages stay in memory.
    pub fn is_locked(&self) -> bool {
        self.locked
    }

    /// What the pages are.
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// What was asked for and not got, in words.
    pub fn shortfalls(&self) -> &[String] {
        &self.shortfalls
    }

    /// A slot to read; `None` when there is none of this number, or somebody writes it.
    pub fn read(&self, slot: Slot) -> Option<Reading<'_>> {
        Some(Reading { arena: self, slot, _claim: self.claims.read(slot)? })
    }

    /// A slot to write; `None` when there is none of this number, or somebody has it.
    pub fn write(&self, slot: Slot) -> Option<Writing<'_>> {
        Some(Writing { arena: self, slot, _claim: self.claims.write(slot)? })
    }

    /// All slots, as a GPU's driver takes them: where they begin, and bytes. Who copies by these addresses holds the
    /// slots' claims meanwhile.
    #[cfg(feature = "cuda")]
    pub(crate) fn whole(&self) -> (*mut u8, usize) {
        (self.base, self.claims.slots() as usize * self.block_bytes)
    }

    fn start(&self, slot: Slot) -> *mut u8 {
        self.base.wrapping_add(slot.0 as usize * self.block_bytes)
    }
}

/// Refuses what cannot be had: ever, or now if it is to be there now. What may become tight later is said.
fn check_limits(bytes: usize, present: bool, root: &Path) -> Result<Vec<String>, ArenaError> {
    let asked = bytes as u64;
    if bytes < SMALL_BYTES {
        return Ok(Vec::new());
    }
    let limits = limits::read(root).into_iter().filter(|limit| limit.bytes.min(limit.free) < asked);
    let Some(Limit { bytes: limit, free, whose }) = limits.min_by_key(|limit| limit.bytes.min(limit.free))
    else {
        return Ok(Vec::new());
    };
    if present || limit < asked {
        return Err(ArenaError::OverLimit { bytes, limit, free, whose });
    }
    Ok(vec![format!("{asked} bytes may come to be used, and {free} of {limit} are free now ({whose})")])
}

/// Nobody's limit is below it: buffers of a few blocks do not read files.
const SMALL_BYTES: usize = 1 << 20;

fn not_locked(bytes: usize, error: &std::io::Error) -> String {
    let limit = limits::locked(Path::new("/"));
    let limit = limit.map_or_else(String::new, |limit| format!(", which is {limit}"));
    format!("{bytes} bytes could not be locked ({error}): pages may be swapped out; raise `ulimit -l`{limit}")
}

/// A slot that is being read.
pub struct Reading<'a> {
    arena: &'a Arena,
    slot: Slot,
    _claim: ReadClaim<'a>,
}

impl Deref for Reading<'_> {
    type Target = [u8];

    #[expect(unsafe_code, reason = "a part of the mapping")]
    fn deref(&self) -> &[u8] {
        // SAFETY: the claim of a reader keeps writers out until this value is dropped, and the slot lies within the mapping.
        unsafe { std::slice::from_raw_parts(self.arena.start(self.slot), self.arena.block_bytes) }
    }
}

/// A slot that is being written.
pub struct Writing<'a> {
    arena: &'a Arena,
    slot: Slot,
    _claim: WriteClaim<'a>,
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

    #[test]
    fn more_than_a_container_may_have_is_refused_and_what_is_tight_is_said() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("a folder");
            std::fs::write(path, text).expect("a small file");
        };
        put("proc/self/cgroup", "0::/box\n");
        put("sys/fs/cgroup/box/memory.max", "8388608\n");
        put("sys/fs/cgroup/box/memory.current", "4194304\n");
        let check = |bytes, present| check_limits(bytes, present, root.path());
        assert_eq!(check(4 << 20, true).expect("it fits"), Vec::<String>::new());
        let tight = check(5 << 20, false).expect("it fits if others give way");
        assert!(tight[0].contains("4194304 of 8388608 are free"), "{tight:?}");
        for (bytes, present) in [(5 << 20, true), (9 << 20, false)] {
            let refused = check(bytes, present).expect_err("more than can be had").to_string();
            assert!(refused.contains("memory.max is 8388608 bytes") && refused.contains("mend"), "{refused}");
        }
    }
}
