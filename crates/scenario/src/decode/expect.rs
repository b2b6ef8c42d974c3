//! The `[expect]` table; its grammar is in [`crate::expectation`].

use super::fields::Fields;
use crate::expectation::Expectation;
use crate::expectation::read::{self, Misread};
use crate::node::{Node, Value};

/// The expectations of a table; `requests` is how many requests there are, where that is known.
pub(crate) fn decode(fields: Fields<'_>, requests: Option<u64>) -> Vec<Expectation> {
    let mut list = Vec::new();
    if let (Some(text), Some(entry)) = (fields.text("outcome"), fields.entry("outcome")) {
        let line = fields.problems.line(entry.node.at);
        match read::outcome(text) {
            Ok(kind) => list.push(Expectation::Outcome {
                kind,
                source: format!("outcome = \"{}\"", kind.word()),
                line,
            }),
            Err((expected, mend)) => fields.refuse(entry, expected, mend),
        }
    }
    each(&fields, "report", |text, line| {
        let (path, op, value) = read::report(text)?;
        list.push(Expectation::Report { path, op, value, source: text.into(), line });
        Ok(())
    });
    each(&fields, "facts", |text, line| {
        let fact = read::fact(text)?;
        let named = fact.highest_request().map(|request| u64::from(request.0));
        if let (true, Some(requests)) = (named >= requests, requests.filter(|_| named.is_some())) {
            let last = requests.saturating_sub(1);
            let mend = format!("requests are numbered from 0; the last is {last}");
            return Err(("a request of this workload", mend));
        }
        list.push(Expectation::Fact { fact, source: text.into(), line });
        Ok(())
    });
    fields.close();
    list
}

fn each(fields: &Fields<'_>, name: &'static str, mut take: impl FnMut(&str, u32) -> Result<(), Misread>) {
    let Some(items) = fields.items(name) else { return };
    for (index, item) in items.iter().enumerate() {
        if let Err((expected, mend)) = one(item, fields.problems.line(item.at), &mut take) {
            let key = format!("{}[{index}]", fields.key(name));
            fields.problems.report(item.at, &key, item.describe(), expected, mend);
        }
    }
}

fn one(
    item: &Node,
    line: u32,
    take: &mut impl FnMut(&str, u32) -> Result<(), Misread>,
) -> Result<(), Misread> {
    match &item.value {
        Value::Text(text) => take(text, line),
        _ => Err(("text", "put the expectation in quotation marks".into())),
    }
}
