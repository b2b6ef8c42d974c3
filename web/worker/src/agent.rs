//! Answers the page: owns the run, advances it in slices, and shows any of its times.
//!
//! Plain Rust: the clock comes in as a function, messages go in and out as values.

mod ask;
mod begin;
mod chores;
mod coming;
mod export;
mod picked;
mod recordings;
mod traces;
mod turn;

use tierscope_report::{BelowSample as ReportBelowSample, CdfPoint, Report, Sample as ReportSample};
use tierscope_scenario::{Expectation, Problem};
use tierscope_sim::{Run, RunError, RunState, Simulation, evaluate};
use tierscope_units::{SimTime, TxnId, WorkerId};

use crate::protocol::{
    BelowSample, Board, Direction, Distribution, Find, Found, FromWorker, ProblemView, RunResult, Sample,
    ToWorker, Transaction, TxnDetail, Verdict,
};
use crate::read::Read;
use crate::replay::Wanted;
use crate::tiers::World;
use crate::{board, read, replay};
use begin::{Files, Prepared, Source};
use chores::Chores;
use export::Export;
use turn::Turn;

/// The worker's whole state.
#[derive(Default)]
pub struct Agent {
    job: Option<Job>,
    chores: Chores,
    /// What is being written of it.
    export: Option<Export>,
    /// Files that were handed over.
    files: Files,
    /// A run that waits for a file: its number, what it is of, and its worker.
    pending: Option<(u32, Source, u32)>,
}

/// A run, under way or over.
struct Job {
    id: u32,
    run: Run,
    title: String,
    /// Its result was sent: from now on it is only looked at.
    over: bool,
    wall_ms: f64,
    /// When the page was last told how far it is.
    told_ms: f64,
    /// The state that was shown last: the next one is likely a little later.
    shown: Option<Simulation>,
    /// The state before the first instant.
    start: Simulation,
    /// What was read off its facts.
    read: Read,
    /// The worker that is shown while nobody asks for one.
    worker: WorkerId,
    /// What lies below G1, as the scenario has it.
    world: World,
    /// What it still turns into.
    turn: Option<Turn>,
    /// When it turns, or has turned: no state before it leads past it.
    turns_at: Option<SimTime>,
    /// What the scenario expects.
    expect: Vec<Expectation>,
    /// The transaction that was looked at last.
    looked_at: Option<(Wanted, Option<TxnDetail>)>,
}

/// Instants between two looks at the clock.
const INSTANTS: u32 = 64;
/// The page is told about a run at most this often.
const TELL_EVERY_MS: f64 = 80.0;
/// A seek forward goes on from the shown state for this many instants; then a keyframe is likely nearer.
const STRIDE: u32 = 2_000;

impl Agent {
    /// Answers a message.
    pub fn hear(&mut self, message: ToWorker) -> Vec<FromWorker> {
        match message {
            ToWorker::Run { run, text, worker } => self.start(run, Source::Text(text), worker),
            ToWorker::Replay { run, recording, worker } => {
                self.start(run, Source::Recording(recording), worker)
            }
            ToWorker::Fork { run, duel, worker } => self.fork(run, &duel, worker),
            ToWorker::Trace { trace, step } => self.handed(trace, step),
            ToWorker::Cancel { run } => {
                self.job(run).filter(|job| !job.over).map(Job::end).into_iter().collect()
            }
            ToWorker::Select { run, worker } => {
                self.job(run).and_then(|job| job.select(worker)).into_iter().collect()
            }
            ToWorker::Seek { run, worker, at_ns } => {
                let board = self.job(run).map(|job| job.board(at_ns, job.worker_of(worker)));
                board.map(|board| FromWorker::Board { run, board: Box::new(board) }).into_iter().collect()
            }
            ToWorker::Step { run, worker, from_ns, direction } => {
                let board = self.job(run).map(|job| job.step(from_ns, direction, job.worker_of(worker)));
                board.map(|board| FromWorker::Stepped { run, board: Box::new(board) }).into_iter().collect()
            }
            ToWorker::Inspect { run, worker, at_ns, tier, slot, among } => {
                let slot =
                    self.job(run).and_then(|job| job.slot(at_ns, job.worker_of(worker), tier, slot, among));
                slot.map(|slot| FromWorker::Slot { run, worker, slot }).into_iter().collect()
            }
            ToWorker::Tell { run, at_ns, about } => {
                let told = self.job(run).map(|job| job.tell(at_ns, &about));
                told.map(|told| FromWorker::Told { run, at_ns, about, told }).into_iter().collect()
            }
            ToWorker::Find { run, find: asked } => {
                let found = self.job(run).map(|job| Box::new(job.find(asked)));
                found.map(|found| FromWorker::Found { run, asked, found }).into_iter().collect()
            }
            ToWorker::Tracks { run } => self.job(run).and_then(|job| job.tracks()).into_iter().collect(),
            ToWorker::Search { run, query } => {
                let hits = self.job(run).map(|job| Box::new(job.search(&query)));
                hits.map(|hits| FromWorker::Hits { run, query, hits }).into_iter().collect()
            }
            ToWorker::Facts { run, at_ns } => {
                let instant = self.job(run).map(|job| Box::new(job.facts_at(at_ns)));
                instant
                    .map(|instant| FromWorker::Facts { run, asked_ns: at_ns, instant })
                    .into_iter()
                    .collect()
            }
            ToWorker::Chore { .. } => {
                let mut said = Vec::new();
                self.work(message, &mut |answer| said.push(answer));
                said
            }
            ToWorker::Export { run, number, kind } => {
                let over = self.job.as_ref().filter(|job| job.id == run && job.over);
                self.export = over.map(|job| Export::new(job, number, kind));
                Vec::new()
            }
            ToWorker::StopExport { .. } => {
                self.export = None;
                Vec::new()
            }
        }
    }

    /// Does a chore, saying how far it is meanwhile.
    pub fn work(&mut self, message: ToWorker, say: &mut dyn FnMut(FromWorker)) {
        if let ToWorker::Chore { job, task, chore } = message {
            let say = &mut |answer| say(FromWorker::Chore { job, task, answer });
            self.chores.work(chore, &self.files, say);
        }
    }

    /// Whether slices are wanted.
    pub fn is_running(&self) -> bool {
        self.export.is_some() || self.job.as_ref().is_some_and(|job| !job.over)
    }

    /// Advances the run for about `budget_ms`.
    pub fn slice(&mut self, now_ms: &dyn Fn() -> f64, budget_ms: f64) -> Vec<FromWorker> {
        let Some(job) = self.job.as_mut().filter(|job| !job.over) else {
            return self.write(now_ms, budget_ms);
        };
        let begun = now_ms();
        loop {
            let state = match job.advance() {
                Ok(state) => state,
                Err(error) => {
                    job.over = true;
                    return vec![refused(job.id, vec![stopped(&error.to_string())])];
                }
            };
            let passed = now_ms() - begun;
            if state != RunState::Running {
                job.wall_ms += passed;
                return vec![job.end()];
            }
            if passed >= budget_ms {
                job.wall_ms += passed;
                return job.tell_progress(begun + passed);
            }
        }
    }

    /// Writes what is asked for, for about `budget_ms`.
    fn write(&mut self, now_ms: &dyn Fn() -> f64, budget_ms: f64) -> Vec<FromWorker> {
        let (Some(job), Some(export)) = (&self.job, &mut self.export) else { return Vec::new() };
        let (parts, more) = export.slice(job, now_ms, budget_ms);
        if !more {
            self.export = None;
        }
        parts
    }

    fn job(&mut self, run: u32) -> Option<&mut Job> {
        self.job.as_mut().filter(|job| job.id == run)
    }
}

impl Job {
    fn new(id: u32, Prepared { run, world, title, expect }: Prepared) -> Self {
        Self {
            id,
            title,
            start: run.simulation().clone(),
            over: false,
            wall_ms: 0.0,
            told_ms: 0.0,
            shown: None,
            read: Read::new(run.simulation().fleet()),
            worker: WorkerId::default(),
            world,
            turn: None,
            turns_at: None,
            expect,
            looked_at: None,
            run,
        }
    }

    /// Some instants further.
    fn advance(&mut self) -> Result<RunState, RunError> {
        for _ in 0..INSTANTS {
            let state = turn::advance(&mut self.run, &mut self.turn, 1, |log| self.read.take(log))?;
            self.read.settle(self.run.simulation());
            if state != RunState::Running {
                return Ok(state);
            }
        }
        Ok(RunState::Running)
    }

    /// The worker of a number: the first, where there are not so many.
    fn worker_of(&self, worker: u32) -> WorkerId {
        let there = (worker as usize) < self.start.fleet().workers().len();
        if there { WorkerId(worker as u16) } else { WorkerId::default() }
    }

    /// Shows another worker; of a run that is over, its occupancy follows.
    fn select(&mut self, worker: u32) -> Option<FromWorker> {
        self.worker = self.worker_of(worker);
        let (run, worker) = (self.id, u32::from(self.worker.0));
        self.over.then(|| FromWorker::Occupancy { run, worker, occupancy: self.occupancy() })
    }

    /// The result of what was run so far; the run goes no further.
    fn end(&mut self) -> FromWorker {
        self.over = true;
        let full = self.run.report();
        let report = match serde_json::to_string(&full) {
            Ok(report) => report,
            Err(error) => return refused(self.id, vec![stopped(&error.to_string())]),
        };
        let result = RunResult {
            report,
            end_ns: self.end_at().as_ns() as f64,
            occupancy: self.occupancy(),
            below: self.run.folds().below().iter().map(below_sample).collect(),
            latency: self.latency(),
            hits: self.read.hits.samples(),
            verdicts: self.verdicts(&full),
            stopped: self.run.state() == RunState::Stopped,
            wall_ms: self.wall_ms,
        };
        FromWorker::Done { run: self.id, result }
    }

    /// What the scenario expects, and whether the run shows it.
    fn verdicts(&self, report: &Report) -> Vec<Verdict> {
        let failures = evaluate(&self.expect, report, &self.run.folds().summary());
        let verdict = |expectation: &Expectation| {
            let (expected, line) = (expectation.source(), expectation.line());
            let failed =
                failures.iter().find(|failure| (failure.expected.as_str(), failure.line) == (expected, line));
            let found = failed.map(|failure| failure.found.clone());
            Verdict { expected: expected.to_owned(), line, found }
        };
        self.expect.iter().map(verdict).collect()
    }

    fn tell_progress(&mut self, now_ms: f64) -> Vec<FromWorker> {
        if now_ms - self.told_ms < TELL_EVERY_MS {
            return Vec::new();
        }
        self.told_ms = now_ms;
        let progress = self.run.progress();
        let now_ns = progress.now.as_ns();
        let told = FromWorker::Progress {
            run: self.id,
            finished: progress.ended,
            total: progress.total,
            now_ns: now_ns as f64,
        };
        let board = board::board(self.run.simulation(), now_ns, self.worker, &self.read, &self.world);
        let board = FromWorker::Board { run: self.id, board: Box::new(board) };
        vec![told, board]
    }

    /// The last instant.
    fn end_at(&self) -> SimTime {
        self.run.simulation().now()
    }

    /// G1 of the worker that is shown, over time.
    fn occupancy(&self) -> Vec<Sample> {
        let mut samples: Vec<Sample> = self.read.occupancy(self.worker).iter().map(sample).collect();
        // And how it stands at the end.
        samples.push(sample(&read::at_rest(self.run.simulation(), self.worker)));
        samples
    }

    fn latency(&self) -> Vec<Distribution> {
        let cdf = self.run.folds().latency_cdf();
        let line = |name: &str, points: &[CdfPoint]| Distribution {
            name: name.to_owned(),
            points: points.iter().map(|point| (point.ns as f64, point.share)).collect(),
        };
        vec![line("TTFT", &cdf.ttft_ns), line("ITL", &cdf.itl_ns), line("E2E", &cdf.e2e_ns)]
    }

    /// The state at a time.
    fn seek(&mut self, at_ns: f64) -> &Simulation {
        let at = SimTime::from_ns(ns(at_ns)).min(self.end_at());
        let turns = |shown: &Simulation| self.turns_at.is_some_and(|turn| shown.now() <= turn && turn <= at);
        let near = self.shown.take().filter(|shown| !turns(shown)).and_then(|shown| onward(shown, at));
        let found = near.unwrap_or_else(|| self.run.seek(at));
        self.shown.insert(found)
    }

    /// A worker's board at a time.
    fn board(&mut self, at_ns: f64, worker: WorkerId) -> Board {
        self.seek(at_ns);
        let shown = self.shown.as_ref().unwrap_or(self.run.simulation());
        board::board(shown, ns(at_ns), worker, &self.read, &self.world)
    }

    /// The transaction that is asked for.
    fn find(&mut self, asked: Find) -> Found {
        let (at, shown) = (SimTime::from_ns(ns(asked.at_ns)), asked.txn.map(|txn| TxnId(ns(txn))));
        let worker = self.worker_of(asked.filter.worker);
        let ledger = self.read.ledger(worker);
        let place = ledger.find(asked.way, at, shown, asked.filter);
        let mut transaction = place.and_then(|place| ledger.get(place));
        if let Some(found) = transaction.as_mut().filter(|_| asked.details) {
            found.detail = self.look_at(found, worker);
        }
        let ledger = self.read.ledger(worker);
        Found {
            transaction,
            place: place.map_or(0, |place| ledger.rank(place, asked.filter)),
            counts: ledger.counts(asked.filter.request),
            dropped: ledger.dropped() as f64,
        }
    }

    /// The state before an instant, from which it can be repeated.
    fn before(&mut self, at: SimTime) -> Simulation {
        match at.as_ns().checked_sub(1) {
            Some(before) => self.seek(before as f64).clone(),
            None => self.start.clone(),
        }
    }

    /// Its details, by repeating its instant.
    fn look_at(&mut self, found: &Transaction, worker: WorkerId) -> Option<TxnDetail> {
        let at_ns = ns(found.at_ns);
        let wanted = Wanted { worker, txn: TxnId(ns(found.txn)), at: SimTime::from_ns(at_ns) };
        if let Some((_, known)) = self.looked_at.as_ref().filter(|(known, _)| *known == wanted) {
            return known.clone();
        }
        let detail = replay::detail(self.before(wanted.at), wanted, &self.read.copies);
        self.looked_at = Some((wanted, detail.clone()));
        detail
    }

    /// The board one instant away.
    fn step(&mut self, from_ns: f64, direction: Direction, worker: WorkerId) -> Board {
        let from = ns(from_ns);
        let end = self.end_at();
        let here = self.seek(from_ns);
        let since = here.now().as_ns();
        let to = match direction {
            Direction::Forward => {
                here.next_time().filter(|&next| next <= end).map_or(end.as_ns(), SimTime::as_ns)
            }
            Direction::Back if since < from => since,
            Direction::Back => self.seek(since.saturating_sub(1) as f64).now().as_ns(),
        };
        self.board(to as f64, worker)
    }
}

/// The shown state run forward to `at`; nothing when that is behind it or far ahead.
fn onward(mut shown: Simulation, at: SimTime) -> Option<Simulation> {
    if shown.now() > at {
        return None;
    }
    for _ in 0..STRIDE {
        match shown.next_time() {
            Some(next) if next <= at => shown.step(|_| {}).ok()?,
            _ => return Some(shown),
        };
    }
    None
}

/// Whole nanoseconds; a cast saturates, and NaN is 0.
fn ns(ns: f64) -> u64 {
    ns as u64
}

fn sample(sample: &ReportSample) -> Sample {
    Sample {
        at_ns: sample.at_ns as f64,
        active: sample.active,
        cached: sample.cached,
        free: sample.free,
        waiting: sample.waiting,
        running: sample.running,
    }
}

fn below_sample(sample: &ReportBelowSample) -> BelowSample {
    BelowSample { at_ns: sample.at_ns as f64, resident: sample.resident }
}

fn refused(run: u32, problems: Vec<ProblemView>) -> FromWorker {
    FromWorker::Refused { run, problems }
}

fn stopped(error: &str) -> ProblemView {
    ProblemView {
        line: 1,
        column: 1,
        found: error.to_owned(),
        expected: "a run that stays within time and memory".to_owned(),
        mend: "smaller numbers in [timing] and [workload]".to_owned(),
        ..ProblemView::default()
    }
}

fn problem_view(problem: &Problem) -> ProblemView {
    ProblemView {
        line: problem.line,
        column: problem.column,
        key: problem.key.clone(),
        found: problem.found.clone(),
        expected: problem.expected.clone(),
        mend: problem.mend.clone(),
    }
}

#[cfg(test)]
mod tests;
