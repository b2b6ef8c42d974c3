//! `tierscope test`: every scenario, with its expectations.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use tierscope_scenario::{Expectation, Scenario, Workload};
use tierscope_sim::{Run, RunOptions, RunState, evaluate};

use crate::args::TestArgs;
use crate::exit::Exit;
use crate::input::{self, Changes};
use crate::{junit, output, run};

/// Folders in folders deeper than this are refused: a loop of links, most likely.
const DEPTH_MAX: usize = 64;

/// What a scenario came to.
pub(crate) enum Verdict {
    /// Everything expected is so; how often its digest was repeated.
    Passed { repeated: u32 },
    /// Why not, an entry a reason.
    Failed(Vec<String>),
    /// It ended in a dead end that nobody expected, or broke an invariant.
    Broken(String),
    /// It could not be run.
    Unreadable(String),
}

/// A scenario and what it came to.
pub(crate) struct Tested {
    pub(crate) path: PathBuf,
    pub(crate) verdict: Verdict,
}

pub(crate) fn test(args: &TestArgs) -> Result<Exit> {
    let mut tested = Vec::new();
    for path in scenarios(&args.paths)? {
        let verdict = catch_unwind(AssertUnwindSafe(|| judge(&path, args.repeat))).unwrap_or_else(|_| {
            Verdict::Broken("an invariant is violated; see the message above".to_owned())
        });
        let one = Tested { path, verdict };
        output::say(&line(&one))?;
        tested.push(one);
    }
    if let Some(path) = &args.junit {
        output::write_file(path, &junit::write(&tested)?)?;
    }
    let passed = tested.iter().filter(|one| matches!(one.verdict, Verdict::Passed { .. })).count();
    output::say(&format!("{passed} passed, {} failed\n", tested.len() - passed))?;
    Ok(exit(&tested))
}

/// The first that applies: an expectation failed, something broke, something could not be read.
fn exit(tested: &[Tested]) -> Exit {
    let any = |is: fn(&Verdict) -> bool| tested.iter().any(|one| is(&one.verdict));
    if any(|verdict| matches!(verdict, Verdict::Failed(_))) {
        Exit::ExpectationFailed
    } else if any(|verdict| matches!(verdict, Verdict::Broken(_))) {
        Exit::Broken
    } else if any(|verdict| matches!(verdict, Verdict::Unreadable(_))) {
        Exit::BadInput
    } else {
        Exit::Done
    }
}

fn line(one: &Tested) -> String {
    let path = one.path.display();
    match &one.verdict {
        Verdict::Passed { repeated: 1 } => format!("ok     {path}\n"),
        Verdict::Passed { repeated } => format!("ok     {path}: {repeated}/{repeated} equal digests\n"),
        Verdict::Failed(reasons) => format!("FAIL   {path}\n{}", indent(&reasons.join("\n"))),
        Verdict::Broken(reason) => format!("FAIL   {path}\n{}", indent(reason)),
        Verdict::Unreadable(reason) => format!("error  {path}\n{}", indent(reason)),
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("       {line}\n")).collect()
}

fn judge(path: &Path, repeat: u32) -> Verdict {
    let loaded = input::read(&path.display().to_string(), &Changes::default())
        .and_then(|input| Ok((input.expand()?, input.scenario)));
    let (workload, scenario) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => return Verdict::Unreadable(format!("{error:#}")),
    };
    let workload = Arc::new(workload);
    let first = match play(&scenario, &workload) {
        Ok(run) => run,
        Err(error) => return Verdict::Unreadable(format!("{error:#}")),
    };
    let report = first.report();
    let mut reasons: Vec<String> = evaluate(&scenario.expect, &report, &first.folds().summary())
        .iter()
        .map(|failure| run::failed(&path.display().to_string(), failure))
        .collect();
    let digests = (2..=repeat).map(|_| Ok(play(&scenario, &workload)?.folds().digest().to_string()));
    if let Some(reason) = repeats(&report.digest, digests) {
        let parted = crate::diff::first_difference(&scenario, &workload);
        reasons.push(format!("{reason}\n{}", parted.unwrap_or_else(|error| format!("{error:#}"))));
    }
    let outcome_expected = scenario.expect.iter().any(|expect| matches!(expect, Expectation::Outcome { .. }));
    match (first.state(), outcome_expected) {
        _ if !reasons.is_empty() => Verdict::Failed(reasons),
        (RunState::DeadEnd, false) => Verdict::Broken(run::dead_end(&report)),
        _ => Verdict::Passed { repeated: repeat },
    }
}

fn play(scenario: &Scenario, workload: &Arc<Workload>) -> Result<Run> {
    let mut run = Run::new(scenario, workload.clone(), RunOptions::default());
    run.finish()?;
    Ok(run)
}

/// A reason if the digests of further runs are not all the first run's (rule E3).
fn repeats(first: &str, further: impl Iterator<Item = Result<String>>) -> Option<String> {
    let (mut rounds, mut equal) = (1, 1);
    let mut odd = None;
    for digest in further {
        rounds += 1;
        match digest {
            Ok(digest) if digest == first => equal += 1,
            Ok(digest) => {
                odd = odd.or(Some(format!("run {rounds} has digest {digest}, the first had {first}")))
            }
            Err(error) => odd = odd.or(Some(format!("run {rounds} failed: {error:#}"))),
        }
    }
    odd.map(|odd| format!("{equal}/{rounds} equal digests: {odd}"))
}

/// Files as given, folders walked in sorted order.
fn scenarios(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => walk(path, 0, &mut found)?,
            false => found.push(path.clone()),
        }
    }
    if found.is_empty() {
        return Err(anyhow!(
            "error: no scenario (.toml, .json) in {}\n  mend: name a folder that has some",
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(found)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    if depth > DEPTH_MAX {
        return Err(anyhow!(
            "error: {} is more than {DEPTH_MAX} folders deep\n  mend: look for a link that leads back",
            folder.display()
        ));
    }
    let unreadable = |error| {
        anyhow!("error: cannot list {}: {error}\n  mend: make the folder readable for you", folder.display())
    };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?.path());
    }
    entries.sort();
    for path in entries {
        let extension = path.extension().and_then(|extension| extension.to_str());
        // Links to folders may lead round in a circle, and opening a named pipe waits for a writer.
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let is_special = path.metadata().is_ok_and(|found| !found.is_file());
        if path.is_dir() && !is_link {
            walk(&path, depth + 1, found)?;
        } else if matches!(extension, Some("toml" | "json")) && !is_special {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_that_differ_are_counted_and_the_first_is_named() {
        let further =
            |digests: &[&str]| digests.iter().map(|digest| Ok((*digest).to_owned())).collect::<Vec<_>>();
        assert_eq!(repeats("a", further(&["a", "a"]).into_iter()), None);
        assert_eq!(
            repeats("a", further(&["a", "b", "a", "c"]).into_iter()).as_deref(),
            Some("3/5 equal digests: run 3 has digest b, the first had a")
        );
        let broken = [Err(anyhow!("no time left"))].into_iter();
        assert_eq!(repeats("a", broken).as_deref(), Some("1/2 equal digests: run 2 failed: no time left"));
    }
}
