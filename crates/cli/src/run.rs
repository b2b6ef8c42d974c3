//! `tierscope run`: one scenario, one report.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use tierscope_report::{REQUESTS_HEADER, Report, table};
use tierscope_scenario::Scenario;
use tierscope_sim::{Failure, Run, RunError, RunState, evaluate};

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::input::{self, Changes, Input};
use crate::interrupt;
use crate::output::{self, Output};
use crate::progress::Watch;
use crate::sink::Sinks;

/// Instants between two looks at the clock.
const SLICE_INSTANTS: u32 = 8_192;

pub(crate) fn run(args: &RunArgs) -> Result<Exit> {
    let taken = output::one_each(args.outputs.given())?;
    let input = input::read(&args.what.scenario, &Changes::of(&args.what))?;
    // Opened before the run: what cannot be written is said at once.
    let json = args.outputs.json.as_deref().map(Output::create).transpose()?;
    let requests = args.outputs.requests.as_deref().map(Output::create).transpose()?;
    let workers = input.scenario.fleet.as_ref().map_or(1, |fleet| fleet.roles.len());
    let sinks = Sinks::open(&args.outputs, &input.scenario.title, workers)?;
    let human = !args.quiet && !args.digest && !taken;
    tell_defaults(&input, human, args.quiet)?;

    let run = play(&input, sinks, args.quiet)?;
    write_requests(requests, &run)?;
    let report = run.report();
    check_replay(&input, &report)?;
    // Of a run that was stopped on the way nothing was expected.
    let failures = match run.state() {
        RunState::Stopped => Vec::new(),
        _ => evaluate(&input.scenario.expect, &report, &run.folds().summary()),
    };
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

/// Runs to the end; facts go to the sinks as they come.
fn play(input: &Input, mut sinks: Sinks, quiet: bool) -> Result<Run> {
    let mut watch = Watch::new(quiet);
    let workload = Arc::new(input.expand()?);
    let mut run = input.run(workload);
    let mut state = RunState::Running;
    let is_idle = sinks.is_idle();
    while state == RunState::Running {
        let name = &input.name;
        let advanced = match is_idle {
            true => run.advance(SLICE_INSTANTS, |_| {}),
            false => run.advance(SLICE_INSTANTS, |log| sinks.take(log)),
        };
        sinks.flush()?;
        state = advanced.map_err(|error: RunError| anyhow!("error: {name}: {error}"))?;
        interrupt::check()?;
        watch.show(run.progress());
    }
    sinks.commit(run.simulation().now())?;
    Ok(run)
}

/// A recording holds the digest of what happened: another one is another version's doing, or a fault.
fn check_replay(input: &Input, report: &Report) -> Result<()> {
    let Some(recording) = &input.recording else { return Ok(()) };
    if recording.digest == report.digest {
        return Ok(());
    }
    let (name, digest, own) = (&input.name, &recording.digest, tierscope_sim::VERSION);
    if recording.version != own {
        output::complain(&format!(
            "note: {name} was driven by version {}, and this is {own}: the same ends of copies give {} here, not {digest}",
            recording.version, report.digest
        ));
        return Ok(());
    }
    Err(anyhow!(
        "error: {name}: found digest {}, expected {digest}, which is what was driven\n  mend: has the recording, or the \
         trace that it replays, been changed?",
        report.digest
    ))
}

/// A row for each request.
pub(crate) fn write_requests(output: Option<Output>, run: &Run) -> Result<()> {
    const ROWS: usize = 4_096;
    let Some(mut output) = output else { return Ok(()) };
    output.write(REQUESTS_HEADER)?;
    let (mut text, mut from, mut more) = (String::new(), 0, true);
    while more {
        more = run.folds().write_requests(from, ROWS, &mut text);
        output.write(&text)?;
        text.clear();
        from += ROWS;
    }
    output.commit()
}

pub(crate) fn hand_over(json: Option<Output>, digest: bool, report: &Report, human: bool) -> Result<()> {
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
