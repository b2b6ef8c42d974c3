//! `tierscope sweep`: many runs, one file.
//!
//! What a point is and what its row holds is decided in `crates/sweep`; here are the trace files, the threads, the
//! journal that survives a kill, the parts that travel, and the clusters that run them. The unit of distribution is
//! one self-contained command, `sweep … --shard i/n --out DIR`: an engine is whatever runs n of these.

mod args;
mod deliver;
mod hq;
mod journal;
mod local;
mod merge;
mod plan;
mod progress;
mod shards;
mod slurm;
mod supply;

use std::path::Path;

use anyhow::{Result, anyhow};
use tierscope_sweep::{Row, Shard, part};

pub(crate) use args::SweepArgs;
use args::{Engine, SweepCommand};
use deliver::Results;
use journal::Journal;
use plan::Planned;

use crate::exit::Exit;
use crate::output;

pub(crate) fn sweep(args: &SweepArgs) -> Result<Exit> {
    if let Some(SweepCommand::Merge(args)) = &args.command {
        return merge::merge(args);
    }
    let results = Results { out: args.out.as_deref(), json: args.json.as_deref(), quiet: args.quiet };
    check(args)?;
    let planned = plan::read(args)?;
    if let Some(shard) = &args.shard {
        return one_part(args, &planned, Shard::parse(shard)?);
    }
    results.check()?;
    match args.engine {
        Engine::Local => {
            let rows = whole(args, &planned)?;
            let exit = results.deliver(&planned.plan, &rows)?;
            // Only now: what is finished is in the files.
            if let Some(out) = &args.out {
                journal::remove(&deliver::journal_of(out))?;
            }
            Ok(exit)
        }
        Engine::Hq => shards::run(args, &planned, &results, hq::run),
        Engine::Slurm => shards::run(args, &planned, &results, slurm::run),
    }
}

/// Flags that mean nothing without an engine are a mistake.
fn check(args: &SweepArgs) -> Result<()> {
    let flags = [
        ("--shards", args.shards.is_some() && args.engine == Engine::Local, "--engine hq or slurm"),
        ("--parts", args.parts.is_some() && args.engine == Engine::Local, "--engine hq or slurm"),
        ("--server-dir", args.server_dir.is_some() && args.engine != Engine::Hq, "--engine hq"),
        ("--python", args.python.is_some() && args.engine != Engine::Hq, "--engine hq"),
        ("--print-script", args.print_script && args.engine != Engine::Slurm, "--engine slurm"),
    ];
    match flags.into_iter().find(|(_, wrong, _)| *wrong) {
        Some((flag, _, engine)) => {
            Err(anyhow!("error: {flag} is given without {engine}\n  mend: add that, or leave {flag} out"))
        }
        None => Ok(()),
    }
}

/// All points in this process; with a file to write, a journal beside it.
fn whole(args: &SweepArgs, planned: &Planned) -> Result<Vec<Row>> {
    let Some(out) = &args.out else {
        return local::run(planned, Shard::WHOLE, Vec::new(), &local::How::of(args), |_| Ok(()));
    };
    journaled(args, planned, Shard::WHOLE, &deliver::journal_of(out))
}

/// One share, as a part in a folder.
fn one_part(args: &SweepArgs, planned: &Planned, shard: Shard) -> Result<Exit> {
    let folder = args.out.as_deref().unwrap_or(Path::new("."));
    shards::make_folder(folder)?;
    let header = part::header(&planned.plan, shard, &planned.again);
    let path = folder.join(format!("{}.jsonl", shard.name()));
    let journal = folder.join(format!("{}.journal", shard.name()));
    let rows = match merge::existing(&path, &planned.plan)? {
        Some(rows) => {
            if !args.quiet {
                output::complain(&format!("{} is there already, and whole", path.display()));
            }
            rows
        }
        None => {
            let rows = journaled(args, planned, shard, &journal)?;
            output::write_file(&path, part::write(&header, &rows))?;
            rows
        }
    };
    journal::remove(&journal)?;
    Ok(deliver::broken(&planned.plan, &rows).map_or(Exit::Done, |_| Exit::Broken))
}

fn journaled(args: &SweepArgs, planned: &Planned, shard: Shard, path: &Path) -> Result<Vec<Row>> {
    let header = part::header(&planned.plan, shard, &planned.again);
    let (journal, done) = Journal::open(path, &header, &planned.plan, shard)?;
    if !done.is_empty() && !args.quiet {
        let points = shard.points(&planned.plan).count();
        output::complain(&format!("{} of {points} points are finished already", done.len()));
    }
    local::run(planned, shard, done, &local::How::of(args), |row| journal.append(row))
}
