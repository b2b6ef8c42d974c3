//! A sweep as a Slurm array: one task a share. `sbatch --wait` comes back when all have ended.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, anyhow};

use super::args::SweepArgs;
use super::shards::{Handed, Shards, quoted};
use crate::output;

pub(crate) fn run(args: &SweepArgs, shards: &Shards) -> Result<Handed> {
    let script = script(shards);
    if args.print_script {
        output::say(&script)?;
        return Ok(Handed::Printed);
    }
    shards.prepare()?;
    submit(&script, &shards.folder)?;
    Ok(Handed::Done)
}

/// The script; it can be submitted by hand as well.
fn script(shards: &Shards) -> String {
    let Shards { count, folder, here, .. } = shards;
    // Beside the folder of the parts, which may not be there yet: Slurm makes none. A blank would end the option.
    let log = format!("\"{}.slurm-%a.log\"", folder.display());
    format!(
        "#!/bin/bash\n\
         #SBATCH --job-name=tierscope-sweep\n\
         #SBATCH --array=1-{count}\n\
         #SBATCH --ntasks=1\n\
         #SBATCH --cpus-per-task=1\n\
         #SBATCH --output={log}\n\
         # Each task is one share, writes one part, and may be run again at any time.\n\
         set -euo pipefail\n\
         cd {}\n\
         {}\n",
        quoted(&here.display().to_string()),
        shards.line("SLURM_ARRAY_TASK_ID"),
    )
}

fn submit(script: &str, folder: &Path) -> Result<()> {
    let unheard = |error: std::io::Error| {
        anyhow!(
            "error: sbatch could not be started: {error}\n  mend: run this on a machine that submits to Slurm, or take \
             --print-script and submit what it prints"
        )
    };
    let mut command = Command::new("sbatch");
    // Its line about the job is no result.
    command.arg("--wait").stdin(Stdio::piped()).stdout(std::io::stderr());
    let mut child = command.spawn().map_err(unheard)?;
    if let Some(mut input) = child.stdin.take() {
        // If it does not listen, its exit says so.
        let _ = input.write_all(script.as_bytes());
    }
    let status = child.wait().map_err(unheard)?;
    match status.success() {
        true => Ok(()),
        false => Err(anyhow!(
            "error: sbatch --wait ended with {status}\n  mend: look at {}.slurm-*.log; the same command runs only what is \
             missing",
            folder.display()
        )),
    }
}
