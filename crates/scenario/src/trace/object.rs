//! JSON objects of the formats that are read by their types, with faults at their byte.

use serde::de::DeserializeOwned;

use super::line::{Fault, Line};

/// The object of a line.
pub(super) fn read<T: DeserializeOwned>(line: Line<'_>, shape: &'static str) -> Result<T, Fault> {
    serde_json::from_slice(line.bytes).map_err(|error| fault(&error, error.column(), shape))
}

/// The objects of a file one after the other, each with the line on which it begins and the byte in the file.
pub(super) fn each<T: DeserializeOwned>(
    bytes: &[u8],
    shape: &'static str,
    mut take: impl FnMut(T, usize) -> Result<bool, Fault>,
) -> Result<(), (usize, Fault)> {
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<T>();
    loop {
        let begin = stream.byte_offset();
        let space = bytes[begin..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match stream.next() {
            None => return Ok(()),
            Some(Ok(object)) => {
                if !take(object, begin + space).map_err(|fault| (begin + space, fault))? {
                    return Ok(());
                }
            }
            Some(Err(error)) => {
                let at = place(bytes, error.line(), error.column());
                return Err((at, fault(&error, 1, shape)));
            }
        }
    }
}

/// The byte of a line and column, both from 1.
fn place(bytes: &[u8], line: usize, column: usize) -> usize {
    let mut starts = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(at, _)| at + 1);
    let start = if line <= 1 { 0 } else { starts.nth(line - 2).unwrap_or(bytes.len()) };
    (start + column.saturating_sub(1)).min(bytes.len())
}

fn fault(error: &serde_json::Error, column: usize, shape: &'static str) -> Fault {
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    let mend = if error.is_eof() {
        "give the whole file: it ends within an object"
    } else if error.is_data() {
        "correct or remove the object, or name the trace's real format"
    } else {
        "correct the JSON there"
    };
    // What is quoted of the input may hold anything.
    let found: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
    Fault::new(column.saturating_sub(1), "", found, shape, mend)
}

/// The byte of the value of `key` in the text of an object; its beginning where the key is not found.
pub(super) fn at_key(bytes: &[u8], key: &str) -> usize {
    let quoted = format!("\"{key}\"");
    let found = bytes.windows(quoted.len()).position(|window| window == quoted.as_bytes());
    found.map_or(0, |at| {
        let after = at + quoted.len();
        after + bytes[after..].iter().take_while(|&&byte| matches!(byte, b' ' | b':' | b'\t')).count()
    })
}

/// The problem at a byte of a whole file.
pub(super) fn problem(bytes: &[u8], at: usize, fault: Fault) -> crate::problem::Problem {
    let before = &bytes[..at.min(bytes.len())];
    let number = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = Line { number: number.min(u32::MAX as usize) as u32, bytes: &bytes[start..] };
    line.problem(Fault { at: at - start + fault.at, ..fault })
}
