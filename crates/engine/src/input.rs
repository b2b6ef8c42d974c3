//! What the machine is told as it happens.

use tierscope_units::{PassId, RequestId, TokenRun};

/// Something that happened in the world.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// A request arrived.
    Arrive(Arrival<'a>),
    /// The client gave up on a request.
    Cancel(RequestId),
    /// A pass ended: every sampling row has one more token.
    PassEnded(PassId),
}

/// A request as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Its number; each number arrives once.
    pub request: RequestId,
    /// The prompt's tokens, in order.
    pub prompt: &'a [TokenRun],
    /// Token id of the first output token; the k-th output token is `output_start + k`.
    pub output_start: u64,
    /// Output tokens after which the request is done; at least 1.
    pub output_tokens: u32,
    /// Content salt: requests with different salts share no blocks.
    pub salt: u64,
}
