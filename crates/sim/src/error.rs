//! Why a run cannot go on.

use tierscope_units::{PassId, RequestId, TransferId};

/// A run that cannot go on; the facts so far stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunError {
    /// A pass would end past the end of representable time.
    PassPastEndOfTime(PassId),
    /// A copy would end past the end of representable time.
    TransferPastEndOfTime(TransferId),
    /// A request would arrive past the end of representable time.
    ArrivalPastEndOfTime(RequestId),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let years = "584 years)
  mend: write smaller numbers in [timing], larger rates in [links], or shorter delays in [workload]";
        match self {
            Self::PassPastEndOfTime(pass) => {
                write!(f, "pass {pass} would end past the end of time ({years}")
            }
            Self::TransferPastEndOfTime(transfer) => {
                write!(f, "transfer {transfer} would end past the end of time ({years}")
            }
            Self::ArrivalPastEndOfTime(request) => {
                write!(f, "request {request} would arrive past the end of time ({years}")
            }
        }
    }
}

impl std::error::Error for RunError {}
