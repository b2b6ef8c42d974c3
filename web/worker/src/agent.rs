//! Answers the page: owns the run, advances it in slices, and shows any of its times.
//!
//! Plain Rust: the clock comes in as a function, messages go in and out as values.

use std::sync::Arc;

use tierscope_report::{BelowSample as ReportBelowSample, CdfPoint, Sample as ReportSample};
use tierscope_scenario::{Problem, Scenario, expand, parse_any};
use tierscope_sim::{Run, RunError, RunOptions, RunState, Simulation};
use tierscope_units::{SimTime, SlotId, TxnId, WorkerId};

use crate::protocol::{
    BelowSample, Board, Direction, Distribution, Find, Found, FromWorker, ProblemView, RunResult, Sample,
    SlotView, ToWorker, Transaction, TxnDetail,
};
use crate::read::Read;
use crate::replay::Wanted;
use crate::tiers::World;
use crate::{board, replay};

/// The worker's whole state.
#[derive(Default)]
pub struct Agent {
    job: Option<Job>,
}

/// A run, under way or over.
struct Job {
    id: u32,
    run: Run,
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
            ToWorker::Run { run, text, worker } => self.start(run, &text, worker),
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
            ToWorker::Inspect { run, worker, at_ns, slot } => {
                let slot = self.job(run).and_then(|job| job.slot(at_ns, job.worker_of(worker), SlotId(slot)));
                slot.map(|slot| FromWorker::Slot { run, worker, slot }).into_iter().collect()
            }
            ToWorker::Find { run, find: asked } => {
                let found = self.job(run).map(|job| Box::new(job.find(asked)));
                found.map(|found| FromWorker::Found { run, asked, found }).into_iter().collect()
            }
        }
    }

    /// Whether slices are wanted.
    pub fn is_running(&self) -> bool {
        self.job.as_ref().is_some_and(|job| !job.over)
    }

    /// Advances the run for about `budget_ms`.
    pub fn slice(&mut self, now_ms: &dyn Fn() -> f64, budget_ms: f64) -> Vec<FromWorker> {
        let Some(job) = self.job.as_mut().filter(|job| !job.over) else { return Vec::new() };
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
                return job.tell(begun + passed);
            }
        }
    }

    fn job(&mut self, run: u32) -> Option<&mut Job> {
        self.job.as_mut().filter(|job| job.id == run)
    }

    fn start(&mut self, id: u32, text: &str, worker: u32) -> Vec<FromWorker> {
        self.job = None;
        match prepare(text) {
            Ok((run, world)) => {
                let job = self.job.insert(Job::new(id, run, world));
                job.worker = job.worker_of(worker);
                Vec::new()
            }
            Err(problems) => vec![refused(id, problems.iter().map(problem_view).collect())],
        }
    }
}

impl Job {
    fn new(id: u32, run: Run, world: World) -> Self {
        Self {
            id,
            start: run.simulation().clone(),
            over: false,
            wall_ms: 0.0,
            told_ms: 0.0,
            shown: None,
            read: Read::new(run.simulation().fleet()),
            worker: WorkerId::default(),
            world,
            looked_at: None,
            run,
        }
    }

    /// Some instants further.
    fn advance(&mut self) -> Result<RunState, RunError> {
        self.run.advance(INSTANTS, |log| self.read.take(log))
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
        let report = match serde_json::to_string(&self.run.report()) {
            Ok(report) => report,
            Err(error) => return refused(self.id, vec![stopped(&error.to_string())]),
        };
        let result = RunResult {
            report,
            end_ns: self.end_at().as_ns() as f64,
            occupancy: self.occupancy(),
            below: self.run.folds().below().iter().map(below_sample).collect(),
            latency: self.latency(),
            wall_ms: self.wall_ms,
        };
        FromWorker::Done { run: self.id, result }
    }

    fn tell(&mut self, now_ms: f64) -> Vec<FromWorker> {
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
        // Samples are taken as passes begin: what the last one left is added.
        let last = self.run.simulation();
        let engine = last.fleet().worker(self.worker);
        let (g1, (running, waiting)) = (engine.g1().occupancy(), engine.queue_lengths());
        samples.push(Sample {
            at_ns: last.now().as_ns() as f64,
            active: g1.active,
            cached: g1.cached,
            free: g1.free,
            waiting: waiting as u32,
            running: running as u32,
        });
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
        let near = self.shown.take().and_then(|shown| onward(shown, at));
        let found = near.unwrap_or_else(|| self.run.seek(at));
        self.shown.insert(found)
    }

    /// A worker's board at a time.
    fn board(&mut self, at_ns: f64, worker: WorkerId) -> Board {
        self.seek(at_ns);
        let shown = self.shown.as_ref().unwrap_or(self.run.simulation());
        board::board(shown, ns(at_ns), worker, &self.read, &self.world)
    }

    /// A worker's slot at a time.
    fn slot(&mut self, at_ns: f64, worker: WorkerId, slot: SlotId) -> Option<SlotView> {
        board::slot(self.seek(at_ns).fleet(), worker, slot)
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

    /// Its details, by repeating its instant.
    fn look_at(&mut self, found: &Transaction, worker: WorkerId) -> Option<TxnDetail> {
        let at_ns = ns(found.at_ns);
        let wanted = Wanted { worker, txn: TxnId(ns(found.txn)), at: SimTime::from_ns(at_ns) };
        if let Some((_, known)) = self.looked_at.as_ref().filter(|(known, _)| *known == wanted) {
            return known.clone();
        }
        let before = match at_ns.checked_sub(1) {
            Some(before) => self.seek(before as f64).clone(),
            None => self.start.clone(),
        };
        let detail = replay::detail(before, wanted, &self.read.copies);
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

fn prepare(text: &str) -> Result<(Run, World), Vec<Problem>> {
    let scenario: Scenario = parse_any(text)?;
    let workload = expand(&scenario, None)?;
    let run = Run::new(&scenario, Arc::new(workload), RunOptions { keyframes: true });
    Ok((run, World::of(&scenario)))
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
