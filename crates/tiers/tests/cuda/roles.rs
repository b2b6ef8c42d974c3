//! What the children do, and tell on standard output.

use std::sync::Arc;
use std::time::Duration;

use tierscope_tiers::gpu::cuda::{CudaError, CudaMedium, CudaOptions};
use tierscope_tiers::{Arena, Batch, BatchId, Fault, Key, Medium, Move, Slot, Way, conformance, content};

/// The variable that says which role.
pub(crate) const ROLE: &str = "TIERSCOPE_CUDA_ROLE";

const BLOCKS: u32 = 8;

pub(crate) fn play() {
    match std::env::var(ROLE).as_deref() {
        Ok("conform") => conform(),
        Ok("copy") => show(copy_with(0)),
        Ok("the fourth device") => show(copy_with(3)),
        Ok("two on one arena") => two_on_one_arena(),
        _ => {}
    }
}

fn show(opened: Result<(), CudaError>) {
    if let Err(error) = opened {
        println!("error: {error}");
    }
}

fn arena(block_bytes: usize) -> Arc<Arena> {
    Arc::new(Arena::new(32, block_bytes, false).expect("some megabytes"))
}

fn open(arena: &Arc<Arena>, ordinal: u32, threads: u32) -> Result<CudaMedium, CudaError> {
    let medium = CudaMedium::open(Arc::clone(arena), 16, CudaOptions { ordinal, threads })?;
    let capability = medium.capability();
    println!("capability\nname: {}\nstand_in: {}", capability.name, capability.stand_in);
    println!("shortfalls: {}", capability.shortfalls.join("; "));
    Ok(medium)
}

fn conform() {
    for (block_bytes, threads) in [(8, 1), (4_096, 4), (65_536, 2), (1 << 20, 3)] {
        let arena = arena(block_bytes);
        let mut medium = open(&arena, 0, threads).unwrap_or_else(|error| panic!("{error}"));
        for check in conformance::run(&arena, &mut medium) {
            assert_eq!(check.failure, None, "{block_bytes} bytes, {threads} threads: {}", check.name);
        }
    }
}

fn two_on_one_arena() {
    let arena = arena(4_096);
    let first = open(&arena, 0, 1).unwrap_or_else(|error| panic!("{error}"));
    let mut second = open(&arena, 0, 1).unwrap_or_else(|error| panic!("{error}"));
    drop(first);
    for check in conformance::run(&arena, &mut second) {
        assert_eq!(check.failure, None, "{}", check.name);
    }
}

fn moves() -> Vec<Move> {
    let block = |at: u32| Move { key: Key(100 + u64::from(at)), there: Slot(at), here: Slot(at) };
    (0..BLOCKS).map(block).collect()
}

/// Runs a batch and tells what became of each block.
fn batch(medium: &mut CudaMedium, word: &str, way: Way, look: bool) -> Vec<Result<(), Fault>> {
    medium.submit(Batch { id: BatchId(1), way, moves: moves(), look });
    let ended = medium.next_ended(Duration::from_secs(60)).expect("each batch ends");
    let names: Vec<&str> =
        ended.results.iter().map(|result| result.map_or_else(Fault::name, |()| "ok")).collect();
    println!("{word}: {}", names.join(" "));
    ended.results
}

/// Stores eight blocks, loads them, and loads them once more to look at them.
fn copy_with(ordinal: u32) -> Result<(), CudaError> {
    let arena = arena(4_096);
    let mut medium = open(&arena, ordinal, 1)?;
    let fill = |block: &Move, key| content::fill(key, &mut arena.write(block.here).expect("nobody has it"));
    moves().iter().for_each(|block| fill(block, block.key));
    let stored = batch(&mut medium, "store", Way::Store, false);
    moves().iter().for_each(|block| fill(block, Key(0)));
    let loaded = batch(&mut medium, "load", Way::Load, false);
    let (mut right, mut wrong) = (0, 0);
    for ((block, loaded), stored) in moves().iter().zip(loaded).zip(stored) {
        assert!(stored.is_ok() || loaded.is_err(), "a block that was not stored is served");
        if loaded.is_ok() {
            let is_right = content::is_of(block.key, &arena.read(block.here).expect("nobody has it"));
            *(if is_right { &mut right } else { &mut wrong }) += 1;
        }
    }
    println!("right: {right}, wrong: {wrong}");
    let spoiled = std::env::var("TIERSCOPE_STANDIN_CUDA").is_ok_and(|orders| orders.contains("wrong_at"));
    assert!(wrong == 0 || spoiled, "{wrong} blocks were served and wrong");
    batch(&mut medium, "look", Way::Load, true);
    medium.close();
    Ok(())
}
