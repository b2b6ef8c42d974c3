//! `tierscope drive`: the same run with real blocks.

mod args;
mod play;
mod told;
mod watch;

use anyhow::{Result, anyhow};
use tierscope_driver::{Ends, Mirror, Pace};
use tierscope_engine::{Expiry, Tier};
use tierscope_report::table;
use tierscope_scenario::fleet::FleetSpec;
use tierscope_scenario::{Recording, Scenario};
use tierscope_sim::{RunState, evaluate};
use tierscope_units::Span;

pub(crate) use args::DriveArgs;

use crate::exit::Exit;
use crate::input::{self, Changes, Input};
use crate::media::{self, Media, Sizes};
use crate::output::{self, Output};
use crate::run;
use crate::sink::Sinks;
use args::{ClockChoice, Passes};
use play::{Plan, Played};

/// Passes that take no time take this, so that a pass is never no progress at all (rule S3).
const NO_PASS: [&str; 4] = [
    "timing.model=\"fixed\"",
    "timing.prefill_per_token_ns=0",
    "timing.decode_ns=0",
    "timing.overhead_ns=1000",
];

pub(crate) fn drive(args: &DriveArgs) -> Result<Exit> {
    let record = args.record.as_deref().map(|path| ("--record", path));
    let taken = output::one_each(args.outputs.given().chain(record))?;
    if args.record.is_some() && args.clock == ClockChoice::Lockstep {
        return Err(anyhow!(
            "error: --record with --clock lockstep: there the modelled world says when copies end, and `tierscope run` is the \
             same run\n  mend: --clock wall or --clock skip, or leave --record out"
        ));
    }
    let input = read(args)?;
    let create = |path: &Option<std::path::PathBuf>| path.as_deref().map(Output::create).transpose();
    let (json, requests) = (create(&args.outputs.json)?, create(&args.outputs.requests)?);
    let record = create(&args.record)?;
    let mut sinks = Sinks::open(&args.outputs, &input.scenario.title, 1)?;
    let human = !args.quiet && !taken;

    let block_bytes = args.block_bytes.unwrap_or(input.scenario.kv_bytes_per_block).next_multiple_of(8);
    let ends = if args.clock == ClockChoice::Lockstep { Ends::Modelled } else { Ends::Real };
    let mirror = tiers(args, &input.scenario, block_bytes, ends)?;
    let plan = Plan { input: &input, block_bytes, quiet: args.quiet };
    let played = match args.clock {
        ClockChoice::Lockstep => play::lockstep(&plan, mirror, &mut sinks)?,
        ClockChoice::Wall => play::on_the_clock(&plan, mirror, Pace::Wall, &mut sinks)?,
        ClockChoice::Skip => play::on_the_clock(&plan, mirror, Pace::Skipping, &mut sinks)?,
    };

    let driven = &played.run;
    let report = driven.report();
    sinks.commit(driven.simulation().now())?;
    run::write_requests(requests, driven)?;
    if let Some(mut json) = json {
        json.write(&told::with_driven(&report, &played.mirror, args.clock.name(), block_bytes)?)?;
        json.commit()?;
    }
    if let Some(mut record) = record {
        let recording = recording(&played, &input.text, block_bytes, &report.digest);
        record.write(&recording.to_text())?;
        record.commit()?;
    }
    if human {
        output::say(&table::render(&report))?;
        output::say(&told::moved(&played.mirror, block_bytes))?;
    }
    if let Some(why) = &played.broken {
        output::complain(&format!("error: {}: {why}", input.name));
        return Ok(Exit::Broken);
    }
    if played.interrupted {
        return Err(anyhow!(
            "interrupted: the run was stopped; copies under way were cancelled, and nothing is held"
        ));
    }
    let failures = evaluate(&input.scenario.expect, &report, &driven.folds().summary());
    for failure in &failures {
        output::complain(&run::failed(&input.name, failure));
    }
    Ok(match driven.state() {
        RunState::DeadEnd => Exit::Broken,
        _ if !failures.is_empty() => Exit::ExpectationFailed,
        _ => Exit::Done,
    })
}

fn read(args: &DriveArgs) -> Result<Input> {
    let mut set: Vec<String> = Vec::new();
    if args.passes == Passes::None {
        set.extend(NO_PASS.map(str::to_owned));
    }
    set.extend(args.what.set.iter().cloned());
    let read = |set: &[String]| input::read(&args.what.scenario, &Changes { set, ..Changes::of(&args.what) });
    let mut input = read(&set)?;
    let forgets = |fleet: &FleetSpec| fleet.router.expiry != Expiry::REPLAY;
    if args.clock != ClockChoice::Lockstep
        && input.scenario.fleet.as_ref().is_some_and(|fleet| !forgets(fleet))
    {
        // On the wall clock a router forgets requests that it hears nothing of (rule R4).
        let after_s = Expiry::WALL_CLOCK.after.map_or(0, Span::as_ns) / 1_000_000_000;
        set.insert(0, format!("router.expiry_s={after_s}"));
        input = read(&set)?;
    }
    // A recording is driven anew: only its scenario counts.
    input.recording = None;
    Ok(input)
}

fn recording(played: &Played, scenario: &str, block_bytes: u64, digest: &str) -> Recording {
    let driven = &played.run;
    let over = driven.state() != RunState::Running;
    Recording {
        version: tierscope_sim::VERSION.to_owned(),
        scenario: scenario.to_owned(),
        block_bytes,
        media: told::media(&played.mirror),
        told: played.told.clone(),
        stopped: (!over).then(|| driven.simulation().now()),
        digest: digest.to_owned(),
    }
}

fn tiers(args: &DriveArgs, scenario: &Scenario, block_bytes: u64, ends: Ends) -> Result<Mirror> {
    let slots = |tier| Some(Mirror::medium_slots(scenario, tier)).filter(|&slots| slots > 0);
    let memory = [Mirror::arena_slots(scenario), Mirror::medium_slots(scenario, Tier::G1)];
    let sizes =
        Sizes { g3: slots(Tier::G3), g4: slots(Tier::G4), ..Sizes::new(&args.media, block_bytes, memory)? };
    let Media { arena, below } = media::open(&args.media, sizes)?;
    Mirror::new(scenario, arena, below, ends).map_err(|error| anyhow!("error: {error}"))
}
