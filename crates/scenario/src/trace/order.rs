//! When a row of a Mooncake file starts: at its time, or after the rows that it names.
//!
//! - `wait_for`: after the end of all the requests named, which stand above it;
//! - a delay in a session with a row above: after the end of the session's last row above;
//! - otherwise at its `timestamp`, whether or not its session has a row above.
//!
//! Names live as long as the file: a map entry for each session and each named request.

use std::collections::BTreeMap;

use tierscope_units::{RequestId, SimTime, Span};

use super::line::{Fault, quote_bytes};
use super::row::Row;
use crate::expand::{Start, Workload};

#[derive(Default)]
pub(super) struct Order<'b> {
    latest_ns: u64,
    /// The number of each session and its last request.
    sessions: BTreeMap<&'b [u8], (u32, RequestId)>,
    requests: BTreeMap<&'b [u8], RequestId>,
}

impl<'b> Order<'b> {
    /// The start of `row`; whom else it waits for goes into `joins`.
    pub(super) fn start(
        &self,
        row: &Row<'b>,
        wait_for: &[(usize, &'b [u8])],
        joins: &mut Vec<RequestId>,
    ) -> Result<Start, Fault> {
        joins.clear();
        let delay = Span::from_ns(row.delay_ns.unwrap_or(0).min(crate::limit::TIME_NS));
        if let [first, others @ ..] = wait_for {
            let request = self.named(*first)?;
            for &other in others {
                joins.push(self.named(other)?);
            }
            joins.sort_unstable();
            joins.dedup();
            joins.retain(|&other| other != request);
            return Ok(Start::After { request, delay });
        }
        let before = row.session.and_then(|session| self.sessions.get(session));
        match (before, row.delay_ns) {
            (Some(&(_, request)), Some(_)) => Ok(Start::After { request, delay }),
            (None, Some(1..)) => Err(nothing_before(row)),
            _ => self.at(row),
        }
    }

    fn at(&self, row: &Row<'b>) -> Result<Start, Fault> {
        let Some(at_ns) = row.at_ns else {
            let expected = "a time, for nothing is above to wait for";
            let mend = "add \"timestamp\", or wait_for with a request above";
            return Err(Fault::new(0, "timestamp", "no such field", expected, mend));
        };
        if at_ns < self.latest_ns {
            return Err(unsorted(row.timestamp_at, at_ns, self.latest_ns));
        }
        Ok(Start::At(SimTime::from_ns(at_ns)))
    }

    fn named(&self, (at, name): (usize, &[u8])) -> Result<RequestId, Fault> {
        self.requests.get(name).copied().ok_or_else(|| {
            let found = quote_bytes(name);
            let expected = "the request_id of a line above";
            Fault::new(at, "wait_for", found, expected, "correct the name, or move the line below it")
        })
    }

    /// Checks that the row's own name is new.
    pub(super) fn check_name(&self, row: &Row<'b>) -> Result<(), Fault> {
        match row.request_id.filter(|&name| self.requests.contains_key(name)) {
            None => Ok(()),
            Some(name) => {
                let found = format!("{} again", quote_bytes(name));
                Err(Fault::new(
                    0,
                    "request_id",
                    found,
                    "a name that no line above has",
                    "give it its own name",
                ))
            }
        }
    }

    /// Notes a row that was taken as the last request of `workload`.
    pub(super) fn note(&mut self, row: &Row<'b>, workload: &mut Workload) {
        let index = workload.requests.len() - 1;
        let request = RequestId(index as u32);
        if let Some(Start::At(at)) = workload.requests.last().map(|plan| plan.start) {
            self.latest_ns = at.as_ns();
        }
        if let Some(name) = row.request_id {
            self.requests.insert(name, request);
        }
        let session = row.session.map(|session| {
            let next = self.sessions.len() as u32;
            let entry = self.sessions.entry(session).or_insert((next, request));
            entry.1 = request;
            entry.0
        });
        workload.push_session(index, session);
    }

    /// The last request above of the row's session.
    pub(super) fn before(&self, row: &Row<'b>) -> Option<RequestId> {
        row.session.and_then(|session| self.sessions.get(session)).map(|&(_, request)| request)
    }
}

fn nothing_before(row: &Row<'_>) -> Fault {
    let (found, mend) = match row.session {
        None => ("a delay without a session", "add session_id or wait_for, or remove the delay"),
        Some(_) => ("a delay on the first row of a session", "give the row a timestamp and no delay"),
    };
    Fault::new(row.delay_at, "delay", found, "it only after a request above: it counts from its end", mend)
}

fn unsorted(at: usize, found_ns: u64, latest_ns: u64) -> Fault {
    let ms = |ns: u64| ns as f64 / 1e6;
    Fault::new(
        at,
        "timestamp",
        format!("{} ms", ms(found_ns)),
        format!("{} ms or later, as in the line before", ms(latest_ns)),
        "sort the trace by timestamp",
    )
}
