//! The web worker that owns the run: the simulator off the page's thread.
//!
//! [`protocol`] is what the page and the worker say to each other, [`agent`] answers it (plain Rust, tested
//! natively) with [`ledger`], the index of transactions, [`replay`], which looks closely at one of them, and
//! [`copies`], the index of what moves between tiers; [`board`] and [`tiers`] show a state. `wasm` joins the agent to
//! the browser's messages. The page uses only [`protocol`].

pub mod agent;
pub mod board;
mod bytes;
pub mod copies;
pub mod ledger;
pub mod protocol;
pub mod replay;
pub mod tiers;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
