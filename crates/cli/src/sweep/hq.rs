//! A sweep on HyperQueue. With `--server-dir` the shares go to that server, as one array of `hq submit`; without, its
//! Python package starts a server and a worker on this machine (`LocalCluster`).

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Result, anyhow};

use super::args::SweepArgs;
use super::shards::{Handed, Shards};

/// What drives the package; it reads the commands from standard input.
const DRIVER: &str = include_str!("hq.py");
/// Names a Python that has the package, where the flag does not.
const VARIABLE: &str = "TIERSCOPE_PYTHON";
/// The version that `cargo xtask setup` installs.
const VERSION: &str = "0.27.0";

pub(crate) fn run(args: &SweepArgs, shards: &Shards) -> Result<Handed> {
    shards.prepare()?;
    let status = match &args.server_dir {
        Some(server) => submit(server.clone(), shards)?,
        None => local_cluster(args, shards)?,
    };
    match status.success() {
        true => Ok(Handed::Done),
        false => Err(anyhow!(
            "error: HyperQueue ended with {status}\n  mend: look at hq-*.log in {}; the same command runs only what is \
             missing",
            shards.folder.display()
        )),
    }
}

fn submit(server: PathBuf, shards: &Shards) -> Result<ExitStatus> {
    let log = shards.folder.join("hq-%{TASK_ID}.log");
    let mut command = Command::new("hq");
    command.arg("--server-dir").arg(server).arg("submit").arg("--wait");
    command.args(["--name", "tierscope-sweep", "--cpus", "1", "--array"]).arg(format!("1-{}", shards.count));
    command.arg("--cwd").arg(&shards.here).arg("--stdout").arg(&log).arg("--stderr").arg(&log);
    command.args(["--", "bash", "-c"]).arg(shards.line("HQ_TASK_ID")).stdout(std::io::stderr());
    command.status().map_err(|error| {
        anyhow!("error: hq could not be started: {error}\n  mend: put HyperQueue's command hq on PATH")
    })
}

fn local_cluster(args: &SweepArgs, shards: &Shards) -> Result<ExitStatus> {
    let python = python(args);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let job = serde_json::json!({
        "cores": args.jobs.map_or(cores, u64::from),
        "cwd": shards.here,
        "logs": shards.folder,
        "commands": (1..=shards.count).map(|number| shards.command(number)).collect::<Vec<_>>(),
    });
    let unheard = |error: std::io::Error| {
        anyhow!(
            "error: {} could not be started: {error}\n  mend: install Python 3 and its package hyperqueue {VERSION} (from a \
             clone: cargo xtask setup), and name it with --python or {VARIABLE}",
            python.display()
        )
    };
    let mut command = Command::new(&python);
    command.arg("-c").arg(DRIVER).env("TQDM_DISABLE", "1").stdin(Stdio::piped());
    // What it says about its server is no result.
    command.stdout(if args.quiet { Stdio::null() } else { std::io::stderr().into() });
    let mut child = command.spawn().map_err(unheard)?;
    if let Some(mut input) = child.stdin.take() {
        // If it does not listen, its exit says so.
        let _ = input.write_all(job.to_string().as_bytes());
    }
    child.wait().map_err(unheard)
}

/// The flag, the variable, what `cargo xtask setup` installed, or whatever PATH has.
fn python(args: &SweepArgs) -> PathBuf {
    let named = args.python.clone().or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
    named.or_else(installed).unwrap_or_else(|| "python3".into())
}

fn installed() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let python = cache.join(format!("tierscope/tools/hyperqueue-{VERSION}/bin/python"));
    python.is_file().then_some(python)
}
