//! Test results as JUnit XML, for CI. No times in it: equal results give equal files.

use anyhow::Result;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::test::{Tested, Verdict};

/// The document.
pub(crate) fn write(tested: &[Tested]) -> Result<String> {
    let mut suite = TestSuite::new("tierscope");
    for one in tested {
        let mut case = TestCase::new(one.path.display().to_string(), status(&one.verdict));
        case.set_classname("scenarios");
        suite.add_test_case(case);
    }
    let mut report = Report::new("tierscope test");
    report.add_test_suite(suite);
    Ok(report.to_string()?)
}

fn status(verdict: &Verdict) -> TestCaseStatus {
    let (kind, kind_name, text) = match verdict {
        Verdict::Passed { .. } => return TestCaseStatus::success(),
        Verdict::Failed(reasons) => (NonSuccessKind::Failure, "expectation", reasons.join("\n")),
        Verdict::Broken(reason) => (NonSuccessKind::Failure, "broken", reason.clone()),
        Verdict::Unreadable(reason) => (NonSuccessKind::Error, "unreadable", reason.clone()),
    };
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_type(kind_name)
        .set_message(text.lines().next().unwrap_or_default())
        .set_description(text.as_str());
    status
}
