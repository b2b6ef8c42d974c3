//! How often each content was offered: what is offered seldom is not worth a store.

use tierscope_units::SequenceHash;

use super::recency::KeyQueue;

/// Offers counted by key, for a bounded number of keys; the one offered longest ago is forgotten first.
#[derive(Clone, Debug)]
pub(super) struct OfferTracker {
    threshold: u32,
    max_keys: u32,
    order: KeyQueue,
    /// By node of `order`.
    counts: Vec<u32>,
}

impl OfferTracker {
    /// None when every offer is worth a store.
    pub(super) fn new(threshold: u32, max_keys: u32) -> Option<Self> {
        (threshold >= 2).then(|| Self { threshold, max_keys, order: KeyQueue::default(), counts: Vec::new() })
    }

    /// Counts an offer. A key of the same offer is never forgotten for another: when only such keys are held,
    /// the rest goes uncounted.
    pub(super) fn count(&mut self, keys: &[SequenceHash]) {
        let mut known = 0;
        for &key in keys {
            if let Some(node) = self.order.get(key) {
                self.order.move_to_back(node);
                self.counts[node as usize] = self.counts[node as usize].saturating_add(1);
                known += 1;
            }
        }
        let mut others = self.order.len() - known;
        for &key in keys {
            if self.order.get(key).is_some() {
                continue;
            }
            if self.order.len() >= self.max_keys {
                if others == 0 {
                    continue;
                }
                self.order.pop_front();
                others -= 1;
            }
            let node = self.order.push_back(key) as usize;
            self.counts.resize(self.counts.len().max(node + 1), 0);
            self.counts[node] = 1;
        }
    }

    /// Whether the key was offered often enough.
    pub(super) fn is_worth_storing(&self, key: SequenceHash) -> bool {
        self.order.get(key).is_some_and(|node| self.counts[node as usize] >= self.threshold)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let held = self.order.keys().count();
        match held == self.order.len() as usize && held <= self.max_keys as usize {
            true => Ok(()),
            false => Err(format!("{held} offers are tracked in order, {} indexed", self.order.len())),
        }
    }
}
