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

/// A case of the page that stands in the tests' gallery too is the same text.
#[test]
fn the_pages_copies_are_copies() {
    let title = |text: &str| text.lines().find(|line| line.starts_with("title = ")).map(str::to_owned);
    let kept: Vec<_> =
        SCENARIOS.iter().filter(|(name, _)| name.starts_with("tests/scenarios/gallery/")).collect();
    let mut copies = 0;
    for (name, text) in SCENARIOS.iter().filter(|(name, _)| name.starts_with("web/gallery/")) {
        for (original, same) in kept.iter().filter(|(_, other)| title(other) == title(text)) {
            copies += 1;
            assert_eq!(text, same, "{name} and {original}");
        }
    }
    assert!(copies >= 16, "the page shows cases of the tests' gallery, not only {copies}");
}
