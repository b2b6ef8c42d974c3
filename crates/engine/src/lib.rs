//! The machine: *given what has happened, what should happen next?*
//!
//! A pure state machine of one worker's G1 and scheduler. It is told what happened ([`Input`]), says what to
//! do ([`Command`]) and what is now so ([`Fact`]). Invariants:
//! - no clock, thread, I/O, randomness, global, or hash map whose order can be seen (rule E1);
//! - it does not know whether it is simulated or drives real tiers (rule E2);
//! - all of it is `Clone`: a state can be kept and forked.
//!
//! Deliberately absent: how long anything takes (crate `sim`), and what came of it (crate `report`).

#[cfg(feature = "bench-internals")]
pub mod bench;
pub(crate) mod block;
pub mod census;
mod check;
mod claim;
pub mod command;
pub mod config;
mod connector;
pub mod fact;
pub mod fleet;
pub mod input;
mod lease;
mod line;
mod lower;
mod machine;
mod request;
mod retune;
pub mod router;
mod schedule;
mod source;
mod view;
pub mod vllm;

pub use block::{BlockPool, SlotState};
pub use census::{CensusPhase, CensusRow, Reason, Wait, Wakeup};
pub use command::{Command, ContextPlan, CopyPlan, PassPlan};
pub use config::{
    Acquisition, Admission, DraftMethod, EngineConfig, EvictionPolicy, Fidelity, HashDeletion,
    SchedulingPolicy, Speculation, Victim,
};
pub use fact::{
    BlockList, BlockRef, Caller, CopyEnd, CopyFailure, Fact, FactLog, HandoffFact, HandoffFailure,
    HandoffPhase, Loaded, MessageKind, Occupancy, PassStart, Prepared, Rejection, RouteFact, WorkerState,
};
pub use fleet::{
    Fleet, FleetCommand, FleetConfig, FleetError, FleetInput, FleetWait, HandoffBytes, HandoffConfig,
    HandoffCopy, HandoffOrder, Message, Role, TRANSFERS_PER_WORKER, WORKERS_MAX, WorkerChange,
};
pub use input::{Arrival, Entry, Input, Leg, Purpose, Rank, Sampled};
pub use lower::config::{
    ChunkEviction, CopyEstimate, Filter, Flavour, Holds, LaneConfig, Load, OnboardGate, Pressure, Store,
    TierConfig, TiersConfig, VllmConfig, Waiters,
};
pub use lower::{
    Awaits, Cause, CopyView, Dependency, Lane, LaneFault, LaneSnapshot, MachineId, Phase, Rest, Settled,
    Settlement, SettlementError, SettlementTarget, SettlementToken, Tier,
};
pub use machine::{Engine, InputError};
pub use router::{
    Ask, CacheEvent, Choice, CostTerms, Expiry, Futile, IndexCheck, Overlap, Publish, REPLICAS_MAX, Router,
    RouterConfig, RouterKind, Stage, WorkerStage,
};
pub use schedule::Row;
