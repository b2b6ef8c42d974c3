//! What can be taken away from the page: a command line, a frame for another page, files.

use std::fmt::Write as _;

use tierscope_worker::protocol::{BelowSample, ExportEnd, ExportKind as Kind, ExportPart, RunResult, Sample};

use super::fork::Fork;
use super::{AppState, Notice};

/// What the worker writes, and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportKind {
    /// A row for each request, as a file.
    Requests,
    /// The trace of everything, as a file.
    Trace,
    /// The same, handed to Perfetto's page in a window that the user opened by the click.
    Perfetto,
}

impl ExportKind {
    /// What the worker is asked for.
    pub fn of_worker(self) -> Kind {
        match self {
            Self::Requests => Kind::Requests,
            Self::Trace | Self::Perfetto => Kind::Perfetto,
        }
    }

    /// How the file's name ends.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Requests => "requests.csv",
            Self::Trace | Self::Perfetto => "trace.json",
        }
    }

    /// What it is, within a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Requests => "the table of requests",
            Self::Trace | Self::Perfetto => "the trace",
        }
    }
}

/// What is being written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Export {
    /// Its number: what is said of an earlier one means nothing.
    pub number: u32,
    /// What, and where to.
    pub kind: ExportKind,
    /// How much of it is done, of 1.
    pub share: f64,
}

impl AppState {
    pub(super) fn exporting(self, wanted: Option<(u32, ExportKind)>) -> Self {
        let wanted = wanted.filter(|_| self.ended().is_some());
        Self { export: wanted.map(|(number, kind)| Export { number, kind, share: 0.0 }), ..self }
    }

    pub(super) fn exported(self, part: &ExportPart) -> Self {
        let Some(export) = self.export.filter(|export| export.number == part.number) else { return self };
        match part.end {
            None => Self { export: Some(Export { share: part.share.clamp(0.0, 1.0), ..export }), ..self },
            Some(ExportEnd::Whole) => Self { export: None, ..self },
            Some(ExportEnd::Cut) => {
                let text = format!(
                    "What was written holds the beginning of the run only: {} would be larger than {} MB. \
                     `tierscope run --perfetto` writes it whole.",
                    export.kind.name(),
                    tierscope_worker::protocol::EXPORT_BYTES_MAX >> 20
                );
                Self { export: None, notice: Some(Notice { text, trouble: true }), ..self }
            }
        }
    }

    /// The beginning of the names of files: the title's words.
    pub fn file_name(&self, ending: &str) -> String {
        let title = self.draft.scenario.as_ref().map_or("", |outline| outline.title.as_str());
        format!("{}.{ending}", slug(title))
    }

    /// How the scenario's own file ends.
    pub fn scenario_ending(&self) -> &'static str {
        if self.draft.text.trim_start().starts_with('{') { "json" } else { "toml" }
    }
}

fn slug(title: &str) -> String {
    const LONGEST: usize = 60;
    let mut slug = String::new();
    for char in title.chars() {
        if char.is_ascii_alphanumeric() {
            slug.push(char.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= LONGEST {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "scenario".to_owned() } else { slug.to_owned() }
}

/// The command that repeats the run, or the comparison; `link` is the scenario's own part of the address, `driven` the file
/// of a recording, where that is what is shown.
pub fn command_line(link: &str, fork: Option<&Fork>, driven: Option<&str>) -> String {
    let a = quoted(driven.unwrap_or(link));
    match fork.filter(|fork| fork.at_ns.is_none()) {
        None => format!("tierscope run {a}"),
        Some(fork) => {
            fork.changes.iter().fold(format!("tierscope diff {a} {}", quoted(link)), |line, change| {
                format!("{line} --set-b {}", quoted(change))
            })
        }
    }
}

/// In quotes for a shell, whatever it holds.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A frame that shows the run in another page.
pub fn iframe(page: &str, hash: &str, title: &str) -> String {
    let page = page.split(['?', '#']).next().unwrap_or_default();
    let source = escaped(&format!("{page}?embed=1{hash}"));
    let title = escaped(title);
    format!(
        r#"<iframe src="{source}" title="{title}" width="960" height="600" style="border:0;max-width:100%" loading="lazy"></iframe>"#
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The series of the run as a table: a row for each time at which one of them has a sample.
pub fn series_csv(result: &RunResult) -> String {
    let mut out = String::from(
        "at_ns,g1_active_blocks,g1_cached_blocks,g1_free_blocks,running_requests,waiting_requests",
    );
    let has_below = !result.below.is_empty();
    if has_below {
        out.push_str(",g2_resident_blocks,g3_resident_blocks,g4_resident_blocks");
    }
    out.push('\n');
    let (mut g1, mut below) = (result.occupancy.iter().peekable(), result.below.iter().peekable());
    let (mut now, mut resident): (Option<&Sample>, Option<&BelowSample>) = (None, None);
    loop {
        let next = [g1.peek().map(|sample| sample.at_ns), below.peek().map(|sample| sample.at_ns)];
        let Some(at_ns) = next.into_iter().flatten().min_by(f64::total_cmp) else { return out };
        while let Some(sample) = g1.next_if(|sample| sample.at_ns <= at_ns) {
            now = Some(sample);
        }
        while let Some(sample) = below.next_if(|sample| sample.at_ns <= at_ns) {
            resident = Some(sample);
        }
        // Writing into a `String` cannot fail.
        let _ = write!(out, "{at_ns:.0}");
        let counts = now.map(|it| [it.active, it.cached, it.free, it.running, it.waiting]);
        columns(&mut out, counts);
        if has_below {
            columns(&mut out, resident.map(|it| it.resident));
        }
        out.push('\n');
    }
}

/// Empty before the first sample.
fn columns<const N: usize>(out: &mut String, counts: Option<[u32; N]>) {
    for at in 0..N {
        out.push(',');
        if let Some(counts) = counts {
            let _ = write!(out, "{}", counts[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_survives_any_shell() {
        assert_eq!(command_line("#v2.ab-c_", None, None), "tierscope run '#v2.ab-c_'");
        let changes = vec!["g2.blocks=4096".to_owned(), "title=\"it's $HOME\"".to_owned()];
        let fork = Fork { at_ns: None, changes };
        assert_eq!(
            command_line("#v2.a", Some(&fork), None),
            r#"tierscope diff '#v2.a' '#v2.a' --set-b 'g2.blocks=4096' --set-b 'title="it'\''s $HOME"'"#
        );
        let later = Fork { at_ns: Some(5.0), ..fork };
        assert_eq!(command_line("#v2.a", Some(&later), None), "tierscope run '#v2.a'");
        assert_eq!(command_line("#v2.a", None, Some("my run.jsonl")), "tierscope run 'my run.jsonl'");
        assert_eq!(
            command_line("#v2.a", Some(&Fork::default()), Some("run.jsonl")),
            "tierscope diff 'run.jsonl' '#v2.a'"
        );
    }

    #[test]
    fn a_frame_holds_what_it_should_and_no_markup() {
        let frame = iframe("https://x.org/t/?a=1#old", "#v2.a&t=5", "a \"<script>\"");
        assert!(
            frame.starts_with(
                r#"<iframe src="https://x.org/t/?embed=1#v2.a&amp;t=5" title="a &quot;&lt;script&gt;&quot;""#
            ),
            "{frame}"
        );
    }

    #[test]
    fn files_are_named_by_the_title() {
        assert_eq!(slug("First steps: four requests, one pool"), "first-steps-four-requests-one-pool");
        assert_eq!(slug("../../Ü"), "scenario");
        assert!(slug(&"word ".repeat(100)).len() <= 60);
    }

    #[test]
    fn series_share_one_axis() {
        let sample = |at_ns, active| Sample { at_ns, active, cached: 1, free: 2, waiting: 3, running: 4 };
        let below = |at_ns, g2| BelowSample { at_ns, resident: [g2, 0, 0] };
        let result = RunResult {
            report: String::new(),
            end_ns: 30.0,
            occupancy: vec![sample(0.0, 5), sample(20.0, 6)],
            below: vec![below(10.0, 7), below(20.0, 8)],
            latency: Vec::new(),
            hits: Vec::new(),
            verdicts: Vec::new(),
            stopped: false,
            wall_ms: 0.0,
        };
        assert_eq!(
            series_csv(&result),
            "at_ns,g1_active_blocks,g1_cached_blocks,g1_free_blocks,running_requests,waiting_requests,\
             g2_resident_blocks,g3_resident_blocks,g4_resident_blocks\n\
             0,5,1,2,4,3,,,\n10,5,1,2,4,3,7,0,0\n20,6,1,2,4,3,8,0,0\n"
        );
    }
}
