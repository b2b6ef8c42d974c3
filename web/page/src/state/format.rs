//! Numbers as people read them.

/// A time or a length of time: three significant digits, in the unit that fits.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        _ if !ns.is_finite() => return "–".to_owned(),
        _ if ns >= 1e9 => (ns / 1e9, "s"),
        _ if ns >= 1e6 => (ns / 1e6, "ms"),
        _ if ns >= 1e3 => (ns / 1e3, "µs"),
        _ => return format!("{ns:.0} ns"),
    };
    let digits = match value {
        _ if value >= 100.0 => 0,
        _ if value >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

/// A time in the unit and with the digits that suit a run of `end_ns`: its width does not change as it grows.
pub fn clock(ns: f64, end_ns: f64) -> String {
    match end_ns {
        _ if end_ns >= 100e9 => format!("{:.1} s", ns / 1e9),
        _ if end_ns >= 1e9 => format!("{:.3} s", ns / 1e9),
        _ if end_ns >= 1e6 => format!("{:.2} ms", ns / 1e6),
        _ => format!("{:.2} µs", ns / 1e3),
    }
}

/// A label of a time axis that ends at `end_ns`: short.
pub fn tick(ns: f64, end_ns: f64) -> String {
    let (value, unit) = match end_ns {
        _ if end_ns >= 1e9 => (ns / 1e9, "s"),
        _ if end_ns >= 1e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e3, "µs"),
    };
    let digits = format!("{value:.3}");
    format!("{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// A power of ten of nanoseconds; nothing for what lies between.
pub fn power(ns: f64) -> String {
    let exponent = ns.log10();
    if (exponent - exponent.round()).abs() > 1e-6 {
        return String::new();
    }
    tick(ns, ns)
}

/// A whole number with thin spaces between thousands.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// A ratio as per cent.
pub fn percent(ratio: f64) -> String {
    if ratio.is_finite() { format!("{:.1} %", ratio * 100.0) } else { "–".to_owned() }
}

/// A rate per second.
pub fn rate(per_s: f64) -> String {
    match per_s {
        _ if !per_s.is_finite() => "–".to_owned(),
        _ if per_s >= 1_000.0 => count(per_s.round() as u64),
        _ if per_s >= 100.0 => format!("{per_s:.0}"),
        _ if per_s >= 10.0 => format!("{per_s:.1}"),
        _ => format!("{per_s:.2}"),
    }
}

/// `1 request`, `2 requests`.
pub fn counted(n: u32, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {many}", count(u64::from(n))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_about_three_digits() {
        let printed = [0.0, 999.0, 1_500.0, 12_345_678.0, 250_000_000.0, 3_600e9].map(time);
        assert_eq!(printed, ["0 ns", "999 ns", "1.50 µs", "12.3 ms", "250 ms", "3600 s"]);
        assert_eq!(time(f64::NAN), "–");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(count(7), "7");
        assert_eq!(count(144_793_823), "144\u{202f}793\u{202f}823");
    }

    #[test]
    fn axis_labels_are_short() {
        assert_eq!([tick(0.0, 2e9), tick(5e8, 2e9), tick(2e6, 20e6)], ["0 s", "0.5 s", "2 ms"]);
        assert_eq!([power(1e6), power(1e10), power(2e6)], ["1 ms", "10 s", ""]);
    }

    #[test]
    fn a_clock_keeps_its_unit() {
        assert_eq!(clock(5e6, 2e9), "0.005 s");
        assert_eq!(clock(5e6, 20e6), "5.00 ms");
    }
}
