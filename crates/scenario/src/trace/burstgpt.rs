//! BurstGPT's CSV: `Timestamp` in seconds, `Request tokens`, `Response tokens`, and, from version 1.2 on, `Session ID`. The other columns
//! (`Elapsed time`, `Model`, `Total tokens`, `Log Type`) are not needed; columns are found by their names.
//!
//! Requests come at their times; the first at 0. There are no hashes: every prompt is text of its own. A failure has no response tokens;
//! it is kept, and the engine refuses it at arrival.

use std::collections::BTreeMap;

use tierscope_units::SimTime;

use super::build::{Asked, Builder};
use super::clock::Clock;
use super::cursor::{SECONDS, nanoseconds};
use super::line::{self, Fault, Line, Next, quote_bytes};
use super::{TraceFile, TraceOptions};
use crate::expand::{Start, Workload};
use crate::limit;
use crate::problem::Problem;

const TIME: &str = "Timestamp";
const INPUT: &str = "Request tokens";
const OUTPUT: &str = "Response tokens";
const SESSION: &str = "Session ID";
/// Most columns of a row.
const COLUMNS: usize = 64;

/// Where the columns stand.
struct Header {
    columns: usize,
    time: usize,
    input: usize,
    output: usize,
    session: Option<usize>,
}

/// Reads one file.
pub(super) fn read(file: &TraceFile<'_>, options: &TraceOptions) -> Result<Workload, Vec<Problem>> {
    let mut builder = Builder::new(0);
    let mut sessions: BTreeMap<&[u8], u32> = BTreeMap::new();
    let (mut header, mut clock, mut any) = (None, Clock::default(), false);
    line::each(file.bytes, limit::TRACE_LINE_BYTES, |line| {
        line.text()?;
        let first = !std::mem::replace(&mut any, true);
        if first {
            header = Some(Header::read(line)?);
            return Ok(Next::Line);
        }
        // Without its header nothing of the file has a meaning.
        let Some(header) = header.as_ref().filter(|_| builder.workload.requests.len() < options.rows) else {
            return Ok(Next::Full);
        };
        let row = columns(line, Some(header.columns))?;
        let (at, time) = row[header.time];
        let ns = nanoseconds(time, SECONDS).ok_or_else(|| {
            let mend = "correct or remove the row";
            Fault::new(at, TIME, quote_bytes(time), "seconds from 0 to 315360000 (ten years)", mend)
        })?;
        let session = header.session.map(|column| row[column].1).filter(|name| !name.is_empty());
        let asked = Asked {
            start: Start::At(SimTime::from_ns(clock.nanoseconds(ns, at, TIME)?)),
            joins: &[],
            session: session.map(|name| {
                let next = sessions.len() as u32;
                *sessions.entry(name).or_insert(next)
            }),
            input_tokens: tokens(row[header.input], INPUT)?,
            output_tokens: tokens(row[header.output], OUTPUT)?,
        };
        builder.push_text(&asked)?;
        Ok(Next::Line)
    })?;
    if builder.workload.requests.is_empty() && options.rows > 0 {
        let (found, mend) = ("a header and no rows", "choose a trace that is not empty");
        let fault = Fault::new(0, "", found, "at least one request", mend);
        return Err(vec![line::of_file(fault)]);
    }
    Ok(builder.workload)
}

impl Header {
    fn read(line: Line<'_>) -> Result<Self, Fault> {
        let names = columns(line, None)?;
        let place = |name: &'static str| {
            names.iter().position(|(_, found)| found.eq_ignore_ascii_case(name.as_bytes()))
        };
        let needed = |name: &'static str| {
            place(name).ok_or_else(|| {
                let expected = format!("the columns {TIME}, {INPUT} and {OUTPUT}");
                let mend = format!("begin the file with a header that has {name}");
                Fault::new(0, name, "no such column", expected, mend)
            })
        };
        Ok(Self {
            columns: names.len(),
            time: needed(TIME)?,
            input: needed(INPUT)?,
            output: needed(OUTPUT)?,
            session: place(SESSION),
        })
    }
}

/// The columns with the byte at which each begins, quotation marks aside.
fn columns<'b>(line: Line<'b>, expected: Option<usize>) -> Result<Vec<(usize, &'b [u8])>, Fault> {
    let mut at = 0;
    let mut columns = Vec::new();
    for part in line.bytes.split(|&byte| byte == b',').take(COLUMNS + 1) {
        let value = part.trim_ascii();
        let value = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
        columns.push((at + part.len() - part.trim_ascii_start().len(), value));
        at += part.len() + 1;
    }
    let wrong = expected.map_or(columns.len() > COLUMNS, |expected| columns.len() != expected);
    if wrong {
        let expected =
            expected.map_or(format!("at most {COLUMNS} columns"), |n| format!("{n}, as in the header"));
        let found = format!("{} columns", columns.len());
        return Err(Fault::new(0, "", found, expected, "remove or complete the row"));
    }
    Ok(columns)
}

fn tokens((at, digits): (usize, &[u8]), key: &'static str) -> Result<u32, Fault> {
    let number =
        std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number = number.and_then(|text| text.parse::<u64>().ok());
    number.filter(|&number| number <= limit::TOKENS_PER_REQUEST).map(|number| number as u32).ok_or_else(
        || {
            let expected = format!("a whole number from 0 to {}", limit::TOKENS_PER_REQUEST);
            Fault::new(at, key, quote_bytes(digits), expected, "correct or remove the row; write digits only")
        },
    )
}
