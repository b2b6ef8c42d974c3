//! The web worker that owns the run: the simulator off the page's thread.
//!
//! [`protocol`] is what the page and the worker say to each other, [`agent`] answers it (plain Rust, tested
//! natively) with what it has [`read`] off the facts: [`ledger`], the index of transactions, [`copies`], the index of
//! what moves between tiers, and [`between`], that of what goes on between workers. [`replay`] looks closely at one
//! transaction; [`board`] and [`tiers`] show the state of one worker. `wasm` joins the agent to
//! the browser's messages. The page uses only [`protocol`].

pub mod agent;
pub mod between;
pub mod board;
mod bytes;
pub mod copies;
pub mod ledger;
pub mod protocol;
pub mod read;
pub mod replay;
pub mod tiers;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
