//! What is to be said of this machine: its name, the date.

use std::time::{SystemTime, UNIX_EPOCH};

/// The host's name and its processor, as far as the system tells them.
pub(super) fn name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get());
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("processor", |(_, name)| name.trim());
    format!("{}, {cpus} x {model}", if host.trim().is_empty() { "a host" } else { host.trim() })
}

/// The date in UTC, year-month-day.
pub(super) fn today() -> String {
    // For people: a line of the file says when its figures were measured.
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(passed.as_secs() / 86_400)
}

/// The date of a day after 1 January 1970, in the Gregorian calendar.
fn date(mut day: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let months = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= months[month] {
        day -= months[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        let dates = [0, 58, 59, 364, 365, 11_016, 19_782, 20_787].map(date);
        let expected = [
            "1970-01-01",
            "1970-02-28",
            "1970-03-01",
            "1970-12-31",
            "1971-01-01",
            "2000-02-29",
            "2024-02-29",
            "2026-11-30",
        ];
        assert_eq!(dates, expected);
    }
}
