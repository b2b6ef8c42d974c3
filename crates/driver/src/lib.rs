//! The same engine on real tiers.
//!
//! So far in lock-step: the modelled world decides when a copy ends, and [`Mirror`] moves the blocks for real, from the
//! same facts that every report is made of. A copy begins when the engine says so and its end is not passed before the
//! bytes have arrived and are right, so that the run's decisions, and with them its counts and its digest, are those of
//! the simulation.
//!
//! Invariants: every block carries content that follows from its hash; whatever arrives is verified; a mismatch or a
//! medium's failure ends the run with what happened, where and to which block, and is never passed over.

mod mirror;
mod shelf;

pub use mirror::{LaneTotals, Mirror, MirrorError, Totals};
