//! Traces as tests read them: problems become one text.

use tierscope_scenario::trace::read;
use tierscope_scenario::{TraceFile, TraceFormat, TraceOptions, Workload};

pub(crate) fn read_one(format: TraceFormat, text: &str) -> Result<Workload, String> {
    read_all(format, &[text], &TraceOptions::default())
}

pub(crate) fn read_all(
    format: TraceFormat,
    texts: &[&str],
    options: &TraceOptions,
) -> Result<Workload, String> {
    let names: Vec<String> = (0..texts.len()).map(|number| format!("t{number}")).collect();
    let files = names.iter().zip(texts).map(|(name, text)| TraceFile { name, bytes: text.as_bytes() });
    read(format, &files.collect::<Vec<_>>(), options).map_err(|problems| {
        let printed: Vec<String> = problems.iter().map(ToString::to_string).collect();
        printed.join("\n")
    })
}
