//! The requests of a run as rows of CSV, for who wants to draw their own chart.

use std::fmt::Write as _;

use crate::Folds;
use crate::requests::{NEVER, Row};

/// The first line: the columns, with their units.
pub const REQUESTS_HEADER: &str = "request,arrival_ns,ttft_ns,itl_mean_ns,e2e_ns,prompt_tokens,output_tokens,\
    cached_tokens,preemptions,outcome\n";

impl Folds {
    /// Appends the rows of `many` requests from number `from` on; tells whether there are more. What a request does not
    /// have (a first token, say) is left empty.
    pub fn write_requests(&self, from: usize, many: usize, out: &mut String) -> bool {
        let rows = self.requests.rows();
        for (request, row) in rows.iter().enumerate().skip(from).take(many) {
            write_row(out, request, row);
        }
        from.saturating_add(many) < rows.len()
    }
}

fn write_row(out: &mut String, request: usize, row: &Row) {
    let arrived = (row.arrived != NEVER).then_some(row.arrived);
    // Writing into a `String` cannot fail.
    let _ = write!(out, "{request}");
    for ns in [arrived, row.ttft_ns(), row.itl_ns(), row.e2e_ns()] {
        out.push(',');
        if let Some(ns) = ns {
            let _ = write!(out, "{ns}");
        }
    }
    let _ = writeln!(
        out,
        ",{},{},{},{},{}",
        row.prompt_tokens,
        row.output_tokens,
        row.cached_tokens,
        row.preemptions,
        row.fate.name()
    );
}
