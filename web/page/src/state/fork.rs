//! The other run: the same scenario with some keys changed, from its beginning or from a time on.

use std::fmt;
use std::str::FromStr;

/// What is changed, and from when on. Its word, as in a link: `g2.blocks=4096` from the beginning,
/// `500000000~g2.blocks=4096;seed=2` from a time on, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fork {
    /// From this time on; from the beginning when there is none.
    pub at_ns: Option<f64>,
    /// `key=value`, as `tierscope run --set` takes them.
    pub changes: Vec<String>,
}

/// Most changes in one fork, so that a link is bounded.
pub const CHANGES_MAX: usize = 16;

impl fmt::Display for Fork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at_ns) = self.at_ns {
            write!(f, "{at_ns}~")?;
        }
        f.write_str(&self.changes.join(";"))
    }
}

impl FromStr for Fork {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let (at_ns, changes) = match word.split_once('~') {
            Some((at, changes)) => {
                (Some(at.parse::<u64>().ok().filter(|&ns| ns < 1 << 53).ok_or(())? as f64), changes)
            }
            None => (None, word),
        };
        let changes: Vec<String> = changes.split(';').map(str::to_owned).collect();
        let whole = changes.len() <= CHANGES_MAX && changes.iter().all(|change| change.contains('='));
        whole.then_some(Self { at_ns, changes }).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_was_written() {
        let changes = vec!["g2.blocks=4096".to_owned(), "seed=2".to_owned()];
        for at_ns in [None, Some(0.0), Some(5e8)] {
            let fork = Fork { at_ns, changes: changes.clone() };
            assert_eq!(fork.to_string().parse(), Ok(fork));
        }
    }

    #[test]
    fn other_words_are_refused() {
        for word in
            ["", "~", "1~", "x~a=1", "-1~a=1", "a", "a=1;;b=2", "9007199254740992~a=1", &"a=1;".repeat(17)]
        {
            assert_eq!(word.parse::<Fork>(), Err(()), "{word}");
        }
    }
}
