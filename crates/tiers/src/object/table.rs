//! Which object each slot has, and what is in it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::index::Entry;
use super::name::BlockName;
use crate::device::Outcome;
use crate::fault::Fault;
use crate::medium::{Key, Slot};

/// A slot.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Counts what was begun with this slot: a store that ends late must not say what is in it.
    turn: u64,
    name: Option<BlockName>,
    /// Whether every request about this name has been answered.
    answered: bool,
    holds: Option<Key>,
}

/// All slots.
pub(super) struct Table {
    life: u64,
    /// The next use of a name in this life.
    usage: AtomicU64,
    rows: Mutex<Vec<Row>>,
}

impl Table {
    /// The slots as a former life left them. Nobody knows whether all of its requests have been answered.
    pub(super) fn new(life: u64, slots: u32, entries: &[Entry]) -> Self {
        let mut rows = vec![Row::default(); slots as usize];
        for entry in entries {
            if let Some(row) = rows.get_mut(entry.name.slot.0 as usize) {
                (row.name, row.holds) = (Some(entry.name), Some(entry.key));
            }
        }
        Self { life, usage: AtomicU64::new(0), rows: Mutex::new(rows) }
    }

    fn rows(&self) -> MutexGuard<'_, Vec<Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In which life this is.
    pub(super) fn life(&self) -> u64 {
        self.life
    }

    /// A number that no name of this life has had.
    pub(super) fn fresh(&self) -> u64 {
        self.usage.fetch_add(1, Ordering::Relaxed)
    }

    /// A store begins: from now on the slot serves nothing. Its turn.
    pub(super) fn begin(&self, slot: Slot) -> Result<u64, Fault> {
        let mut rows = self.rows();
        let row = rows.get_mut(slot.0 as usize).ok_or(Fault::OutOfRange)?;
        row.turn += 1;
        row.holds = None;
        Ok(row.turn)
    }

    /// The name to write under, and the one that is given up for it, if one is: nobody may be writing under a name, or have
    /// been given up doing so.
    pub(super) fn name_to_write(&self, slot: Slot) -> Result<(BlockName, Option<BlockName>), Fault> {
        let mut rows = self.rows();
        let row = rows.get_mut(slot.0 as usize).ok_or(Fault::OutOfRange)?;
        match row.name {
            Some(name) if row.answered => {
                row.answered = false;
                Ok((name, None))
            }
            old => {
                let name = BlockName { slot, life: self.life, usage: self.fresh() };
                row.name = Some(name);
                row.answered = false;
                Ok((name, old))
            }
        }
    }

    /// A request about a name has been answered.
    pub(super) fn answered(&self, name: BlockName) {
        let mut rows = self.rows();
        if let Some(row) = rows.get_mut(name.slot.0 as usize).filter(|row| row.name == Some(name)) {
            row.answered = true;
        }
    }

    /// A store has succeeded; whether it is what counts.
    pub(super) fn end(&self, slot: Slot, turn: u64, key: Key) -> Outcome {
        let mut rows = self.rows();
        let row = rows.get_mut(slot.0 as usize).ok_or(Fault::OutOfRange)?;
        if row.turn != turn {
            return Err(Fault::Busy);
        }
        row.holds = Some(key);
        Ok(())
    }

    /// The slot holds nothing any more. Its object is written over when something is stored there.
    pub(super) fn forget(&self, slot: Slot) {
        if let Some(row) = self.rows().get_mut(slot.0 as usize) {
            row.turn += 1;
            row.holds = None;
        }
    }

    /// The object that has this key, if the slot holds it.
    pub(super) fn find(&self, slot: Slot, key: Key) -> Result<BlockName, Fault> {
        let rows = self.rows();
        let row = rows.get(slot.0 as usize).ok_or(Fault::OutOfRange)?;
        row.name.filter(|_| row.holds == Some(key)).ok_or(Fault::Missing)
    }

    /// Every slot that holds something.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let entry = |row: &Row| Some(Entry { name: row.name?, key: row.holds? });
        self.rows().iter().filter_map(entry).collect()
    }

    /// Every name that an object may have now. Their slots serve nothing any more.
    pub(super) fn give_up_all(&self) -> Vec<BlockName> {
        let give_up = |row: &mut Row| {
            row.holds = None;
            row.name
        };
        self.rows().iter_mut().filter_map(give_up).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Slot = Slot(3);

    fn write(table: &Table, key: u64, answered: bool) -> (BlockName, Option<BlockName>) {
        let turn = table.begin(SLOT).expect("it is there");
        let (name, old) = table.name_to_write(SLOT).expect("it is there");
        if answered {
            table.answered(name);
            table.end(SLOT, turn, Key(key)).expect("nobody else has it");
        }
        (name, old)
    }

    #[test]
    fn a_name_is_written_over_only_when_all_requests_about_it_were_answered() {
        let table = Table::new(5, 4, &[]);
        let (first, _) = write(&table, 1, true);
        assert_eq!(write(&table, 2, true), (first, None), "in place");
        assert_eq!(write(&table, 3, false), (first, None), "in place, and given up");
        assert_eq!(table.find(SLOT, Key(2)), Err(Fault::Missing), "whatever is in it now");
        let (second, old) = write(&table, 4, true);
        assert_eq!(old, Some(first));
        assert_ne!(second, first);
        table.answered(first);
        assert_eq!(table.find(SLOT, Key(4)), Ok(second), "late news of the old name");
    }

    #[test]
    fn names_of_a_former_life_are_read_and_not_written() {
        let name = BlockName { slot: SLOT, life: 4, usage: 9 };
        let table = Table::new(5, 4, &[Entry { name, key: Key(1) }]);
        assert_eq!(table.find(SLOT, Key(1)), Ok(name));
        assert_eq!(table.entries(), [Entry { name, key: Key(1) }]);
        let (new, old) = write(&table, 2, true);
        assert_eq!((new.life, old), (5, Some(name)));
    }

    #[test]
    fn a_store_that_ends_after_the_next_has_begun_says_nothing() {
        let table = Table::new(5, 4, &[]);
        let early = table.begin(SLOT).expect("it is there");
        let (first, _) = table.name_to_write(SLOT).expect("it is there");
        let late = table.begin(SLOT).expect("it is there");
        let (second, old) = table.name_to_write(SLOT).expect("it is there");
        assert_eq!(old, Some(first), "it is being written");
        assert_eq!(table.end(SLOT, early, Key(1)), Err(Fault::Busy));
        assert_eq!(table.end(SLOT, late, Key(2)), Ok(()));
        assert_eq!(table.find(SLOT, Key(2)), Ok(second));
        let turn = table.begin(SLOT).expect("it is there");
        table.forget(SLOT);
        assert_eq!(table.end(SLOT, turn, Key(3)), Err(Fault::Busy), "forgotten meanwhile");
        assert_eq!(table.find(Slot(4), Key(1)), Err(Fault::OutOfRange));
    }
}
