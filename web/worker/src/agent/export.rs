//! What is written for the user to keep: the run is repeated from its beginning, in slices like the run itself, and what
//! it says goes out in parts.

use tierscope_report::{Perfetto, REQUESTS_HEADER};
use tierscope_sim::{Simulation, Step};
use tierscope_units::SimTime;

use super::{INSTANTS, Job};
use crate::protocol::{EXPORT_BYTES_MAX, ExportEnd, ExportKind, ExportPart, FromWorker};

/// Bytes of a part, about.
const PART_BYTES: usize = 1 << 20;
/// Requests between two looks at the clock.
const ROWS: usize = 1_024;

/// An export under way.
pub(super) struct Export {
    run: u32,
    number: u32,
    writer: Writer,
    text: String,
    sent: u64,
    /// When the page was last told how far it is.
    told_ms: f64,
}

enum Writer {
    /// The number of the next request.
    Requests(usize),
    Perfetto {
        state: Box<Simulation>,
        perfetto: Perfetto,
    },
    Done(ExportEnd),
}

/// The page is told at most this often, unless there is a whole part to send.
const TELL_EVERY_MS: f64 = 100.0;

impl Export {
    /// Of a run that is over.
    pub(super) fn new(job: &Job, number: u32, kind: ExportKind) -> Self {
        let mut text = String::new();
        let writer = match kind {
            ExportKind::Requests => {
                text.push_str(REQUESTS_HEADER);
                Writer::Requests(0)
            }
            ExportKind::Perfetto => {
                let state = Box::new(job.start.clone());
                let perfetto = Perfetto::new(&job.title, state.fleet().workers().len(), &mut text);
                Writer::Perfetto { state, perfetto }
            }
        };
        Self { run: job.id, number, writer, text, sent: 0, told_ms: 0.0 }
    }

    /// Writes for about `budget_ms`; what has come together is sent. Tells whether there is more to come.
    pub(super) fn slice(
        &mut self,
        job: &Job,
        now_ms: &dyn Fn() -> f64,
        budget_ms: f64,
    ) -> (Vec<FromWorker>, bool) {
        let begun = now_ms();
        let mut share = 1.0;
        while self.text.len() < PART_BYTES {
            share = self.advance(job);
            if matches!(self.writer, Writer::Done(_)) || now_ms() - begun >= budget_ms {
                break;
            }
        }
        if self.sent + self.text.len() as u64 > EXPORT_BYTES_MAX {
            self.cut(job);
        }
        let end = match self.writer {
            Writer::Done(end) => Some(end),
            _ => None,
        };
        let now = now_ms();
        if end.is_none() && self.text.len() < PART_BYTES && now - self.told_ms < TELL_EVERY_MS {
            return (Vec::new(), true);
        }
        self.told_ms = now;
        self.sent += self.text.len() as u64;
        let part = ExportPart {
            number: self.number,
            bytes: std::mem::take(&mut self.text).into_bytes(),
            share,
            end,
        };
        (vec![FromWorker::Exported { run: self.run, part }], end.is_none())
    }

    /// Some steps further; tells how much is done, of 1.
    fn advance(&mut self, job: &Job) -> f64 {
        match &mut self.writer {
            Writer::Requests(next) => {
                let more = job.run.folds().write_requests(*next, ROWS, &mut self.text);
                *next += ROWS;
                let share = *next as f64 / f64::from(job.run.progress().total.max(1));
                if !more {
                    self.writer = Writer::Done(ExportEnd::Whole);
                }
                share.min(1.0)
            }
            Writer::Perfetto { state, perfetto } => {
                let end = job.end_at();
                let (mut is_over, text) = (false, &mut self.text);
                for _ in 0..INSTANTS {
                    is_over = state.next_time().is_none_or(|next| next > end)
                        || !matches!(state.step(|log| perfetto.take(log, text)), Ok(Step::Advanced));
                    if is_over {
                        break;
                    }
                }
                let share = share_of(state.now(), end);
                if is_over {
                    self.finish(end, ExportEnd::Whole);
                }
                share
            }
            Writer::Done(_) => 1.0,
        }
    }

    /// It is too large: it ends here, and says so.
    fn cut(&mut self, job: &Job) {
        let at = match &self.writer {
            Writer::Perfetto { state, .. } => state.now(),
            _ => job.end_at(),
        };
        self.finish(at, ExportEnd::Cut);
    }

    fn finish(&mut self, at: SimTime, end: ExportEnd) {
        if let Writer::Perfetto { perfetto, .. } = std::mem::replace(&mut self.writer, Writer::Done(end)) {
            perfetto.finish(at, &mut self.text);
        }
    }
}

fn share_of(now: SimTime, end: SimTime) -> f64 {
    if end.as_ns() == 0 { 1.0 } else { now.as_ns() as f64 / end.as_ns() as f64 }
}
