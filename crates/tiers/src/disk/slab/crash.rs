//! Crashes at every kind of moment, on a picture of a disk that loses, tears and garbles what was not synced.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::{Disk, Geometry, OpenError, Slab};
use crate::content;
use crate::fault::Fault;
use crate::medium::{Key, Slot};

const SECTOR: usize = 512;
const GEOMETRY: Geometry = Geometry { block_bytes: 1_536, slots: 12 };

/// SplitMix64, as in `content`: tests need draws, not good ones.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % bound
    }
}

/// What is on the disk, and what was written since the last sync, sector by sector.
#[derive(Default)]
struct Picture {
    durable: Vec<u8>,
    unsynced: Vec<(u64, Vec<u8>)>,
    /// It says that it has synced, and has not.
    lies: bool,
    /// Writes fail with this error of the system.
    fails: Option<i32>,
    /// Writes and syncs until the power fails; then nothing is done any more.
    power: Option<Arc<AtomicU64>>,
}

impl Picture {
    /// Whether there is power for one more thing.
    fn works(&self) -> io::Result<()> {
        let spend = |left: u64| left.checked_sub(1);
        let is_on =
            |power: &Arc<AtomicU64>| power.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok();
        match self.fails {
            Some(errno) => Err(io::Error::from_raw_os_error(errno)),
            None if self.power.as_ref().is_none_or(is_on) => Ok(()),
            None => Err(io::Error::from_raw_os_error(5)),
        }
    }

    fn apply(bytes: &mut Vec<u8>, at: u64, written: &[u8]) {
        let end = at as usize + written.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[at as usize..end].copy_from_slice(written);
    }

    /// Each sector that was not synced is there, or not, or in part, or something else is.
    fn crash(&mut self, draws: &mut Draws) {
        for (at, mut sector) in std::mem::take(&mut self.unsynced) {
            match draws.below(4) {
                0 => continue,
                1 => {}
                2 => sector.truncate(draws.below(sector.len() as u64) as usize),
                _ => sector.iter_mut().for_each(|byte| *byte ^= draws.below(256) as u8),
            }
            Self::apply(&mut self.durable, at, &sector);
        }
    }
}

#[derive(Clone, Default)]
struct Pictured(Arc<Mutex<Picture>>);

impl Pictured {
    fn with<T>(&self, look: impl FnOnce(&mut Picture) -> T) -> T {
        look(&mut self.0.lock().expect("no test panics while it looks"))
    }
}

impl Disk for Pictured {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        self.with(|picture| {
            let mut now = picture.durable.clone();
            for (at, sector) in &picture.unsynced {
                Picture::apply(&mut now, *at, sector);
            }
            let found = now.get(at as usize..at as usize + buffer.len());
            buffer.copy_from_slice(found.ok_or(io::Error::from(io::ErrorKind::UnexpectedEof))?);
            Ok(())
        })
    }

    fn write_at(&self, buffer: &[u8], at: u64) -> io::Result<()> {
        self.with(|picture| {
            picture.works()?;
            let mut from = 0;
            while from < buffer.len() {
                let room = SECTOR - (at as usize + from) % SECTOR;
                let to = (from + room).min(buffer.len());
                picture.unsynced.push((at + from as u64, buffer[from..to].to_vec()));
                from = to;
            }
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.with(|picture| {
            picture.works()?;
            if !picture.lies {
                for (at, sector) in std::mem::take(&mut picture.unsynced) {
                    Picture::apply(&mut picture.durable, at, &sector);
                }
            }
            Ok(())
        })
    }
}

/// A disk with its three files, which outlive the slab.
#[derive(Clone, Default)]
struct World {
    file: Pictured,
    logs: [Pictured; 2],
}

impl World {
    fn open(&self) -> Slab<Pictured> {
        Slab::open(GEOMETRY, self.file.clone(), self.logs.clone()).unwrap_or_else(|error| panic!("{error:?}"))
    }

    fn power(&self, left: Option<u64>) {
        let power = left.map(|left| Arc::new(AtomicU64::new(left)));
        for file in [&self.file, &self.logs[0], &self.logs[1]] {
            file.with(|picture| picture.power.clone_from(&power));
        }
    }

    fn crash(&self, draws: &mut Draws) {
        for file in [&self.file, &self.logs[0], &self.logs[1]] {
            file.with(|picture| picture.crash(draws));
        }
    }
}

/// What must be there: by slot, what was persisted, and whether anything was done to it since.
#[derive(Clone, Copy, Default)]
struct Known {
    persisted: Option<Key>,
    now: Option<Key>,
    touched: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    right: u32,
    refused: u32,
    lost: u32,
    wrong: u32,
}

/// Some days of one disk: work until the power fails, in the middle of whatever it is, then a look at all that is said to
/// be there.
fn days(seed: u64, lies: bool, seen: &mut Seen) {
    let (mut draws, world) = (Draws(seed), World::default());
    world.file.with(|picture| picture.lies = lies);
    let mut known = [Known::default(); GEOMETRY.slots as usize];
    for _day in 0..6 {
        world.power(None);
        let slab = world.open();
        look(&slab, &mut known, seen);
        world.power(Some(draws.below(80)));
        while work(&slab, &mut draws, &mut known).is_ok() {}
        drop(slab);
        world.crash(&mut draws);
    }
}

fn work(slab: &Slab<Pictured>, draws: &mut Draws, known: &mut [Known]) -> Result<(), Fault> {
    let slot = Slot(draws.below(u64::from(GEOMETRY.slots)) as u32);
    match draws.below(8) {
        0 => {
            slab.persist()?;
            for known in known {
                *known = Known { persisted: known.now, touched: false, ..*known };
            }
        }
        1 => {
            slab.forget(slot);
            known[slot.0 as usize] = Known { now: None, touched: true, ..known[slot.0 as usize] };
        }
        _ => {
            let key = Key(draws.below(40));
            let mut block = [0; GEOMETRY.block_bytes];
            content::fill(key, &mut block);
            known[slot.0 as usize] = Known { now: Some(key), touched: true, ..known[slot.0 as usize] };
            slab.store(key, slot, &block)?;
        }
    }
    Ok(())
}

fn look(slab: &Slab<Pictured>, known: &mut [Known], seen: &mut Seen) {
    let contents = slab.contents();
    for (slot, known) in (0..).map(Slot).zip(known) {
        let there = contents.iter().find(|(_, at)| *at == slot).map(|(key, _)| *key);
        let mut block = [0; GEOMETRY.block_bytes];
        let served = there.map(|key| (key, slab.load(key, slot, &mut block)));
        match served {
            Some((key, Ok(()))) if content::is_of(key, &block) => seen.right += 1,
            Some((_, Ok(()))) => seen.wrong += 1,
            Some((_, Err(fault))) => {
                assert!(matches!(fault, Fault::Corrupt), "{fault}");
                seen.refused += 1;
            }
            None => {}
        }
        let is_served = matches!(served, Some((key, Ok(()))) if Some(key) == known.persisted);
        if !known.touched && known.persisted.is_some() && !is_served {
            seen.lost += 1;
        }
        // What is served now is what there is; opening has written it down.
        let now = served.and_then(|(key, result)| result.is_ok().then_some(key));
        *known = Known { persisted: now, now, touched: false };
    }
}

#[test]
fn after_a_crash_what_is_served_is_right_and_what_was_persisted_is_there() {
    let mut seen = Seen::default();
    for seed in 0..1_500 {
        days(seed, false, &mut seen);
    }
    assert_eq!((seen.wrong, seen.lost), (0, 0), "{seen:?}");
    // The crashes reached both.
    assert!(seen.right > 10_000 && seen.refused > 500, "{seen:?}");
}

#[test]
fn a_disk_that_lies_about_syncs_loses_blocks_and_serves_none_wrongly() {
    let mut seen = Seen::default();
    for seed in 0..300 {
        days(seed, true, &mut seen);
    }
    assert!(seen.lost > 100, "the other test would see a loss: {seen:?}");
    assert_eq!(seen.wrong, 0, "{seen:?}");
}

#[test]
fn the_log_is_bounded_however_much_is_persisted() {
    let world = World::default();
    let slab = world.open();
    let mut block = [0; GEOMETRY.block_bytes];
    for round in 0..20_000u64 {
        let key = Key(round);
        content::fill(key, &mut block);
        slab.store(key, Slot((round % 12) as u32), &block).expect("the disk works");
        if round % 3 == 0 {
            slab.persist().expect("the disk works");
        }
    }
    for log in &world.logs {
        assert!(log.with(|picture| picture.durable.len()) as u64 <= GEOMETRY.log_bytes());
    }
    slab.persist().expect("the disk works");
    assert_eq!(world.open().contents().len(), 12);
}

#[test]
fn a_full_disk_and_a_broken_one_say_so_and_lose_nothing_that_was_there() {
    let world = World::default();
    let slab = world.open();
    let mut block = [0; GEOMETRY.block_bytes];
    content::fill(Key(1), &mut block);
    slab.store(Key(1), Slot(0), &block).expect("the disk works");
    slab.persist().expect("the disk works");
    for (errno, fault) in [(28, Fault::NoSpace), (30, Fault::ReadOnly), (5, Fault::Device)] {
        let fail = |errno| {
            [&world.file, &world.logs[0], &world.logs[1]].map(|file| file.with(|it| it.fails = errno))
        };
        fail(Some(errno));
        content::fill(Key(2), &mut block);
        assert_eq!(slab.store(Key(2), Slot(1), &block), Err(fault));
        assert_eq!(slab.load(Key(2), Slot(1), &mut block), Err(Fault::Missing));
        assert_eq!(slab.persist(), Err(fault), "the forgotten slot is to be written down");
        slab.load(Key(1), Slot(0), &mut block).expect("it was there before");
        fail(None);
        slab.persist().expect("the disk works again");
        slab.store(Key(2), Slot(1), &block).expect("the disk works again");
    }
}

#[test]
fn a_flipped_bit_is_never_served_and_a_cut_file_neither() {
    let world = World::default();
    let slab = world.open();
    let mut block = [0; GEOMETRY.block_bytes];
    for slot in 0..12 {
        content::fill(Key(slot), &mut block);
        slab.store(Key(slot), Slot(slot as u32), &block).expect("the disk works");
    }
    slab.persist().expect("the disk works");
    world.file.with(|picture| picture.durable[5 * 1_536 + 700] ^= 16);
    world.file.with(|picture| picture.durable.truncate(11 * 1_536 + 1));
    for slot in 0..12 {
        let found = slab.load(Key(slot), Slot(slot as u32), &mut block);
        let expected = if matches!(slot, 5 | 11) { Err(Fault::Corrupt) } else { Ok(()) };
        assert_eq!(found, expected, "slot {slot}");
    }
}

#[test]
fn a_slab_of_other_sizes_is_not_taken_over() {
    let world = World::default();
    drop(world.open());
    let other = Geometry { slots: 13, ..GEOMETRY };
    let refused =
        Slab::open(other, world.file.clone(), world.logs.clone()).map(|_| ()).expect_err("other sizes");
    assert!(matches!(refused, OpenError::OtherGeometry { block_bytes: 1_536, slots: 12 }));
}

#[test]
fn keys_and_slots_that_are_not_there_are_refused() {
    let slab = World::default().open();
    let mut block = [0; GEOMETRY.block_bytes];
    assert_eq!(slab.store(Key(1), Slot(12), &block), Err(Fault::OutOfRange));
    assert_eq!(slab.store(Key(1), Slot(0), &block[1..]), Err(Fault::OutOfRange));
    assert_eq!(slab.load(Key(1), Slot(0), &mut block), Err(Fault::Missing));
    slab.store(Key(1), Slot(0), &block).expect("the disk works");
    assert_eq!(slab.load(Key(2), Slot(0), &mut block), Err(Fault::Missing));
    slab.forget(Slot(0));
    assert_eq!(slab.load(Key(1), Slot(0), &mut block), Err(Fault::Missing));
}
