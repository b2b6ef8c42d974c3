//! Copies as spans: those of a lane that overlap lie in rows of their own.

use tierscope_engine::{CopyEnd, Lane};
use tierscope_units::{Idx as _, WorkerId};

use super::marks::low;
use super::{Kept, NEVER};
use crate::copies::{Copies, Times};
use crate::protocol::SpanKind;

/// One row of a worker's lane.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Whose.
    pub(super) worker: WorkerId,
    /// The lane's place in [`Lane::ALL`].
    pub(super) lane: u8,
    /// From 0.
    pub(super) number: u32,
    /// In order of time.
    pub(super) spans: Vec<Kept>,
    /// From then on it has room.
    free_at: u64,
}

/// Rows of one lane in which the time before a copy's start is drawn too.
const ROWS_WHOLE: usize = 3;
/// Most rows of one lane.
const ROWS_MAX: usize = 64;

/// The rows of all lanes, and how many copies found no room in them.
pub(super) fn rows(copies: &Copies, workers: usize) -> (Vec<Row>, u32) {
    let mut lanes: Vec<Vec<Row>> = vec![Vec::new(); workers * Lane::COUNT];
    let mut left_out = 0;
    for times in copies.times() {
        let place = times.worker.index() * Lane::COUNT + times.lane.index();
        let Some(rows) = lanes.get_mut(place) else { continue };
        if !enter(rows, times) {
            left_out += 1;
        }
    }
    (lanes.into_iter().flatten().collect(), left_out)
}

fn enter(rows: &mut Vec<Row>, times: Times) -> bool {
    let ended = times.ended.unwrap_or(NEVER);
    let started = times.started.unwrap_or(ended);
    let free = (0..rows.len()).min_by_key(|row| rows[*row].free_at);
    let fits = |by: u64| free.filter(|row| rows[*row].free_at <= by);
    let (row, from) = match (fits(times.queued), fits(started)) {
        (Some(row), _) => (row, times.queued),
        (None, _) if rows.len() < ROWS_WHOLE => (more(rows, times), times.queued),
        (None, Some(row)) => (row, rows[row].free_at),
        (None, None) if rows.len() < ROWS_MAX => (more(rows, times), started),
        (None, None) => return false,
    };
    draw(&mut rows[row], times, [from, started, ended]);
    true
}

fn more(rows: &mut Vec<Row>, times: Times) -> usize {
    let number = rows.len() as u32;
    let lane = times.lane.index() as u8;
    rows.push(Row { worker: times.worker, lane, number, spans: Vec::new(), free_at: 0 });
    rows.len() - 1
}

fn draw(row: &mut Row, times: Times, [from, started, ended]: [u64; 3]) {
    let failed = matches!(times.end, Some(CopyEnd::Failed(_)));
    let moving = if failed { SpanKind::Failed } else { SpanKind::Moving };
    let mut add = |kind, start: u64, end: u64| {
        if start < end {
            row.spans.push(Kept { end, ..Kept::new(kind, start, times.blocks, low(times.transfer)) });
        }
    };
    add(SpanKind::Queued, from, started);
    match times.paused.filter(|_| times.started.is_some()) {
        Some((since, until)) => {
            let until = until.min(ended);
            add(SpanKind::Failed, started, since);
            add(SpanKind::Retrying, since, until);
            add(moving, until, ended);
        }
        None => add(moving, started, ended),
    }
    row.free_at = ended;
}
