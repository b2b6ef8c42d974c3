//! Numbers and words for the eye: thousands apart, decimals cut to what helps, text from outside kept on its line.

use tierscope_units::time::NS_PER_MS;

/// A whole number with commas between thousands.
pub fn group(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A float with two decimals and commas between thousands.
pub fn rate(number: f64) -> String {
    let plain = format!("{number:.2}");
    match plain.split_once('.') {
        Some((whole, decimals)) => match whole.parse() {
            Ok(whole) => format!("{}.{decimals}", group(whole)),
            Err(_) => plain,
        },
        None => plain,
    }
}

/// Text from outside: on one line, without control characters, cut behind so many characters.
pub fn printable(text: &str, longest: usize) -> String {
    let mut line: String = text.chars().take(longest).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(longest).is_some() {
        line.push('…');
    }
    line
}

/// A share of one in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// `part` of `whole` in percent, for people.
pub(crate) fn percent_of(part: u64, whole: u64) -> String {
    percent(crate::assemble::ratio(part, whole))
}

/// Bytes in the unit that leaves one to three digits before the point; units are powers of 1000.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut whole = bytes;
    let mut rest = 0;
    let mut unit = "B";
    for next in UNITS {
        if whole < 1_000 {
            break;
        }
        (whole, rest, unit) = (whole / 1_000, whole % 1_000, next);
    }
    if unit == "B" { format!("{whole} B") } else { format!("{whole}.{} {unit}", rest / 100) }
}

/// Nanoseconds as milliseconds, rounded to as many decimals as leave a row whose largest value is
/// `largest_ns` readable.
pub(crate) fn milliseconds(ns: u64, largest_ns: u64) -> String {
    let decimals = match largest_ns / NS_PER_MS {
        0..100_000 => 2,
        100_000..1_000_000 => 1,
        _ => 0,
    };
    let scale = 10u64.pow(decimals);
    let step = NS_PER_MS / scale;
    let rounded = ns / step + u64::from(ns % step >= step / 2);
    let whole = group(rounded / scale);
    match decimals {
        0 => whole,
        _ => format!("{whole}.{:0width$}", rounded % scale, width = decimals as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(group), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 1234.567].map(rate), ["0.00", "1,234.57"]);
        assert_eq!([percent(0.3734), percent_of(1, 0)], ["37.34 %", "0.00 %"]);
    }

    #[test]
    fn bytes_have_a_unit_that_fits() {
        let printed = [0, 999, 1_000, 2_097_152, 68_719_476_736, u64::MAX].map(bytes);
        assert_eq!(printed, ["0 B", "999 B", "1.0 kB", "2.0 MB", "68.7 GB", "18.4 EB"]);
    }

    #[test]
    fn milliseconds_round_once_and_fit() {
        let of_itself = |ns: u64| milliseconds(ns, ns);
        let printed = [0, 4_999, 5_000, 1_994_999, 123_456_789_000, 3_600_000_500_000].map(of_itself);
        assert_eq!(printed, ["0.00", "0.00", "0.01", "1.99", "123,456.8", "3,600,001"]);
        assert_eq!(milliseconds(u64::MAX, u64::MAX), "18,446,744,073,710");
        assert_eq!(milliseconds(1_500_000, 200_000_000_000), "1.5");
    }
}
