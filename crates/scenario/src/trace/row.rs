//! One object of a JSON-lines trace, read byte by byte: the fields that count, and a strict skip over the rest.
//!
//! Names are compared as they stand; an escaped spelling of a known name is an unknown field.

use super::cursor::{Cursor, MILLISECONDS};
use super::id;
use super::line::{Fault, Line, quote_bytes};
use crate::limit;

/// The fields of a row. The ids and the requests that it waits for are in the reader's buffers.
#[derive(Clone, Copy)]
pub(super) struct Row<'b> {
    /// Its time; absent only where a delay or a request to wait for says when it starts.
    pub(super) at_ns: Option<u64>,
    pub(super) timestamp_at: usize,
    pub(super) input_tokens: u32,
    pub(super) output_tokens: u32,
    /// Byte of the `[` of the ids; none where they are `null`.
    pub(super) ids_at: Option<usize>,
    /// What names the session, as it stands between quotation marks or without them.
    pub(super) session: Option<&'b [u8]>,
    /// What names the request.
    pub(super) request_id: Option<&'b [u8]>,
    /// Delay and tool pause together.
    pub(super) delay_ns: Option<u64>,
    pub(super) delay_at: usize,
    pub(super) priority: i32,
    /// Tokens per id, where the row says so, and the byte.
    pub(super) block_tokens: Option<(usize, u32)>,
}

const FIELDS: [&str; 12] = [
    "timestamp",
    "input_length",
    "output_length",
    "hash_ids",
    "session_id",
    "delay",
    "delay_ms",
    "tool_wait_ms",
    "priority",
    "request_id",
    "wait_for",
    "block_size",
];
/// So many of them every row has.
const REQUIRED: usize = 4;
const HASH_IDS: usize = 3;

#[derive(Clone, Copy, Default)]
struct Field<'b> {
    /// Byte of the value; none while the field is unseen.
    at: Option<usize>,
    value: u64,
    text: &'b [u8],
}

/// Reads rows; holds the buffers that all rows use.
pub(super) struct Reader<'b> {
    pub(super) ids: Vec<u64>,
    /// Byte and name of each request that the row waits for.
    pub(super) wait_for: Vec<(usize, &'b [u8])>,
    most_ids: usize,
    others: Vec<&'b [u8]>,
}

impl<'b> Reader<'b> {
    /// A reader that refuses rows of more ids than a prompt has blocks, of `block_tokens` unless a row says otherwise.
    pub(super) fn new(block_tokens: u32) -> Self {
        let most_ids = most_ids(block_tokens);
        Self { ids: Vec::new(), wait_for: Vec::new(), most_ids, others: Vec::new() }
    }

    pub(super) fn read(&mut self, line: Line<'b>) -> Result<Row<'b>, Fault> {
        line.text()?;
        self.ids.clear();
        self.wait_for.clear();
        self.others.clear();
        let mut cursor = Cursor { bytes: line.bytes, at: 0 };
        let mut fields = [Field::default(); FIELDS.len()];
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
        row(&fields, !self.wait_for.is_empty())
    }

    fn member(
        &mut self,
        cursor: &mut Cursor<'b>,
        fields: &mut [Field<'b>; FIELDS.len()],
    ) -> Result<(), Fault> {
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
        match known {
            Some(index) => self.known(cursor, index, &mut fields[index]),
            None => self.other(cursor, at, name),
        }
    }

    fn other(&mut self, cursor: &mut Cursor<'b>, at: usize, name: &'b [u8]) -> Result<(), Fault> {
        if self.others.len() >= limit::TRACE_ROW_KEYS {
            let expected = format!("at most {} keys besides the known ones", limit::TRACE_ROW_KEYS);
            let mend = "remove the fields that no reader needs";
            return Err(Fault::new(at, "", "another key", expected, mend));
        }
        self.others.push(name);
        cursor.skip(0)
    }

    fn known(&mut self, cursor: &mut Cursor<'b>, index: usize, field: &mut Field<'b>) -> Result<(), Fault> {
        let at = cursor.at;
        // What a row may leave out it may also leave empty.
        if index >= REQUIRED && cursor.peek() == Some(b'n') {
            return cursor.skip(0);
        }
        match index {
            0 => field.value = cursor.decimal(FIELDS[0], MILLISECONDS)?,
            1 | 2 => field.value = cursor.whole(FIELDS[index], limit::TOKENS_PER_REQUEST)?,
            HASH_IDS => match cursor.peek() {
                Some(b'n') => {
                    cursor.skip(0)?;
                    field.value = 1;
                }
                _ => self.array(cursor)?,
            },
            4 | 9 => field.text = cursor.label(FIELDS[index])?,
            5..=7 => field.value = cursor.decimal(FIELDS[index], MILLISECONDS)?,
            8 => field.value = cursor.signed(FIELDS[index])? as u64,
            10 => self.names(cursor)?,
            _ => {
                field.value = cursor.whole(FIELDS[index], limit::BLOCK_TOKENS)?;
                self.most_ids = most_ids(field.value as u32);
            }
        }
        field.at = Some(at);
        Ok(())
    }

    fn array(&mut self, cursor: &mut Cursor<'b>) -> Result<(), Fault> {
        if !cursor.open_array("hash_ids", "an array of whole numbers", "write [0, 1, 2], one id per block")? {
            return Ok(());
        }
        loop {
            cursor.space();
            let at = cursor.at;
            let id = cursor.whole("hash_ids", id::LARGEST)?;
            if self.ids.len() >= self.most_ids {
                let expected = format!("at most {} ids", self.most_ids);
                let mend = "split the request, or correct the ids";
                return Err(Fault::new(at, "hash_ids", "another id", expected, mend));
            }
            self.ids.push(id);
            if !cursor.comma_or(b']')? {
                return Ok(());
            }
        }
    }

    fn names(&mut self, cursor: &mut Cursor<'b>) -> Result<(), Fault> {
        let expected = "an array of request ids";
        if !cursor.open_array("wait_for", expected, "write [\"r1\", \"r2\"], ids of lines above")? {
            return Ok(());
        }
        loop {
            cursor.space();
            let at = cursor.at;
            let name = cursor.label("wait_for")?;
            if self.wait_for.len() >= limit::TRACE_ROW_WAITS {
                let expected = format!("at most {} requests to wait for", limit::TRACE_ROW_WAITS);
                let mend = "name only those that end last";
                return Err(Fault::new(at, "wait_for", "another request", expected, mend));
            }
            self.wait_for.push((at, name));
            if !cursor.comma_or(b']')? {
                return Ok(());
            }
        }
    }
}

fn most_ids(block_tokens: u32) -> usize {
    limit::TOKENS_PER_REQUEST.div_ceil(u64::from(block_tokens.max(1))) as usize
}

fn row<'b>(fields: &[Field<'b>; FIELDS.len()], waits: bool) -> Result<Row<'b>, Fault> {
    let place = |index: usize| {
        fields[index].at.ok_or_else(|| {
            let name = FIELDS[index];
            let expected = format!("the fields {}", FIELDS[..REQUIRED].join(", "));
            Fault::new(
                0,
                name,
                "no such field",
                expected,
                format!("add \"{name}\", or name the trace's real format"),
            )
        })
    };
    let given = |index: usize| fields[index].at.map(|_| fields[index].value);
    let delay = [5, 6, 7].into_iter().filter_map(given).reduce(|a, b| a.saturating_add(b));
    if let (Some(_), Some(at)) = (given(5), fields[6].at) {
        return Err(Fault::new(
            at,
            FIELDS[6],
            "delay and delay_ms",
            "one of the two",
            "keep one: both are ms",
        ));
    }
    if !waits && delay.is_none() {
        place(0)?;
    }
    let (input, output, ids_at) = (place(1)?, place(2)?, place(3)?);
    debug_assert!(input != output, "two values stand at two places");
    let text = |index: usize| fields[index].at.map(|_| fields[index].text);
    let delay_at = [5, 6, 7].into_iter().find_map(|index| fields[index].at).unwrap_or(0);
    Ok(Row {
        at_ns: given(0),
        timestamp_at: fields[0].at.unwrap_or(0),
        input_tokens: fields[1].value as u32,
        output_tokens: fields[2].value as u32,
        ids_at: (fields[HASH_IDS].value == 0).then_some(ids_at),
        session: text(4),
        request_id: text(9),
        delay_ns: delay,
        delay_at,
        priority: fields[8].value as i64 as i32,
        block_tokens: fields[11].at.map(|at| (at, fields[11].value as u32)),
    })
}

/// The byte at which item `index` of the array that begins at `array` stands.
pub(super) fn item_at(bytes: &[u8], array: usize, index: usize) -> usize {
    let commas = bytes.iter().enumerate().skip(array + 1).filter(|&(_, &byte)| byte == b',');
    let before =
        if index == 0 { array + 1 } else { commas.map(|(at, _)| at + 1).nth(index - 1).unwrap_or(array) };
    before + bytes[before..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}
