//! The same engine on real tiers.
//!
//! Two ways. In *lock-step* the modelled world decides when a copy ends, and [`Mirror`] moves the blocks for real, from the
//! same facts that every report is made of: an end is not passed before the bytes have arrived and are right, so that the
//! run's decisions, and with them its counts and its digest, are those of the simulation. On the *wall clock* ([`Live`])
//! real tiers decide: a copy ends when its medium says so, as its medium says.
//!
//! [`mod@calibrate`] measures real tiers and fits what the simulator's links are made of.
//!
//! Invariants: every block carries content that follows from its hash; whatever arrives is looked at, and what is wrong is a
//! failure of its copy, never served; a slot is free for others only when nothing writes into it any more; what the engine
//! was told is kept, and told again it gives the same facts.

mod bell;
mod board;
pub mod calibrate;
mod clock;
mod error;
mod layout;
mod live;
mod media;
mod mirror;
mod publish;
mod shelf;
mod totals;

pub use board::{Board, Gauge, Readout};
pub use clock::Pace;
pub use error::MirrorError;
pub use live::{Live, LiveError};
pub use mirror::{Ends, Mirror, Stop};
pub use publish::{Orders, Published, Word};
pub use totals::{LaneTotals, Totals};
