//! The machine (under construction).

pub mod command;
pub mod config;
pub mod fact;
pub mod input;

pub use command::{Command, PassPlan};
pub use config::{Admission, EngineConfig};
pub use fact::{BlockList, BlockRef, Caller, Fact, FactLog, Occupancy, PassStart, Rejection};
pub use input::{Arrival, Input};
