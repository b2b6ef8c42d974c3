//! Expectations from their texts; the grammar is in [`super`].

use tierscope_units::RequestId;

use super::{CmpOp, Counted, FactExpectation, Milestone, OutcomeKind, ReportValue, RequestState};
use crate::problem::{either, nearest};

/// Why an expectation cannot be read: what was expected, and the mend.
pub(crate) type Misread = (&'static str, String);

pub(crate) fn outcome(text: &str) -> Result<OutcomeKind, Misread> {
    let words = ["finished", "dead_end"];
    match text {
        "finished" => Ok(OutcomeKind::Finished),
        "dead_end" | "dead end" => Ok(OutcomeKind::DeadEnd),
        other => Err(("\"finished\" or \"dead_end\"", meant(other, &words))),
    }
}

fn meant(word: &str, known: &[&str]) -> String {
    match nearest(word, known) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("write {}", either(known)),
    }
}

pub(crate) fn report(text: &str) -> Result<(String, CmpOp, ReportValue), Misread> {
    const FORM: &str = "PATH OP VALUE, with OP one of == != < <= > >=";
    let example = || "for example \"preemptions <= 3\"".to_owned();
    let at = text.find(['=', '!', '<', '>']).ok_or((FORM, example()))?;
    let (path, rest) = (text[..at].trim(), &text[at..]);
    let end = rest.find(|c| !matches!(c, '=' | '!' | '<' | '>')).unwrap_or(rest.len());
    let (op, value) = (&rest[..end], rest[end..].trim());
    let Some(op) = CmpOp::of(op) else {
        let mend = if op == "=" { "write == for equality".into() } else { example() };
        return Err((FORM, mend));
    };
    let segment =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !path.split('.').all(segment) {
        return Err((
            "a path of report keys joined by dots",
            "for example hit_ratio.first_admission.g1".into(),
        ));
    }
    let unquoted = value.strip_prefix(['"', '\'']).and_then(|inner| inner.strip_suffix(['"', '\'']));
    let value = match (unquoted, value.parse::<f64>()) {
        (Some(inner), _) => ReportValue::Text(inner.into()),
        (None, Ok(number)) if number.is_finite() => ReportValue::Number(number),
        (None, Ok(_)) => {
            return Err(("a finite number or a text", "compare with a number such as 0.5".into()));
        }
        (None, Err(_)) if value.is_empty() => return Err((FORM, example())),
        (None, Err(_)) => ReportValue::Text(value.into()),
    };
    if matches!(value, ReportValue::Text(_)) && !matches!(op, CmpOp::Eq | CmpOp::Ne) {
        return Err(("a number after < <= > >=", "text can only be compared with == or !=".into()));
    }
    Ok((path.into(), op, value))
}

const FACT_FORM: &str = "\"no EVENT\", \"at least|at most|exactly N EVENTs\", \"request N finishes|starts before|after request M\" \
     or \"request N is [not] preempted|rejected|cancelled|finished\"";

pub(crate) fn fact(text: &str) -> Result<FactExpectation, Misread> {
    let words: Vec<&str> = text.split_whitespace().take(9).collect();
    let count = |op, count: &str, event: &str| {
        Ok(FactExpectation::Count { event: counted(event)?, op, count: number(count)? })
    };
    match words[..] {
        ["no", event] => count(CmpOp::Eq, "0", event),
        ["at", "least", n, event] => count(CmpOp::Ge, n, event),
        ["at", "most", n, event] => count(CmpOp::Le, n, event),
        ["exactly", n, event] => count(CmpOp::Eq, n, event),
        ["request", n, verb, when @ ("before" | "after"), "request", m] => Ok(FactExpectation::Order {
            request: request(n)?,
            milestone: milestone(verb)?,
            before: when == "before",
            other: request(m)?,
        }),
        ["request", n, "is", "not", what] => state(n, what, false),
        ["request", n, "is", what] => state(n, what, true),
        _ => {
            Err((FACT_FORM, "for example \"no preemption\" or \"request 3 finishes after request 1\"".into()))
        }
    }
}

fn number(text: &str) -> Result<u64, Misread> {
    text.parse().map_err(|_| ("a whole number", "write digits only, for example 2".into()))
}

fn request(text: &str) -> Result<RequestId, Misread> {
    let id = text
        .parse::<u32>()
        .map_err(|_| ("the number of a request", "requests are numbered from 0".to_owned()))?;
    Ok(RequestId(id))
}

fn counted(word: &str) -> Result<Counted, Misread> {
    let singular = ["preemption", "rejection", "cancellation", "completion", "removal"];
    Ok(match word.strip_suffix('s').unwrap_or(word) {
        "preemption" => Counted::Preemptions,
        "rejection" => Counted::Rejections,
        "cancellation" => Counted::Cancellations,
        "completion" => Counted::Completions,
        "removal" => Counted::Removals,
        _ => {
            return Err((
                "preemption, rejection, cancellation, completion or removal",
                meant(word, &singular),
            ));
        }
    })
}

fn milestone(word: &str) -> Result<Milestone, Misread> {
    match word {
        "finishes" => Ok(Milestone::Finishes),
        "starts" => Ok(Milestone::Starts),
        _ => Err(("finishes or starts", meant(word, &["finishes", "starts"]))),
    }
}

fn state(number: &str, word: &str, holds: bool) -> Result<FactExpectation, Misread> {
    let request = request(number)?;
    let state = match word {
        "preempted" => RequestState::Preempted,
        "rejected" => RequestState::Rejected,
        "cancelled" | "canceled" => RequestState::Cancelled,
        "finished" | "completed" => RequestState::Finished,
        _ => {
            let words = ["preempted", "rejected", "cancelled", "finished"];
            return Err(("preempted, rejected, cancelled or finished", meant(word, &words)));
        }
    };
    Ok(FactExpectation::State { request, state, holds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_expectations_are_read() {
        let number = |n| ReportValue::Number(n);
        assert_eq!(report("preemptions<=3"), Ok(("preemptions".into(), CmpOp::Le, number(3.0))));
        let ratio = ("hit_ratio.first_admission.g1".into(), CmpOp::Eq, number(0.5));
        assert_eq!(report("hit_ratio.first_admission.g1 == 0.5"), Ok(ratio));
        assert_eq!(
            report("outcome != 'dead_end'"),
            Ok(("outcome".into(), CmpOp::Ne, ReportValue::Text("dead_end".into())))
        );
    }

    #[test]
    fn report_expectations_that_cannot_be_read_say_why() {
        for bad in [
            "",
            "a",
            "a =",
            "a = 3",
            "a => 3",
            "== 3",
            "a..b == 3",
            "a == nan",
            "a == inf",
            "a < text",
            "ä == 1",
        ] {
            assert!(
                report(bad).is_err_and(|(expected, mend)| !expected.is_empty() && !mend.is_empty()),
                "{bad}"
            );
        }
        assert_eq!(report("a = 3").map_err(|(_, mend)| mend), Err("write == for equality".into()));
    }

    #[test]
    fn facts_are_read() {
        let count = |event, op, count| Ok(FactExpectation::Count { event, op, count });
        assert_eq!(fact("no preemption"), count(Counted::Preemptions, CmpOp::Eq, 0));
        assert_eq!(fact("at least 2 preemptions"), count(Counted::Preemptions, CmpOp::Ge, 2));
        assert_eq!(fact("exactly 1 rejection"), count(Counted::Rejections, CmpOp::Eq, 1));
        let (request, other) = (RequestId(3), RequestId(1));
        let order = FactExpectation::Order { request, milestone: Milestone::Finishes, before: false, other };
        assert_eq!(fact("request 3 finishes  after request 1"), Ok(order));
        let state = |state, holds| Ok(FactExpectation::State { request: RequestId(2), state, holds });
        assert_eq!(fact("request 2 is rejected"), state(RequestState::Rejected, true));
        assert_eq!(fact("request 2 is not preempted"), state(RequestState::Preempted, false));
    }

    #[test]
    fn facts_that_cannot_be_read_say_why() {
        for bad in [
            "",
            "no",
            "no premption",
            "at least two preemptions",
            "request x is rejected",
            "request 1 is fine",
            "request 1 ends before request 2",
            "request 4294967296 is rejected",
            "no preemption at all today",
        ] {
            assert!(
                fact(bad).is_err_and(|(expected, mend)| !expected.is_empty() && !mend.is_empty()),
                "{bad}"
            );
        }
        assert_eq!(fact("no premption").map_err(|(_, mend)| mend), Err("did you mean preemption?".into()));
    }
}
