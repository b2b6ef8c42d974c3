//! What an error of the library means: for the block, for another attempt, and for the name that was used.

use std::error::Error;
use std::io;

use object_store::client::{HttpError, HttpErrorKind};

use crate::fault::Fault;

/// How an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// What it is for the block, if nothing better comes.
    pub(super) fault: Fault,
    /// Whether another attempt may do better.
    pub(super) again: bool,
    /// Whether the request is over: nothing of it can take effect any more.
    pub(super) over: bool,
}

impl Failure {
    /// It is so, and stays so.
    pub(super) const fn settled(fault: Fault) -> Self {
        Self { fault, again: false, over: true }
    }

    /// Nothing was heard in time.
    pub(super) const TIMED_OUT: Self = Self { fault: Fault::TimedOut, again: true, over: false };
}

/// The server answered, and it was not what was asked for.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: u16,
    /// Its words, as far as they are few.
    pub(super) said: String,
}

impl std::fmt::Display for Answered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the server answered with status {}. {}", self.status, self.said)
    }
}

impl Error for Answered {}

/// What an error means.
pub(super) fn of(error: &object_store::Error) -> Failure {
    use object_store::Error as E;
    match error {
        E::NotFound { .. } => Failure::settled(Fault::Missing),
        E::PermissionDenied { .. } | E::Unauthenticated { .. } => Failure::settled(Fault::ReadOnly),
        E::AlreadyExists { .. } | E::Precondition { .. } => Failure::settled(Fault::Busy),
        other => of_chain(other),
    }
}

fn of_chain(error: &object_store::Error) -> Failure {
    if let Some(Answered { status, .. }) = find(error) {
        return of_status(*status);
    }
    if let Some(error) = find::<HttpError>(error) {
        return match error.kind() {
            HttpErrorKind::Timeout => Failure::TIMED_OUT,
            // Nothing was sent.
            HttpErrorKind::Connect => Failure { fault: Fault::Device, again: true, over: true },
            _ => Failure { fault: Fault::Device, again: true, over: false },
        };
    }
    if let Some(error) = find::<io::Error>(error) {
        return Failure::settled(Fault::of_io(error));
    }
    Failure { fault: Fault::Device, again: false, over: false }
}

fn of_status(status: u16) -> Failure {
    let failure = |fault, again| Failure { fault, again, over: true };
    match status {
        404 => failure(Fault::Missing, false),
        401 | 403 => failure(Fault::ReadOnly, false),
        409 | 412 => failure(Fault::Busy, false),
        507 => failure(Fault::NoSpace, false),
        408 => Failure::TIMED_OUT,
        429 | 503 => failure(Fault::Device, true),
        // Whoever stands before the server gave up: the server itself may go on.
        504 => Failure::TIMED_OUT,
        500.. => Failure { fault: Fault::Device, again: status != 501, over: false },
        _ => failure(Fault::Device, false),
    }
}

/// The first of a kind among an error and its causes.
fn find<E: Error + 'static>(error: &object_store::Error) -> Option<&E> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(source: impl Error + Send + Sync + 'static) -> object_store::Error {
        object_store::Error::Generic { store: "test", source: Box::new(source) }
    }

    #[test]
    fn each_error_has_its_meaning() {
        let answer = |status| Answered { status, said: String::new() };
        let answered = |status| of(&generic(HttpError::new(HttpErrorKind::Unknown, answer(status))));
        let found = |failure: Failure| (failure.fault, failure.again, failure.over);
        assert_eq!(found(answered(404)), (Fault::Missing, false, true));
        assert_eq!(found(answered(403)), (Fault::ReadOnly, false, true));
        assert_eq!(found(answered(412)), (Fault::Busy, false, true));
        assert_eq!(found(answered(507)), (Fault::NoSpace, false, true));
        assert_eq!(found(answered(503)), (Fault::Device, true, true));
        assert_eq!(found(answered(500)), (Fault::Device, true, false));
        assert_eq!(found(answered(501)), (Fault::Device, false, false));
        assert_eq!(found(answered(504)), (Fault::TimedOut, true, false));
        assert_eq!(found(answered(400)), (Fault::Device, false, true));
        let http = |kind| found(of(&generic(HttpError::new(kind, io::Error::other("it")))));
        assert_eq!(http(HttpErrorKind::Timeout), (Fault::TimedOut, true, false));
        assert_eq!(http(HttpErrorKind::Connect), (Fault::Device, true, true));
        assert_eq!(http(HttpErrorKind::Interrupted), (Fault::Device, true, false));
        // ENOSPC, EROFS: of a folder.
        assert_eq!(found(of(&generic(io::Error::from_raw_os_error(28)))), (Fault::NoSpace, false, true));
        assert_eq!(found(of(&generic(io::Error::from_raw_os_error(30)))), (Fault::ReadOnly, false, true));
        let source = || Box::new(io::Error::other("it"));
        let missing = object_store::Error::NotFound { path: "it".to_owned(), source: source() };
        assert_eq!(of(&missing), Failure::settled(Fault::Missing));
        let denied = object_store::Error::PermissionDenied { path: "it".to_owned(), source: source() };
        assert_eq!(of(&denied), Failure::settled(Fault::ReadOnly));
    }
}
