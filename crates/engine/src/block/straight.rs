//! The allocation that transactions are measured against: the same slots, taken at once.
//!
//! For the benchmark only (`cargo xtask bench transactions`): nothing is promised, so nothing can be taken back,
//! and a caller that fails half way would have to find out itself what it holds. It takes the slots that reserve
//! and commit would take, in their order.

use tierscope_units::SlotId;

use super::evict::Evict as _;
use super::pool::BlockPool;
use super::transaction::{Exhausted, Hits};
use crate::fact::BlockRef;

impl BlockPool {
    /// Takes the hits and `missing` further slots, leaving `keep_free` available, and appends them to `owned`;
    /// the evicted contents go to `removed`. Returns the number of victims.
    pub(crate) fn take_straight(
        &mut self,
        hits: &mut Hits,
        (missing, keep_free): (u32, u32),
        owned: &mut Vec<SlotId>,
        removed: &mut Vec<BlockRef>,
    ) -> Result<u32, Exhausted> {
        let needed = missing + hits.cached;
        let obtainable = self.available();
        if needed.saturating_add(keep_free) > obtainable {
            return Err(Exhausted { needed, obtainable });
        }
        self.pin_hits(hits);
        let first_hit = owned.len();
        owned.append(&mut hits.slots);
        let first_free = owned.len();
        let from_free = missing.min(self.unpromised());
        self.activate_free(from_free, owned);
        let victims = missing - from_free;
        if victims > 0 {
            let first = owned.len();
            self.evictor.pick(&self.slots, victims as usize, owned);
            self.replace_victims(&owned[first..], removed);
            self.cached -= victims;
        }
        self.evictor.hit(&self.slots, &owned[first_hit..first_free]);
        self.active += missing;
        self.assert_conserved();
        Ok(victims)
    }
}
