//! What can only be planted from inside: flipped bits in a GPU's memory, a GPU that is lost.

use std::sync::Arc;
use std::time::Duration;

use super::{WgpuError, WgpuMedium, WgpuOptions};
use crate::arena::Arena;
use crate::content;
use crate::fault::Fault;
use crate::medium::{Batch, BatchId, Key, Medium, Move, Slot, Way};

/// Mesa's software Vulkan; `None`, and a word, where it is not and need not be.
fn software(slots: u32, block_bytes: usize) -> Option<(Arc<Arena>, WgpuMedium)> {
    let arena = Arc::new(Arena::new(slots, block_bytes, false).expect("some kilobytes"));
    let options = WgpuOptions { adapter: Some("llvmpipe".to_owned()), ..WgpuOptions::default() };
    match WgpuMedium::open(Arc::clone(&arena), slots, &options) {
        Ok(medium) => Some((arena, medium)),
        Err(error @ WgpuError::NoAdapter { .. }) => {
            let required = std::env::var("TIERSCOPE_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "wgpu"), "{error}");
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn copy(medium: &mut WgpuMedium, way: Way, look: bool, count: u32) -> Vec<Result<(), Fault>> {
    let block = |at: u32| Move { key: Key(u64::from(at) + 1), there: Slot(at), here: Slot(at) };
    medium.submit(Batch { id: BatchId(0), way, moves: (0..count).map(block).collect(), look });
    medium.next_ended(Duration::from_secs(60)).expect("it ends").results
}

fn fill(arena: &Arena, count: u32) {
    for at in 0..count {
        content::fill(Key(u64::from(at) + 1), &mut arena.write(Slot(at)).expect("nobody has it"));
    }
}

#[test]
fn bits_that_flip_in_the_memory_of_a_gpu_are_seen() {
    let Some((arena, mut medium)) = software(4, 4_096) else { return };
    fill(&arena, 4);
    assert_eq!(copy(&mut medium, Way::Store, true, 4), [Ok(()); 4]);
    let device = medium.device();
    let spoilt = device
        .link
        .run(|encoder| encoder.clear_buffer(&device.slots().buffers()[0], 2 * 4_096 + 8, Some(4)), |_| {});
    assert_eq!(spoilt, Ok(()));
    let expected = [Ok(()), Ok(()), Err(Fault::Corrupt), Ok(())];
    assert_eq!(copy(&mut medium, Way::Load, true, 4), expected);
    fill(&arena, 4);
    assert_eq!(copy(&mut medium, Way::Store, true, 4), [Ok(()); 4], "and are mended by a store");
}

#[test]
fn a_gpu_that_is_lost_is_gone_for_every_block_and_nothing_panics() {
    let Some((arena, mut medium)) = software(4, 4_096) else { return };
    fill(&arena, 4);
    assert_eq!(copy(&mut medium, Way::Store, false, 4), [Ok(()); 4]);
    medium.device().link.device.destroy();
    for _again in 0..3 {
        assert_eq!(copy(&mut medium, Way::Load, true, 4), [Err(Fault::Gone); 4]);
        assert_eq!(copy(&mut medium, Way::Store, true, 4), [Err(Fault::Gone); 4]);
    }
    medium.close();
}

#[test]
fn what_wgpu_refuses_is_a_fault_of_the_device() {
    let Some((_, medium)) = software(4, 4_096) else { return };
    let device = medium.device();
    let buffer = &device.slots().buffers()[0];
    let beyond = device.link.run(|encoder| encoder.clear_buffer(buffer, 1 << 40, Some(4)), |_| {});
    assert_eq!(beyond, Err(Fault::Device));
    let within = device.link.run(|encoder| encoder.clear_buffer(buffer, 0, Some(4)), |_| {});
    assert_eq!(within, Ok(()), "and the next one is as good as ever");
}
