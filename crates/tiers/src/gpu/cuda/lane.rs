//! A stream, an event, and the lists that a batch of copies needs: one for each thread that copies.

use std::sync::Arc;

use cudarc::driver::sys::{CUevent, CUresult, CUstream};

use super::calls::Copies;
use super::code::Answer;
use super::context::Context;
use super::error::CudaError;
use crate::medium::Way;

/// How often it is asked whether copies have ended before the thread sleeps until they have: small ones end sooner than a
/// thread falls asleep.
const LOOKS: u32 = 200;

/// A copy, by addresses: of the device, and of host memory.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) device: u64,
    pub(super) host: u64,
    pub(super) bytes: usize,
}

/// How copies are begun.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// All by one call.
    Batched,
    /// Each by a call of its own.
    Single,
}

/// What came of copies.
pub(super) struct Copied {
    /// Of each, in order.
    pub(super) answers: Vec<Answer>,
    /// Whether the driver said of its copies that they are over. If it would not, its context is broken, and it has none any
    /// more; it is not to be given another.
    pub(super) over: bool,
}

/// A stream with what it needs.
pub(super) struct Lane {
    context: Arc<Context>,
    stream: CUstream,
    event: CUevent,
    copies: Copies,
}

#[expect(unsafe_code, reason = "a stream and an event are handles of the driver, which any thread may use")]
// SAFETY: a lane is used by one thread at a time; its handles do not belong to the thread that made them.
unsafe impl Send for Lane {}

impl Lane {
    pub(super) fn new(context: Arc<Context>) -> Result<Self, CudaError> {
        let driver = context.driver;
        let stream = driver.new_stream().map_err(|code| driver.refused("make a stream", code))?;
        let event = driver.new_event().map_err(|code| {
            let _ = driver.end_stream(stream);
            driver.refused("make an event", code)
        })?;
        Ok(Self { context, stream, event, copies: Copies::default() })
    }

    /// Copies all of them and waits until none is under way any more.
    ///
    /// # Safety
    ///
    /// Addresses are those of memory that has so many bytes and is nobody else's until this returns.
    #[expect(unsafe_code, reason = "copies by addresses")]
    pub(super) unsafe fn copy(&mut self, way: Way, mode: Mode, pieces: &[Piece]) -> Copied {
        let begun = match mode {
            // SAFETY: as the caller promises; what was begun is waited for below.
            Mode::Batched => unsafe { self.begin_batch(way, pieces) },
            // SAFETY: as above.
            Mode::Single => unsafe { self.begin_each(way, pieces) },
        };
        // Also when none was begun for all that is known: a call that fails may have begun some.
        match self.wait() {
            Ok(()) => Copied { answers: begun, over: true },
            Err(code) => {
                let answers = begun.into_iter().map(|answer| answer.and(Err(code))).collect();
                Copied { answers, over: self.context.driver.wait_for_all(self.stream).is_ok() }
            }
        }
    }

    #[expect(unsafe_code, reason = "as `copy`")]
    unsafe fn begin_batch(&mut self, way: Way, pieces: &[Piece]) -> Vec<Answer> {
        self.copies.clear();
        for piece in pieces {
            match way {
                Way::Store => self.copies.push(piece.device, piece.host, piece.bytes),
                Way::Load => self.copies.push(piece.host, piece.device, piece.bytes),
            }
        }
        // SAFETY: as the caller promises.
        let answer = unsafe { self.context.driver.copy_batch(&mut self.copies, self.stream) };
        // One answer for all: which of them were copied is not known.
        vec![answer; pieces.len()]
    }

    #[expect(unsafe_code, reason = "as `copy`")]
    unsafe fn begin_each(&mut self, way: Way, pieces: &[Piece]) -> Vec<Answer> {
        let (driver, stream) = (self.context.driver, self.stream);
        let begin = |piece: &Piece| match way {
            // SAFETY: as the caller promises.
            Way::Store => unsafe { driver.copy_in(piece.device, piece.host, piece.bytes, stream) },
            // SAFETY: as above.
            Way::Load => unsafe { driver.copy_out(piece.host, piece.device, piece.bytes, stream) },
        };
        pieces.iter().map(begin).collect()
    }

    fn wait(&self) -> Answer {
        let driver = self.context.driver;
        driver.record(self.event, self.stream)?;
        for _ in 0..LOOKS {
            match driver.query(self.event) {
                Err(code) if code.is(CUresult::CUDA_ERROR_NOT_READY) => std::hint::spin_loop(),
                other => return other,
            }
        }
        driver.wait(self.event)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        let driver = self.context.driver;
        let _ = self.context.enter();
        let _ = driver.end_event(self.event);
        let _ = driver.end_stream(self.stream);
    }
}
