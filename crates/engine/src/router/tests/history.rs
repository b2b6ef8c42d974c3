//! Random histories, played to the router and to the dumber one.

use proptest::prelude::*;
use tierscope_units::{RequestId, WorkerId};

use super::model::{Happening, Model};
use super::*;

/// Blocks of a chain; the first three are those of every chain.
const DEPTH: usize = 10;

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Stored(u16, Tier, (u64, usize, usize)),
    Removed(u16, Tier, (u64, usize, usize)),
    Cleared(u16),
    Join(u16, Stage),
    Leave(u16),
    Lost(u16),
    Route(u32, Stage, (u64, usize)),
    Prefilled(u32),
    Ended(u32),
}

fn branch(name: u64) -> Vec<SequenceHash> {
    let mut blocks = chain(7, 3);
    blocks.extend(chain(name, DEPTH as u64).split_off(3));
    blocks
}

fn tier() -> impl Strategy<Value = Tier> {
    prop::sample::select(vec![Tier::G1, Tier::G1, Tier::G1, Tier::G2, Tier::G3, Tier::G4])
}

fn stage() -> impl Strategy<Value = Stage> {
    prop::sample::select(vec![Stage::Whole, Stage::Whole, Stage::Prefill, Stage::Decode])
}

/// Workers at both ends of words of bits.
fn worker() -> impl Strategy<Value = u16> {
    prop::sample::select(vec![0, 1, 2, 3, 4, 5, 62, 63, 64, 65, 127, 128, 129])
}

fn part() -> impl Strategy<Value = (u64, usize, usize)> {
    (0..3_u64, 0..DEPTH, 1..=DEPTH).prop_map(|(name, from, len)| {
        // Half of the events are of a prefix.
        let from = if len % 2 == 0 { 0 } else { from };
        (name, from, (from + len).min(DEPTH))
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..25_u64).prop_map(Step::Wait),
        8 => (worker(), tier(), part()).prop_map(|(w, t, p)| Step::Stored(w, t, p)),
        4 => (worker(), tier(), part()).prop_map(|(w, t, p)| Step::Removed(w, t, p)),
        1 => worker().prop_map(Step::Cleared),
        3 => (worker(), stage()).prop_map(|(w, s)| Step::Join(w, s)),
        1 => worker().prop_map(Step::Leave),
        1 => worker().prop_map(Step::Lost),
        10 => (0..9_u32, stage(), (0..3_u64, 0..=DEPTH)).prop_map(|(r, s, p)| Step::Route(r, s, p)),
        3 => (0..9_u32).prop_map(Step::Prefilled),
        3 => (0..9_u32).prop_map(Step::Ended),
    ]
}

fn terms() -> impl Strategy<Value = CostTerms> {
    let published = CostTerms::default();
    prop::sample::select(vec![
        published,
        CostTerms { overlap_score_credit_decay: 1.5, decode_active_request_weight: 2.0, ..published },
        CostTerms { shared_cache_multiplier: 0.5, prefill_load_scale: 3.0, ..published },
    ])
}

fn configs() -> impl Strategy<Value = RouterConfig> {
    let kinds =
        vec![RouterKind::KvAware, RouterKind::KvAware, RouterKind::LeastLoaded, RouterKind::RoundRobin];
    let span = |choices: &[u64]| prop::sample::select(choices.to_vec()).prop_map(Span::from_ns);
    let expiry = prop::sample::select(vec![Expiry::REPLAY, Expiry { after: Some(Span::from_ns(40)) }]);
    (prop::sample::select(kinds), 1..4_u32, span(&[0, 5, 30]), span(&[0, 7, 40]), terms(), expiry).prop_map(
        |(kind, replicas, sync_delay, event_delay, cost, expiry)| RouterConfig {
            replicas,
            sync_delay,
            event_delay,
            cost,
            expiry,
            ..RouterConfig::of(kind)
        },
    )
}

struct Play {
    now: SimTime,
    router: Router,
    model: Model,
}

impl Play {
    fn new(config: RouterConfig, workers: u32, share: u32) -> Self {
        // Hosts are not ranges of workers, and one is missing at the end: it is alone.
        let hosts: Vec<u32> = (0..workers).map(|worker| worker % (workers / share).max(1)).collect();
        let known = hosts[..hosts.len() - 1].to_vec();
        let mut hosts = hosts;
        hosts[workers as usize - 1] = 9_999;
        let router = Router::new(config.clone(), workers, known);
        Self { now: SimTime::ZERO, router, model: Model::new(config, hosts) }
    }

    fn has(&self, worker: u16) -> bool {
        usize::from(worker) < self.model.hosts.len()
    }

    fn publish(&mut self, worker: u16, event: CacheEvent<'_>) {
        self.router.publish(self.now, WorkerId(worker), event);
        let happening = match event {
            CacheEvent::Stored { tier, hashes } => Happening::Stored(worker, tier, hashes.to_vec()),
            CacheEvent::Removed { tier, hashes } => Happening::Removed(worker, tier, hashes.to_vec()),
            CacheEvent::Cleared => Happening::Cleared(worker),
        };
        if self.has(worker) {
            self.model.happen(self.now, happening);
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Wait(ns) => self.now = at(self.now.as_ns() + ns),
            Step::Stored(worker, tier, (name, from, to)) => {
                self.publish(worker, CacheEvent::Stored { tier, hashes: &branch(name)[from..to] });
            }
            Step::Removed(worker, tier, (name, from, to)) => {
                self.publish(worker, CacheEvent::Removed { tier, hashes: &branch(name)[from..to] });
            }
            Step::Cleared(worker) => self.publish(worker, CacheEvent::Cleared),
            Step::Join(worker, stage) => {
                self.router.join(self.now, WorkerId(worker), stage);
                if self.has(worker) {
                    self.model.serves.insert(worker, stage);
                }
            }
            Step::Leave(worker) => {
                self.router.leave(self.now, WorkerId(worker));
                self.model.serves.remove(&worker);
            }
            Step::Lost(worker) => {
                self.router.forget(self.now, WorkerId(worker));
                if self.has(worker) {
                    self.model.happen(self.now, Happening::Lost(worker));
                }
            }
            Step::Route(request, stage, (name, len)) => self.route(request, stage, &branch(name)[..len]),
            Step::Prefilled(request) => {
                self.router.prefilled(self.now, RequestId(request));
                self.model.happen(self.now, Happening::Prefilled(request));
            }
            Step::Ended(request) => {
                self.router.ended(self.now, RequestId(request));
                self.model.happen(self.now, Happening::Ended(request));
            }
        }
    }

    fn route(&mut self, request: u32, stage: Stage, hashes: &[SequenceHash]) {
        let question = Ask {
            prompt_blocks: hashes.len() as u32 + request % 2,
            output_blocks_hint: request,
            stage,
            ..ask(request, hashes)
        };
        let candidates = self.model.serves.values().filter(|serves| **serves == stage).count() as u32;
        let expected = self.model.route(self.now, &question).map(|(worker, cost, overlap)| Choice {
            worker: WorkerId(worker),
            replica: request % self.model.config.replicas,
            cost_milliblocks: libm::round(cost * 1000.0) as i64,
            overlap,
            candidates,
        });
        assert_eq!(self.router.route(self.now, &question), expected);
    }

    /// The index at rest: equal to the truth once all has arrived, and apart by just what is under way before.
    fn rest(mut self) {
        let (now, end) = (self.model.held(self.now), self.model.held(at(1 << 40)));
        let truth = self.model.told(&end);
        let check = self.router.check(self.now, truth.clone());
        let apart = (now.difference(&end).count() as u64, end.difference(&now).count() as u64);
        assert_eq!((check.phantom, check.missing), apart);
        let settled = self.router.check_settled(truth.clone());
        assert_eq!((settled.phantom, settled.missing, settled.pending), (0, 0, 0));
        // A check that could not fail would prove nothing.
        let extra = (WorkerId(0), Tier::G1, SequenceHash(u64::MAX));
        let wrong = self.router.check_settled(truth.iter().copied().skip(1).chain([extra]));
        assert_eq!((wrong.phantom, wrong.missing), (u64::from(!truth.is_empty()), 1));
        let distinct: std::collections::BTreeSet<_> = now.iter().map(|(_, hash)| *hash).collect();
        assert_eq!(self.router.index.room().0, distinct.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_router_agrees_with_the_dumber_one(
        config in configs(),
        (workers, share) in prop::sample::select(vec![(1, 1), (4, 2), (64, 8), (130, 1), (130, 4)]),
        joined in prop::collection::vec(worker(), 0..9),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut play = Play::new(config, workers, share);
        for worker in joined {
            play.step(&Step::Join(worker, Stage::Whole));
        }
        for step in &steps {
            play.step(step);
            let probe = branch(1);
            for worker in [0_u16, 3, 129].into_iter().filter(|worker| u32::from(*worker) < workers) {
                let believed = play.router.believed(play.now, WorkerId(worker), &probe);
                prop_assert_eq!(believed, play.model.overlap(play.now, worker, &probe));
            }
        }
        play.rest();
    }
}
