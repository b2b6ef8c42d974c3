//! What the user has picked out: one thing, shown by every part of the page that knows it.

use std::fmt;
use std::str::FromStr;

/// One thing of a run. Its word, as in a link: `request.17`, `block.00ff…`, `transfer.5`, `worker.2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Selection {
    /// A request, by its number.
    Request(u32),
    /// A block's content, by its sequence hash.
    Block(u64),
    /// A copy between tiers or workers, by its number.
    Transfer(u64),
    /// A worker of several, by its number.
    Worker(u32),
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(number) => write!(f, "request.{number}"),
            Self::Block(hash) => write!(f, "block.{hash:016x}"),
            Self::Transfer(number) => write!(f, "transfer.{number}"),
            Self::Worker(number) => write!(f, "worker.{number}"),
        }
    }
}

impl FromStr for Selection {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let (kind, which) = word.split_once('.').ok_or(())?;
        let number = || which.parse().map_err(|_| ());
        match kind {
            "request" => Ok(Self::Request(number()?)),
            "worker" => Ok(Self::Worker(number()?)),
            "transfer" => Ok(Self::Transfer(which.parse().map_err(|_| ())?)),
            "block" if which.len() == 16 => u64::from_str_radix(which, 16).map(Self::Block).map_err(|_| ()),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_was_written() {
        let all = [
            Selection::Request(17),
            Selection::Block(0xff00_0000_0000_0001),
            Selection::Transfer(1 << 41),
            Selection::Worker(2),
        ];
        for selection in all {
            assert_eq!(selection.to_string().parse(), Ok(selection));
        }
    }

    #[test]
    fn other_words_are_refused() {
        for word in ["", "request", "request.", "request.-1", "request.4294967296", "block.1", "thing.1"] {
            assert_eq!(word.parse::<Selection>(), Err(()), "{word}");
        }
    }
}
