//! Sizes in whole bytes.

use std::fmt;

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `gib` binary gigabytes; `None` on overflow.
    pub const fn gib(gib: u64) -> Option<Self> {
        match gib.checked_mul(1 << 30) {
            Some(bytes) => Some(Self(bytes)),
            None => None,
        }
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0;
        for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
            if bytes >= 1 << shift {
                let tenths = (u128::from(bytes) * 10) >> shift;
                return write!(f, "{}.{} {unit}", tenths / 10, tenths % 10);
            }
        }
        write!(f, "{bytes} B")
    }
}
