//! A sweep on somebody else's cores: n self-contained commands are handed to an engine, and merged when all are done.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use super::args::SweepArgs;
use super::deliver::{Results, beside};
use super::merge;
use super::plan::Planned;
use crate::exit::Exit;

/// Shares where no number is given; more than most machines have cores, so that none waits long for the last.
const SHARDS: u64 = 16;

/// The shares of a sweep, as commands.
pub(crate) struct Shards {
    /// How many.
    pub(crate) count: u32,
    /// The folder that they write to, and where everybody begins.
    pub(crate) folder: PathBuf,
    pub(crate) here: PathBuf,
    /// The words of each command before the share's number.
    words: Vec<String>,
}

/// What an engine says when it is done.
pub(crate) enum Handed {
    /// All shares have ended.
    Done,
    /// The script was printed; nothing runs.
    Printed,
}

/// Hands the shares to `engine`, then merges.
pub(crate) fn run(
    args: &SweepArgs,
    planned: &Planned,
    results: &Results<'_>,
    engine: fn(&SweepArgs, &Shards) -> Result<Handed>,
) -> Result<Exit> {
    let shards = Shards::of(args, planned)?;
    if let Handed::Printed = engine(args, &shards)? {
        return Ok(Exit::Done);
    }
    let (plan, rows) = merge::collect(&shards.folder)?;
    if plan != planned.plan {
        let folder = shards.folder.display();
        return Err(anyhow!("error: {folder} holds another sweep\n  mend: name another folder with --parts"));
    }
    let exit = results.deliver(&plan, &rows)?;
    if args.parts.is_none() {
        merge::discard(&shards.folder)?;
    }
    Ok(exit)
}

impl Shards {
    fn of(args: &SweepArgs, planned: &Planned) -> Result<Self> {
        if planned.from_stdin {
            return Err(anyhow!(
                "error: the scenario comes from standard input, which the shares cannot read again\n  mend: write it to a \
                 file"
            ));
        }
        let Some(folder) = args.parts.clone().or_else(|| Some(beside(args.out.as_deref()?, ".parts"))) else {
            return Err(anyhow!("error: the shares have no folder\n  mend: add --out FILE or --parts DIR"));
        };
        let here = std::env::current_dir()?;
        let command = std::env::current_exe()?;
        let mut words = vec![command.display().to_string()];
        words.extend(planned.again.iter().cloned());
        let folder = here.join(folder);
        words.extend(["--quiet", "--jobs", "1", "--out"].map(str::to_owned));
        words.push(folder.display().to_string());
        let count = args.shards.map_or(SHARDS, u64::from).min(planned.plan.points()) as u32;
        Ok(Self { count, folder, here, words })
    }

    /// The command of a share.
    pub(crate) fn command(&self, number: u32) -> Vec<String> {
        let shard = ["--shard".to_owned(), format!("{number}/{}", self.count)];
        self.words.iter().cloned().chain(shard).collect()
    }

    /// A line of shell that runs the share whose number is in a variable.
    pub(crate) fn line(&self, variable: &str) -> String {
        let words = self.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        format!("exec {words} --shard \"${{{variable}}}/{}\"", self.count)
    }

    /// Makes the folder.
    pub(crate) fn prepare(&self) -> Result<()> {
        make_folder(&self.folder)
    }
}

/// Makes a folder, with those that it lies in.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let folder = folder.display();
        anyhow!("error: cannot make the folder {folder}: {error}\n  mend: name one that may be written to")
    })
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
