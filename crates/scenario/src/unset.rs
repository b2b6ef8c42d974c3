//! Takes one key out of a scenario's text.

use toml_edit::{DocumentMut, TableLike};

use crate::SourceFormat;
use crate::problem::{Problem, Problems};
use crate::text::{format_of, without_bom};

/// Removes a key, such as `g2.blocks`; its comment goes with it, everything else stays as it is. A key that is not there is
/// no error. A table that is left without keys goes too.
///
/// # Errors
/// A text that is not TOML.
#[allow(clippy::result_large_err, reason = "one problem of a call that is made once per edit")]
pub fn unset(text: &str, key: &str) -> Result<String, Problem> {
    let text = without_bom(text);
    // A JSON text becomes TOML, as by `set`.
    let toml = match format_of(text) {
        SourceFormat::Toml => text.to_owned(),
        SourceFormat::Json => crate::set(text, &format!("tierscope={}", crate::SCHEMA_VERSION))?,
    };
    let Ok(mut document) = toml.parse::<DocumentMut>() else { return Err(fault(text)) };
    let steps: Vec<&str> = key.split('.').collect();
    remove(document.as_table_mut(), &steps);
    Ok(document.to_string())
}

fn fault(text: &str) -> Problem {
    let problems = Problems::of(text);
    crate::text::toml::read(text, &problems);
    let first = problems.finish().into_iter().next();
    first.unwrap_or_else(|| Problem {
        file: None,
        line: 1,
        column: 1,
        key: String::new(),
        found: "a text that cannot be read".into(),
        expected: "TOML".into(),
        mend: "write key = value; put tables in [brackets]".into(),
    })
}

/// Whether the table is empty now.
fn remove(table: &mut dyn TableLike, steps: &[&str]) -> bool {
    match steps {
        [] => {}
        [last] => drop(table.remove(last)),
        [first, rest @ ..] => {
            let inner = table.get_mut(first).and_then(|item| item.as_table_like_mut());
            if inner.is_some_and(|inner| remove(inner, rest)) {
                table.remove(first);
            }
        }
    }
    table.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_and_the_rest_stays() {
        let text = "# what it is\ntierscope = 1\n\n[g2]\nblocks = 9 # few\neviction = \"lru\"\n\n[engine] # mine\nwatermark = 0.1\n";
        let less = unset(text, "g2.blocks").expect("TOML");
        assert_eq!(less, text.replace("blocks = 9 # few\n", ""));
        assert_eq!(unset(&less, "g2.blocks").expect("TOML"), less);
        assert!(!unset(&less, "g2.eviction").expect("TOML").contains("[g2]"));
        assert_eq!(unset("a = { b = 1, c = 2 }\n", "a.b").expect("TOML"), "a = { c = 2 }\n");
        assert!(unset("a = ", "a").is_err());
    }
}
