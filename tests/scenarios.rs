//! Every scenario of the repository shows what it expects; and expectations can fail.

use tierscope_tests::{SCENARIOS, report};

#[test]
fn scenarios_show_what_they_expect() {
    let mut failed = Vec::new();
    for (name, text) in SCENARIOS {
        let (_, failures) = report(text);
        failed
            .extend(failures.iter().map(|f| format!("{name}:{}: {}: found {}", f.line, f.expected, f.found)));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A scenario whose expectations are turned round fails: the evaluation is not blind.
#[test]
fn expectations_can_fail() {
    for (name, text) in SCENARIOS {
        let swapped = match text.contains("outcome = \"finished\"") {
            true => text.replace("outcome = \"finished\"", "outcome = \"dead_end\""),
            false => text.replace("outcome = \"dead_end\"", "outcome = \"finished\""),
        };
        let (_, failures) = report(&swapped);
        assert!(!failures.is_empty(), "{name} expects nothing of its outcome");
    }
}
