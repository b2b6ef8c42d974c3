//! A trace in the place of a scenario's own workload.

use super::{Note, NoteKind};
use crate::problem::Problem;
use crate::scenario::{Scenario, WorkloadSpec};
use crate::trace::TraceFormat;
use toml_edit::Value as Toml;

/// A trace file, as far as a scenario has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name.
    pub file: String,
    /// Its format.
    pub format: TraceFormat,
    /// Tokens per hash id; `None` without hashes.
    pub block_tokens: Option<u32>,
    /// Requests in it.
    pub requests: u32,
}

/// The scenario with the trace as its workload, and what that replaced. Engine, tiers and links stay.
///
/// # Errors
/// Problems of the scenario, before or after.
pub fn replay(text: &str, found: &Found) -> Result<(String, Vec<Note>), Vec<Problem>> {
    let scenario = crate::parse_any(text)?;
    let mut notes = Vec::new();
    let text = replaced(text, &scenario, found, &mut notes).map_err(|problem| vec![*problem])?;
    crate::parse_any(&text)?;
    Ok((text, notes))
}

/// The scenario of the trace alone, with the defaults that `tierscope run FILE` takes.
pub fn bare(found: &Found) -> String {
    noted(&crate::default_text_for_trace(&found.file, found.format, found.block_tokens), found)
}

fn replaced(
    text: &str,
    scenario: &Scenario,
    found: &Found,
    notes: &mut Vec<Note>,
) -> Result<String, Box<Problem>> {
    let mut note = |words: String| {
        notes.push(Note { kind: NoteKind::Taken, line: 0, column: 0, what: String::new(), words });
    };
    let mut text = text.to_owned();
    let set =
        |text: &str, key: &str, value: Toml| crate::set(text, &format!("{key}={value}")).map_err(Box::new);
    let unset = |text: &str, key: &str| crate::unset(text, key).map_err(Box::new);
    match &scenario.workload {
        WorkloadSpec::Trace(spec) => {
            if spec.file != found.file {
                note(format!("it replaces the trace {}", crate::problem::quote(&spec.file)));
            }
            if spec.format.is_some_and(|format| format != found.format) {
                text = unset(&text, "workload")?;
            }
        }
        WorkloadSpec::Synthetic(synthetic) => {
            note(format!("it replaces the drawn workload of {} sessions", synthetic.requests));
            text = unset(&text, "workload")?;
        }
        WorkloadSpec::Requests(list) => {
            note(format!("it replaces the {} requests that are written out", list.len()));
            text = unset(&text, "workload")?;
        }
    }
    text = set(&text, "workload.kind", "trace".into())?;
    text = set(&text, "workload.file", found.file.as_str().into())?;
    text = set(&text, "workload.format", found.format.word().into())?;
    let usual = found.format.block_tokens();
    if let Some(tokens) = found.block_tokens.filter(|&tokens| Some(tokens) != usual) {
        text = set(&text, "workload.trace_block_tokens", i64::from(tokens).into())?;
    }
    if text.lines().any(|line| line.trim_end() == "[expect]") {
        note("[expect] goes: it was about the workload before".into());
        text = unset(&text, "expect")?;
    }
    let engine = scenario.engine.block_size_tokens;
    if let Some(tokens) = found.block_tokens.or(usual).filter(|tokens| !tokens.is_multiple_of(engine.max(1)))
    {
        let block = if tokens.is_multiple_of(16) { 16 } else { tokens };
        note(format!(
            "engine.block_size_tokens = {block}, which divides the trace's {tokens}; it was {engine}"
        ));
        text = set(&text, "engine.block_size_tokens", i64::from(block).into())?;
    }
    text = set(&text, "title", found.file.as_str().into())?;
    text = unset(&text, "lesson")?;
    Ok(noted(&text, found))
}

/// How many requests the file has, beside its name: who opens a link knows which file is meant.
fn noted(text: &str, found: &Found) -> String {
    let line = format!("file = {}", Toml::from(found.file.as_str()));
    let mut done = false;
    let lines = text.lines().map(|one| {
        if done || !one.starts_with(&line) {
            return format!("{one}\n");
        }
        done = true;
        format!("{line} # {} requests\n", found.requests)
    });
    lines.collect()
}

/// How many requests a scenario's trace has, if a comment beside its name tells.
pub fn noted_requests(text: &str) -> Option<u32> {
    let line = text.lines().find(|line| line.starts_with("file = "))?;
    line.rsplit_once(" # ")?.1.strip_suffix(" requests")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, format: TraceFormat, block_tokens: Option<u32>) -> Found {
        Found { file: file.into(), format, block_tokens, requests: 12_031 }
    }

    #[test]
    fn a_trace_takes_the_place_of_any_workload() {
        let trace = found("a \"b\".jsonl", TraceFormat::Mooncake, Some(512));
        let base = "# mine\ntierscope = 1\nlesson = \"x\"\n[engine]\nblock_size_tokens = 48 # odd\n[workload]\nkind = \"requests\"\n\
            [[workload.request]]\nat_ms = 0\nprompt_tokens = 9\noutput_tokens = 4\n[slo]\nttft_ms = 5\n[expect]\noutcome = \"finished\"\n";
        let (text, notes) = replay(base, &trace).expect("valid");
        assert!(text.starts_with("# mine\n") && text.contains("block_size_tokens = 16 # odd"), "{text}");
        assert!(text.contains("[slo]") && !text.contains("[expect]") && !text.contains("lesson"), "{text}");
        assert_eq!((noted_requests(&text), notes.len()), (Some(12_031), 3), "{text}");
        let other = found("b.csv.gz", TraceFormat::AzureCsv, None);
        let (text, notes) = replay(&text, &other).expect("valid");
        assert_eq!((notes.len(), noted_requests(&text)), (1, Some(12_031)), "{text}");
        let again = replay(&text, &other).expect("valid");
        assert_eq!((again.0, again.1.len()), (text, 0));
        let bare = bare(&trace);
        assert_eq!(noted_requests(&bare), Some(12_031));
        assert!(crate::parse_any(&bare).is_ok());
    }
}
