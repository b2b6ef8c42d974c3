//! The form in which finished rows travel: a part of a sweep as JSON lines.
//!
//! ```text
//! {"part":"1/4","plan":"<digest>","points":25,…,"again":[…]}    the header: what this is, and how it is made
//! [0,500,null,"finished",…,"0.25"]                               a row; fractions are text, exact to the last bit
//! {"rows":25,"digest":"…"}                                       the end: a part without it is not whole
//! ```
//!
//! A journal is a part under way: the same header, then rows in the order in which they were finished, each behind
//! its own digest. Whatever was cut off when the process was killed is recognized and left out.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use tierscope_units::Digest;

use crate::plan::{Plan, Shard};
use crate::refusal::Refusal;
use crate::row::{Column, Kind, Row, Value, columns};

/// A part that was read back and found whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The plan.
    pub plan: Plan,
    /// Which share of it this is.
    pub shard: Shard,
    /// The command line that makes it, without the shard.
    pub again: Vec<String>,
    /// Its rows, in the order of their points.
    pub rows: Vec<Row>,
}

/// The first line of a part or journal; ends with a newline. `again` is the command line that makes it, without the
/// shard.
pub fn header(plan: &Plan, shard: Shard, again: &[String]) -> String {
    let points = shard.points(plan).count();
    let digest = plan.digest().to_string();
    let of = plan.to_json();
    let mut line =
        json!({"part": shard.to_string(), "digest": digest, "points": points, "plan": of, "again": again})
            .to_string();
    line.push('\n');
    line
}

/// A whole part of rows in the order of their points.
pub fn write(header: &str, rows: &[Row]) -> String {
    let mut out = header.to_owned();
    for row in rows {
        let _ = writeln!(out, "{}", encode(row));
    }
    let digest = Digest::of(out.as_bytes());
    let _ = writeln!(out, "{}", json!({"rows": rows.len(), "digest": digest.to_string()}));
    out
}

/// A row as a journal has it; ends with a newline.
pub fn entry(row: &Row) -> String {
    let row = encode(row);
    format!("{} {row}\n", Digest::of(row.as_bytes()))
}

/// The rows of a journal with this header that are whole, each point once, in the order of their points; `None` for
/// a journal of something else. A journal that ends within its header has no rows.
pub fn recover(header: &str, plan: &Plan, shard: Shard, journal: &str) -> Option<Vec<Row>> {
    let Some(lines) = journal.strip_prefix(header) else {
        return header.starts_with(journal).then(Vec::new);
    };
    let columns = columns(plan);
    let mut rows: Vec<Row> =
        lines.split_inclusive('\n').filter_map(|line| recovered(line, &columns)).collect();
    rows.sort_by_key(Row::point);
    rows.dedup_by_key(|row| row.point());
    let mut wanted = shard.points(plan).peekable();
    rows.retain(|row| {
        while wanted.next_if(|&next| Some(next) < row.point()).is_some() {}
        wanted.peek().copied() == row.point()
    });
    Some(rows)
}

fn recovered(line: &str, columns: &[Column]) -> Option<Row> {
    let (digest, row) = line.strip_suffix('\n')?.split_once(' ')?;
    (Digest::of(row.as_bytes()).to_string() == digest).then(|| decode(row, columns)).flatten()
}

/// Reads a part. `place` is the file, for messages.
///
/// # Errors
/// What is no part, was made by another version, is cut off, was changed, or has other rows than its shard.
pub fn read(place: &str, text: &str) -> Result<Part, Refusal> {
    let bad = |found: &str, mend: &str| Refusal::new(place, found, "a whole part of a sweep", mend);
    let remove = "remove the file and run its shard again";
    let line_end = text.find('\n').ok_or_else(|| bad("no header", remove))?;
    let header: Json = serde_json::from_str(&text[..line_end]).map_err(|_| bad("no header", remove))?;
    let again = header["again"].as_array().and_then(|words| {
        words.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
    });
    let (Some(shard), Some(plan), Some(again)) = (
        header["part"].as_str().and_then(|shard| Shard::parse(shard).ok()),
        Plan::from_json(&header["plan"]),
        again,
    ) else {
        let mend = "use one version for all shards and the merge, and keep other files out of the folder";
        return Err(bad("a header that this version does not write", mend));
    };
    let cut = || bad("a file that was cut off or changed", remove);
    let body = text.strip_suffix('\n').ok_or_else(cut)?;
    let end_at = body.rfind('\n').ok_or_else(cut)? + 1;
    let end: Json = serde_json::from_str(&body[end_at..]).map_err(|_| cut())?;
    if end["digest"] != Digest::of(&text.as_bytes()[..end_at]).to_string()
        || header["digest"] != plan.digest().to_string()
    {
        return Err(cut());
    }
    let columns = columns(&plan);
    let rows = text[line_end + 1..end_at].lines().map(|line| decode(line, &columns));
    let rows: Vec<Row> = rows.collect::<Option<_>>().ok_or_else(cut)?;
    if end["rows"] != rows.len() {
        return Err(cut());
    }
    if !rows.iter().map(Row::point).eq(shard.points(&plan).map(Some)) {
        return Err(bad("other points than those of its shard", remove));
    }
    Ok(Part { plan, shard, again, rows })
}

fn encode(row: &Row) -> String {
    let cell = |value: &Value| match value {
        Value::None => Json::Null,
        Value::Whole(number) => json!(number),
        // The shortest text that reads back as the same number.
        Value::Real(number) => json!(number.to_string()),
        Value::Text(text) => json!(text),
    };
    Json::Array(row.0.iter().map(cell).collect()).to_string()
}

fn decode(line: &str, columns: &[Column]) -> Option<Row> {
    let cells: Vec<Json> = serde_json::from_str(line).ok()?;
    if cells.len() != columns.len() {
        return None;
    }
    let cells = cells.into_iter().zip(columns).map(|(cell, column)| match (cell, column.kind) {
        (Json::Null, _) => Some(Value::None),
        (Json::Number(number), Kind::Whole) => number.as_u64().map(Value::Whole),
        (Json::String(text), Kind::Real) => {
            text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Real)
        }
        (Json::String(text), Kind::Text) => Some(Value::Text(text)),
        _ => None,
    });
    cells.collect::<Option<_>>().map(Row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Knob, Mode, State, refused};

    fn plan() -> Plan {
        let knobs = vec![Knob::parse("a=0.1,0.25,3").expect("a knob"), Knob::parse("b=1,2").expect("a knob")];
        Plan { mode: Mode::Run, text: "tierscope = 1\n".into(), knobs, seeds: vec![1, 2], traces: vec![] }
    }

    fn rows(plan: &Plan, shard: Shard) -> Vec<Row> {
        shard
            .points(plan)
            .map(|index| refused(plan, index, State::Refused, "a \"reason\"\nand more"))
            .collect()
    }

    #[test]
    fn a_part_reads_back_as_it_was_and_any_damage_is_seen() {
        let (plan, shard) = (plan(), Shard { number: 2, of: 5 });
        let rows = rows(&plan, shard);
        let again = vec!["tierscope".to_owned()];
        let text = write(&header(&plan, shard, &again), &rows);
        assert_eq!(read("p", &text), Ok(Part { plan, shard, again, rows }));
        for end in 0..text.len() {
            assert!(read("p", &text[..end]).is_err(), "cut at {end}");
        }
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let damaged = String::from_utf8_lossy(&bytes).into_owned();
            assert!(read("p", &damaged).is_err(), "changed at {at}: {damaged}");
        }
    }

    #[test]
    fn a_journal_gives_back_what_is_whole_wherever_it_was_cut() {
        let (plan, shard) = (plan(), Shard::WHOLE);
        let rows = rows(&plan, shard);
        let header = header(&plan, shard, &[]);
        let mut journal = header.clone();
        let mut ends = vec![journal.len()];
        for row in rows.iter().rev() {
            journal.push_str(&entry(row));
            ends.push(journal.len());
        }
        for cut in 0..=journal.len() {
            let found = recover(&header, &plan, shard, &journal[..cut]).expect("a journal of this plan");
            let whole = ends.iter().filter(|&&end| end <= cut).count().saturating_sub(1);
            assert_eq!(found, rows[rows.len() - whole..], "cut at {cut}");
        }
        assert_eq!(recover(&header, &plan, shard, "something else\n"), None);
        let foreign = Shard { number: 1, of: 2 };
        let own = recover(&header, &plan, foreign, &journal).expect("the header is given");
        assert_eq!(own.len(), 6, "rows of other shards are left out");
    }
}
