//! What a question in words asks for.

use crate::protocol::{OutcomeFilter, SpanKind};

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Query {
    /// The phases of a request.
    Request(u32),
    /// Transactions of an outcome, perhaps of one request.
    Transactions(OutcomeFilter, Option<u32>),
    /// Marks of some kinds.
    Marks(&'static [SpanKind]),
    /// Blocks whose hashes lie between two, both included.
    Block(u64, u64),
    /// A copy.
    Transfer(u64),
    /// A worker.
    Worker(u32),
}

/// Fewest hex digits of a hash's beginning: fewer could be meant as a number.
const HASH_DIGITS_MIN: usize = 4;

/// The question that a text asks; nothing for any other text.
pub(super) fn read(text: &str) -> Option<Query> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split([' ', '#', ',', '\t']).filter(|word| !word.is_empty()).collect();
    match words[..] {
        ["copy" | "copies", "failed"] => Some(Query::Marks(&[SpanKind::MarkCopyFailed])),
        ["request" | "req" | "r", number] => Some(Query::Request(number.parse().ok()?)),
        ["transfer" | "copy" | "t", number] => Some(Query::Transfer(number.parse().ok()?)),
        ["worker" | "w", number] => Some(Query::Worker(number.parse().ok()?)),
        ["block" | "hash", hash] => block(hash),
        [outcome, "request", number] => {
            Some(Query::Transactions(self::outcome(outcome)?, Some(number.parse().ok()?)))
        }
        ["request", number, outcome] => {
            Some(Query::Transactions(self::outcome(outcome)?, Some(number.parse().ok()?)))
        }
        [word] => outcome(word)
            .map(|outcome| Query::Transactions(outcome, None))
            .or_else(|| marks(word).map(Query::Marks))
            .or_else(|| block(word))
            .or_else(|| word.parse().ok().map(Query::Request)),
        _ => None,
    }
}

fn outcome(word: &str) -> Option<OutcomeFilter> {
    match word.strip_prefix("outcome:")? {
        "all" => Some(OutcomeFilter::All),
        "ready" => Some(OutcomeFilter::Ready),
        "exhausted" => Some(OutcomeFilter::Exhausted),
        "blocked" => Some(OutcomeFilter::Blocked),
        "retried" => Some(OutcomeFilter::Retried),
        _ => None,
    }
}

fn marks(word: &str) -> Option<&'static [SpanKind]> {
    Some(match word {
        "preempted" | "preemption" | "preemptions" => &[SpanKind::MarkPreempted],
        "exhausted" => &[SpanKind::MarkExhausted],
        "blocked" => &[SpanKind::MarkBlocked],
        "cancelled" | "canceled" | "aborted" => &[SpanKind::MarkCancelled],
        "rejected" | "refused" => &[SpanKind::MarkRejected],
        "failed" | "faults" | "fault" => &[SpanKind::MarkCopyFailed, SpanKind::MarkLost],
        "lost" => &[SpanKind::MarkLost],
        "workers" => &[SpanKind::MarkWorker, SpanKind::MarkLost],
        _ => return None,
    })
}

/// The hashes that begin with these digits.
fn block(digits: &str) -> Option<Query> {
    let digits = digits.strip_prefix("0x").unwrap_or(digits).trim_end_matches('…');
    if !(HASH_DIGITS_MIN..=16).contains(&digits.len())
        || !digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    {
        return None;
    }
    // A short word of decimal digits is a request's number.
    if digits.len() < 8 && digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let open = 4 * (16 - digits.len() as u32);
    let from = u64::from_str_radix(digits, 16).ok()?.checked_shl(open).unwrap_or(0);
    let rest = if open == 0 { 0 } else { u64::MAX >> (64 - open) };
    Some(Query::Block(from, from | rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read() {
        let asked = [
            ("request 17", Query::Request(17)),
            ("Request #17", Query::Request(17)),
            ("17", Query::Request(17)),
            ("outcome:blocked", Query::Transactions(OutcomeFilter::Blocked, None)),
            ("outcome:exhausted request 3", Query::Transactions(OutcomeFilter::Exhausted, Some(3))),
            ("preempted", Query::Marks(&[SpanKind::MarkPreempted])),
            ("00ff00ff00ff00ff", Query::Block(0x00ff_00ff_00ff_00ff, 0x00ff_00ff_00ff_00ff)),
            ("block 00ff", Query::Block(0x00ff << 48, (0x00ff << 48) | (u64::MAX >> 16))),
            ("  transfer   5 ", Query::Transfer(5)),
            ("worker 2", Query::Worker(2)),
        ];
        for (text, query) in asked {
            assert_eq!(read(text), Some(query), "{text}");
        }
    }

    #[test]
    fn other_words_are_none() {
        let words =
            ["", "hello", "request x", "outcome:", "outcome:nice", "request 99999999999", "worker", "zz00"];
        for text in words {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
