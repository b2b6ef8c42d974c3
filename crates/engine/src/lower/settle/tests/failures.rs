//! Every way out of a batch is terminal (rule L5): in each phase in which a copy can fail, on each kind of lane, the
//! blocks' sources and destinations are released once, whoever waits is told, and the settlement says why.

use tierscope_units::RequestId;

use super::world::{World, of, one_by_one, span, tier};
use crate::{
    CopyEnd, CopyFailure, Fact, Input, Lane, LaneConfig, LaneFault, Pressure, SettlementError,
    SettlementTarget, SettlementToken, Store, Tier, TiersConfig,
};

/// Where a copy fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Its tier has no room for it, and none will come.
    NoRoom,
    /// The executor refuses it at the instant at which it is handed out.
    NotStarted,
    /// The executor reports an error later.
    Midway,
    /// It takes longer than the lane allows.
    TimedOut,
    /// It fails, is tried again, and fails again.
    RetriedInVain,
    /// Its lane is shut down, and the driver reports what was under way.
    Shutdown,
}

const WAYS: [Way; 6] =
    [Way::NoRoom, Way::NotStarted, Way::Midway, Way::TimedOut, Way::RetriedInVain, Way::Shutdown];

impl Way {
    fn lane(self) -> LaneConfig {
        let lane = LaneConfig { batch_blocks: 2, ..LaneConfig::default() };
        match self {
            Self::TimedOut => LaneConfig { timeout: Some(span(10)), ..lane },
            Self::RetriedInVain => LaneConfig { retries: 1, backoff: span(5), ..lane },
            Self::Shutdown => LaneConfig { retries: 7, ..lane },
            Self::NoRoom | Self::NotStarted | Self::Midway => lane,
        }
    }

    /// Lets the copy of a lane fail; the reader takes the facts.
    fn fail(self, world: &mut World, lane: Lane) {
        match self {
            Self::NoRoom => {}
            Self::NotStarted => world.fail(lane, CopyFailure::Executor),
            Self::Midway => {
                world.now += 5;
                world.fail(lane, CopyFailure::Panicked);
            }
            Self::TimedOut => assert!(world.wake(), "a copy that may time out has a timer"),
            Self::RetriedInVain => {
                world.fail(lane, CopyFailure::Corrupt);
                assert!(world.wake(), "the next attempt has a timer");
                world.fail(lane, CopyFailure::Aborted);
            }
            Self::Shutdown => {
                world.tell(Input::CloseLane { lane });
                world.rest();
                world.fail(lane, CopyFailure::Shutdown);
            }
        }
    }

    fn kind(self) -> LaneFault {
        match self {
            Self::NoRoom | Self::NotStarted | Self::TimedOut => LaneFault::Executor,
            Self::Midway => LaneFault::TaskPanicked,
            Self::RetriedInVain => LaneFault::TaskAborted,
            Self::Shutdown => LaneFault::Shutdown,
        }
    }
}

/// A copy of `blocks` blocks is under way on `lane`, or has failed for want of room; `token` is from before.
struct Scene {
    world: World,
    token: SettlementToken,
    lane: Lane,
    blocks: u64,
    /// Of them, those whose sources are held for it.
    held: u64,
    /// Who waits for its end.
    waiters: Vec<RequestId>,
}

/// Two evicted blocks go down, and a request waits for their slots.
fn evicted(way: Way) -> Scene {
    let g2 = if way == Way::NoRoom { 1 } else { 8 };
    let lanes = [way.lane(); Lane::COUNT];
    let mut world = World::new(2, TiersConfig { store: Store::OnEviction, lanes, ..one_by_one(g2) });
    world.compute(0, 2);
    let token = world.engine.capture();
    let waiter = world.arrive(10, 2, 0);
    world.rest();
    Scene { world, token, lane: Lane::G1ToG2, blocks: 2, held: 2, waiters: vec![waiter] }
}

/// Two blocks of G2 go on to G3, where they are kept meanwhile or not.
fn chained(way: Way, pressure: Pressure) -> Scene {
    let g3 = tier(if way == Way::NoRoom { 1 } else { 8 });
    let mut lanes = [LaneConfig { batch_blocks: 2, ..LaneConfig::default() }; Lane::COUNT];
    lanes[Lane::G2ToG3.index()] = way.lane();
    let mut world = World::new(8, TiersConfig { g3, lanes, pressure, ..one_by_one(8) });
    world.compute(0, 2);
    // What may be dropped under pressure is not held before its copy starts.
    let held = if way == Way::NoRoom && pressure == Pressure::Drop { 0 } else { 2 };
    let token = world.engine.capture();
    world.complete(Lane::G1ToG2);
    Scene { world, token, lane: Lane::G2ToG3, blocks: 2, held, waiters: Vec::new() }
}

/// A request loads two blocks, and another waits for the first's load.
fn loaded(way: Way, lane: Lane) -> Scene {
    let mut lanes = [LaneConfig { batch_blocks: 2, ..LaneConfig::default() }; Lane::COUNT];
    lanes[lane.index()] = way.lane();
    let mut world = World::new(12, TiersConfig { g3: tier(8), lanes, ..one_by_one(2) });
    world.compute(0, 2);
    world.drain();
    if lane == Lane::G3ToG2 {
        // Others take their place in G2.
        world.compute(4, 2);
        world.drain();
    }
    world.forget_g1();
    let token = world.engine.capture();
    let first = world.arrive(0, 2, 1);
    let second = world.arrive(0, 2, 1);
    world.rest();
    Scene { world, token, lane, blocks: 2, held: 2, waiters: vec![first, second] }
}

impl Scene {
    fn play(mut self, way: Way) {
        let who = format!("{way:?} on {}", self.lane.name());
        way.fail(&mut self.world, self.lane);
        assert_eq!(self.ended(is_failed), self.blocks, "{who}: it fails once, with all its blocks");
        let failed = SettlementError::LaneFailed { lane: self.lane, kind: way.kind() };
        assert_eq!(self.world.ask(&self.token, of(self.lane, 1)), Err(failed), "{who}");
        let settled = self.world.settled(&self.token, SettlementTarget::new());
        assert_eq!(settled.released(self.lane), self.held, "{who}: each source is released once");
        assert_eq!(settled.lane(self.lane).failed, self.token.lane(self.lane).failed + 1, "{who}");
        for waiter in &self.waiters {
            assert!(self.was_told(*waiter), "{who}: {waiter:?} was told");
        }
        self.world.drain();
        assert_eq!(self.world.engine.unfinished(), 0, "{who}: nobody waits for ever");
        self.assert_nothing_held(&who);
        let after = self.world.settled(&self.token, SettlementTarget::new().with_chains());
        let others = self.ended(|end| !is_failed(end));
        assert_eq!(after.released(self.lane), self.held + others, "{who}: and not once more");
    }

    /// Blocks of the batches of its lane that ended so since the token.
    fn ended(&self, so: fn(CopyEnd) -> bool) -> u64 {
        let ended = self.world.facts[self.token.watermark() as usize..].iter();
        let blocks = ended.filter_map(|fact| match fact {
            Fact::CopyEnded { lane, end, released, .. } if *lane == self.lane && so(*end) => Some(*released),
            _ => None,
        });
        blocks.map(u64::from).sum()
    }

    fn was_told(&self, waiter: RequestId) -> bool {
        self.world.facts.iter().any(|fact| match fact {
            Fact::Unblocked { request, .. } => *request == waiter,
            Fact::OnboardEnded { request, loaded_blocks: 0, failed_blocks } => {
                *request == waiter && u64::from(*failed_blocks) == self.blocks
            }
            _ => false,
        })
    }

    fn assert_nothing_held(&self, who: &str) {
        for tier in Tier::ALL {
            let Some(pool) = self.world.engine.tier(tier) else { continue };
            let held = pool.occupancy();
            assert_eq!((held.reserved, held.active, held.source_hold), (0, 0, 0), "{who}: {}", tier.name());
        }
    }
}

fn is_failed(end: CopyEnd) -> bool {
    matches!(end, CopyEnd::Failed(_))
}

#[test]
fn an_eviction_whose_copy_fails_frees_the_slots_and_wakes_who_needs_them() {
    for way in WAYS {
        evicted(way).play(way);
    }
}

#[test]
fn a_chained_copy_that_fails_releases_what_it_pinned_or_read() {
    for way in WAYS {
        for pressure in [Pressure::Drop, Pressure::Hold] {
            chained(way, pressure).play(way);
        }
    }
}

/// A load has its room before it starts (rule T7), so it cannot fail for want of it.
#[test]
fn a_load_that_fails_is_computed_and_wakes_who_waited_for_it() {
    for way in WAYS.into_iter().filter(|&way| way != Way::NoRoom) {
        loaded(way, Lane::G2ToG1).play(way);
    }
}

#[test]
fn a_staging_that_fails_is_computed_and_wakes_who_waited_for_it() {
    for way in WAYS.into_iter().filter(|&way| way != Way::NoRoom) {
        loaded(way, Lane::G3ToG2).play(way);
    }
}

/// What finds no room in G2 to go through is computed at once: nobody waits.
#[test]
fn a_staging_without_room_never_becomes_a_batch() {
    let lanes = [LaneConfig { batch_blocks: 2, ..LaneConfig::default() }; Lane::COUNT];
    let pressure = Pressure::Hold;
    let mut world = World::new(12, TiersConfig { g3: tier(8), lanes, pressure, ..one_by_one(1) });
    for first in [0, 1] {
        world.compute(first, 1);
        world.drain();
    }
    world.forget_g1();
    // The only slot of G2 is a source on its way to G3 meanwhile.
    world.compute(2, 1);
    world.complete(Lane::G1ToG2);
    world.arrive(0, 1, 1);
    world.rest();
    assert_eq!(world.engine.lane(Lane::G3ToG2), crate::LaneSnapshot::default());
    world.drain();
    assert_eq!(world.engine.unfinished(), 0);
}
