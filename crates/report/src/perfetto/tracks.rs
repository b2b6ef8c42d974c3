//! Who has which track: things that go on at the same time lie on tracks of their own, the lowest that is free.

use std::collections::BTreeMap;

use super::events::Process;

/// Tracks of one kind, in all processes.
#[derive(Clone, Debug)]
pub(super) struct Tracks<K> {
    /// By process, group (a lane, or all passes) and thing: its place among those of its group.
    open: BTreeMap<(Process, usize, K), usize>,
    /// By process and group: whether each place is taken.
    places: BTreeMap<(Process, usize), Vec<bool>>,
}

/// A track that something was put on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) process: Process,
    pub(super) track: usize,
    /// Its name, if it is new.
    pub(super) name: Option<String>,
}

/// Numbers of tracks from one group to the next.
const GROUP: usize = 100_000;

impl<K> Default for Tracks<K> {
    fn default() -> Self {
        Self { open: BTreeMap::new(), places: BTreeMap::new() }
    }
}

impl<K: Ord + Copy> Tracks<K> {
    /// Puts a thing on the lowest track of its group that is free.
    pub(super) fn open(&mut self, process: Process, group: usize, thing: K, name: &str) -> Open {
        let places = self.places.entry((process, group)).or_default();
        let place = places.iter().position(|taken| !taken).unwrap_or(places.len());
        let is_new = place == places.len();
        if is_new {
            places.push(true);
        }
        places[place] = true;
        self.open.insert((process, group, thing), place);
        let name = is_new.then(|| if place == 0 { name.to_owned() } else { format!("{name} {}", place + 1) });
        Open { process, track: track(group, place), name }
    }

    /// Whether a thing is on a track.
    pub(super) fn is_open(&self, process: Process, group: usize, thing: K) -> bool {
        self.open.contains_key(&(process, group, thing))
    }

    /// Takes a thing off its track.
    pub(super) fn close(&mut self, process: Process, group: usize, thing: K) -> Option<usize> {
        let place = self.open.remove(&(process, group, thing))?;
        if let Some(taken) = self.places.get_mut(&(process, group)).and_then(|places| places.get_mut(place)) {
            *taken = false;
        }
        Some(track(group, place))
    }

    /// Takes everything off its track, of one process or of all.
    pub(super) fn drain(&mut self, of: Option<Process>) -> Vec<(Process, usize)> {
        let is_meant = |process: Process| of.is_none_or(|meant| meant == process);
        let keys: Vec<_> = self.open.keys().copied().filter(|&(process, ..)| is_meant(process)).collect();
        keys.into_iter()
            .filter_map(|(process, group, thing)| Some((process, self.close(process, group, thing)?)))
            .collect()
    }
}

fn track(group: usize, place: usize) -> usize {
    group * GROUP + place + 1
}
