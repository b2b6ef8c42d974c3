//! One object of a JSON-lines trace, read byte by byte: the fields that count, and a strict skip over the rest.
//!
//! Names are compared as they stand; an escaped spelling of a known name is an unknown field.

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
        if cursor.peek() != Some(b'}') {
            loop {
                self.member(&mut cursor, &mut fields)?;
                if !cursor.comma_or(b'}')? {
                    break;
                }
            }
        } else {
            cursor.at += 1;
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

struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Cursor<'b> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// A fault at this place, quoting what stands there.
    #[cold]
    fn fault(&self, key: &'static str, expected: impl Into<String>, mend: impl Into<String>) -> Fault {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let end = match rest.first() {
            None => return Fault::new(self.at, key, "the end of the line", expected, mend),
            Some(b'"') => {
                rest.iter().skip(1).position(|&byte| byte == b'"').map_or(rest.len(), |end| end + 2)
            }
            Some(_) => rest
                .iter()
                .skip(1)
                .position(|byte| b",]}: \t".contains(byte))
                .map_or(rest.len(), |end| end + 1),
        };
        let token = &rest[..end];
        let found = match token {
            [b'"', inner @ .., b'"'] => format!("the text {}", quote_bytes(inner)),
            _ => quote_bytes(token),
        };
        Fault::new(self.at, key, found, expected, mend)
    }

    fn expect(&mut self, byte: u8, expected: &str) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            return Err(self.fault("", expected, "write one JSON object per line"));
        }
        self.at += 1;
        Ok(())
    }

    /// After an item: true at a comma, false at `end`.
    #[inline]
    fn comma_or(&mut self, end: u8) -> Result<bool, Fault> {
        self.space();
        let more = match self.peek() {
            Some(b',') => true,
            Some(byte) if byte == end => false,
            _ => {
                return Err(self.fault(
                    "",
                    format!("a comma or {}", end as char),
                    "write one JSON object per line",
                ));
            }
        };
        self.at += 1;
        Ok(more)
    }

    /// The inside of a string, escapes as they stand.
    fn string(&mut self) -> Result<&'b [u8], Fault> {
        self.expect(b'"', "a key in quotation marks")?;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(byte) if byte >= 0x20 => self.at += 1,
                _ => {
                    return Err(self.fault(
                        "",
                        "a closing quotation mark",
                        "close the text, without line breaks in it",
                    ));
                }
            }
        }
        self.at += 1;
        Ok(&self.bytes[start..self.at - 1])
    }

    #[inline]
    fn digits(&mut self) -> Option<u64> {
        let start = self.at;
        let mut value: u64 = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            self.at += 1;
        }
        let padded = self.at - start > 1 && self.bytes[start] == b'0';
        let ends = !matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        (self.at > start && !padded && ends).then_some(value)
    }

    /// A whole number from 0 to `high`.
    #[inline]
    fn whole(&mut self, key: &'static str, high: u64) -> Result<u64, Fault> {
        let start = self.at;
        match self.digits() {
            Some(value) if value <= high => Ok(value),
            _ => {
                self.at = start;
                Err(self.fault(
                    key,
                    format!("a whole number from 0 to {high}"),
                    self.mend_of_number(high as f64),
                ))
            }
        }
    }

    fn mend_of_number(&self, high: f64) -> String {
        let token = self.number_token();
        match std::str::from_utf8(token).ok().and_then(|text| text.parse::<f64>().ok()) {
            _ if self.peek() == Some(b'"') => "remove the quotation marks".into(),
            Some(number) if number < 0.0 => "correct or remove the row: it is negative".into(),
            Some(number) if number > high => "correct or remove the row: it is too large".into(),
            Some(number) if number.is_finite() => "write it with digits only".into(),
            _ => "write a number".into(),
        }
    }

    fn number_token(&self) -> &'b [u8] {
        let rest = &self.bytes[self.at..];
        let end =
            rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        &rest[..end.unwrap_or(rest.len())]
    }

    /// Milliseconds, as nanoseconds.
    fn milliseconds(&mut self) -> Result<u64, Fault> {
        let start = self.at;
        if let Some(ms) = self.digits() {
            if ms as f64 <= limit::TIME_MS {
                return Ok(ms * 1_000_000);
            }
        }
        self.at = start;
        let token = self.number_token();
        let text = std::str::from_utf8(token).unwrap_or_default();
        let valid =
            token.first().is_some_and(u8::is_ascii_digit) && token.last().is_some_and(u8::is_ascii_digit);
        match text.parse::<f64>() {
            Ok(ms) if valid && ms <= limit::TIME_MS => {
                self.at += token.len();
                Ok(libm::round(ms * 1e6) as u64)
            }
            _ => {
                let expected = format!("milliseconds from 0 to {:.0} (ten years)", limit::TIME_MS);
                Err(self.fault("timestamp", expected, self.mend_of_number(limit::TIME_MS)))
            }
        }
    }

    /// Passes over a value of any kind.
    fn skip(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > limit::TRACE_ROW_DEPTH {
            let expected = format!("at most {} levels of nesting", limit::TRACE_ROW_DEPTH);
            return Err(self.fault("", expected, "remove the fields that no reader needs"));
        }
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(open @ (b'{' | b'[')) => self.skip_all(open, depth),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => {
                let token = self.number_token();
                if !token.iter().any(u8::is_ascii_digit) {
                    return Err(self.fault("", "a value", "write one JSON object per line"));
                }
                self.at += token.len();
                Ok(())
            }
        }
    }

    fn skip_all(&mut self, open: u8, depth: usize) -> Result<(), Fault> {
        let close = if open == b'{' { b'}' } else { b']' };
        self.at += 1;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.space();
            if open == b'{' {
                self.string()?;
                self.space();
                self.expect(b':', "a colon after the key")?;
                self.space();
            }
            self.skip(depth + 1)?;
            if !self.comma_or(close)? {
                return Ok(());
            }
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Fault> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.fault("", "a value", "write true, false, null, a number or a text"));
        }
        self.at += word.len();
        Ok(())
    }
}
