//! Dense ids: each is an index into a flat array of its owner.

use std::fmt;

/// An id that is an array index.
pub trait Idx: Copy {
    /// The position in the owner's array.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($int:ty) $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $int);

        impl Idx for $name {
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    )*};
}

ids! {
    /// A request, numbered in the order of the workload from 0.
    RequestId(u32) "request";
    /// One block's place in a tier, numbered from 0.
    SlotId(u32) "slot";
    /// An engine worker (one model replica).
    WorkerId(u16) "worker";
    /// A forward pass of one worker, numbered from 0.
    PassId(u64) "pass";
    /// A copy between tiers, numbered from 0.
    TransferId(u64) "transfer";
    /// A claim of G1 slots for bytes that are still to come.
    ClaimId(u64) "claim";
    /// A G1 transaction (rule T1), numbered from 0.
    TxnId(u64) "txn";
    /// A handoff of a prefill's KV to a decode worker (rule H1), numbered from 0.
    HandoffId(u64) "handoff";
}
