//! A process that fills a disk tier is killed, two hundred times, at whatever it is doing; whoever opens the folder next
//! finds what was persisted, and is served nothing wrong.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tierscope_tiers::disk::{DiskMedium, DiskOptions};
use tierscope_tiers::{Arena, Batch, BatchId, Fault, Key, Medium, Move, Slot, Way, content};

const FOLDER: &str = "TIERSCOPE_KILL_FOLDER";
const SEED: &str = "TIERSCOPE_KILL_SEED";
const SLOTS: u32 = 16;
const KILLS: u64 = 200;
/// The one test of this file.
const THIS: &str = "two_hundred_kills_lose_nothing_that_was_persisted_and_serve_nothing_wrong";

fn draw(state: &mut u64, bound: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % bound
}

fn open(folder: &Path) -> (Arc<Arena>, DiskMedium) {
    let arena = Arc::new(Arena::new(SLOTS, 4_096, false).expect("some kilobytes"));
    let options = DiskOptions { slots: SLOTS, block_bytes: 4_096, threads: 2, direct: true };
    let medium =
        DiskMedium::open(folder, Arc::clone(&arena), options).unwrap_or_else(|error| panic!("{error}"));
    (arena, medium)
}

fn copy(medium: &mut DiskMedium, way: Way, block: Move) -> Result<(), Fault> {
    medium.submit(Batch { id: BatchId(0), way, moves: vec![block], look: false });
    loop {
        if let Some(ended) = medium.next_ended(Duration::from_secs(60)) {
            return ended.results[0];
        }
    }
}

/// What the killed process does: stores for ever, and says what it is about to do and what it has persisted.
fn work(folder: &str) -> ! {
    let mut state: u64 = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).expect("a seed");
    let (arena, mut medium) = open(Path::new(folder));
    let mut out = std::io::stdout().lock();
    let mut say = |words: String| out.write_all(words.as_bytes()).and_then(|()| out.flush());
    let mut number = state << 20;
    loop {
        let slot = Slot(draw(&mut state, u64::from(SLOTS)) as u32);
        if draw(&mut state, 6) == 0 {
            medium.persist().expect("the disk works");
            say("@persisted\n".to_owned()).expect("the parent listens");
            continue;
        }
        number += 1;
        let key = Key(number);
        say(format!("@touch {} {}\n", slot.0, key.0)).expect("the parent listens");
        content::fill(key, &mut arena.write(slot).expect("nobody has it"));
        copy(&mut medium, Way::Store, Move { key, there: slot, here: slot }).expect("the disk works");
    }
}

#[test]
fn two_hundred_kills_lose_nothing_that_was_persisted_and_serve_nothing_wrong() {
    // The same test, started by itself, is what is killed.
    if let Ok(folder) = std::env::var(FOLDER) {
        work(&folder);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut state = 0x2026_1130;
    // By slot: what was persisted, as long as nothing was done to it since.
    let mut persisted: BTreeMap<u32, Key> = BTreeMap::new();
    let (mut served, mut refused) = (0, 0);
    for kill in 1..=KILLS {
        let lines = 1 + draw(&mut state, 40);
        work_and_kill(folder.path(), kill, lines, &mut persisted);
        let (arena, mut medium) = open(folder.path());
        let there: BTreeMap<u32, Key> =
            medium.survivors().into_iter().map(|(key, slot)| (slot.0, key)).collect();
        for (&slot, &key) in &there {
            match copy(&mut medium, Way::Load, Move { key, there: Slot(slot), here: Slot(slot) }) {
                Ok(()) => {
                    assert!(
                        content::is_of(key, &arena.read(Slot(slot)).expect("nobody has it")),
                        "kill {kill}, slot {slot}"
                    );
                    served += 1;
                }
                Err(fault) => {
                    assert_eq!(fault, Fault::Corrupt, "kill {kill}, slot {slot}");
                    assert!(!persisted.contains_key(&slot), "kill {kill}: slot {slot} was persisted");
                    refused += 1;
                }
            }
        }
        for (slot, key) in &persisted {
            assert_eq!(there.get(slot), Some(key), "kill {kill}: slot {slot} was persisted");
        }
    }
    println!("{KILLS} kills: {served} blocks served and right, {refused} refused, none lost, none wrong");
    assert!(served > 200);
}

fn work_and_kill(folder: &Path, seed: u64, lines: u64, persisted: &mut BTreeMap<u32, Key>) {
    let mut child = Command::new(std::env::current_exe().expect("this test has a path"))
        .args([THIS, "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this test runs once more");
    let told = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut now: BTreeMap<u32, Key> = persisted.clone();
    let mut heard = 0;
    for line in told.lines() {
        let line = line.expect("text");
        // The harness's own words may stand before the first.
        let Some((_, words)) = line.split_once('@') else { continue };
        let mut words = words.split(' ');
        match words.next() {
            Some("persisted") => persisted.clone_from(&now),
            Some("touch") => {
                let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).expect("a number");
                let (slot, key) = (number() as u32, Key(number()));
                // From now on the slot may hold the one or the other.
                persisted.remove(&slot);
                now.insert(slot, key);
            }
            other => panic!("{other:?}"),
        }
        heard += 1;
        if heard == lines {
            // SIGKILL, wherever it is: it goes on while this is read.
            child.kill().expect("it runs");
        }
    }
    child.wait().expect("it was killed");
}
