//! Workloads for points: made once for each setting of them, shared by all threads.
//!
//! Points that differ in capacities or policies replay the same requests; those are made, and cut into blocks for the
//! cache model, only once.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::Result;
use tierscope_scenario::{Scenario, Workload, WorkloadSpec, expand};
use tierscope_sweep::cache::CacheModel;
use tierscope_units::Digest;

use crate::input;

/// Workloads that are kept at once: seeds change fastest, so that each is wanted again by the next capacity.
const KEPT: usize = 64;
/// Requests and token runs of all that are kept (about 1 GiB); the newest is kept whatever its size.
const KEPT_SIZE: usize = 16 << 20;

/// A workload, ready to be run.
pub(crate) struct Ready {
    pub(crate) workload: Arc<Workload>,
    pub(crate) cache: CacheModel,
}

/// Where workloads come from.
pub(crate) struct Supply {
    /// Names of traces are relative to this folder.
    folder: PathBuf,
    /// The trace to replay, whatever the scenario names.
    given: Option<PathBuf>,
    /// What each trace's content was when the plan was made.
    weighed: Vec<(String, Digest)>,
    shelf: Mutex<Vec<Arc<Entry>>>,
}

/// What a workload depends on, and it.
struct Entry {
    spec: WorkloadSpec,
    block_size_tokens: u32,
    /// Of drawn workloads.
    seed: Option<u64>,
    ready: OnceLock<Result<Ready, String>>,
}

impl Entry {
    /// Zero while it is being made.
    fn size(&self) -> usize {
        let ready = self.ready.get().and_then(|ready| ready.as_ref().ok());
        ready.map_or(0, |ready| ready.workload.requests.len() + ready.workload.runs.len())
    }
}

impl Supply {
    pub(crate) fn new(folder: PathBuf, given: Option<PathBuf>) -> Self {
        Self { folder, given, weighed: Vec::new(), shelf: Mutex::new(Vec::new()) }
    }

    /// The digest of a trace that the scenario names.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn weigh(&mut self, name: &str) -> Result<Digest> {
        let digest = Digest::of(&input::read_trace(&self.path(name))?);
        self.weighed.push((name.to_owned(), digest));
        Ok(digest)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.given.clone().unwrap_or_else(|| self.folder.join(name))
    }

    /// Gives `use_it` the workload of a scenario.
    ///
    /// # Errors
    /// In words, for the row of the point: a block that does not divide the trace's, a trace that is faulty.
    pub(crate) fn with<T>(&self, scenario: &Scenario, use_it: impl FnOnce(&Ready) -> T) -> Result<T, String> {
        let entry = self.entry(scenario);
        let ready = entry.ready.get_or_init(|| self.make(scenario));
        ready.as_ref().map(use_it).map_err(Clone::clone)
    }

    fn entry(&self, scenario: &Scenario) -> Arc<Entry> {
        let replays = matches!(scenario.workload, WorkloadSpec::Trace(_));
        let seed = (!replays).then_some(scenario.seed);
        let block_size_tokens = scenario.engine.block_size_tokens;
        // What a panicking thread leaves is whole: entries are only added and removed.
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shelf.iter().find(|entry| {
            (entry.seed, entry.block_size_tokens) == (seed, block_size_tokens)
                && entry.spec == scenario.workload
        });
        if let Some(entry) = known {
            return entry.clone();
        }
        while shelf.len() == KEPT
            || !shelf.is_empty() && shelf.iter().map(|entry| entry.size()).sum::<usize>() > KEPT_SIZE
        {
            shelf.remove(0);
        }
        let spec = scenario.workload.clone();
        let entry = Arc::new(Entry { spec, block_size_tokens, seed, ready: OnceLock::new() });
        shelf.push(entry.clone());
        entry
    }

    fn make(&self, scenario: &Scenario) -> Result<Ready, String> {
        let bytes = scenario.trace_path().map(|name| self.bytes(name)).transpose()?;
        let workload = expand(scenario, bytes.as_deref())
            .map_err(|problems| problems.first().map_or_else(String::new, ToString::to_string))?;
        let cache = CacheModel::of(&workload);
        Ok(Ready { workload: Arc::new(workload), cache })
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        let bytes = input::read_trace(&self.path(name)).map_err(|error| format!("{error:#}"))?;
        let digest = Digest::of(&bytes);
        match self.weighed.iter().find(|(known, _)| known == name) {
            Some((_, known)) if *known == digest => Ok(bytes),
            Some(_) => Err(format!("the trace {name} was changed while the sweep ran")),
            None => Err(format!("the trace {name} is named by this point alone")),
        }
    }
}
