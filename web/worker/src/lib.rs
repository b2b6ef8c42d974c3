//! The web worker that owns the run: the simulator off the page's thread.
//!
//! [`protocol`] is what the page and the worker say to each other, [`agent`] answers it (plain Rust, tested
//! natively) with what it has [`read`] off the facts: [`ledger`], the index of transactions, [`copies`], the index of
//! what moves between tiers, [`between`], that of what goes on between workers, [`lives`], that of what became of
//! requests, [`story`], that of what happened to blocks, and [`tracks`], that of what the timeline draws. [`search`]
//! answers questions in words from all of them. [`replay`] looks closely at one
//! transaction; [`board`] and [`tiers`] show the state of one worker. `wasm` joins the agent to
//! the browser's messages. The page uses only [`protocol`].

pub mod agent;
pub mod between;
pub mod board;
mod bytes;
pub mod copies;
pub mod hits;
pub mod ledger;
pub mod lives;
pub mod protocol;
pub mod read;
pub mod replay;
pub mod search;
pub mod story;
pub mod tiers;
pub mod tracks;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
