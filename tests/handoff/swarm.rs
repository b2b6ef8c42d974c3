//! Random days of a fleet: requests come and are cancelled, workers come and go, messages and copies go astray; the
//! whole state is swept after every input, and in the end everything is over (rules T9, H2, H3).

use proptest::prelude::*;
use tierscope_engine::{
    EvictionPolicy, HandoffOrder, Holds, LaneConfig, Pressure, Role, RouterKind, Store, TierConfig,
    TiersConfig, WorkerChange,
};

use super::world::{Mishap, World, config};

#[derive(Clone, Debug)]
enum Step {
    Send { prompt: u32, shared: u32, output: u32 },
    Cancel(u32),
    Change(u16, WorkerChange),
    Mishap(Mishap, u32),
    Wait(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let change = prop_oneof![
        3 => Just(WorkerChange::Start),
        1 => Just(WorkerChange::Drain),
        1 => Just(WorkerChange::Lose)
    ];
    let mishap = prop_oneof![
        Just(Mishap::MessageLost),
        Just(Mishap::MessageDoubled),
        Just(Mishap::MessageLate),
        Just(Mishap::CopyFails),
        Just(Mishap::CopyLost)
    ];
    prop_oneof![
        6 => (1u32..70, 0u32..24, 1u32..20).prop_map(|(prompt, shared, output)| Step::Send {
            prompt,
            shared: shared.min(prompt),
            output
        }),
        2 => (0u32..40).prop_map(Step::Cancel),
        3 => (0u16..4, change).prop_map(|(worker, change)| Step::Change(worker, change)),
        2 => (mishap, 1u32..3).prop_map(|(mishap, count)| Step::Mishap(mishap, count)),
        8 => (1u8..20).prop_map(Step::Wait),
    ]
}

fn fleets() -> impl Strategy<Value = (HandoffOrder, bool, bool, RouterKind)> {
    let order = prop_oneof![Just(HandoffOrder::SourceFirst), Just(HandoffOrder::DestinationFirst)];
    let kind =
        prop_oneof![Just(RouterKind::RoundRobin), Just(RouterKind::LeastLoaded), Just(RouterKind::KvAware)];
    (order, any::<bool>(), any::<bool>(), kind).prop_map(|(order, layers, whole, kind)| {
        (order, layers && order != HandoffOrder::SourceFirst, whole, kind)
    })
}

/// Tiers so small that they are always full: G2 of each worker, G3 of each pair, one G4.
fn tiers() -> impl Strategy<Value = Option<TiersConfig>> {
    let tier = |blocks| TierConfig { blocks, eviction: EvictionPolicy::Lru };
    let store = prop_oneof![Just(Store::OnCompute), Just(Store::OnEviction)];
    let pressure = prop_oneof![Just(Pressure::Hold), Just(Pressure::Drop)];
    let made = (store, pressure, 1u32..4, 0u32..2, 4u32..9).prop_map(
        move |(store, pressure, batch_blocks, retries, blocks)| {
            let lane = LaneConfig { batch_blocks, retries, ..LaneConfig::default() };
            TiersConfig {
                store,
                pressure,
                holds: Holds::Inclusive,
                lanes: [lane; 6],
                g3: Some(tier(blocks)),
                g4: Some(tier(blocks + 3)),
                ..TiersConfig::with_g2(6)
            }
        },
    );
    prop_oneof![Just(None), made.prop_map(Some)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn random_days_end_with_nothing_held(
        (order, pipelined, whole, kind) in fleets(),
        tiers in tiers(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut config = config(order, pipelined, kind);
        config.engine.tiers = tiers;
        if whole {
            config.roles = vec![Role::Whole; 4];
        }
        let mut world = World::new(config);
        let mut sent = 0;
        for step in steps {
            match step {
                Step::Send { prompt, shared, output } => {
                    world.send(sent, prompt, shared, output);
                    sent += 1;
                }
                Step::Cancel(request) if request < sent => world.cancel(request),
                Step::Cancel(_) => {}
                Step::Change(worker, change) => {
                    // What cannot be is refused, and changes nothing.
                    world.change(worker, change);
                }
                Step::Mishap(mishap, count) => (world.mishap, world.mishaps_left) = (mishap, count),
                Step::Wait(steps) => {
                    for _ in 0..steps {
                        world.step();
                    }
                }
            }
        }
        world.run();
        // Whoever waits at the router for workers that are gone goes on when they are back.
        for worker in 0..4 {
            world.change(worker, WorkerChange::Start);
        }
        world.mishaps_left = 0;
        world.run();
        world.assert_all_over("a random day");
    }
}
