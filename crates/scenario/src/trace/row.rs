//! One object of a JSON-lines trace, read byte by byte: the fields that count, and a strict skip over the rest.
//!
//! Names are compared as they stand; an escaped spelling of a known name is an unknown field.

use super::cursor::Cursor;
use super::id;
use super::line::{Fault, Line, quote_bytes};
use crate::limit;

/// The fields of a row. The ids are in the reader's buffer.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) at_ns: u64,
    pub(super) timestamp_at: usize,
    pub(super) input_tokens: u32,
    pub(super) output_tokens: u32,
    /// Byte of the `[` of the ids.
    pub(super) ids_at: usize,
}

const FIELDS: [&str; 4] = ["timestamp", "input_length", "output_length", "hash_ids"];

#[derive(Clone, Copy, Default)]
struct Field {
    /// Byte of the value; none while the field is unseen.
    at: Option<usize>,
    value: u64,
}

/// Reads rows; holds the buffers that all rows use.
pub(super) struct Reader<'b> {
    pub(super) ids: Vec<u64>,
    most_ids: usize,
    others: Vec<&'b [u8]>,
}

impl<'b> Reader<'b> {
    /// A reader that refuses rows of more than `most_ids` ids.
    pub(super) fn new(most_ids: usize) -> Self {
        Self { ids: Vec::new(), most_ids, others: Vec::new() }
    }

    pub(super) fn read(&mut self, line: Line<'b>) -> Result<Row, Fault> {
        line.text()?;
        self.ids.clear();
        self.others.clear();
        let mut cursor = Cursor { bytes: line.bytes, at: 0 };
        let mut fields = [Field::default(); 4];
        cursor.space();
        cursor.expect(b'{', "an object: {\"timestamp\": …}")?;
        cursor.space();
        let mut more = cursor.peek() != Some(b'}');
        cursor.at += usize::from(!more);
        while more {
            self.member(&mut cursor, &mut fields)?;
            more = cursor.comma_or(b'}')?;
        }
        cursor.space();
        if cursor.at < line.bytes.len() {
            return Err(cursor.fault(
                "",
                "the end of the line after the object",
                "put each object on a line of its own",
            ));
        }
        row(&fields)
    }

    fn member(&mut self, cursor: &mut Cursor<'b>, fields: &mut [Field; 4]) -> Result<(), Fault> {
        cursor.space();
        let at = cursor.at;
        let name = cursor.string()?;
        cursor.space();
        cursor.expect(b':', "a colon after the key")?;
        cursor.space();
        let known = FIELDS.iter().position(|field| field.as_bytes() == name);
        let twice = known.map_or(self.others.contains(&name), |index| fields[index].at.is_some());
        if twice {
            let found = format!("the key {} twice in one object", quote_bytes(name));
            return Err(Fault::new(
                at,
                known.map_or("", |index| FIELDS[index]),
                found,
                "each key once",
                "keep one of the two and remove the other",
            ));
        }
        let Some(index) = known else {
            if self.others.len() >= limit::TRACE_ROW_KEYS {
                let expected = format!("at most {} keys besides the known ones", limit::TRACE_ROW_KEYS);
                return Err(Fault::new(
                    at,
                    "",
                    "another key",
                    expected,
                    "remove the fields that no reader needs",
                ));
            }
            self.others.push(name);
            return cursor.skip(0);
        };
        let place = cursor.at;
        let value = match index {
            0 => cursor.milliseconds()?,
            1 | 2 => cursor.whole(FIELDS[index], limit::TOKENS_PER_REQUEST)?,
            _ => {
                self.array(cursor)?;
                0
            }
        };
        fields[index] = Field { at: Some(place), value };
        Ok(())
    }

    fn array(&mut self, cursor: &mut Cursor<'b>) -> Result<(), Fault> {
        if cursor.peek() != Some(b'[') {
            return Err(cursor.fault(
                "hash_ids",
                "an array of whole numbers",
                "write [0, 1, 2], one id per block",
            ));
        }
        cursor.at += 1;
        cursor.space();
        if cursor.peek() == Some(b']') {
            cursor.at += 1;
            return Ok(());
        }
        loop {
            cursor.space();
            let at = cursor.at;
            let id = cursor.whole("hash_ids", id::LARGEST)?;
            if self.ids.len() >= self.most_ids {
                let expected = format!("at most {} ids", self.most_ids);
                return Err(Fault::new(
                    at,
                    "hash_ids",
                    "another id",
                    expected,
                    "split the request, or correct the ids",
                ));
            }
            self.ids.push(id);
            if !cursor.comma_or(b']')? {
                return Ok(());
            }
        }
    }
}

fn row(fields: &[Field; 4]) -> Result<Row, Fault> {
    let place = |index: usize| {
        fields[index].at.ok_or_else(|| {
            let name = FIELDS[index];
            let expected = format!("the fields {}", FIELDS.join(", "));
            Fault::new(
                0,
                name,
                "no such field",
                expected,
                format!("add \"{name}\", or name the trace's real format"),
            )
        })
    };
    Ok(Row {
        timestamp_at: place(0)?,
        at_ns: fields[0].value,
        input_tokens: {
            place(1)?;
            fields[1].value as u32
        },
        output_tokens: {
            place(2)?;
            fields[2].value as u32
        },
        ids_at: place(3)?,
    })
}

/// The byte at which item `index` of the array that begins at `array` stands.
pub(super) fn item_at(bytes: &[u8], array: usize, index: usize) -> usize {
    let commas = bytes.iter().enumerate().skip(array + 1).filter(|&(_, &byte)| byte == b',');
    let before =
        if index == 0 { array + 1 } else { commas.map(|(at, _)| at + 1).nth(index - 1).unwrap_or(array) };
    before + bytes[before..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}
