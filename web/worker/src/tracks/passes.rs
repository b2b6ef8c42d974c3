//! A worker's passes.

use tierscope_engine::PassStart;

use super::{Kept, NEVER};
use crate::protocol::SpanKind;

/// The first passes of one worker, in order.
#[derive(Clone, Debug)]
pub struct Passes {
    open: Option<Kept>,
    kept: Vec<Kept>,
    most: usize,
    left_out: u32,
}

impl Passes {
    pub(super) fn of_most(most: usize) -> Self {
        Self { open: None, kept: Vec::new(), most, left_out: 0 }
    }

    pub(super) fn started(&mut self, at: u64, start: &PassStart) {
        self.ended(at);
        let kind = match (start.prefill_rows, start.decode_rows) {
            (0, _) => SpanKind::DecodePass,
            (_, 0) => SpanKind::PrefillPass,
            _ => SpanKind::MixedPass,
        };
        self.open = Some(Kept::new(kind, at, start.decode_rows, start.prefill_tokens));
    }

    pub(super) fn ended(&mut self, at: u64) {
        let Some(open) = self.open.take() else { return };
        if self.kept.len() < self.most {
            self.kept.push(Kept { end: at, ..open });
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// Those that ended, and the one under way.
    pub fn all(&self) -> impl Iterator<Item = Kept> {
        self.kept.iter().copied().chain(self.open.map(|open| Kept { end: NEVER, ..open }))
    }

    /// How many there were besides.
    pub fn left_out(&self) -> u32 {
        self.left_out
    }
}
