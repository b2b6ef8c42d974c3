//! A run with everything that is read off it: report, series, keyframes. Driven in slices, so that a page
//! can show progress and hear "cancel" in between.

use std::sync::Arc;

use tierscope_engine::FactLog;
use tierscope_report::{
    Census, FoldSetup, Folds, Header, InfiniteCache, Outcome, Report, SloLimits, WorkerSetup, infinite_cache,
};
use tierscope_scenario::{Problem, Recording, Scenario, Told, Workload};
use tierscope_units::{SimTime, TokenRun};

use crate::census::census;
use crate::error::RunError;
use crate::keyframes::Keyframes;
use crate::simulation::{Progress, Simulation, Step};

/// What a run keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RunOptions {
    /// Keep states, so that any time can be sought.
    pub keyframes: bool,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// More is to come.
    Running,
    /// Every request has ended.
    Finished,
    /// Nothing will happen any more, and requests are unfinished (rule R3).
    DeadEnd,
    /// It is as far as it was driven: there it was stopped.
    Stopped,
}

/// A run under way or over.
pub struct Run {
    simulation: Simulation,
    folds: Folds,
    keyframes: Option<Keyframes>,
    header: Header,
    state: RunState,
    census: Option<Census>,
    /// The last instant of a run that was stopped when it was driven.
    stopped: Option<SimTime>,
}

impl Run {
    /// A run before its first instant.
    pub fn new(scenario: &Scenario, workload: Arc<Workload>, options: RunOptions) -> Self {
        let simulation = Simulation::new(scenario, Arc::clone(&workload));
        Self::of(scenario, &workload, options, simulation)
    }

    /// A run whose copies somebody else makes: see [`Simulation::listening`].
    pub fn listening(scenario: &Scenario, workload: Arc<Workload>) -> Self {
        let simulation = Simulation::new(scenario, Arc::clone(&workload)).listening(Arc::default());
        Self::of(scenario, &workload, RunOptions::default(), simulation)
    }

    /// A driven run once more, of the scenario in its recording.
    pub fn replay(
        scenario: &Scenario,
        workload: Arc<Workload>,
        options: RunOptions,
        recording: &Recording,
    ) -> Self {
        let told = Arc::new(recording.told.clone());
        let simulation = Simulation::new(scenario, Arc::clone(&workload)).listening(told);
        let run = Self::of(scenario, &workload, options, simulation);
        Self { stopped: recording.stopped, ..run }
    }

    fn of(scenario: &Scenario, workload: &Workload, options: RunOptions, simulation: Simulation) -> Self {
        let [g1_blocks, g2, g3, g4] = tier_blocks(scenario);
        let setup = FoldSetup {
            slo: scenario.slo.as_ref().map(|slo| SloLimits {
                ttft_ns: slo.ttft.map(|span| span.as_ns()),
                itl_ns: slo.itl.map(|span| span.as_ns()),
                e2e_ns: slo.e2e.map(|span| span.as_ns()),
            }),
            block_size_tokens: scenario.engine.block_size_tokens,
            g1_blocks,
            tier_blocks: [g2, g3, g4],
            kv_bytes_per_block: scenario.kv_bytes_per_block,
            requests: workload.requests.len() as u32,
            workers: workers(scenario),
            router: scenario.fleet.as_ref().map_or("", |fleet| fleet.router.kind.name()),
        };
        let header = Header {
            version: crate::VERSION.to_owned(),
            scenario_hash: scenario.hash().to_string(),
            seed: scenario.seed,
            timing_model: scenario.timing.name().to_owned(),
            title: scenario.title.clone(),
        };
        let keyframes = options.keyframes.then(|| Keyframes::new(&simulation));
        let folds = Folds::new(&setup);
        Self { simulation, folds, keyframes, header, state: RunState::Running, census: None, stopped: None }
    }

    /// Applies up to `instants` instants, showing the facts to `sink`.
    ///
    /// # Errors
    ///
    /// When time would leave the representable range; the facts so far stand.
    pub fn advance(&mut self, instants: u32, mut sink: impl FnMut(&FactLog)) -> Result<RunState, RunError> {
        for _ in 0..instants {
            if self.state == RunState::Running && self.is_past_stop() {
                self.state = RunState::Stopped;
            }
            if self.state != RunState::Running {
                break;
            }
            let folds = &mut self.folds;
            let step = self.simulation.step(|log| {
                folds.take(log);
                sink(log);
            })?;
            match step {
                Step::Advanced => self.keep_state(),
                Step::Finished => self.state = RunState::Finished,
                Step::DeadEnd => self.stop_dead(),
            }
        }
        Ok(self.state)
    }

    /// Applies every instant up to `at`, and goes on as `new` has it from there; `old` is what it was made of. Time
    /// that a dead end would never reach is no obstacle: the change may be what ends it.
    ///
    /// # Errors
    ///
    /// As [`Simulation::retune`]; then the run goes on as it was.
    pub fn retune(&mut self, at: SimTime, old: &Scenario, new: &Scenario) -> Result<(), Box<Problem>> {
        self.simulation.retune(at, old, new)?;
        if let Some(keyframes) = &mut self.keyframes {
            keyframes.turn(&self.simulation);
        }
        self.state = RunState::Running;
        self.census = None;
        let [g1_blocks, g2, g3, g4] = tier_blocks(new);
        self.folds.resize(g1_blocks, [g2, g3, g4], workers(new));
        Ok(())
    }

    /// Runs to the end.
    ///
    /// # Errors
    ///
    /// As [`Run::advance`].
    pub fn finish(&mut self) -> Result<RunState, RunError> {
        while self.advance(u32::MAX, |_| {})? == RunState::Running {}
        Ok(self.state)
    }

    fn is_past_stop(&self) -> bool {
        self.stopped.is_some_and(|last| self.simulation.next_time().is_none_or(|next| next > last))
    }

    fn keep_state(&mut self) {
        if let Some(keyframes) = &mut self.keyframes {
            keyframes.instant(&self.simulation);
        }
    }

    fn stop_dead(&mut self) {
        self.state = RunState::DeadEnd;
        self.census = Some(census(&self.simulation));
    }

    /// Somebody who makes the copies tells that one has ended ([`Simulation::copy_ended`]).
    pub fn copy_ended(&mut self, told: Told) -> Told {
        self.simulation.copy_ended(told)
    }

    /// Where the run stands.
    pub fn state(&self) -> RunState {
        self.state
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.simulation.progress()
    }

    /// The state at the newest instant.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The folds over all facts so far.
    pub fn folds(&self) -> &Folds {
        &self.folds
    }

    /// The report so far. A run that is not over counts as cancelled.
    pub fn report(&self) -> Report {
        let outcome = match self.state {
            RunState::Running | RunState::Stopped => Outcome::Cancelled,
            RunState::Finished => Outcome::Finished,
            RunState::DeadEnd => Outcome::DeadEnd,
        };
        let infinite = speed_of_light(self.simulation.workload());
        self.folds.report(self.header.clone(), outcome, infinite, self.census.as_ref())
    }

    /// The state after all instants up to `at`. Without keyframes the run is repeated from its beginning, which
    /// only [`Run::new`] has: then the newest state is given.
    pub fn seek(&self, at: SimTime) -> Simulation {
        let Some(keyframes) = &self.keyframes else { return self.simulation.clone() };
        let mut state = keyframes.before(at);
        while state.next_time().is_some_and(|next| next <= at && next <= self.simulation.now()) {
            if state.step(|_| {}).is_err() {
                break;
            }
        }
        state
    }
}

/// Blocks of G1 to G4 over all workers. The scenario's limits keep the sums within their type.
fn tier_blocks(scenario: &Scenario) -> [u32; 4] {
    scenario.fleet_config().tier_blocks().map(|sum| u32::try_from(sum).unwrap_or(u32::MAX))
}

/// Each of several workers.
fn workers(scenario: &Scenario) -> Vec<WorkerSetup> {
    let Some(fleet) = &scenario.fleet else { return Vec::new() };
    let config = scenario.fleet_config();
    let setup = |worker: usize| WorkerSetup {
        role: fleet.roles[worker].name(),
        g1_blocks: config.g1_blocks_of(worker),
        present: fleet.present[worker],
    };
    (0..fleet.roles.len()).map(setup).collect()
}

/// What a cache without limits would have hit, by the workload's own content blocks.
pub(crate) fn speed_of_light(workload: &Workload) -> InfiniteCache {
    let prompts = workload.requests.iter().map(|plan| {
        let prompt: &[TokenRun] = &workload.runs[plan.runs.start as usize..plan.runs.end as usize];
        (plan.salt, prompt, TokenRun { start: plan.output_start, len: plan.output_tokens })
    });
    infinite_cache(prompts, workload.content_block_tokens)
}
