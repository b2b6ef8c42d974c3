//! How a run begins: of a scenario's text, or of what was recorded of a driven one; and what has to be there before.

use std::sync::Arc;

use tierscope_scenario::{Expectation, Problem, Recording, Scenario, parse_any};
use tierscope_sim::{Run, RunOptions};

use super::recordings::Recordings;
use super::traces::Traces;
use super::{Agent, Job, problem_view, refused};
use crate::protocol::{FileKind, FromWorker, TraceStep};
use crate::tiers::World;

/// Files that were handed over.
#[derive(Default)]
pub(super) struct Files {
    pub(super) traces: Traces,
    pub(super) recordings: Recordings,
}

/// Of what a run is to be.
#[derive(Clone)]
pub(super) enum Source {
    Text(String),
    /// The recording of this number.
    Recording(u32),
}

/// What a run is made of.
pub(super) enum Asked<'a> {
    Text(&'a str),
    Recording(&'a Recording),
}

/// A scenario that can run.
pub(super) struct Prepared {
    pub(super) run: Run,
    pub(super) world: World,
    pub(super) title: String,
    pub(super) expect: Vec<Expectation>,
}

impl Files {
    /// Takes a step of handing a file over.
    pub(super) fn hear(&mut self, number: u32, step: TraceStep) -> Vec<FromWorker> {
        let Self { traces, recordings } = self;
        let said = match step {
            TraceStep::Begin { name, bytes, kind: FileKind::Trace } => {
                Some(traces.begin(number, &name, bytes))
            }
            TraceStep::Begin { name, bytes, kind: FileKind::Recording } => {
                Some(recordings.begin(number, &name, bytes))
            }
            TraceStep::Slice(slice) => {
                recordings.slice(number, &slice).or_else(|| traces.slice(number, &slice))
            }
            TraceStep::End => recordings.end(number).or_else(|| traces.end(number)),
            TraceStep::Drop => {
                recordings.forget(number);
                traces.forget(number);
                None
            }
        };
        said.map(|said| FromWorker::Trace { trace: number, said }).into_iter().collect()
    }

    /// Whether something of it is still on its way.
    fn awaits(&self, source: &Source) -> bool {
        let waits = |text: &str| parse_any(text).is_ok_and(|scenario| self.traces.awaits(&scenario));
        match source {
            Source::Text(text) => waits(text),
            Source::Recording(number) => {
                self.recordings.awaits(*number)
                    || self.recordings.get(*number).is_ok_and(|recording| waits(&recording.scenario))
            }
        }
    }
}

impl Agent {
    /// A step of a file that is handed over; the run that waited for it begins.
    pub(super) fn handed(&mut self, number: u32, step: TraceStep) -> Vec<FromWorker> {
        let over = matches!(step, TraceStep::End | TraceStep::Drop);
        let is_recording = self.files.recordings.awaits(number)
            || matches!(step, TraceStep::Begin { kind: FileKind::Recording, .. });
        let mut said = self.files.hear(number, step);
        if !is_recording {
            self.chores.forget_traces();
        }
        if let Some((run, source, worker)) = self.pending.take_if(|_| over) {
            said.extend(self.start(run, source, worker));
        }
        said
    }

    pub(super) fn start(&mut self, id: u32, source: Source, worker: u32) -> Vec<FromWorker> {
        (self.job, self.export, self.pending) = (None, None, None);
        if self.files.awaits(&source) {
            self.pending = Some((id, source, worker));
            return Vec::new();
        }
        let Files { traces, recordings } = &self.files;
        let prepared = match &source {
            Source::Text(text) => prepare(Asked::Text(text), traces),
            Source::Recording(number) => recordings.replay(*number, traces),
        };
        match prepared {
            Ok(prepared) => {
                let job = self.job.insert(Job::new(id, prepared));
                job.worker = job.worker_of(worker);
                Vec::new()
            }
            Err(problems) => vec![refused(id, problems.iter().map(problem_view).collect())],
        }
    }
}

/// Reads, and makes the requests.
pub(super) fn prepare(asked: Asked<'_>, traces: &Traces) -> Result<Prepared, Vec<Problem>> {
    let scenario: Scenario = match asked {
        Asked::Text(text) => parse_any(text)?,
        Asked::Recording(recording) => parse_any(&recording.scenario)?,
    };
    let workload = Arc::new(traces.expand(&scenario)?);
    let options = RunOptions { keyframes: true };
    let run = match asked {
        Asked::Text(_) => Run::new(&scenario, workload, options),
        Asked::Recording(recording) => Run::replay(&scenario, workload, options, recording),
    };
    Ok(Prepared { run, world: World::of(&scenario), title: scenario.title, expect: scenario.expect })
}
