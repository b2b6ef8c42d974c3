//! `tierscope diff`: two runs or fact logs, compared by what they mean (docs/COMPARING.md).
//!
//! Facts of both sides are read in turn as records, twice: once to find where they part, once to tell what stands there.
//! Nothing is kept of a run but hashes, so that long logs are compared in little memory.

mod facts;
mod json;
mod over_seeds;
mod side;

use std::ops::RangeInclusive;

use anyhow::{Result, anyhow};
use tierscope_report::{compare, paired};

use crate::args::DiffArgs;
use crate::exit::Exit;
use crate::output::{self, Output};

pub(crate) use facts::first_difference;
use side::Contestant;

/// Most seeds of one comparison.
const SEEDS_MAX: u64 = 100_000;

/// Reads `N` as 1 to N, and `a..b` as a to b, both ends included.
pub(crate) fn seeds(text: &str) -> Result<RangeInclusive<u64>, String> {
    const EXPECTED: &str =
        "expected a number of seeds (20: seeds 1 to 20), or the first and the last (101..200)";
    let number = |part: &str| part.trim().parse::<u64>().ok().filter(|seed| *seed <= i64::MAX as u64);
    let ends = match text.split_once("..") {
        Some((first, last)) => number(first).zip(number(last.trim_start_matches('='))),
        None => number(text).map(|count| (1, count)),
    };
    match ends {
        Some((first, last)) if first > last => Err(format!("there is no seed in it; {EXPECTED}")),
        Some((first, last)) if last - first >= SEEDS_MAX => {
            Err(format!("more than {SEEDS_MAX} seeds; compare fewer at a time"))
        }
        Some((first, last)) => Ok(first..=last),
        None => Err(EXPECTED.to_owned()),
    }
}

pub(crate) fn diff(args: &DiffArgs) -> Result<Exit> {
    let human = !args.quiet && !args.json.as_deref().is_some_and(output::is_stdout);
    let contestants =
        [Contestant::find(&args.a, args, &args.set_a)?, Contestant::find(&args.b, args, &args.set_b)?];
    if let (Some(_), Some(log)) = (&args.seeds, contestants.iter().find(|one| one.is_log())) {
        return Err(anyhow!(
            "error: --seeds is given, but {} is a fact log, of one seed\n  mend: name the scenario that it came from, or leave \
             --seeds out",
            log.name()
        ));
    }
    // Opened before the runs: what cannot be written is said at once.
    let json = args.json.as_deref().map(Output::create).transpose()?;
    let seed = args.seed.or(args.seeds.as_ref().map(|seeds| *seeds.start()));
    let compared = facts::compare(&contestants, seed, args)?;
    let mut pairs = match &args.seeds {
        Some(seeds) => over_seeds::play(&contestants, seeds.clone(), &compared, args)?,
        None => vec![compared.pair()],
    };
    let unmoved = paired::without_chance(&pairs);
    if unmoved {
        pairs.truncate(1);
    }
    // Equal facts have equal metrics, and a pair of them says nothing.
    let alone = args.seeds.is_none() && compared.findings.equal();
    let metrics = if alone { Vec::new() } else { paired::paired(&pairs) };
    if let Some(mut json) = json {
        json.write(&json::write(&contestants, &compared, &pairs, &metrics))?;
        json.commit()?;
    }
    if human {
        output::say(&told(&contestants, &compared, &pairs, &metrics))?;
        if unmoved {
            output::say(
                "every seed gives the same two runs (a trace draws nothing): one pair stands for all of them\n",
            )?;
        }
    }
    let same = compared.findings.equal() && metrics.iter().all(|metric| metric.same);
    Ok(if same { Exit::Done } else { Exit::ExpectationFailed })
}

/// The whole comparison in words and tables.
fn told(
    contestants: &[Contestant; 2],
    compared: &facts::Compared,
    pairs: &[paired::Pair],
    metrics: &[paired::Paired],
) -> String {
    let [a, b] = contestants;
    let mut text = format!("A  {}\nB  {}\n\n", a.told(), b.told());
    if pairs.len() > 1 {
        text.push_str(&format!("facts, of seed {}: ", pairs[0].seed));
    }
    text.push_str(&compare::render(&compared.findings, &compared.excerpt));
    if let Some(warning) = warning(pairs) {
        text.push_str(&format!("{warning}\n"));
    }
    text.push_str(&paired::render(metrics));
    text
}

/// Pairs compare like with like only if both runs had the same requests.
fn warning(pairs: &[paired::Pair]) -> Option<String> {
    let differ = pairs.iter().filter(|pair| !pair.same_work).count();
    let of = if pairs.len() == 1 { String::new() } else { format!(" at {differ} of {} seeds", pairs.len()) };
    (differ > 0).then(|| format!("the workloads differ{of}: the pairs are of different requests"))
}
