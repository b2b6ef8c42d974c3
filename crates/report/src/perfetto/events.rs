//! Events as lines of JSON. Writing into a `String` cannot fail, so results of `write!` are dropped.

use std::fmt::Write as _;

use tierscope_units::{Idx, RequestId, SimTime};

use super::tracks::Open;

/// A process of the trace: the workers by number, behind them what belongs to none alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Process(pub(super) usize);

/// The process of all requests.
const REQUESTS: usize = 1;
/// The process of the first worker.
const WORKERS: usize = 2;

impl Process {
    fn number(self) -> usize {
        self.0 + WORKERS
    }
}

/// Where events of one instant are written.
pub(super) struct Events<'a> {
    pub(super) out: &'a mut String,
    pub(super) at: SimTime,
}

impl Events<'_> {
    /// The trace's beginning: what it is of, and the names of its processes.
    pub(super) fn begin(out: &mut String, title: &str, workers: usize) {
        let title = serde_json::Value::from(title);
        let _ = write!(out, r#"{{"displayTimeUnit":"ms","otherData":{{"title":{title}}},"traceEvents":["#);
        let _ = write!(out, "\n{}", process_name(REQUESTS, "requests"));
        for worker in 0..workers {
            let name = if workers == 1 { "worker".to_owned() } else { format!("worker {worker}") };
            let _ = write!(out, ",\n{}", process_name(Process(worker).number(), &name));
        }
        if workers > 1 {
            let _ = write!(out, ",\n{}", process_name(Process(workers).number(), "between workers"));
        }
    }

    /// The trace's end.
    pub(super) fn finish(out: &mut String) {
        out.push_str("\n]}\n");
    }

    /// Names a track that is new.
    pub(super) fn name_track(&mut self, opened: &Open) {
        if let Some(name) = &opened.name {
            let (process, track) = (opened.process.number(), opened.track);
            let _ = write!(
                self.out,
                ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{process},\"tid\":{track},\"args\":{{\"name\":\"{name}\"}}}}"
            );
        }
    }

    pub(super) fn begin_span(&mut self, process: Process, track: usize, name: &str, args: &str) {
        self.open("B", process.number(), track);
        let _ = write!(self.out, r#","name":"{name}""#);
        self.close(args);
    }

    pub(super) fn end(&mut self, process: Process, track: usize, args: &str) {
        self.open("E", process.number(), track);
        self.close(args);
    }

    pub(super) fn counter(&mut self, process: Process, name: &str, values: &str) {
        self.open("C", process.number(), 0);
        let _ = write!(self.out, r#","name":"{name}""#);
        self.close(values);
    }

    /// Something that takes no time, at a whole process.
    pub(super) fn instant(&mut self, process: Process, name: &str) {
        self.open("i", process.number(), 0);
        let _ = write!(self.out, r#","name":"{name}","s":"p""#);
        self.close("");
    }

    /// Of a request: `b` begins, `e` ends, `n` marks.
    pub(super) fn of_request(&mut self, kind: &str, request: RequestId, name: &str, args: &str) {
        self.open(kind, REQUESTS, 0);
        let _ = write!(self.out, r#","cat":"request","id":{},"name":"{name}""#, request.index());
        self.close(args);
    }

    /// Microseconds, with the nanoseconds behind the point.
    fn open(&mut self, kind: &str, process: usize, track: usize) {
        let ns = self.at.as_ns();
        let (us, rest) = (ns / 1_000, ns % 1_000);
        let _ = write!(
            self.out,
            ",\n{{\"ph\":\"{kind}\",\"pid\":{process},\"tid\":{track},\"ts\":{us}.{rest:03}"
        );
    }

    fn close(&mut self, args: &str) {
        if !args.is_empty() {
            let _ = write!(self.out, r#","args":{{{args}}}"#);
        }
        self.out.push('}');
    }
}

fn process_name(process: usize, name: &str) -> String {
    format!(r#"{{"ph":"M","name":"process_name","pid":{process},"tid":0,"args":{{"name":"{name}"}}}}"#)
}
