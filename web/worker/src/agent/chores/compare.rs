//! Where two runs part, as `tierscope diff` finds it: both are run in turn and their facts compared as they come, so
//! that nothing is kept of either but hashes; then both are run again to tell what stands at the places found.

use std::sync::Arc;

use tierscope_engine::FactLog;
use tierscope_report::compare::{
    Comparison, Excerpt, Findings, ORIGIN_FACTS_MAX, Place, Record, Side, is_origin, read_line,
};
use tierscope_report::{Report, jsonl};
use tierscope_scenario::{Recording, Scenario, Workload};
use tierscope_sim::{Progress, Run, RunError, RunOptions, RunState};

use super::supply::{Supply, read};
use super::{Problems, problems, trouble};
use crate::agent::recordings::not_turned;
use crate::agent::stopped;
use crate::agent::turn::{self, Turn};
use crate::protocol::{Answer, AspectView, Difference, Duel, Parting, Said};

/// Facts between two words on how far it is.
const TELL_EVERY: u64 = 20_000;

/// One side, ready to be run any number of times.
pub(super) struct Course {
    scenario: Scenario,
    workload: Arc<Workload>,
    /// What it turns into, and when.
    turns: Option<(Scenario, f64)>,
    /// What it was told, where it was driven.
    driven: Option<Arc<Recording>>,
}

/// A run of a side.
pub(super) struct Running {
    run: Run,
    turn: Option<Turn>,
}

impl Running {
    /// Some instants further.
    pub(super) fn advance(
        &mut self,
        instants: u32,
        sink: impl FnMut(&FactLog),
    ) -> Result<RunState, RunError> {
        turn::advance(&mut self.run, &mut self.turn, instants, sink)
    }

    /// What came of it.
    pub(super) fn report(&self) -> Report {
        self.run.report()
    }
}

impl Course {
    /// Reads both sides, each with a seed if one is given: a driven run has only its own, and no other way on.
    pub(super) fn both(
        supply: &mut Supply<'_>,
        duel: &Duel,
        seed: Option<u32>,
    ) -> Result<[Self; 2], Problems> {
        let driven = match duel.driven {
            None => None,
            Some(_) if duel.at_ns.is_some() => return Err(not_turned()),
            Some(_) if seed.is_some() => return Err(one_seed()),
            Some(number) => Some(supply.recordings.get(number).map_err(|found| problems(&found))?),
        };
        let mut side = |text: &str| {
            let mut scenario = read(text)?;
            if let Some(seed) = seed {
                scenario.seed = u64::from(seed);
            }
            let workload = supply.workload(&scenario)?;
            Ok::<_, Problems>(Self { scenario, workload, turns: None, driven: None })
        };
        let text = driven.as_ref().map_or(&duel.a, |recording| &recording.scenario);
        let [a, b] = [Self { driven: driven.clone(), ..side(text)? }, side(&duel.b)?];
        let Some(at_ns) = duel.at_ns else { return Ok([a, b]) };
        // Up to the turn B is A.
        let forked = Self {
            scenario: a.scenario.clone(),
            workload: a.workload.clone(),
            turns: Some((b.scenario, at_ns)),
            driven: None,
        };
        Ok([a, forked])
    }

    /// A run of it before its first instant.
    pub(super) fn run(&self) -> Result<Running, Problems> {
        let (workload, options) = (self.workload.clone(), RunOptions::default());
        let run = match &self.driven {
            Some(recording) => Run::replay(&self.scenario, workload, options, recording),
            None => Run::new(&self.scenario, workload, options),
        };
        let turn = self.turns.as_ref().map(|(new, at_ns)| Turn::new(&run, &self.scenario, new, *at_ns));
        Ok(Running { turn: turn.transpose()?, run })
    }
}

fn one_seed() -> Problems {
    trouble(
        "seed",
        "a driven run with another seed",
        "the one that it was driven with",
        "compare its scenario, simulated, over several seeds",
    )
}

/// Whether both have the same requests.
pub(super) fn same_work([a, b]: &[Course; 2]) -> bool {
    let (a, b) = (&a.workload, &b.workload);
    Arc::ptr_eq(a, b) || a.has_same_requests(b)
}

/// Compares two runs.
pub(super) fn compare(
    supply: &mut Supply<'_>,
    duel: &Duel,
    say: &mut dyn FnMut(Answer),
) -> Result<Difference, Problems> {
    let courses = Course::both(supply, duel, None)?;
    let open = |side: Side| courses[side as usize].run().map(Lines::new);
    let origins = [origin(open(Side::A)?)?, origin(open(Side::B)?)?];
    let mut lines = [open(Side::A)?, open(Side::B)?];
    let mut comparison = Comparison::new(origins);
    let mut facts = 0_u64;
    while let Some(side) = comparison.next() {
        match lines[side as usize].next()? {
            Some(mut record) => comparison.take(side, &mut record),
            None => comparison.end(side),
        }
        facts += 1;
        if facts.is_multiple_of(TELL_EVERY) {
            let shares = lines.each_ref().map(Lines::share);
            // The second reading ends where it has found its places: it is rarely as long as the first.
            say(Answer::Progress { share: (shares[0] + shares[1]) / 2.0 * 0.8 });
        }
    }
    let findings = comparison.finish();
    let mut excerpt = Excerpt::new(&findings, origins, 1);
    for side in Side::BOTH.into_iter().filter(|_| !findings.equal()) {
        let mut again = open(side)?;
        while excerpt.wants(side)
            && let Some(mut record) = again.next()?
        {
            excerpt.take(side, &mut record);
        }
    }
    Ok(Telling { findings: &findings, excerpt: &excerpt, origins }.difference(same_work(&courses)))
}

/// What was found, with the clocks of both runs.
struct Telling<'a> {
    findings: &'a Findings,
    excerpt: &'a Excerpt,
    origins: [i128; 2],
}

impl Telling<'_> {
    fn difference(&self, same_work: bool) -> Difference {
        let findings = self.findings;
        let aspects = findings.aspects.iter().filter(|(_, verdict)| verdict.entries != [0, 0]);
        let aspects = aspects.map(|(aspect, verdict)| AspectView {
            name: aspect.name().to_owned(),
            equal: verdict.equal,
            entries: verdict.entries.map(|entries| entries as f64),
            at_ns: verdict.first.and_then(|place| self.parting(place).at_ns()),
        });
        Difference {
            equal: findings.equal(),
            same_work,
            facts: findings.stream.entries.map(|entries| entries as f64),
            first: findings.stream.first.map(|place| self.parting(place)),
            same_decisions: findings.decisions.equal,
            decision: findings.decisions.first.map(|place| self.parting(place)),
            aspects: aspects.collect(),
        }
    }

    fn parting(&self, place: Place) -> Parting {
        Parting {
            sides: Side::BOTH.map(|side| {
                let line = self.excerpt.line(side, place.of(side))?;
                let at_ns = (line.at_ns + self.origins[side as usize]) as f64;
                Some(Said { at_ns, words: line.words.clone() })
            }),
        }
    }
}

/// When the first request arrived; the first fact's time where none does soon.
fn origin(mut lines: Lines) -> Result<i128, Problems> {
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

/// A run whose facts are told as lines.
struct Lines {
    running: Running,
    lines: String,
    /// Where the next line begins.
    at: usize,
    number: u64,
}

impl Lines {
    fn new(running: Running) -> Self {
        Self { running, lines: String::new(), at: 0, number: 0 }
    }

    /// How far the run is.
    fn share(&self) -> f64 {
        let progress: Progress = self.running.run.progress();
        f64::from(progress.ended) / f64::from(progress.total.max(1))
    }

    fn next(&mut self) -> Result<Option<Record<'_>>, Problems> {
        if self.at == self.lines.len() {
            self.lines.clear();
            self.at = 0;
        }
        while self.lines.is_empty() {
            if self.running.turn.is_none() && self.running.run.state() != RunState::Running {
                return Ok(None);
            }
            let lines = &mut self.lines;
            let told = self.running.advance(1, |log| {
                for (at, fact) in log.iter() {
                    jsonl::write_fact(lines, at, fact, log);
                }
            });
            told.map_err(|error| vec![stopped(&error.to_string())])?;
        }
        let rest = &self.lines[self.at..];
        let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
        self.at = (self.at + line.len() + 1).min(self.lines.len());
        self.number += 1;
        let record = read_line(line, self.number).map_err(|found| {
            trouble(
                "facts",
                found.to_string(),
                "a fact that this version wrote",
                "please report the scenario",
            )
        })?;
        Ok(Some(record))
    }
}
