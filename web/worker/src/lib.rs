//! The web worker that owns the run: the simulator off the page's thread.
//!
//! [`protocol`] is what the page and the worker say to each other, [`agent`] answers it (plain Rust, tested
//! natively) with [`ledger`], the index of transactions, and [`replay`], which looks closely at one of them; `wasm` joins the agent to the browser's messages. The page uses only [`protocol`].

pub mod agent;
pub mod board;
mod bytes;
pub mod ledger;
pub mod protocol;
pub mod replay;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
