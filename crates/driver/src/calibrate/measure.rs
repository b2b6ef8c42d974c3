//! The times of one point: warmed up, repeated.

use std::time::{Duration, Instant};

use tierscope_tiers::Way;

use super::plan::{Kind, Shape};
use super::point::{Point, Sample};
use super::rig::{Rig, Trouble, Watch, wanted};
use crate::media::lane_of;

/// Repeats of a point: at least, and at most.
const REPEATS: (usize, usize) = (3, 41);

/// Between two rounds. A driven run is idle between copies, and so are the threads that make them: the time until they are
/// awake is a part of what a batch takes.
const PAUSE: Duration = Duration::from_millis(2);

/// How long a point may take.
#[derive(Clone, Copy)]
pub(super) struct Time {
    /// Repeats beyond the fewest end here.
    pub(super) until: Instant,
    /// The fewest may take so long, whatever the time is.
    pub(super) at_least: Duration,
}

/// Measures a shape within a time, on one medium. The samples are one, or two where both ways are at work.
pub(super) fn measure(
    rig: &mut Rig,
    nth: usize,
    shape: Shape,
    time: Time,
    noticed: &mut Vec<f64>,
    watch: Watch<'_>,
) -> Result<Vec<Sample>, Trouble> {
    let slots = shape.blocks.saturating_mul(shape.in_flight);
    let room = rig.stands[nth].as_ref().map_or(0, |stand| stand.room(Way::Store).min(stand.room(Way::Load)));
    if slots > room {
        return Err(Trouble::Room(format!("needs {slots} slots; {room} could be prepared")));
    }
    let block_bytes = rig.arena.block_bytes() as u64;
    let point = |way, with_opposite| Point {
        lane: lane_of(nth, way),
        block_bytes,
        blocks: shape.blocks,
        in_flight: shape.in_flight,
        with_opposite,
    };
    let way = match shape.kind {
        Kind::Both => {
            let times = both(rig, nth, shape.blocks, time.until, watch)?;
            let samples = [Way::Store, Way::Load].into_iter().zip(times);
            return Ok(samples.filter_map(|(way, times)| Sample::of(point(way, true), times)).collect());
        }
        Kind::Store => Way::Store,
        Kind::Load => Way::Load,
    };
    let Time { until, at_least } = time;
    let time = until.saturating_duration_since(Instant::now()).max(at_least);
    let warm_up = round(rig, nth, way, shape, watch)?.took;
    if warm_up * (REPEATS.0 as u32 + 1) > time {
        return Err(Trouble::Room(format!("takes {:.2} s: no time for repeats", warm_up.as_secs_f64())));
    }
    let mut times = Vec::new();
    while times.len() < REPEATS.0 || times.len() < REPEATS.1 && Instant::now() < until {
        wanted(watch)?;
        std::thread::sleep(PAUSE);
        let round = round(rig, nth, way, shape, watch)?;
        times.push(nanoseconds(round.took));
        noticed.push(nanoseconds(round.noticed));
    }
    Ok(Sample::of(point(way, false), times).into_iter().collect())
}

pub(super) fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}

struct Round {
    /// From the submission of the first to the end of the last.
    took: Duration,
    /// From then until the driver had heard of all.
    noticed: Duration,
}

/// Batches that are submitted at once.
fn round(rig: &mut Rig, nth: usize, way: Way, shape: Shape, watch: Watch<'_>) -> Result<Round, Trouble> {
    let begun = Instant::now();
    let mut submitted = Vec::with_capacity(shape.in_flight as usize);
    for _ in 0..shape.in_flight {
        let offset = begun.elapsed();
        submitted.push((rig.send(nth, way, shape.blocks), offset));
    }
    let mut took = Duration::ZERO;
    for _ in 0..shape.in_flight {
        let ended = rig.next_end(nth, watch)?;
        let offset = submitted.iter().find(|(id, _)| *id == ended.id).map_or(Duration::ZERO, |(_, it)| *it);
        took = took.max(offset + ended.queued + ended.copied);
    }
    Ok(Round { took, noticed: begun.elapsed().saturating_sub(took) })
}

/// A batch after the other each way, at the same time: the times of those that the other way worked beside all along.
fn both(
    rig: &mut Rig,
    nth: usize,
    blocks: u32,
    until: Instant,
    watch: Watch<'_>,
) -> Result<[Vec<f64>; 2], Trouble> {
    let ways = [Way::Store, Way::Load];
    let mut under_way = ways.map(|way| rig.send(nth, way, blocks));
    let mut counts = [0; 2];
    let mut times = [Vec::new(), Vec::new()];
    let enough = |times: &[Vec<f64>; 2]| {
        let fewest = times[0].len().min(times[1].len());
        fewest >= REPEATS.1 || fewest >= REPEATS.0 && Instant::now() >= until
    };
    while !enough(&times) {
        wanted(watch)?;
        let ended = rig.next_end(nth, watch)?;
        let at = usize::from(ended.id != under_way[0]);
        // The first of a way is its warm-up.
        counts[at] += 1;
        if counts[at] > 1 {
            times[at].push(nanoseconds(ended.queued + ended.copied));
        }
        under_way[at] = rig.send(nth, ways[at], blocks);
    }
    for _ in 0..2 {
        rig.next_end(nth, watch)?;
    }
    Ok(times)
}
