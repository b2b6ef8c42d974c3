//! The link against the contract, worked out by hand. Times are in ns; 10⁹ bytes per second are one byte per ns.

use std::num::NonZeroU64;

use tierscope_units::{SimTime, Span, TransferId};

use super::Direction::{Down, Up};
use super::{Direction, Link, LinkSpec, Rate};

/// A rate of so many bytes per nanosecond.
fn per_ns(bytes: u64) -> NonZeroU64 {
    per_s(bytes * 1_000_000_000)
}

fn per_s(bytes: u64) -> NonZeroU64 {
    NonZeroU64::new(bytes).expect("a rate is not zero")
}

/// A link whose directions do not mind each other.
fn link(bytes_per_ns: u64, latency_ns: u64) -> Link {
    let rate = Rate::uncoupled(per_ns(bytes_per_ns), Span::from_ns(latency_ns));
    Link::new(LinkSpec { down: rate, up: rate })
}

fn at(ns: u64) -> SimTime {
    SimTime::from_ns(ns)
}

fn start(link: &mut Link, ns: u64, id: u64, direction: Direction, bytes: u64) {
    assert!(link.start(at(ns), TransferId(id), direction, bytes, Span::ZERO));
}

/// What ends up to `ns`: times and ids.
fn ended(link: &mut Link, ns: u64) -> Vec<(u64, u64)> {
    let mut ended = Vec::new();
    link.advance(at(ns), &mut ended);
    ended.into_iter().map(|(at, id)| (at.as_ns(), id.0)).collect()
}

/// What ends at all.
fn all_ended(link: &mut Link) -> Vec<(u64, u64)> {
    ended(link, u64::MAX)
}

#[test]
fn a_lone_transfer_takes_the_latency_and_then_its_bytes() {
    let mut link = link(4, 100);
    start(&mut link, 50, 0, Down, 1000);
    assert_eq!((link.in_flight(Down), link.next_time()), (0, Some(at(150))), "the latency ends");
    assert_eq!(ended(&mut link, 150), []);
    assert_eq!((link.in_flight(Down), link.next_time()), (1, Some(at(400))));
    assert_eq!(ended(&mut link, 399), []);
    assert_eq!(link.moved_bytes(Down), 996);
    assert_eq!(ended(&mut link, 400), [(400, 0)]);
    assert_eq!((link.in_flight(Down), link.next_time()), (0, None));
    assert_eq!((link.moved_bytes(Down), link.moved_bytes(Up)), (1000, 0));
    assert_eq!((link.busy(Down), link.busy(Up)), (Span::from_ns(250), Span::ZERO));
}

#[test]
fn equal_transfers_end_together_after_the_latency_and_n_times_their_bytes() {
    for (n, bytes, rate) in [(1, 1, 3), (3, 7, 1_000_000_007), (7, 4096, 24_800_000_000), (1000, 999_983, 1)]
    {
        let down = Rate::uncoupled(per_s(rate), Span::from_ns(12));
        let mut link = Link::new(LinkSpec { down, up: down });
        for id in (0..n).rev() {
            start(&mut link, 30, id, Down, bytes);
        }
        let end = 42 + (u128::from(n * bytes) * 1_000_000_000).div_ceil(u128::from(rate)) as u64;
        let expected: Vec<_> = (0..n).map(|id| (end, id)).collect();
        assert_eq!(all_ended(&mut link), expected, "{n} of {bytes} bytes at {rate}");
        assert_eq!(link.moved_bytes(Down), n * bytes);
    }
}

/// Two transfers on one byte per ns, the second d later. If it finds a bytes of the first left and has b itself:
/// with a ≤ b the first ends 2a after that, and the second when all a + b have crossed; with b < a the same the
/// other way round.
#[test]
fn two_staggered_transfers_share_while_they_overlap() {
    let staggered = |first: u64, later: u64, second: u64| {
        let mut link = link(1, 0);
        start(&mut link, 0, 0, Down, first);
        start(&mut link, later, 1, Down, second);
        all_ended(&mut link)
    };
    // 100 bytes, 40 cross alone; the 60 left take 120 until 160; the second has 60 of its 100 by then.
    assert_eq!(staggered(100, 40, 100), [(160, 0), (200, 1)]);
    // The second ends first: its 20 take 40 until 80; 20 of the first cross in them, 40 are left.
    assert_eq!(staggered(100, 40, 20), [(80, 1), (120, 0)]);
    // Both end at once, in the order of their ids.
    assert_eq!(staggered(100, 40, 60), [(160, 0), (160, 1)]);
    // No overlap.
    assert_eq!(staggered(100, 100, 10), [(100, 0), (110, 1)]);
    // Half a byte more: 1 byte left at 99, the second has 2. Two ns later the first is over, one byte is left.
    assert_eq!(staggered(100, 99, 2), [(101, 0), (102, 1)]);
}

#[test]
fn an_end_within_a_nanosecond_is_seen_when_it_is_over() {
    let mut link = link(3, 0);
    // 10 bytes at 3 per ns: 3⅓ ns.
    start(&mut link, 0, 0, Down, 10);
    assert_eq!(link.next_time(), Some(at(4)));
    assert_eq!(ended(&mut link, 3), []);
    assert_eq!(ended(&mut link, 4), [(4, 0)]);
    assert_eq!(link.moved_bytes(Down), 10, "what the rest of the nanosecond could have carried was not");
}

#[test]
fn thirds_of_a_byte_do_not_push_an_end_to_the_next_nanosecond() {
    let mut link = link(1, 0);
    // Three share for 10 ns: 3⅓ bytes each. Then the short ones leave, and the long one has 96⅔ of 100 left.
    start(&mut link, 0, 0, Down, 100);
    start(&mut link, 0, 1, Down, 50);
    start(&mut link, 0, 2, Down, 50);
    assert_eq!(link.cancel(at(10), TransferId(1)), Some(4), "a byte begun counts");
    assert_eq!(link.cancel(at(10), TransferId(2)), Some(4));
    assert_eq!(all_ended(&mut link), [(107, 0)]);
    assert_eq!(link.moved_bytes(Down), 108);
    // Three times a third is a whole, also when the thirds are told apart by what joins (and has no bytes).
    let mut link = self::link(1, 0);
    for id in 0..3 {
        start(&mut link, 0, id, Down, 1);
    }
    start(&mut link, 1, 3, Down, 0);
    start(&mut link, 2, 4, Down, 0);
    assert_eq!(all_ended(&mut link), [(1, 3), (2, 4), (3, 0), (3, 1), (3, 2)]);
}

/// Up: 24 bytes per ns alone, 10 beside a busy down. Down: 20 alone, 15 beside a busy up.
fn coupled(latency_ns: u64) -> Link {
    let latency = Span::from_ns(latency_ns);
    let down = Rate { alone_bytes_per_s: per_ns(20), both_bytes_per_s: per_ns(15), latency };
    let up = Rate { alone_bytes_per_s: per_ns(24), both_bytes_per_s: per_ns(10), latency: Span::ZERO };
    Link::new(LinkSpec { down, up })
}

#[test]
fn a_direction_slows_down_while_the_other_is_busy() {
    let mut link = coupled(0);
    // Up alone for 100 ns: 2400 of 4000. Down begins: the 1600 left would take 160 ns at 10, until 260.
    start(&mut link, 0, 0, Up, 4000);
    start(&mut link, 100, 1, Down, 1500);
    assert_eq!(link.moved_bytes(Up), 2400);
    // Down takes 100 ns at 15. By 200 up has 600 left, which take 25 ns at 24.
    assert_eq!(link.next_time(), Some(at(200)));
    assert_eq!(all_ended(&mut link), [(200, 1), (225, 0)]);

    // Up ends first: at 100 it has 600 left, 60 ns at 10. Down has 900 of 1500 by 160; 600 at 20 take 30 ns.
    let mut link = coupled(0);
    start(&mut link, 0, 0, Up, 3000);
    start(&mut link, 100, 1, Down, 1500);
    assert_eq!(all_ended(&mut link), [(160, 0), (190, 1)]);
}

#[test]
fn a_direction_that_only_waits_is_not_busy() {
    let mut link = coupled(40);
    // Down is told at 60 and its bytes begin at 100.
    start(&mut link, 0, 0, Up, 4000);
    start(&mut link, 60, 1, Down, 1500);
    assert_eq!(all_ended(&mut link), [(200, 1), (225, 0)]);
    // One without bytes slows nothing down, however often it comes.
    let mut link = coupled(40);
    start(&mut link, 0, 0, Up, 2400);
    for id in 1..9 {
        start(&mut link, id, id, Down, 0);
    }
    assert_eq!(all_ended(&mut link).last(), Some(&(100, 0)));
}

#[test]
fn a_cancellation_frees_the_share_at_once() {
    let mut link = link(2, 0);
    start(&mut link, 0, 0, Down, 100);
    start(&mut link, 0, 1, Down, 100);
    // 30 ns at one byte per ns each; then 70 bytes at two per ns.
    assert_eq!(link.cancel(at(30), TransferId(1)), Some(30));
    assert_eq!(link.next_time(), Some(at(65)));
    assert_eq!(all_ended(&mut link), [(65, 0)]);
    assert_eq!(link.moved_bytes(Down), 130);

    // The other direction is free at once, too: up moves 240 alone, 100 beside, and 240 of the 660 left each 10 ns.
    let mut link = coupled(0);
    start(&mut link, 0, 0, Up, 1000);
    start(&mut link, 10, 1, Down, 10_000);
    assert_eq!(link.cancel(at(20), TransferId(1)), Some(150));
    assert_eq!(all_ended(&mut link), [(48, 0)]);
}

#[test]
fn only_what_is_on_the_link_can_be_cancelled() {
    let mut link = link(1, 10);
    start(&mut link, 0, 0, Down, 5);
    start(&mut link, 0, 1, Up, 5);
    assert_eq!(link.cancel(at(9), TransferId(1)), Some(0), "it still waited");
    assert_eq!(link.cancel(at(9), TransferId(1)), None, "it has gone");
    assert_eq!(link.cancel(at(15), TransferId(0)), None, "it ended at that instant");
    assert_eq!(link.next_time(), Some(at(15)), "an end is to be told");
    assert_eq!(ended(&mut link, 15), [(15, 0)]);
    assert_eq!(ended(&mut link, 15), [], "once");
}

#[test]
fn an_id_is_on_the_link_once_and_a_stall_is_latency() {
    let mut link = link(1, 10);
    assert!(link.start(at(0), TransferId(0), Down, 5, Span::from_ns(100)));
    assert!(!link.start(at(1), TransferId(0), Up, 7, Span::ZERO));
    assert_eq!(all_ended(&mut link), [(115, 0)]);
    assert!(link.start(at(200), TransferId(0), Up, 7, Span::ZERO), "when it is over the id is free");
}

#[test]
fn a_transfer_without_bytes_ends_when_its_latency_does() {
    let mut link = link(1, 10);
    start(&mut link, 0, 4, Down, 10);
    start(&mut link, 10, 3, Up, 0);
    start(&mut link, 10, 2, Down, 0);
    assert_eq!(ended(&mut link, 20), [(20, 2), (20, 3), (20, 4)]);
    let mut link = self::link(1, 0);
    start(&mut link, 7, 0, Down, 0);
    assert_eq!(link.next_time(), Some(at(7)));
    assert_eq!(ended(&mut link, 7), [(7, 0)]);
}

#[test]
fn a_time_that_has_passed_counts_as_now() {
    let mut link = link(1, 0);
    assert_eq!(ended(&mut link, 100), []);
    start(&mut link, 40, 0, Down, 10);
    assert_eq!(ended(&mut link, 50), []);
    assert_eq!(all_ended(&mut link), [(110, 0)]);
}

#[test]
fn an_end_past_the_end_of_time_never_comes() {
    let down = Rate::uncoupled(per_s(1), Span::ZERO);
    let mut link = Link::new(LinkSpec { down, up: down });
    start(&mut link, 0, 0, Down, u64::MAX);
    assert!(link.start(at(1), TransferId(1), Up, 1, Span::from_ns(u64::MAX)));
    assert_eq!(link.next_time(), None);
    assert_eq!(all_ended(&mut link), []);
    // 584 years at a byte per second.
    assert_eq!((link.in_flight(Down), link.moved_bytes(Down)), (1, 18_446_744_073));
    assert_eq!(link.cancel(at(u64::MAX), TransferId(0)), Some(18_446_744_074));
    assert_eq!(link.cancel(at(u64::MAX), TransferId(1)), Some(0));
    // At the last instant there is still room for what takes no time.
    start(&mut link, u64::MAX, 2, Down, 0);
    start(&mut link, u64::MAX, 3, Down, 1);
    assert_eq!(all_ended(&mut link), [(u64::MAX, 2)]);
}

#[test]
fn more_bytes_than_can_be_counted_are_the_most_that_can() {
    let down = Rate::uncoupled(per_s(u64::MAX), Span::ZERO);
    let mut link = Link::new(LinkSpec { down, up: down });
    for id in 0..9 {
        start(&mut link, 0, id, Down, u64::MAX);
    }
    assert_eq!(ended(&mut link, 4_000_000_000), []);
    assert_eq!(link.moved_bytes(Down), u64::MAX);
    assert_eq!(all_ended(&mut link), (0..9).map(|id| (9_000_000_000, id)).collect::<Vec<_>>());
    assert_eq!(link.moved_bytes(Down), u64::MAX);
}
