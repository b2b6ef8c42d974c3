//! A file of slots and its two logs, of which one is in use: on anything that can be written and synced.
//!
//! The order is all that matters. To persist: first the slots are synced, then the records of what is in them are
//! appended, then the log is synced; so a record that is found after a crash was written behind its block. A log that has
//! grown long is written anew into the other file, its header last: until that is there, the old log holds.
//!
//! A slot may be stored over at once, while an older record still names what was in it: the checksum of that record then
//! differs, and a load of it fails instead of serving something else.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::record::{Place, RECORD_BYTES, Record, checksum};
use crate::fault::Fault;
use crate::medium::{Key, Slot};

/// What a file, or a test's picture of one, can do.
pub(crate) trait Disk: Send + Sync {
    /// Fills the buffer from a place; an end of file before that is an error.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()>;
    /// Writes the whole buffer at a place.
    fn write_at(&self, buffer: &[u8], at: u64) -> io::Result<()>;
    /// What was written survives a crash once this returns.
    fn sync(&self) -> io::Result<()>;
}

/// Sizes that never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) block_bytes: usize,
    pub(crate) slots: u32,
}

impl Geometry {
    /// Records after which a log is written anew: what a log needs at most, whatever happens.
    pub(crate) fn log_records_max(self) -> u64 {
        4 * u64::from(self.slots) + 1_024
    }

    /// Bytes of one log file.
    pub(crate) fn log_bytes(self) -> u64 {
        // One header, and room for what one call appends beyond the limit.
        (self.log_records_max() + u64::from(self.slots) + 2) * RECORD_BYTES as u64
    }

    /// Bytes of the file of slots.
    pub(crate) fn slab_bytes(self) -> u64 {
        u64::from(self.slots) * self.block_bytes as u64
    }
}

/// What is known of a slot's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    key: Key,
    checksum: u32,
}

/// Slots with their logs.
pub(crate) struct Slab<D> {
    geometry: Geometry,
    file: D,
    logs: [D; 2],
    state: Mutex<State>,
    /// Held by whoever persists: one at a time.
    persisting: Mutex<()>,
}

struct State {
    entries: Vec<Option<Entry>>,
    /// Slots that changed since they were last written down, in no order: what counts is what is in them now.
    changed: Vec<bool>,
    changes: Vec<Slot>,
    /// Which log is in use, and where its next record goes.
    log: usize,
    next: Place,
}

/// Why a slab cannot be opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// It was made with other sizes.
    OtherGeometry { block_bytes: u64, slots: u32 },
    /// The device.
    Io(io::Error),
}

impl<D: Disk> Slab<D> {
    /// Opens what a former life left, or begins anew where nothing is.
    pub(crate) fn open(geometry: Geometry, file: D, logs: [D; 2]) -> Result<Self, OpenError> {
        let found = newest(&logs)?;
        let mut state = State {
            entries: vec![None; geometry.slots as usize],
            changed: vec![false; geometry.slots as usize],
            changes: Vec::new(),
            log: 0,
            next: Place { generation: 0, position: 0 },
        };
        match found {
            None => {}
            Some((log, generation, block_bytes, slots)) => {
                if (block_bytes, slots) != (geometry.block_bytes as u64, geometry.slots) {
                    return Err(OpenError::OtherGeometry { block_bytes, slots });
                }
                state.log = log;
                state.next = Place { generation, position: 1 };
                state.replay(&logs[log], geometry);
            }
        }
        let slab = Self { geometry, file, logs, state: Mutex::new(state), persisting: Mutex::new(()) };
        // Also where a log was found: behind its end may lie records of the former life, which would be read as its
        // continuation once new ones fill the gap.
        slab.write_anew().map_err(OpenError::Io)?;
        Ok(slab)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a block. Until it is persisted, a crash may lose it, never give it wrongly.
    pub(crate) fn store(&self, key: Key, slot: Slot, block: &[u8]) -> Result<(), Fault> {
        self.check(slot, block.len())?;
        // Whatever becomes of the write: what was there is not there any more.
        self.set(slot, None);
        let sum = checksum(block);
        self.file.write_at(block, self.offset(slot)).map_err(|error| Fault::of_io(&error))?;
        self.set(slot, Some(Entry { key, checksum: sum }));
        Ok(())
    }

    /// Loads a block; the buffer holds it only if this succeeds.
    pub(crate) fn load(&self, key: Key, slot: Slot, block: &mut [u8]) -> Result<(), Fault> {
        self.check(slot, block.len())?;
        let entry =
            self.state().entries[slot.0 as usize].filter(|entry| entry.key == key).ok_or(Fault::Missing)?;
        self.file.read_at(block, self.offset(slot)).map_err(|error| Fault::of_io(&error))?;
        if checksum(block) == entry.checksum { Ok(()) } else { Err(Fault::Corrupt) }
    }

    /// A slot holds nothing any more.
    pub(crate) fn forget(&self, slot: Slot) {
        if slot.0 < self.geometry.slots {
            self.set(slot, None);
        }
    }

    /// Every content with its slot, in order of slots.
    pub(crate) fn contents(&self) -> Vec<(Key, Slot)> {
        let state = self.state();
        let entries = state.entries.iter().enumerate();
        entries.filter_map(|(slot, entry)| Some((entry.as_ref()?.key, Slot(slot as u32)))).collect()
    }

    /// What was stored and forgotten so far survives a crash once this returns.
    pub(crate) fn persist(&self) -> Result<(), Fault> {
        let _one = self.persisting.lock().unwrap_or_else(PoisonError::into_inner);
        let (changes, records, log, next) = {
            let mut state = self.state();
            let changes = std::mem::take(&mut state.changes);
            let mut records = Vec::with_capacity(changes.len());
            for &slot in &changes {
                state.changed[slot.0 as usize] = false;
                records.push(record_of(slot, state.entries[slot.0 as usize]));
            }
            (changes, records, state.log, state.next)
        };
        if next.position + records.len() as u64 >= self.geometry.log_bytes() / RECORD_BYTES as u64 {
            // It could not be written anew when it was time: now it must, or nothing is written.
            return self.write_anew().map_err(|error| Fault::of_io(&error));
        }
        let written = self.append(log, next, &records);
        let mut state = self.state();
        match written {
            Ok(()) => {
                state.next.position += records.len() as u64;
                let long = state.next.position > self.geometry.log_records_max();
                drop(state);
                if long { self.write_anew().map_err(|error| Fault::of_io(&error)) } else { Ok(()) }
            }
            Err(error) => {
                // They are still to be written down.
                for slot in changes {
                    state.note(slot);
                }
                Err(Fault::of_io(&error))
            }
        }
    }

    fn append(&self, log: usize, next: Place, records: &[Record]) -> io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        // The blocks first: a record speaks of what is there.
        self.file.sync()?;
        let mut bytes = Vec::with_capacity(records.len() * RECORD_BYTES);
        for (more, record) in (0..).zip(records) {
            bytes.extend(record.encode(Place { position: next.position + more, ..next }));
        }
        self.logs[log].write_at(&bytes, next.position * RECORD_BYTES as u64)?;
        self.logs[log].sync()
    }

    /// All that is there goes into the other log, whose header comes last.
    fn write_anew(&self) -> io::Result<()> {
        let (log, generation, records) = {
            let mut state = self.state();
            for slot in std::mem::take(&mut state.changes) {
                state.changed[slot.0 as usize] = false;
            }
            let entries = state.entries.iter().enumerate();
            let live = entries.filter(|(_, entry)| entry.is_some());
            let records: Vec<Record> =
                live.map(|(slot, entry)| record_of(Slot(slot as u32), *entry)).collect();
            (1 - state.log, state.next.generation + 1, records)
        };
        let written = self.write_log(log, generation, &records);
        let mut state = self.state();
        match written {
            Ok(()) => {
                state.log = log;
                state.next = Place { generation, position: 1 + records.len() as u64 };
            }
            // Every slot may differ from what the old log says.
            Err(_) => (0..self.geometry.slots).for_each(|slot| state.note(Slot(slot))),
        }
        written
    }

    fn write_log(&self, log: usize, generation: u64, records: &[Record]) -> io::Result<()> {
        self.append(log, Place { generation, position: 1 }, records)?;
        let header =
            Record::Header { block_bytes: self.geometry.block_bytes as u64, slots: self.geometry.slots };
        self.logs[log].write_at(&header.encode(Place { generation, position: 0 }), 0)?;
        self.logs[log].sync()
    }

    fn check(&self, slot: Slot, bytes: usize) -> Result<(), Fault> {
        let fits = slot.0 < self.geometry.slots && bytes == self.geometry.block_bytes;
        fits.then_some(()).ok_or(Fault::OutOfRange)
    }

    fn offset(&self, slot: Slot) -> u64 {
        u64::from(slot.0) * self.geometry.block_bytes as u64
    }

    fn set(&self, slot: Slot, entry: Option<Entry>) {
        let mut state = self.state();
        state.entries[slot.0 as usize] = entry;
        state.note(slot);
    }
}

impl State {
    fn note(&mut self, slot: Slot) {
        if !std::mem::replace(&mut self.changed[slot.0 as usize], true) {
            self.changes.push(slot);
        }
    }

    /// Takes over a log up to its first record that is not the next one.
    fn replay<D: Disk>(&mut self, log: &D, geometry: Geometry) {
        let mut bytes = [0; RECORD_BYTES];
        let end = geometry.log_bytes() / RECORD_BYTES as u64;
        while self.next.position < end
            && log.read_at(&mut bytes, self.next.position * RECORD_BYTES as u64).is_ok()
        {
            let Some((place, record)) = Record::decode(&bytes) else { break };
            if place != self.next {
                break;
            }
            match record {
                Record::Put { key, slot, checksum } if slot.0 < geometry.slots => {
                    self.entries[slot.0 as usize] = Some(Entry { key, checksum });
                }
                Record::Forget { slot } if slot.0 < geometry.slots => self.entries[slot.0 as usize] = None,
                _ => break,
            }
            self.next.position += 1;
        }
    }
}

fn record_of(slot: Slot, entry: Option<Entry>) -> Record {
    match entry {
        Some(Entry { key, checksum }) => Record::Put { key, slot, checksum },
        None => Record::Forget { slot },
    }
}

/// The sizes in the header of a log, where it has one.
pub(crate) fn made_with(log: &impl Disk) -> Option<(u64, u32)> {
    let mut bytes = [0; RECORD_BYTES];
    log.read_at(&mut bytes, 0).ok()?;
    match Record::decode(&bytes)? {
        (_, Record::Header { block_bytes, slots }) => Some((block_bytes, slots)),
        _ => None,
    }
}

/// The log with the newest header: which, its generation, and the sizes that it was made with.
fn newest<D: Disk>(logs: &[D; 2]) -> Result<Option<(usize, u64, u64, u32)>, OpenError> {
    let mut newest = None;
    for (at, log) in logs.iter().enumerate() {
        let mut bytes = [0; RECORD_BYTES];
        match log.read_at(&mut bytes, 0) {
            Ok(()) => {}
            // Shorter than a header: nothing is there yet.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
            Err(error) => return Err(OpenError::Io(error)),
        }
        if let Some((Place { generation, position: 0 }, Record::Header { block_bytes, slots })) =
            Record::decode(&bytes)
            && newest.is_none_or(|(_, other, _, _)| generation > other)
        {
            newest = Some((at, generation, block_bytes, slots));
        }
    }
    Ok(newest)
}

#[cfg(test)]
mod crash;
