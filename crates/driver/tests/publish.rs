//! The order between a registration and what another thread reads, under every order that memory may show (loom). The
//! contract's orders pass; either side's absence is found.

use std::panic::catch_unwind;
use std::sync::atomic::Ordering;

use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use tierscope_driver::{Orders, Published, Word};

struct Checked(AtomicU64);

impl Word for Checked {
    fn of(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }

    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }
}

/// Two batches of a lane bring a block each. A reader that sees the first completed finds its block; one that sees both
/// finds both, unless the first was removed for the second.
fn readers_miss_nothing(orders: Orders) {
    loom::model(move || {
        let published = Arc::new(Published::<Checked>::new(1, 2, orders));
        let writer = Arc::clone(&published);
        let thread = loom::thread::spawn(move || {
            writer.register(0, 7);
            writer.publish(0, 1);
            writer.register(1, 8);
            writer.publish(0, 2);
        });
        let completed = published.gauge(0);
        assert!(completed < 1 || published.holds(0, 7), "the first batch's block is missing");
        assert!(completed < 2 || published.holds(1, 8), "the second batch's block is missing");
        assert!(!published.holds(1, 0), "a hash that was never registered");
        thread.join().expect("the writer does not panic");
    });
}

/// A slot that is given to another block is never seen to hold what lies nowhere.
fn reuse_shows_one_or_the_other(orders: Orders) {
    loom::model(move || {
        let published = Arc::new(Published::<Checked>::new(1, 1, orders));
        let writer = Arc::clone(&published);
        let thread = loom::thread::spawn(move || {
            writer.register(0, 7);
            writer.remove(0);
            writer.register(0, 9);
            writer.publish(0, 1);
        });
        let completed = published.gauge(0);
        assert!(completed < 1 || (published.holds(0, 9) && !published.holds(0, 7)), "a block of the past");
        assert!(!published.holds(0, 0), "no block at all");
        thread.join().expect("the writer does not panic");
    });
}

#[test]
fn what_a_completed_batch_registered_is_seen_by_who_sees_it_completed() {
    readers_miss_nothing(Orders::SOUND);
    reuse_shows_one_or_the_other(Orders::SOUND);
}

#[test]
fn without_release_or_without_acquire_it_is_not() {
    let relaxed = Ordering::Relaxed;
    let weaker = [
        Orders { publish: relaxed, ..Orders::SOUND },
        Orders { observe: relaxed, ..Orders::SOUND },
        Orders { publish: relaxed, observe: relaxed },
    ];
    for orders in weaker {
        assert!(catch_unwind(|| readers_miss_nothing(orders)).is_err(), "{orders:?} was not found out");
        assert!(
            catch_unwind(|| reuse_shows_one_or_the_other(orders)).is_err(),
            "{orders:?} was not found out"
        );
    }
}
