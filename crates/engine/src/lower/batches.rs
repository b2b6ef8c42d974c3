//! Batches that have not ended, by number. Numbers only grow and old ones end, so a window over them is enough: a
//! batch is found without a search, and its place is given up with the oldest.

use std::collections::VecDeque;

use tierscope_units::TransferId;

use super::batch::Batch;

/// Batches that have not ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batches {
    /// The number of the first place.
    first: u64,
    places: VecDeque<Option<Box<Batch>>>,
}

impl Batches {
    fn place(&self, id: TransferId) -> Option<usize> {
        usize::try_from(id.0.checked_sub(self.first)?).ok()
    }

    pub(crate) fn get(&self, id: TransferId) -> Option<&Batch> {
        self.places.get(self.place(id)?)?.as_deref()
    }

    pub(crate) fn get_mut(&mut self, id: TransferId) -> Option<&mut Batch> {
        let place = self.place(id)?;
        self.places.get_mut(place)?.as_deref_mut()
    }

    pub(crate) fn contains(&self, id: TransferId) -> bool {
        self.get(id).is_some()
    }

    /// Adds a batch, or puts one back.
    pub(crate) fn insert(&mut self, id: TransferId, batch: Box<Batch>) {
        if self.places.is_empty() {
            self.first = id.0;
        }
        while id.0 < self.first {
            self.places.push_front(None);
            self.first -= 1;
        }
        let place = (id.0 - self.first) as usize;
        if place >= self.places.len() {
            self.places.resize_with(place + 1, || None);
        }
        self.places[place] = Some(batch);
    }

    pub(crate) fn remove(&mut self, id: TransferId) -> Option<Box<Batch>> {
        let place = self.place(id)?;
        let batch = self.places.get_mut(place)?.take();
        while self.places.front().is_some_and(Option::is_none) {
            self.places.pop_front();
            self.first += 1;
        }
        batch
    }

    /// In the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (TransferId, &Batch)> {
        (self.first..)
            .map(TransferId)
            .zip(&self.places)
            .filter_map(|(id, batch)| Some((id, batch.as_deref()?)))
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Batch> {
        self.places.iter().filter_map(Option::as_deref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::{Cause, Lane};

    fn batch() -> Box<Batch> {
        Box::new(Batch::new(Lane::G1ToG2, Cause::Computed))
    }

    #[test]
    fn a_batch_is_found_by_its_number_until_it_is_taken_out() {
        let mut batches = Batches::default();
        for id in [3, 4, 7] {
            batches.insert(TransferId(id), batch());
        }
        let ids = |batches: &Batches| batches.iter().map(|(id, _)| id.0).collect::<Vec<_>>();
        assert_eq!(ids(&batches), [3, 4, 7]);
        assert!(batches.remove(TransferId(3)).is_some() && batches.remove(TransferId(3)).is_none());
        assert!(!batches.contains(TransferId(5)) && !batches.contains(TransferId(0)));
        assert!(!batches.contains(TransferId(u64::MAX)));
        // The oldest may be put back after its place was given up.
        batches.insert(TransferId(3), batch());
        assert_eq!(ids(&batches), [3, 4, 7]);
        for id in [4, 3, 7] {
            assert!(batches.remove(TransferId(id)).is_some());
        }
        assert_eq!((ids(&batches), batches.places.len()), (vec![], 0));
        batches.insert(TransferId(9), batch());
        assert_eq!(batches.places.len(), 1);
    }
}
