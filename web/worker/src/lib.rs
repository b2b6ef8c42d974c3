//! The web worker that owns the run: the simulator off the page's thread.
//!
//! [`protocol`] is what the page and the worker say to each other, [`agent`] answers it (plain Rust, tested
//! natively), [`wasm`] joins the agent to the browser's messages. The page uses only [`protocol`].

pub mod agent;
pub mod board;
mod bytes;
pub mod protocol;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
