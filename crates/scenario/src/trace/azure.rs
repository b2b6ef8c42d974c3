//! Azure's LLM inference traces: `TIMESTAMP,ContextTokens,GeneratedTokens`.
//!
//! The time is a date and a time of day with up to nine digits of fraction (seven as published); the first request
//! comes at 0. There are no hashes: every prompt is text of its own. A repeated header line is refused.

use tierscope_units::SimTime;

use super::build::{Asked, Builder};
use super::line::{self, Fault, Line, Next, quote_bytes};
use crate::expand::{Start, Workload};
use crate::limit;
use crate::problem::Problem;

const HEADER: [&str; 3] = ["TIMESTAMP", "ContextTokens", "GeneratedTokens"];

/// Reads at most `rows` requests. `content_block_tokens` is left at 0: it is the engine's block.
///
/// # Errors
/// The faults of the lines, at most [`limit::PROBLEMS`].
pub(super) fn read(bytes: &[u8], rows: usize) -> Result<Workload, Vec<Problem>> {
    read_within(bytes, rows, limit::TRACE_LINE_BYTES)
}

pub(super) fn read_within(bytes: &[u8], rows: usize, longest_line: usize) -> Result<Workload, Vec<Problem>> {
    let mut builder = Builder::default();
    let (mut header_seen, mut origin, mut latest) = (false, None, 0);
    line::each(bytes, longest_line, |line| {
        line.text()?;
        if !header_seen {
            header_seen = true;
            return header(line).map(|()| Next::Line);
        }
        if builder.workload.requests.len() >= rows {
            return Ok(Next::Full);
        }
        let (ns, prompt_tokens, output_tokens) = row(line)?;
        if ns < latest {
            return Err(Fault::new(
                0,
                HEADER[0],
                "a time before that of the line before",
                "times that do not decrease",
                "sort the trace by TIMESTAMP",
            ));
        }
        latest = ns;
        let since = ns - *origin.get_or_insert(ns);
        push(&mut builder, since, prompt_tokens, output_tokens)?;
        Ok(Next::Line)
    })?;
    if builder.workload.requests.is_empty() && rows > 0 {
        let fault = Fault::new(
            0,
            "",
            "a header and no rows",
            "at least one request",
            "choose a trace that is not empty",
        );
        return Err(vec![line::of_file(fault)]);
    }
    Ok(builder.workload)
}

fn push(builder: &mut Builder, since_ns: u64, input_tokens: u32, output_tokens: u32) -> Result<(), Fault> {
    if since_ns > limit::TIME_NS {
        return Err(Fault::new(
            0,
            HEADER[0],
            "a time ten years after the first",
            "a trace of at most ten years",
            "correct or remove the row",
        ));
    }
    let start = Start::At(SimTime::from_ns(since_ns));
    builder.push_text(&Asked { start, joins: &[], session: None, input_tokens, output_tokens })
}

/// The three columns with the byte at which each begins.
fn columns<'b>(line: Line<'b>) -> Result<[(usize, &'b [u8]); 3], Fault> {
    let mut columns = [(0, &[][..]); 3];
    let mut at = 0;
    let mut count = 0;
    for part in line.bytes.split(|&byte| byte == b',') {
        if let Some(column) = columns.get_mut(count) {
            *column = (at + part.len() - part.trim_ascii_start().len(), part.trim_ascii());
        }
        at += part.len() + 1;
        count += 1;
    }
    if count == HEADER.len() {
        return Ok(columns);
    }
    let expected = format!("3 columns: {}", HEADER.join(","));
    Err(Fault::new(0, "", format!("{count} columns"), expected, "remove or complete the row"))
}

fn header(line: Line<'_>) -> Result<(), Fault> {
    let names = columns(line)?;
    for ((at, found), expected) in names.into_iter().zip(HEADER) {
        if !found.eq_ignore_ascii_case(expected.as_bytes()) {
            let mend = format!("begin the file with {}", HEADER.join(","));
            return Err(Fault::new(
                at,
                expected,
                quote_bytes(found),
                format!("the column name {expected}"),
                mend,
            ));
        }
    }
    Ok(())
}

fn row(line: Line<'_>) -> Result<(u64, u32, u32), Fault> {
    let [(at, time), context, generated] = columns(line)?;
    let Some(ns) = timestamp(time) else {
        let mend = "write YYYY-MM-DD HH:MM:SS.fffffff, in one time zone without its name";
        return Err(Fault::new(
            at,
            HEADER[0],
            quote_bytes(time),
            "a date and time, such as 2023-11-16 18:17:03.9799600",
            mend,
        ));
    };
    Ok((ns, tokens(context, HEADER[1])?, tokens(generated, HEADER[2])?))
}

fn tokens((at, digits): (usize, &[u8]), key: &'static str) -> Result<u32, Fault> {
    let number = whole(digits).filter(|&number| number <= limit::TOKENS_PER_REQUEST);
    number.map(|number| number as u32).ok_or_else(|| {
        let expected = format!("a whole number from 0 to {}", limit::TOKENS_PER_REQUEST);
        Fault::new(at, key, quote_bytes(digits), expected, "correct or remove the row; write digits only")
    })
}

/// Digits only, at most nine.
fn whole(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    digits
        .iter()
        .try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + u64::from(digit - b'0')))
}

/// Nanoseconds since 1970 of `YYYY-MM-DD HH:MM:SS[.f…]`, with `T` for the space if so
/// written; `None` when it is none, or before 1970 or after 2200.
fn timestamp(text: &[u8]) -> Option<u64> {
    let (date, rest) = (text.get(..10)?, text.get(10..)?);
    let (clock, fraction) = (rest.get(1..9)?, rest.get(9..)?);
    let shape = date[4] == b'-'
        && date[7] == b'-'
        && matches!(rest[0], b' ' | b'T')
        && clock[2] == b':'
        && clock[5] == b':';
    let (year, month, day) = (whole(&date[..4])?, whole(&date[5..7])?, whole(&date[8..])?);
    let (hour, minute, second) = (whole(&clock[..2])?, whole(&clock[3..5])?, whole(&clock[6..])?);
    let dated = (1970..=2200).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day);
    if !shape || !dated || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let fraction_ns = match fraction {
        [] => 0,
        [b'.', digits @ ..] => (digits.len()..9).try_fold(whole(digits)?, |ns, _| ns.checked_mul(10))?,
        _ => return None,
    };
    let seconds = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1_000_000_000 + fraction_ns)
}

fn leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let years: u64 = (1970..year).map(|year| 365 + u64::from(leap(year))).sum();
    let months: u64 = (1..month).map(|month| days_in(year, month)).sum();
    years + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_become_nanoseconds() {
        assert_eq!(timestamp(b"1970-01-02 00:00:01.5"), Some(86_401_500_000_000));
        assert_eq!(timestamp(b"2000-03-01T00:00:00"), Some(951_868_800_000_000_000));
        assert_eq!(timestamp(b"2023-11-16 18:17:03.9799600"), Some(1_700_158_623_979_960_000));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for bad in [
            "",
            "2023-11-16",
            "2023-02-29 00:00:00",
            "2023-13-01 00:00:00",
            "2023-11-16 24:00:00",
            "2023-11-16 18:17:03.",
            "2023-11-16 18:17:03.1234567891",
            "2023-11-16 18:17:03Z",
            "1969-01-01 00:00:00",
            "2023-1é-16 18:17:03",
        ] {
            assert_eq!(timestamp(bad.as_bytes()), None, "{bad}");
        }
    }
}
