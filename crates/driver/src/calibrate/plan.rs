//! What is to be measured, in so much time and memory.

use std::collections::VecDeque;
use std::time::Duration;

/// Which way batches go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From host memory into the medium.
    Store,
    /// Back.
    Load,
    /// Both at once, each a batch after the other.
    Both,
}

/// Batches that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Which way.
    pub kind: Kind,
    /// Blocks of a batch.
    pub blocks: u32,
    /// Batches that are submitted at once.
    pub in_flight: u32,
}

/// What is to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Bytes of a block, of each size that is fitted; the first ones matter most.
    pub sizes: Vec<u64>,
    /// Of those that are measured and not fitted; the mixed load has the first.
    pub held_out: Vec<u64>,
    /// What is measured at each size, on each link.
    pub shapes: Vec<Shape>,
    /// All of it.
    pub time: Duration,
    /// Bytes of the blocks that batches go through in turn, of each direction.
    pub working_set_bytes: u64,
    /// Sizes that there is no time or memory for.
    pub left_out: Vec<u64>,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Sizes of blocks that are fitted, and those that are held out.
const SIZES: [u64; 8] = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB];
const HELD_OUT: [u64; 2] = [512 * KIB, 32 * KIB];
/// A size takes at least so long: its media are opened, filled and emptied.
const SIZE_SECONDS: f64 = 1.2;
/// Below that there is no time for anything but a few points.
const SHORT_SECONDS: u64 = 15;
/// Memory: both halves of the arena and of G1.
const HALVES: u64 = 4;
/// Blocks of a size that a direction needs, so that batches of 16 can be measured.
const BLOCKS_MIN: u64 = 16;
/// Working set of each direction, for each second that there is.
const WORKING_SET_PER_SECOND: u64 = 4 * MIB;
const WORKING_SET: (u64, u64) = (8 * MIB, 128 * MIB);

impl Plan {
    /// A plan for so many seconds, and so much memory at most. Around one size of block where one is given, else over all.
    pub fn new(seconds: u64, memory_bytes: u64, block_bytes: Option<u64>) -> Self {
        let (least, most) = WORKING_SET;
        let wanted = seconds.saturating_mul(WORKING_SET_PER_SECOND).clamp(least, most);
        let working_set_bytes = wanted.min(memory_bytes / HALVES);
        let fits = |size: &u64| size * BLOCKS_MIN <= working_set_bytes;
        let (asked, held_out) = match block_bytes {
            // Its neighbours tell overhead from rate.
            Some(bytes) => (vec![(bytes / 2).next_multiple_of(4 * KIB), bytes, bytes * 2], vec![bytes]),
            None => (SIZES.to_vec(), HELD_OUT.to_vec()),
        };
        let possible: Vec<u64> = asked.iter().copied().filter(fits).collect();
        let most = ((seconds as f64 * 0.7 / SIZE_SECONDS) as usize).max(2);
        let sizes = spread(thinned(&possible, most));
        let left_out = asked.into_iter().filter(|size| !sizes.contains(size)).collect();
        let short = seconds < SHORT_SECONDS;
        let mut held_out: Vec<u64> = held_out.into_iter().filter(fits).collect();
        held_out.truncate(if short { 1 } else { 2 });
        let shapes = if short { few_shapes() } else { shapes() };
        Self { sizes, held_out, shapes, time: Duration::from_secs(seconds), working_set_bytes, left_out }
    }

    /// Blocks that a direction goes through in turn.
    pub fn blocks(&self, block_bytes: u64) -> u32 {
        const BLOCKS_MAX: u64 = 16_384;
        (self.working_set_bytes / block_bytes.max(1)).clamp(1, BLOCKS_MAX) as u32
    }
}

/// So many of them at most, spread evenly, both ends among them.
fn thinned(sizes: &[u64], most: usize) -> Vec<u64> {
    if sizes.len() <= most {
        return sizes.to_vec();
    }
    (0..most).map(|nth| sizes[nth * (sizes.len() - 1) / (most - 1).max(1)]).collect()
}

/// The middle first, then the middles of what is left on both sides, and so on: however few are taken, they are spread.
fn spread(sizes: Vec<u64>) -> Vec<u64> {
    let mut parts = VecDeque::from([sizes.as_slice()]);
    let mut order = Vec::with_capacity(sizes.len());
    while let Some(part) = parts.pop_front() {
        let middle = part.len() / 2;
        if let Some((size, above)) = part[middle..].split_first() {
            order.push(*size);
            parts.extend([above, &part[..middle]]);
        }
    }
    order
}

fn both_ways(blocks: u32, in_flight: u32) -> [Shape; 2] {
    [Kind::Store, Kind::Load].map(|kind| Shape { kind, blocks, in_flight })
}

fn at_once(blocks: u32) -> Shape {
    Shape { kind: Kind::Both, blocks, in_flight: 1 }
}

/// What matters most first: what there is no time for is at the end.
fn shapes() -> Vec<Shape> {
    let alone = [(1, 1), (16, 1), (4, 1), (4, 4), (64, 1), (8, 2), (4, 8), (2, 1), (32, 1)];
    let mut shapes: Vec<Shape> = alone.into_iter().flat_map(|(n, c)| both_ways(n, c)).collect();
    shapes.splice(6..6, [at_once(8)]);
    shapes.extend([at_once(32), at_once(2)]);
    shapes
}

fn few_shapes() -> Vec<Shape> {
    let mut shapes: Vec<Shape> = [(1, 1), (8, 1)].into_iter().flat_map(|(n, c)| both_ways(n, c)).collect();
    shapes.push(at_once(8));
    shapes.extend([(4, 4), (32, 1)].into_iter().flat_map(|(n, c)| both_ways(n, c)));
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_plan_has_all_sizes_and_a_short_one_few() {
        let long = Plan::new(60, 8 << 30, None);
        assert_eq!((long.sizes.len(), long.held_out.len(), long.left_out.len()), (8, 2, 0));
        assert!(long.shapes.len() == 21 && long.blocks(8 * MIB) == 16);
        let short = Plan::new(3, 8 << 30, None);
        assert_eq!((short.sizes, short.held_out), (vec![256 * KIB, 4 * KIB], vec![512 * KIB]));
        assert!(short.left_out.contains(&(8 * MIB)) && short.left_out.len() == 6);
    }

    #[test]
    fn however_few_sizes_are_taken_they_are_spread() {
        assert_eq!(spread((0..8).collect()), [4, 6, 2, 7, 5, 3, 1, 0]);
        assert_eq!(spread(vec![]), [0; 0]);
    }

    #[test]
    fn memory_is_bounded_whatever_the_time() {
        for (seconds, memory) in [(3, 1 << 30), (60, 1 << 30), (3_600, 1 << 30), (60, 64 * MIB), (60, MIB)] {
            let plan = Plan::new(seconds, memory, None);
            for &size in plan.sizes.iter().chain(&plan.held_out) {
                assert!(
                    HALVES * u64::from(plan.blocks(size)) * size <= memory,
                    "{seconds} s, {memory} bytes"
                );
            }
        }
    }

    #[test]
    fn a_plan_around_a_size_has_its_neighbours() {
        let plan = Plan::new(60, 8 << 30, Some(2 * MIB));
        assert_eq!((plan.sizes, plan.held_out), (vec![2 * MIB, 4 * MIB, MIB], vec![2 * MIB]));
    }
}
