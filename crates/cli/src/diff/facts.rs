//! Both sides read in turn: the comparison itself.

use std::sync::Arc;

use anyhow::Result;
use tierscope_report::Report;
use tierscope_report::compare::{Comparison, Excerpt, Findings, ORIGIN_FACTS_MAX, Side, is_origin, render};
use tierscope_report::paired::Pair;
use tierscope_scenario::{Scenario, Workload};
use tierscope_sim::{Run, RunOptions};

use crate::args::DiffArgs;
use crate::diff::side::{Contestant, Lines, Live};

/// What a comparison came to.
pub(crate) struct Compared {
    pub(crate) findings: Findings,
    pub(crate) excerpt: Excerpt,
    seed: u64,
    same_work: bool,
    of_log: bool,
    reports: [Report; 2],
    workloads: [Option<Arc<Workload>>; 2],
}

impl Compared {
    /// The requests of one side; `None` of a log.
    pub(crate) fn workload(&self, side: Side) -> Option<&Arc<Workload>> {
        self.workloads[side as usize].as_ref()
    }

    /// The two runs as one pair of reports.
    pub(crate) fn pair(&self) -> Pair {
        let Self { seed, same_work, of_log, reports, .. } = self;
        Pair { seed: *seed, same_work: *same_work, of_log: *of_log, reports: reports.clone() }
    }
}

/// Compares two sides, scenarios with their own seeds or the given one.
pub(crate) fn compare(contestants: &[Contestant; 2], seed: Option<u64>, args: &DiffArgs) -> Result<Compared> {
    let [a, b] = contestants;
    let loaded = [a.load(seed, None)?, b.load(seed, None)?];
    let open = |side: Side| contestants[side as usize].open(loaded[side as usize].as_ref());
    let (findings, excerpt, reports) = read_both(&open, args.context)?;
    let same_work = match &loaded {
        [Some((_, a)), Some((_, b))] => a.has_same_requests(b),
        // Of a log only the lengths of prompts and outputs are known.
        _ => findings.aspects[0].1.equal,
    };
    let seed = loaded.iter().flatten().map(|(input, _)| input.scenario.seed).next().unwrap_or(0);
    let of_log = contestants.iter().any(Contestant::is_log);
    let workloads = loaded.map(|loaded| loaded.map(|(_, workload)| workload));
    Ok(Compared { findings, excerpt, seed, same_work, of_log, reports, workloads })
}

/// The facts of two runs of one scenario that should be equal and are not: the first difference in words, or that it did not
/// show again.
pub(crate) fn first_difference(scenario: &Scenario, workload: &Arc<Workload>) -> Result<String> {
    let open =
        |_| Ok(Lines::Live(Box::new(Live::new(Run::new(scenario, workload.clone(), RunOptions::default())))));
    let (findings, excerpt, _) = read_both(&open, 3)?;
    Ok(explained(&findings, &excerpt))
}

/// What two runs that should have been equal say.
fn explained(findings: &Findings, excerpt: &Excerpt) -> String {
    match findings.equal() {
        true => "two further runs are equal: the difference does not show each time".to_owned(),
        false => render(findings, excerpt),
    }
}

fn read_both(open: &dyn Fn(Side) -> Result<Lines>, context: u64) -> Result<(Findings, Excerpt, [Report; 2])> {
    let origins = [origin(open(Side::A)?)?, origin(open(Side::B)?)?];
    let mut lines = [open(Side::A)?, open(Side::B)?];
    let mut comparison = Comparison::new(origins);
    while let Some(side) = comparison.next() {
        match lines[side as usize].next()? {
            Some(mut record) => comparison.take(side, &mut record),
            None => comparison.end(side),
        }
    }
    let findings = comparison.finish();
    let reports = [lines[0].report(), lines[1].report()];
    let mut excerpt = Excerpt::new(&findings, origins, context);
    for side in Side::BOTH {
        if !excerpt.wants(side) {
            continue;
        }
        let mut again = open(side)?;
        while excerpt.wants(side)
            && let Some(mut record) = again.next()?
        {
            excerpt.take(side, &mut record);
        }
    }
    Ok((findings, excerpt, reports))
}

/// When the first request arrived; the first fact's time where none does soon.
fn origin(mut lines: Lines) -> Result<i128> {
    let mut first = None;
    for _ in 0..ORIGIN_FACTS_MAX {
        let Some(record) = lines.next()? else { break };
        if is_origin(&record) {
            return Ok(record.at_ns);
        }
        first = first.or(Some(record.at_ns));
    }
    Ok(first.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = "tierscope = 1\n[engine]\nblock_size_tokens = 4\ng1_blocks = 64\n[timing]\nmodel = \
        \"fixed\"\n[workload]\nkind = \"synthetic\"\nrequests = 5\narrival = \"poisson\"\nrate_per_s = 100.0\nprompt_tokens \
        = 20\noutput_tokens = 4\n";

    fn world(text: &str) -> (Scenario, Arc<Workload>) {
        let scenario = tierscope_scenario::parse_any(text).expect("a scenario");
        let workload = Arc::new(tierscope_scenario::expand(&scenario, None).expect("requests"));
        (scenario, workload)
    }

    /// What `test --repeat` says when digests differ: two runs that are not equal stand in for one that is not repeatable.
    #[test]
    fn runs_that_should_be_equal_are_told_where_they_part() {
        let (a, b) = (world(SCENARIO), world(&SCENARIO.replace("output_tokens = 4", "output_tokens = 5")));
        let open = |side| {
            let (scenario, workload) = if side == Side::A { &a } else { &b };
            Ok(Lines::Live(Box::new(Live::new(Run::new(scenario, workload.clone(), RunOptions::default())))))
        };
        let (findings, excerpt, _) = read_both(&open, 3).expect("both run");
        let text = explained(&findings, &excerpt);
        assert!(text.contains("first difference") && text.contains("#0"), "{text}");
        assert!(first_difference(&a.0, &a.1).expect("both run").contains("two further runs are equal"));
    }
}
