//! Why a block was not copied.

use std::fmt;
use std::io;

/// How the copy of a block failed. No text: what can be decided by is a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// The bytes in the slot are not those that were stored: torn, flipped or cut. They are not served.
    Corrupt,
    /// The slot does not hold this key: it was never stored there, was lost by a crash, or something else is there now.
    Missing,
    /// No such slot, or the buffer has another size than a block.
    OutOfRange,
    /// Another batch has one of its slots: whoever submitted them gave a slot away twice.
    Busy,
    /// The medium is full (ENOSPC, a quota).
    NoSpace,
    /// The medium may only be read (EROFS, permissions).
    ReadOnly,
    /// The device failed (EIO).
    Device,
    /// It took longer than it may.
    TimedOut,
    /// Nobody wants it any more.
    Cancelled,
    /// The worker that copied it panicked; the medium goes on with another.
    Panicked,
    /// The medium is shut down, or its device is gone for good.
    Gone,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Corrupt,
        Self::Missing,
        Self::OutOfRange,
        Self::Busy,
        Self::NoSpace,
        Self::ReadOnly,
        Self::Device,
        Self::TimedOut,
        Self::Cancelled,
        Self::Panicked,
        Self::Gone,
    ];

    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Corrupt => "corrupt",
            Self::Missing => "missing",
            Self::OutOfRange => "out_of_range",
            Self::Busy => "busy",
            Self::NoSpace => "no_space",
            Self::ReadOnly => "read_only",
            Self::Device => "device",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Panicked => "panicked",
            Self::Gone => "gone",
        }
    }

    /// What an error of the operating system means for a block.
    pub fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::NoSpace
            }
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::ReadOnly,
            io::ErrorKind::TimedOut => Self::TimedOut,
            // A file that ends before its slot does was cut.
            io::ErrorKind::UnexpectedEof => Self::Corrupt,
            _ => Self::Device,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Corrupt => "the bytes are not those that were stored",
            Self::Missing => "the slot does not hold this block",
            Self::OutOfRange => "there is no such slot",
            Self::Busy => "another batch has its slot",
            Self::NoSpace => "no space is left",
            Self::ReadOnly => "it may only be read",
            Self::Device => "the device failed",
            Self::TimedOut => "it took too long",
            Self::Cancelled => "it was cancelled",
            Self::Panicked => "the copying thread panicked",
            Self::Gone => "the medium is shut down, or its device is lost",
        })
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_have_their_meaning() {
        let of = |errno| Fault::of_io(&io::Error::from_raw_os_error(errno));
        // ENOSPC, EDQUOT, EROFS, EACCES, EIO, ETIMEDOUT.
        let found = [28, 122, 30, 13, 5, 110].map(of);
        use Fault::{Device, NoSpace, ReadOnly, TimedOut};
        assert_eq!(found, [NoSpace, NoSpace, ReadOnly, ReadOnly, Device, TimedOut]);
    }

    #[test]
    fn each_has_a_word_of_its_own() {
        let mut names = Fault::ALL.map(Fault::name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
