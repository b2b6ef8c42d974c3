//! Workloads for chores: points that differ in capacities or policies replay the same requests, which are made, and
//! cut into blocks for the cache model, only once.

use std::sync::Arc;

use tierscope_scenario::{Scenario, Workload, WorkloadSpec, parse_any};
use tierscope_sweep::cache::CacheModel;
use tierscope_units::Digest;

use super::{Problems, problems};
use crate::agent::recordings::Recordings;
use crate::agent::traces::Traces;

/// Workloads that are kept at once.
const KEPT: usize = 8;
/// Requests and token runs of all that are kept; the newest is kept whatever its size.
const KEPT_SIZE: usize = 4 << 20;

/// Workloads that were made.
#[derive(Default)]
pub(super) struct Shelf(Vec<Entry>);

/// Where workloads come from.
pub(super) struct Supply<'a> {
    pub(super) shelf: &'a mut Shelf,
    /// The trace that the page was given.
    pub(super) traces: &'a Traces,
    /// The driven run that it was given.
    pub(super) recordings: &'a Recordings,
}

/// What a workload depends on, and it.
struct Entry {
    spec: WorkloadSpec,
    block_size_tokens: u32,
    /// Of drawn workloads.
    seed: Option<u64>,
    workload: Arc<Workload>,
    /// Made when it is first asked for.
    cache: Option<Arc<CacheModel>>,
}

impl Entry {
    fn size(&self) -> usize {
        self.workload.requests.len() + self.workload.runs.len()
    }
}

impl Shelf {
    pub(super) fn forget_traces(&mut self) {
        self.0.retain(|entry| !matches!(entry.spec, WorkloadSpec::Trace(_)));
    }
}

impl Supply<'_> {
    /// The name and digest of the trace that a scenario replays, for a plan.
    pub(super) fn weighed(&self, scenario: &Scenario) -> Vec<(String, Digest)> {
        let name = scenario.trace_path();
        let trace = name.and_then(|name| Some((name.to_owned(), Digest::of(self.traces.bytes(name)?))));
        trace.into_iter().collect()
    }

    /// The requests of a scenario.
    pub(super) fn workload(&mut self, scenario: &Scenario) -> Result<Arc<Workload>, Problems> {
        self.entry(scenario).map(|entry| entry.workload.clone())
    }

    /// The requests of a scenario, and what caches would hit of them.
    pub(super) fn ready(
        &mut self,
        scenario: &Scenario,
    ) -> Result<(Arc<Workload>, Arc<CacheModel>), Problems> {
        let entry = self.entry(scenario)?;
        let workload = entry.workload.clone();
        let cache = entry.cache.get_or_insert_with(|| Arc::new(CacheModel::of(&workload))).clone();
        Ok((workload, cache))
    }

    fn entry(&mut self, scenario: &Scenario) -> Result<&mut Entry, Problems> {
        let replays = matches!(scenario.workload, WorkloadSpec::Trace(_));
        let seed = (!replays).then_some(scenario.seed);
        let block_size_tokens = scenario.engine.block_size_tokens;
        let known = self.shelf.0.iter().position(|entry| {
            (entry.seed, entry.block_size_tokens) == (seed, block_size_tokens)
                && entry.spec == scenario.workload
        });
        let at = match known {
            Some(at) => at,
            None => {
                let workload = self.make(scenario)?;
                while self.shelf.0.len() == KEPT
                    || !self.shelf.0.is_empty()
                        && self.shelf.0.iter().map(Entry::size).sum::<usize>() > KEPT_SIZE
                {
                    self.shelf.0.remove(0);
                }
                let spec = scenario.workload.clone();
                self.shelf.0.push(Entry { spec, block_size_tokens, seed, workload, cache: None });
                self.shelf.0.len() - 1
            }
        };
        Ok(&mut self.shelf.0[at])
    }

    fn make(&self, scenario: &Scenario) -> Result<Arc<Workload>, Problems> {
        self.traces.expand(scenario).map(Arc::new).map_err(|found| problems(&found))
    }
}

/// Reads a text.
pub(super) fn read(text: &str) -> Result<Scenario, Problems> {
    parse_any(text).map_err(|found| problems(&found))
}
