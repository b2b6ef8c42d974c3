//! From text to the node tree: TOML and JSON. A syntax error is reported once, at its place.

pub(crate) mod json;
pub(crate) mod toml;

use crate::node::Node;
use crate::problem::Problems;
use crate::{SourceFormat, limit};

/// Text without its byte-order mark, and the notation that its first character shows.
pub(crate) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// JSON if the first character that is not white space is `{`, else TOML.
pub(crate) fn format_of(text: &str) -> SourceFormat {
    if without_bom(text).trim_start().starts_with('{') { SourceFormat::Json } else { SourceFormat::Toml }
}

/// The tree of a text; `None` when a problem was reported.
pub(crate) fn read(text: &str, format: SourceFormat, problems: &Problems<'_>) -> Option<Node> {
    if text.len() > limit::SCENARIO_TEXT_BYTES {
        problems.report(
            0,
            "",
            format!("a text of {} bytes", text.len()),
            format!("at most {} bytes", limit::SCENARIO_TEXT_BYTES),
            "put the requests in a trace file and name it in workload.file",
        );
        return None;
    }
    match format {
        SourceFormat::Toml => toml::read(text, problems),
        SourceFormat::Json => json::read(text, problems),
    }
}
