//! What holds of every link and every history (rule L7), on random ones.

use std::num::NonZeroU64;

use proptest::prelude::*;
use tierscope_units::{SimTime, Span, TransferId};

use super::reference::{Act, MOST, Script, fluid, stepwise};
use super::{Direction, Link, LinkSpec, Rate};

type Ends = Vec<(SimTime, TransferId)>;

/// From a byte per second to what no link has; around 10⁹ transfers of some hundred bytes overlap for long.
fn bytes_per_s() -> impl Strategy<Value = NonZeroU64> {
    prop_oneof![
        4 => 100_000_000..30_000_000_000_u64,
        1 => 1..1000_u64,
        1 => (0..20_u64).prop_map(|exponent| 1_000_000_000 << exponent),
        1 => 1..=u64::MAX,
    ]
    .prop_map(|rate| NonZeroU64::new(rate).expect("rates are from 1"))
}

fn rate() -> impl Strategy<Value = Rate> {
    let latency = prop_oneof![Just(0), 0..500_u64].prop_map(Span::from_ns);
    (bytes_per_s(), bytes_per_s(), any::<bool>(), latency).prop_map(|(alone, both, coupled, latency)| {
        let both = if coupled { both } else { alone };
        Rate { alone_bytes_per_s: alone, both_bytes_per_s: both, latency }
    })
}

fn spec() -> impl Strategy<Value = LinkSpec> {
    (rate(), rate()).prop_map(|(down, up)| LinkSpec { down, up })
}

fn act() -> impl Strategy<Value = Act> {
    let direction = prop_oneof![Just(Direction::Down), Just(Direction::Up)];
    let bytes = prop_oneof![4 => 0..3000_u64, 1 => 0..3_u64, 1 => 0..100_000_000_u64, 1 => any::<u64>()];
    let extra = prop_oneof![3 => Just(0), 1 => 0..2000_u64];
    prop_oneof![
        4 => (direction, bytes, extra).prop_map(|(direction, bytes, extra_ns)| {
            Act::Start { direction, bytes, extra_ns }
        }),
        1 => (0..MOST as u64).prop_map(|id| Act::Cancel { id }),
    ]
}

/// Acts at most a few hundred nanoseconds apart, mostly.
fn script() -> impl Strategy<Value = Script> {
    let gap = prop_oneof![2 => Just(0), 6 => 0..400_u64, 1 => 0..2_000_000_000_u64];
    prop::collection::vec((gap, act()), 1..=MOST).prop_map(|acts| {
        let mut now = 0;
        let after = |(gap, act)| {
            now += gap;
            (now, act)
        };
        acts.into_iter().map(after).collect()
    })
}

/// A link, what was done to it and what it told.
#[derive(Clone)]
struct Played {
    link: Link,
    started: u64,
    /// By direction: the bytes of each transfer.
    sizes: Vec<(Direction, u64)>,
    /// By direction, of what was cancelled.
    crossed: [u128; 2],
    ended: Ends,
}

impl Played {
    fn new(spec: LinkSpec) -> Self {
        Self { link: Link::new(spec), started: 0, sizes: Vec::new(), crossed: [0; 2], ended: Vec::new() }
    }

    fn act(&mut self, at: u64, act: Act) {
        let now = SimTime::from_ns(at);
        match act {
            Act::Start { direction, bytes, extra_ns } => {
                let id = TransferId(self.started);
                assert!(self.link.start(now, id, direction, bytes, Span::from_ns(extra_ns)));
                self.started += 1;
                self.sizes.push((direction, bytes));
            }
            Act::Cancel { id } => {
                if let Some(crossed) = self.link.cancel(now, TransferId(id)) {
                    let (direction, bytes) = self.sizes[id as usize];
                    assert!(crossed <= bytes);
                    self.crossed[direction as usize] += u128::from(crossed);
                }
            }
        }
    }

    fn poll(&mut self, at: u64) {
        let before = self.ended.len();
        self.link.advance(SimTime::from_ns(at), &mut self.ended);
        assert!(self.ended[before..].is_sorted(), "each answer is by time and then id");
    }

    /// Asks whenever the link says that something will happen, and so learns of each end when it is.
    fn follow(&mut self, until: u64) {
        while let Some(next) = self.link.next_time().filter(|next| next.as_ns() <= until) {
            let (before, sharing) = (self.ended.len(), self.seen());
            self.poll(next.as_ns());
            let told = &self.ended[before..];
            assert!(told.iter().all(|(at, _)| *at == next), "{told:?} was foretold for {next:?}");
            assert!(!told.is_empty() || self.seen() != sharing, "nothing happened at {next:?}");
        }
    }

    fn seen(&self) -> [u32; 2] {
        [Direction::Down, Direction::Up].map(|direction| self.link.in_flight(direction))
    }

    /// All that a chart can ask at `at`.
    fn chart(&mut self, at: u64) -> [(u32, u64, Span); 2] {
        self.poll(at);
        let link = &self.link;
        [Direction::Down, Direction::Up]
            .map(|direction| (link.in_flight(direction), link.moved_bytes(direction), link.busy(direction)))
    }

    fn finish(mut self) -> Ends {
        self.poll(u64::MAX);
        self.ended.sort_unstable();
        self.ended
    }
}

/// Plays a script; `between` is called before each act with its time.
fn play(spec: LinkSpec, script: &Script, mut between: impl FnMut(&mut Played, u64)) -> Played {
    let mut played = Played::new(spec);
    for &(at, act) in script {
        between(&mut played, at);
        played.act(at, act);
    }
    played
}

/// As [`play`], asking at each of `polls` (sorted).
fn play_polled(spec: LinkSpec, script: &Script, polls: &[u64]) -> Played {
    let mut polls = polls.iter().copied().peekable();
    play(spec, script, |played, until| {
        while let Some(at) = polls.next_if(|at| *at < until) {
            played.poll(at);
        }
    })
}

fn polls() -> impl Strategy<Value = Vec<u64>> {
    let at = prop_oneof![3 => 0..5000_u64, 1 => 0..4_000_000_000_u64];
    prop::collection::vec(at, 0..30).prop_map(|mut polls| {
        polls.sort_unstable();
        polls
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_answer_does_not_depend_on_how_often_it_is_asked(
        (spec, script, polls) in (spec(), script(), polls()),
    ) {
        let seldom = play(spec, &script, |_, _| ()).finish();
        prop_assert_eq!(&play_polled(spec, &script, &polls).finish(), &seldom);
        let mut followed = play(spec, &script, Played::follow);
        followed.follow(u64::MAX);
        prop_assert_eq!(&followed.finish(), &seldom);

        // Nor does what a chart shows.
        let last = script.last().map_or(0, |(at, _)| *at);
        let mut often = play_polled(spec, &script, &polls);
        for at in polls.into_iter().filter(|at| *at >= last) {
            prop_assert_eq!(often.chart(at), play(spec, &script, |_, _| ()).chart(at));
        }
    }

    #[test]
    fn it_agrees_with_the_rules_taken_word_for_word((spec, script) in (spec(), script())) {
        prop_assert_eq!(play(spec, &script, |_, _| ()).finish(), stepwise(spec, &script));
    }

    /// Whole nanoseconds cost each transfer no more than one for every end before it.
    #[test]
    fn it_is_within_a_nanosecond_per_transfer_of_a_fluid(
        bytes_per_s in 1..30_000_000_000_u64,
        mut transfers in prop::collection::vec((0..400_u64, 0..5000_u64), 1..7),
    ) {
        transfers.sort_unstable();
        let rate = Rate::uncoupled(NonZeroU64::new(bytes_per_s).expect("from 1"), Span::ZERO);
        let start = |(at, bytes): &(u64, u64)| {
            (*at, Act::Start { direction: Direction::Up, bytes: *bytes, extra_ns: 0 })
        };
        let script: Script = transfers.iter().map(start).collect();
        let mut ends = play(LinkSpec { down: rate, up: rate }, &script, |_, _| ()).finish();
        ends.sort_unstable_by_key(|(_, id)| *id);
        let exact = fluid(bytes_per_s, &transfers);
        prop_assert_eq!(ends.len(), exact.len());
        for ((at, _), exact) in ends.iter().zip(exact) {
            prop_assert!(at.as_ns().abs_diff(exact) <= transfers.len() as u64 + 1, "{:?} for {}", at, exact);
        }
    }

    #[test]
    fn bytes_are_conserved_and_never_shrink((spec, script, polls) in (spec(), script(), polls())) {
        let mut moved = [0; 2];
        let mut never_shrink = |played: &Played| {
            let now = [Direction::Down, Direction::Up].map(|direction| played.link.moved_bytes(direction));
            assert!(now[0] >= moved[0] && now[1] >= moved[1], "{moved:?} became {now:?}");
            moved = now;
        };
        let mut polls = polls.into_iter().peekable();
        let mut played = play(spec, &script, |played, until| {
            never_shrink(played);
            while let Some(at) = polls.next_if(|at| *at < until) {
                played.poll(at);
                never_shrink(played);
            }
        });
        never_shrink(&played);
        played.poll(u64::MAX);
        never_shrink(&played);
        let mut expected = played.crossed;
        for (_, id) in &played.ended {
            let (direction, bytes) = played.sizes[id.0 as usize];
            expected[direction as usize] += u128::from(bytes);
        }
        for direction in [Direction::Down, Direction::Up] {
            if played.link.in_flight(direction) == 0 {
                let expected = u64::try_from(expected[direction as usize]).unwrap_or(u64::MAX);
                prop_assert_eq!(played.link.moved_bytes(direction), expected);
            }
        }
    }

    #[test]
    fn a_clone_goes_on_the_same((spec, script, cut) in (spec(), script(), 0..MOST)) {
        let cut = cut.min(script.len());
        let mut whole = play(spec, &script[..cut].to_vec(), |_, _| ());
        let mut clone = whole.clone();
        for played in [&mut whole, &mut clone] {
            for &(at, act) in &script[cut..] {
                played.act(at, act);
            }
        }
        prop_assert_eq!(clone.chart(10_000), whole.chart(10_000));
        prop_assert_eq!(clone.finish(), whole.finish());
    }
}

/// Sizes and rates at their limits move virtual time past what its type holds, were it not set back on the way.
#[test]
fn virtual_time_is_set_back_before_it_overflows() {
    let rate = Rate::uncoupled(NonZeroU64::MAX, Span::ZERO);
    let spec = LinkSpec { down: rate, up: rate };
    let start = |bytes| Act::Start { direction: Direction::Down, bytes, extra_ns: 0 };
    // A transfer alone takes a second. Every other one is cancelled while the next two come and virtual time is
    // set back, so that the link stays busy, but not with ever more of them.
    let starts = (0..60_u64).map(|i| (i * 700_000_000, start(u64::MAX - i)));
    let cancels =
        (0..60_u64).filter(|i| i % 2 == 1).map(|i| ((i + 2) * 700_000_000 + 1, Act::Cancel { id: i }));
    let mut script: Script = starts.chain(cancels).collect();
    script.sort_by_key(|(at, _)| *at);

    let mut idle = 0;
    let played = play(spec, &script, |played, at| {
        played.poll(at);
        idle += u32::from(at > 0 && played.link.in_flight(Direction::Down) == 0);
    });
    assert_eq!(idle, 0);
    assert!(played.crossed[0] > 20 << 60, "what is cancelled has crossed in part");
    assert_eq!(played.finish(), stepwise(spec, &script));
}
