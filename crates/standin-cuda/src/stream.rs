//! A stream: a thread that does in order what it is given.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::world::World;

/// How many records of an event are still to come about.
#[derive(Default)]
pub(crate) struct Event {
    pending: Mutex<u32>,
    changed: Condvar,
}

impl Event {
    fn change(&self, change: impl FnOnce(u32) -> u32) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        *pending = change(*pending);
        self.changed.notify_all();
    }

    pub(crate) fn is_over(&self) -> bool {
        *self.pending.lock().unwrap_or_else(PoisonError::into_inner) == 0
    }

    pub(crate) fn wait(&self) {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(pending, |pending| *pending > 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

/// A copy whose addresses have been looked at.
#[derive(Clone, Copy)]
pub(crate) struct Copy {
    pub(crate) to: usize,
    pub(crate) from: usize,
    pub(crate) bytes: usize,
    /// How many of the process it is, from 1.
    pub(crate) number: u64,
}

enum Work {
    Copy(Copy),
    Record(Arc<Event>),
}

/// A stream's thread, and the way to it.
pub(crate) struct Stream {
    work: Sender<Work>,
    thread: JoinHandle<()>,
}

impl Stream {
    pub(crate) fn start(world: &'static World) -> std::io::Result<Self> {
        let (work, given) = channel();
        let thread = std::thread::Builder::new().name("stand-in stream".to_owned());
        let thread = thread.spawn(move || {
            for work in given {
                match work {
                    Work::Copy(copy) => run(world, copy),
                    Work::Record(event) => event.change(|pending| pending.saturating_sub(1)),
                }
            }
        })?;
        Ok(Self { work, thread })
    }

    pub(crate) fn copy(&self, copy: Copy) {
        // Its thread lives as long as the stream.
        let _ = self.work.send(Work::Copy(copy));
    }

    pub(crate) fn record(&self, event: &Arc<Event>) {
        event.change(|pending| pending + 1);
        let _ = self.work.send(Work::Record(Arc::clone(event)));
    }

    /// Ends once all has been done.
    pub(crate) fn end(self) {
        drop(self.work);
        let _ = self.thread.join();
    }
}

fn run(world: &World, copy: Copy) {
    let orders = &world.orders;
    if copy.number > orders.lost_after {
        world.lose();
    }
    if world.is_lost() {
        return;
    }
    if orders.slow_us > 0 {
        // The device is slow: nobody is made to wait who does not ask for the end of the copy.
        std::thread::sleep(Duration::from_micros(orders.slow_us));
    }
    #[expect(unsafe_code, reason = "copies by addresses")]
    // SAFETY: both ends were looked at when the copy was begun; as with the driver, who began it keeps them until it is over.
    unsafe {
        std::ptr::copy(copy.from as *const u8, copy.to as *mut u8, copy.bytes);
        if copy.number == orders.wrong_at {
            *(copy.to as *mut u8).add(copy.bytes / 2) ^= 0x10;
        }
    }
}
