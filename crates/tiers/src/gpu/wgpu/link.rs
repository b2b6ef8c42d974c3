//! The way to a GPU: work goes there, and comes back done or with a fault.
//!
//! wgpu tells errors in three ways: to the scope of errors that is open on the calling thread, to a callback when the device
//! is lost, and by a panic where neither is left. All of them end as a [`Fault`] here.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use wgpu::{
    BufferAsyncError, CommandEncoder, CommandEncoderDescriptor, Device, ErrorFilter, PollError, PollType,
    Queue,
};

use super::adapter::at_once;
use crate::device::Outcome;
use crate::fault::Fault;

/// What has not come back by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// An open GPU.
pub(super) struct Link {
    pub(super) device: Device,
    queue: Queue,
    lost: Arc<AtomicBool>,
}

impl Link {
    pub(super) fn new(device: Device, queue: Queue) -> Self {
        let lost = Arc::new(AtomicBool::new(false));
        let tells = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, _| tells.store(true, Ordering::Release));
        // Errors are told to scopes. One that is outside of all of them belongs to no block: the next use of what it left
        // behind has its own.
        device.on_uncaptured_error(Arc::new(|_| {}));
        Self { device, queue, lost }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// One submission, until it is done. `mapped` is called after it was submitted: where a buffer is to be mapped when the
    /// GPU is done with it, its end is waited for as well.
    pub(super) fn run(
        &self,
        encode: impl FnOnce(&mut CommandEncoder),
        mapped: impl FnOnce(&Landing),
    ) -> Outcome {
        if self.is_lost() {
            return Err(Fault::Gone);
        }
        let all = || {
            let landing = Landing::default();
            let (index, fault) = self.scoped(|| {
                let mut encoder = self.device.create_command_encoder(&CommandEncoderDescriptor::default());
                encode(&mut encoder);
                let index = self.queue.submit([encoder.finish()]);
                mapped(&landing);
                index
            });
            fault?;
            let wait = PollType::Wait { submission_index: Some(index), timeout: Some(PATIENCE) };
            match self.device.poll(wait) {
                Ok(_) => self.landed(&landing),
                Err(PollError::Timeout) => Err(Fault::TimedOut),
                Err(PollError::WrongSubmissionIndex(..)) => Err(Fault::Device),
            }
        };
        match catch_unwind(AssertUnwindSafe(all)) {
            Ok(outcome) => outcome.map_err(|fault| self.reason(fault)),
            // wgpu has no other word for a device that is lost while it is waited for.
            Err(_) if self.reason(Fault::Panicked) == Fault::Gone => Err(Fault::Gone),
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Why something failed. What fails because the device is lost is told otherwise at first; that it is lost is told to who
    /// asks for news.
    pub(super) fn reason(&self, fault: Fault) -> Fault {
        let _ = catch_unwind(AssertUnwindSafe(|| self.device.poll(PollType::Poll)));
        if self.is_lost() { Fault::Gone } else { fault }
    }

    /// Does something, and says what wgpu complained of meanwhile.
    pub(super) fn scoped<T>(&self, work: impl FnOnce() -> T) -> (T, Outcome) {
        let (value, error) = self.complaints(work);
        let fault = error.map_or(Ok(()), |error| Err(fault_of(&error)));
        (value, fault)
    }

    /// The same in wgpu's words.
    pub(super) fn complaints<T>(&self, work: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
        let filters = [ErrorFilter::Internal, ErrorFilter::Validation, ErrorFilter::OutOfMemory];
        let scopes = filters.map(|filter| self.device.push_error_scope(filter));
        let value = work();
        // The last one that was opened is closed first.
        let errors = scopes.into_iter().rev().map(|scope| at_once(scope.pop()).flatten());
        let errors: Vec<Option<wgpu::Error>> = errors.collect();
        (value, errors.into_iter().flatten().next())
    }

    /// Waits for a mapping whose submission is done. Its callback is called by whichever thread looks first, so that it may
    /// come a moment later than the end of the submission.
    fn landed(&self, landing: &Landing) -> Outcome {
        let begun = Instant::now();
        loop {
            if let Some(result) = landing.wait(Duration::from_millis(50)) {
                return result;
            }
            if self.is_lost() {
                return Err(Fault::Gone);
            }
            if begun.elapsed() > PATIENCE {
                return Err(Fault::TimedOut);
            }
            // Nobody else may be looking.
            let _ = self.device.poll(PollType::Poll);
        }
    }
}

fn fault_of(error: &wgpu::Error) -> Fault {
    match error {
        wgpu::Error::OutOfMemory { .. } => Fault::NoSpace,
        wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => Fault::Device,
    }
}

/// Whether a buffer has been mapped. Nothing is waited for where nobody was promised anything.
#[derive(Default)]
pub(super) struct Landing(Arc<Landed>);

#[derive(Default)]
struct Landed {
    state: Mutex<State>,
    told: Condvar,
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    NotPromised,
    Promised,
    Told(Outcome),
}

impl Landing {
    /// What is to be called when the buffer is mapped.
    pub(super) fn promise(&self) -> impl FnOnce(Result<(), BufferAsyncError>) + Send + 'static {
        self.0.set(State::Promised);
        let landed = Arc::clone(&self.0);
        move |result| landed.set(State::Told(result.map_err(|_| Fault::Device)))
    }

    fn wait(&self, most: Duration) -> Option<Outcome> {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let open = |state: &mut State| matches!(state, State::Promised);
        let waited = self.0.told.wait_timeout_while(state, most, open);
        match *waited.unwrap_or_else(PoisonError::into_inner).0 {
            State::NotPromised => Some(Ok(())),
            State::Promised => None,
            State::Told(outcome) => Some(outcome),
        }
    }
}

impl Landed {
    fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.told.notify_all();
    }
}
