//! `tierscope run`: one scenario, one report.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use tierscope_engine::FactLog;
use tierscope_report::{Report, jsonl, table};
use tierscope_scenario::Scenario;
use tierscope_sim::{Failure, Run, RunError, RunOptions, RunState, evaluate};

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::input::{self, Changes, Input};
use crate::interrupt;
use crate::output::{self, Output};
use crate::progress::Watch;

/// Instants between two looks at the clock.
const SLICE_INSTANTS: u32 = 8_192;
/// Most bytes of facts that are kept before they are written.
const LINES_BYTES_MAX: usize = 1 << 20;

pub(crate) fn run(args: &RunArgs) -> Result<Exit> {
    let taken =
        [args.json.as_deref(), args.events.as_deref()].map(|path| path.is_some_and(output::is_stdout));
    if taken == [true, true] {
        return Err(anyhow!(
            "error: --json - and --events - both want standard output\n  mend: give one of them a file"
        ));
    }
    let changes = Changes { trace: args.trace.as_deref(), set: &args.set, seed: args.seed };
    if args.json.is_some() && args.json == args.events {
        return Err(anyhow!(
            "error: --json and --events name the same file\n  mend: give each a file of its own"
        ));
    }
    let input = input::read(&args.scenario, &changes)?;
    // Opened before the run: what cannot be written is said at once.
    let json = args.json.as_deref().map(Output::create).transpose()?;
    let human = !args.quiet && !args.digest && !taken.contains(&true);
    tell_defaults(&input, human, args.quiet)?;

    let run = play(&input, args.events.as_deref(), args.quiet)?;
    let report = run.report();
    let failures = evaluate(&input.scenario.expect, &report, &run.folds().summary());
    hand_over(json, args.digest, &report, human)?;
    for failure in &failures {
        output::complain(&failed(&input.name, failure));
    }
    Ok(match run.state() {
        RunState::DeadEnd => {
            if !human {
                output::complain(&dead_end(&report));
            }
            Exit::Broken
        }
        _ if !failures.is_empty() => Exit::ExpectationFailed,
        _ => Exit::Done,
    })
}

/// A bare trace leaves everything else open: what was chosen is said.
fn tell_defaults(input: &Input, human: bool, quiet: bool) -> Result<()> {
    if !input.bare_trace || quiet {
        return Ok(());
    }
    let mut text = format!("{} is a bare trace; chosen for it:\n", input.name);
    for line in chosen(&input.scenario) {
        text.push_str(&format!("  {line}\n"));
    }
    text.push_str("  (change any with --set KEY=VALUE)\n");
    match human {
        true => output::say(&format!("{text}\n")),
        false => {
            output::complain(text.trim_end());
            Ok(())
        }
    }
}

/// The keys that matter most, then the other defaults.
fn chosen(scenario: &Scenario) -> Vec<String> {
    let engine = &scenario.engine;
    let mut lines = vec![
        format!("engine.block_size_tokens = {}", engine.block_size_tokens),
        format!("engine.g1_blocks = {}", engine.g1_blocks),
        format!("engine.max_num_seqs = {}", engine.max_num_seqs),
        format!("engine.max_num_batched_tokens = {}", engine.max_num_batched_tokens),
        format!("timing.model = {}", scenario.timing.name()),
    ];
    let keys: Vec<String> = lines.iter().map(|line| key(line).to_owned()).collect();
    lines.extend(
        scenario.defaults.iter().filter(|line| !keys.iter().any(|known| known == key(line))).cloned(),
    );
    lines
}

fn key(line: &str) -> &str {
    line.split_once(" =").map_or(line, |(key, _)| key)
}

/// Runs to the end; facts go to `events` as they come.
fn play(input: &Input, events: Option<&Path>, quiet: bool) -> Result<Run> {
    let mut watch = Watch::new(quiet);
    let mut events = events.map(Output::create).transpose()?;
    let workload = Arc::new(input.expand()?);
    let mut run = Run::new(&input.scenario, workload, RunOptions::default());
    let mut lines = String::new();
    let mut state = RunState::Running;
    let mut written = Ok(());
    while state == RunState::Running {
        let name = &input.name;
        let ended = |error: RunError| anyhow!("error: {name}: {error}");
        state = match &mut events {
            None => run.advance(SLICE_INSTANTS, |_| {}).map_err(ended)?,
            Some(events) => {
                let advanced = run.advance(SLICE_INSTANTS, |log| {
                    write_facts(&mut lines, log);
                    // An instant can hold many facts: what is kept back is bounded.
                    if lines.len() > LINES_BYTES_MAX && written.is_ok() {
                        written = events.write(&lines);
                        lines.clear();
                    }
                });
                std::mem::replace(&mut written, Ok(()))?;
                events.write(&lines)?;
                lines.clear();
                advanced.map_err(ended)?
            }
        };
        interrupt::check()?;
        watch.show(run.progress());
    }
    events.map_or(Ok(()), Output::commit)?;
    Ok(run)
}

fn write_facts(lines: &mut String, log: &FactLog) {
    for (at, fact) in log.iter() {
        jsonl::write_fact(lines, at, fact, log);
    }
}

fn hand_over(json: Option<Output>, digest: bool, report: &Report, human: bool) -> Result<()> {
    if let Some(mut json) = json {
        json.write(&report.to_json())?;
        json.commit()?;
    }
    if digest {
        output::say(&format!("{}\n", report.digest))?;
    }
    if human {
        output::say(&table::render(report))?;
    }
    Ok(())
}

/// An expectation that failed, as an error with its place.
pub(crate) fn failed(name: &str, failure: &Failure) -> String {
    format!(
        "expectation failed: found {}, expected {}\n  --> {name}:{}",
        failure.found, failure.expected, failure.line
    )
}

/// The census of a dead end in words.
pub(crate) fn dead_end(report: &Report) -> String {
    let text = table::render(report);
    let census = text.find("who waits for what").map_or("", |at| &text[at..]);
    format!("dead end: {} requests are unfinished\n{}", report.requests.unfinished, census.trim_end())
}
