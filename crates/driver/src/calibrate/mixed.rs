//! A load that nothing was fitted from: batches of drawn sizes after drawn gaps, on all lanes at once.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use tierscope_engine::Lane;
use tierscope_tiers::{BatchId, Ended, Way};
use tierscope_units::RandomStream;

use super::fit::LinkFit;
use super::measure::nanoseconds;
use super::point::Point;
use super::rig::{Rig, Trouble, Watch, wanted, well};
use crate::bell::Doorbell;
use crate::media::lane_of;

/// Batches under way on a lane: as many as a scenario's lanes have by default.
const IN_FLIGHT_MAX: usize = 4;
/// Blocks of a batch.
const BLOCKS_MAX: u32 = 16;
/// Gaps are drawn so that a lane would be busy for that share of the time if it were alone. With both directions of a coupled
/// link at work that is up to twice as much; near all of it, times are those of queues and of nothing else.
const BUSY: f64 = 0.25;
/// Between two looks at whether somebody still wants it.
const LOOK: Duration = Duration::from_millis(100);

/// A batch of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flown {
    pub(super) lane: Lane,
    /// Since the load began.
    pub(super) submitted: Duration,
    pub(super) blocks: u32,
    /// From its submission to the end of its copying, in nanoseconds.
    pub(super) took_ns: f64,
}

/// What submits batches along one lane.
struct Source {
    nth: usize,
    way: Way,
    stream: RandomStream,
    mean_gap: Duration,
    due: Duration,
    /// Blocks of the next batch.
    blocks: u32,
    blocks_max: u32,
    /// Batches under way, the oldest first: how many blocks of the way had been gone through before each.
    under_way: VecDeque<(BatchId, u64)>,
}

/// Plays the load on all media that were fitted.
pub(super) fn play(
    rig: &mut Rig,
    links: &[Option<LinkFit>; 3],
    seed: u64,
    until: Instant,
    watch: Watch<'_>,
) -> Result<Vec<Flown>, Trouble> {
    rig.share_out();
    let mut sources = sources(rig, links, seed);
    let bell = Doorbell::default();
    rig.stands.iter_mut().flatten().for_each(|stand| stand.medium.ring(bell.bell()));
    let begun = Instant::now();
    let mut load = Load { open: BTreeMap::new(), flown: Vec::new() };
    loop {
        wanted(watch)?;
        let over = Instant::now() >= until;
        for source in sources.iter_mut().filter(|_| !over) {
            source.go_on(rig, begun, &mut load);
        }
        while let Some((nth, ended)) = next_ended(rig) {
            load.end(&mut sources, nth, &well(ended)?);
        }
        if over && load.open.is_empty() {
            return Ok(load.flown);
        }
        let due = sources.iter().filter(|source| source.has_room(rig)).map(|source| source.due).min();
        let wait = due.map_or(LOOK, |due| due.saturating_sub(begun.elapsed()).min(LOOK));
        bell.wait(if over { LOOK } else { wait });
        // Bounds the patience with a medium that never ends a batch.
        if Instant::now() > until + crate::error::PATIENCE {
            return Err(Trouble::Hangs);
        }
    }
}

/// A batch that has ended, of whichever medium.
fn next_ended(rig: &mut Rig) -> Option<(usize, Ended)> {
    rig.stands
        .iter_mut()
        .enumerate()
        .find_map(|(nth, stand)| Some((nth, stand.as_mut()?.medium.next_ended(Duration::ZERO)?)))
}

fn sources(rig: &Rig, links: &[Option<LinkFit>; 3], seed: u64) -> Vec<Source> {
    let mut sources = Vec::new();
    for (nth, (stand, link)) in rig.stands.iter().zip(links).enumerate() {
        let (Some(stand), Some(link)) = (stand, link) else { continue };
        let blocks_max = (stand.room(Way::Load) / IN_FLIGHT_MAX as u32).min(BLOCKS_MAX);
        for way in [Way::Store, Way::Load] {
            let lane = lane_of(nth, way);
            let mean = Point {
                lane,
                block_bytes: rig.arena.block_bytes() as u64,
                blocks: blocks_max.div_ceil(2),
                in_flight: 1,
                with_opposite: false,
            };
            let Some(mean_ns) = link.predict_ns(&mean).filter(|_| blocks_max > 0) else { continue };
            let mut source = Source {
                nth,
                way,
                stream: RandomStream::named(seed, &format!("calibrate.mixed.{}", lane.name())),
                mean_gap: Duration::from_nanos((mean_ns / BUSY) as u64),
                due: Duration::ZERO,
                blocks: 0,
                blocks_max,
                under_way: VecDeque::new(),
            };
            source.draw(Duration::ZERO);
            sources.push(source);
        }
    }
    sources
}

impl Source {
    fn draw(&mut self, now: Duration) {
        let gap = self.stream.exponential(self.mean_gap.as_secs_f64()).min(60.0);
        self.due = now + Duration::from_secs_f64(gap);
        self.blocks = self.stream.between(1, self.blocks_max.into()) as u32;
    }

    /// Whether the next batch has slots that no other has.
    fn has_room(&self, rig: &Rig) -> bool {
        let Some(stand) = &rig.stands[self.nth] else { return false };
        let oldest = self.under_way.front().map_or(stand.gone(self.way), |(_, gone)| *gone);
        let span = stand.gone(self.way) - oldest + u64::from(self.blocks);
        self.under_way.len() < IN_FLIGHT_MAX && span <= u64::from(stand.room(self.way))
    }

    fn go_on(&mut self, rig: &mut Rig, begun: Instant, load: &mut Load) {
        let now = begun.elapsed();
        if self.due > now || !self.has_room(rig) {
            return;
        }
        let gone = rig.stands[self.nth].as_ref().map_or(0, |stand| stand.gone(self.way));
        let flown =
            Flown { lane: lane_of(self.nth, self.way), submitted: now, blocks: self.blocks, took_ns: 0.0 };
        let id = rig.send(self.nth, self.way, self.blocks);
        self.under_way.push_back((id, gone));
        load.open.insert(id, flown);
        self.draw(now);
    }
}

struct Load {
    open: BTreeMap<BatchId, Flown>,
    flown: Vec<Flown>,
}

impl Load {
    fn end(&mut self, sources: &mut [Source], nth: usize, ended: &Ended) {
        for source in sources.iter_mut().filter(|source| source.nth == nth) {
            source.under_way.retain(|(id, _)| *id != ended.id);
        }
        if let Some(flown) = self.open.remove(&ended.id) {
            self.flown.push(Flown { took_ns: nanoseconds(ended.queued + ended.copied), ..flown });
        }
    }
}
