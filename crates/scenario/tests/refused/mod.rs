//! Tables behind a head that is sound, and the words with which they are refused.

use expect_test::Expect;
use tierscope_scenario::parse_any;

/// A scenario's sound beginning: six lines.
pub(crate) const HEAD: &str =
    "tierscope = 1\n[engine]\nblock_size_tokens = 4\n[workload]\nkind = 'trace'\nfile = 't.jsonl'\n";

#[track_caller]
pub(crate) fn refused(tables: &str, expected: Expect) {
    let problems = parse_any(&format!("{HEAD}{tables}")).expect_err("the text is refused");
    let printed: Vec<String> = problems.iter().map(ToString::to_string).collect();
    expected.assert_eq(&printed.join("\n"));
}
