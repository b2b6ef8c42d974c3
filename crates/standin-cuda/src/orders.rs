//! What is to go wrong, as an environment variable says: words with `;` between them.
//!
//! - `fail=NAME@N:CODE` the Nth call of a function (from 1) answers so; `N+` all from then on
//! - `memory=BYTES` of the device; `devices=N`
//! - `lost_after=N` copies; then the device is lost, and each call says so
//! - `wrong_at=N` the Nth copy brings a byte that is wrong
//! - `slow_us=N` each copy takes so much longer
//! - `say` on standard error what is left when the last user goes

/// All orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Orders {
    pub(crate) failures: Vec<Failure>,
    pub(crate) memory: usize,
    pub(crate) devices: i32,
    pub(crate) lost_after: u64,
    pub(crate) wrong_at: u64,
    pub(crate) slow_us: u64,
    pub(crate) say: bool,
}

/// A call that is to fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) name: String,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) code: u32,
}

impl Default for Orders {
    fn default() -> Self {
        Self {
            failures: Vec::new(),
            memory: 256 << 20,
            devices: 1,
            lost_after: u64::MAX,
            wrong_at: u64::MAX,
            slow_us: 0,
            say: false,
        }
    }
}

/// `None` when there is a word that means nothing.
pub(crate) fn parse(text: &str) -> Option<Orders> {
    let mut orders = Orders::default();
    for word in text.split(';').map(str::trim).filter(|word| !word.is_empty()) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "fail" => orders.failures.push(failure(value)?),
            "memory" => orders.memory = value.parse().ok()?,
            "devices" => orders.devices = value.parse().ok()?,
            "lost_after" => orders.lost_after = value.parse().ok()?,
            "wrong_at" => orders.wrong_at = value.parse().ok()?,
            "slow_us" => orders.slow_us = value.parse().ok()?,
            "say" => orders.say = true,
            _ => return None,
        }
    }
    Some(orders)
}

fn failure(text: &str) -> Option<Failure> {
    let (name, rest) = text.split_once('@')?;
    let (which, code) = rest.split_once(':')?;
    let first = which.trim_end_matches('+').parse().ok()?;
    let last = if which.ends_with('+') { u64::MAX } else { first };
    Some(Failure { name: name.to_owned(), first, last, code: code.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_or_refused() {
        assert_eq!(parse(""), Some(Orders::default()));
        let read = parse("fail=cuInit@1:100; fail=cuMemFree_v2@2+:999;memory=4096;lost_after=3;say")
            .expect("orders");
        let failure = |name: &str, first, last, code| Failure { name: name.to_owned(), first, last, code };
        let expected = [failure("cuInit", 1, 1, 100), failure("cuMemFree_v2", 2, u64::MAX, 999)];
        assert_eq!(read.failures, expected);
        assert_eq!((read.memory, read.lost_after, read.say), (4_096, 3, true));
        for wrong in ["fail=cuInit", "memory=much", "what=1", "fail=cuInit@x:1"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
