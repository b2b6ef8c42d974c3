//! From the command line to a plan, and to the words that repeat it.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use tierscope_sweep::{Knob, Mode, Plan, attempt, seeds};

use super::args::SweepArgs;
use super::supply::Supply;
use crate::input::{self, Changes};

/// A plan, and where its traces lie.
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    pub(crate) supply: Supply,
    /// The command line that makes it, without the shard.
    pub(crate) again: Vec<String>,
    /// The text came from standard input, which nobody can read again.
    pub(crate) from_stdin: bool,
}

/// The key whose values are trace files.
const TRACE_KEY: &str = "workload.file";
/// Points that are looked at for a valid scenario.
const LOOKED_AT: usize = 1_000;

pub(crate) fn read(args: &SweepArgs) -> Result<Planned> {
    let argument = args.scenario.as_deref().ok_or_else(|| anyhow!("error: no scenario is given"))?;
    let changes = Changes { trace: args.trace.as_deref(), set: &args.set, ..Changes::default() };
    let (source, _) = input::changed(argument, &changes)?;
    let mut plan = Plan {
        mode: if args.cache_only { Mode::CacheOnly } else { Mode::Run },
        text: source.text,
        knobs: args.knob.iter().map(|knob| Knob::parse(knob)).collect::<Result<_, _>>()?,
        seeds: args.seeds.as_deref().map(seeds).transpose()?.unwrap_or_default(),
        traces: Vec::new(),
    };
    plan.check()?;
    if args.trace.is_some() && plan.knobs.iter().any(|knob| knob.key == TRACE_KEY) {
        return Err(anyhow!(
            "error: --trace is given, and a knob turns {TRACE_KEY} too\n  mend: leave one of the two out"
        ));
    }
    let names = trace_names(&plan);
    let mut supply = Supply::new(source.folder, args.trace.clone());
    for name in names {
        let digest = supply.weigh(&name)?;
        plan.traces.push((name, digest));
    }
    Ok(Planned { plan, supply, again: again(args, argument), from_stdin: argument == "-" })
}

/// The trace files that points replay, sorted, each once. Only a knob for them makes them differ.
fn trace_names(plan: &Plan) -> Vec<String> {
    let turned = plan.knobs.iter().position(|knob| knob.key == TRACE_KEY);
    let mut names: Vec<String> = Vec::new();
    let values = turned.map_or(1, |at| plan.knobs[at].values.len());
    for value in 0..values {
        // The first point with this value that is a valid scenario; others are refused without their trace.
        let mut points = (0..plan.points()).filter(|&index| {
            turned.is_none_or(|at| plan.point(index).values[at] == plan.knobs[at].values[value])
        });
        let scenario = points.by_ref().take(LOOKED_AT).find_map(|index| attempt(plan, index).ok());
        names.extend(scenario.and_then(|attempt| attempt.scenario.trace_path().map(str::to_owned)));
    }
    names.sort();
    names.dedup();
    names
}

/// The words of the command, without what says where and how fast.
fn again(args: &SweepArgs, scenario: &str) -> Vec<String> {
    let mut words = vec!["sweep".to_owned(), scenario.to_owned()];
    let mut flag = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    args.knob.iter().for_each(|knob| flag("--knob", knob));
    args.seeds.iter().for_each(|seeds| flag("--seeds", seeds));
    args.set.iter().for_each(|set| flag("--set", set));
    args.trace.iter().for_each(|trace: &PathBuf| flag("--trace", &trace.display().to_string()));
    if args.cache_only {
        words.push("--cache-only".to_owned());
    }
    words
}
