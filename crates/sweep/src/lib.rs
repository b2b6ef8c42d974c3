//! What if: one scenario, one to three knobs, some seeds, and what each combination came to.
//!
//! - [`Plan`] says which runs there are and in what order; its digest is what shards of one sweep have in common;
//! - [`Point`] is one of them: a pure function of plan and number, whose outcome is a [`Row`];
//! - [`cache`] answers without scheduler and time what a cache of any size would have hit, and what the best
//!   possible one would have;
//! - [`part`] is the form in which finished rows travel, [`results`] the forms in which they are handed on, and
//!   [`sizing`] the table for people who have to buy memory.
//!
//! Invariants: a row depends on nothing but the plan, its number and the trace's bytes, so that a row computed
//! twice, elsewhere or in another order is equal to the byte. A point that cannot be run is a row that says so.
//!
//! Deliberately absent: files, threads, other machines (the command's), Parquet (`crates/columns`).

pub mod cache;
mod knob;
pub mod part;
mod plan;
mod point;
mod refusal;
pub mod results;
mod row;
pub mod sizing;

pub use knob::Knob;
pub use plan::{Mode, Plan, Point, Shard, seeds};
pub use point::{Attempt, attempt, refused};
pub use refusal::Refusal;
pub use row::{Column, Kind, Row, State, Value, columns};
