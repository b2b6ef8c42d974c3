//! The modelled world: what would have happened? It drives the engine under a virtual clock.
//!
//! A [`Simulation`] turns each of the engine's commands into an input at a computed time; a [`Run`] adds the
//! folds that make a report, and keyframes so that any time can be sought. Invariants:
//! - a run is a function of (scenario, seed, version): the same facts, byte for byte (rule E3);
//! - simultaneous events have one order, `(time, rank, seq)`, in `queue.rs`;
//! - an empty queue with unfinished requests is a dead end, never a finish and never a hang (rule R3).
//!
//! Deliberately absent: I/O, threads, the wall clock, and any decision about blocks.

mod acceptance;
mod census;
mod copies;
mod error;
mod expect;
mod fault;
mod forecast;
mod keyframes;
mod link;
mod messages;
mod progress;
mod queue;
mod retune;
mod run;
mod seen;
mod simulation;
mod source;
pub mod timing;
mod told;

pub use census::census;
pub use copies::{DirectionUse, LinkUse};
pub use error::RunError;
pub use expect::{Failure, evaluate};
pub use forecast::{Crossing, forecast};
pub use run::{Run, RunOptions, RunState};
pub use simulation::{Progress, Simulation, Step};

/// The version that reports carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
