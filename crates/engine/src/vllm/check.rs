//! Whole-state invariants of the tier (rule T9), for tests and debug builds.

use super::chunk::Chunks;
use super::manager::OffloadManager;

impl OffloadManager {
    /// Sweeps the whole state.
    ///
    /// # Errors
    ///
    /// The first broken invariant, in words.
    pub fn check(&self) -> Result<(), String> {
        self.chunks.check()?;
        self.order.policy().check(&self.chunks)?;
        self.tracker.as_ref().map_or(Ok(()), |tracker| tracker.check())
    }
}

impl Chunks {
    /// Free + evictable + writing + pinned = capacity, each counted from the slots; a slot is in the index ⇔ it is
    /// not free.
    fn check(&self) -> Result<(), String> {
        let (mut evictable, mut writing, mut pinned) = (0, 0, 0);
        for slot in self.occupied() {
            match self.refs(slot) {
                0 => evictable += 1,
                refs if refs < 0 => writing += 1,
                _ => pinned += 1,
            }
            if self.get(self.key(slot)) != Some(slot) {
                return Err(format!("slot {slot} is full, and the index does not lead to it"));
            }
            if self.is_protected(slot) {
                return Err(format!("slot {slot} is protected, and no offer is at hand"));
            }
        }
        if (evictable, writing) != (self.evictable, self.writing) {
            return Err(format!(
                "{evictable} slots are evictable and {writing} written, counted {} and {}",
                self.evictable, self.writing
            ));
        }
        let full = self.free() + evictable + writing + pinned;
        if full != self.capacity() || self.resident() != evictable + writing + pinned {
            return Err(format!("{full} slots are accounted for, there are {}", self.capacity()));
        }
        let mut freed = self.freed.clone();
        freed.sort_unstable();
        freed.dedup();
        let is_sound = freed.iter().all(|&slot| slot < self.used() && !self.holds(slot));
        match is_sound && freed.len() == self.freed.len() {
            true => Ok(()),
            false => Err("a slot on the free stack is there twice, or full".to_owned()),
        }
    }
}
