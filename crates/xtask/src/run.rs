//! Child processes and steps: what is run is shown, what fails names the command that repeats it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// Why a command of xtask stopped.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    /// The command line that repeats it.
    repeat: Option<String>,
    /// The exit code: 1 a check failed, 2 bad usage.
    pub(crate) code: u8,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), repeat: None, code: 1 }
    }

    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self { what: what.into(), repeat: None, code: 2 }
    }

    pub(crate) fn repeated_by(mut self, command: impl Into<String>) -> Self {
        self.repeat = Some(command.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        match &self.repeat {
            Some(command) => write!(f, "\n  to repeat it: {command}"),
            None => Ok(()),
        }
    }
}

/// The project's root folder.
pub(crate) fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&here).ancestors().nth(2).expect("crates/xtask lies two folders below the root").to_path_buf()
}

/// Cargo's target folder: xtask itself lies in `<target>/debug/`.
pub(crate) fn target_dir() -> PathBuf {
    let of_exe = std::env::current_exe().ok().and_then(|exe| exe.ancestors().nth(2).map(Path::to_path_buf));
    of_exe.unwrap_or_else(|| root().join("target"))
}

/// A child process, run in the root folder unless said otherwise.
#[derive(Debug)]
pub(crate) struct Cmd {
    program: OsString,
    args: Vec<OsString>,
    envs: Vec<(String, OsString)>,
    unset: Vec<String>,
}

impl Cmd {
    /// `line` is split at spaces; arguments that may hold spaces are added by [`Cmd::arg`].
    pub(crate) fn new(line: &str) -> Self {
        let mut words = line.split_whitespace();
        let program = words.next().expect("a command line has a program").into();
        Self { program, args: words.map(Into::into).collect(), envs: Vec::new(), unset: Vec::new() }
    }

    pub(crate) fn program(path: impl AsRef<OsStr>) -> Self {
        Self { program: path.as_ref().to_os_string(), args: Vec::new(), envs: Vec::new(), unset: Vec::new() }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_os_string());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_os_string()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.envs.push((name.to_owned(), value.as_ref().to_os_string()));
        self
    }

    pub(crate) fn env_remove(mut self, name: &str) -> Self {
        self.unset.push(name.to_owned());
        self
    }

    /// Runs it with this terminal's output; a non-zero exit is a failure.
    pub(crate) fn run(&self) -> Result {
        let status =
            self.command().stdin(Stdio::null()).status().map_err(|error| self.not_started(&error))?;
        if status.success() { Ok(()) } else { Err(self.failed(&status)) }
    }

    /// Runs it and returns what it printed; its errors go to this terminal.
    pub(crate) fn capture(&self) -> Result<String> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = command.output().map_err(|error| self.not_started(&error))?;
        if !output.status.success() {
            return Err(self.failed(&output.status));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// What it printed, however it ended; its errors go to this terminal.
    pub(crate) fn output(&self) -> Result<String> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = command.output().map_err(|error| self.not_started(&error))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// What it prints if it starts and succeeds, quietly.
    pub(crate) fn probe(&self) -> Option<String> {
        let output = self.command().stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(root());
        for name in &self.unset {
            command.env_remove(name);
        }
        command.envs(self.envs.iter().map(|(name, value)| (name, value)));
        command
    }

    fn not_started(&self, error: &std::io::Error) -> Failure {
        Failure::new(format!("`{}` could not be started: {error}", self.program.to_string_lossy()))
            .repeated_by(self.to_string())
    }

    fn failed(&self, status: &std::process::ExitStatus) -> Failure {
        let program = Path::new(&self.program).file_name().unwrap_or(&self.program).to_string_lossy();
        Failure::new(format!("{program} failed ({status})")).repeated_by(self.to_string())
    }
}

/// As one would type it in the root folder. PATH is left out: it is long, and only says where the tools lie.
impl fmt::Display for Cmd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.envs.iter().filter(|(name, _)| name != "PATH") {
            write!(f, "{name}={} ", quoted(value))?;
        }
        f.write_str(&quoted(&self.program))?;
        self.args.iter().try_for_each(|arg| write!(f, " {}", quoted(arg)))
    }
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The steps of a long command: announced, timed, summed up at the end.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    done: Vec<(String, Duration)>,
}

impl Steps {
    /// Runs one step; a failure stops the caller, with the steps so far summed up.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result) -> Result {
        println!("\n── {name}");
        let started = Instant::now();
        let result = work();
        self.done.push((name.to_owned(), started.elapsed()));
        if result.is_err() {
            println!("\n{}", self.summary(Some(name)));
        }
        result
    }

    /// A step that is one child process.
    pub(crate) fn command(&mut self, name: &str, command: &Cmd) -> Result {
        self.step(&format!("{name}: {command}"), || command.run())
    }

    pub(crate) fn summary(&self, failed: Option<&str>) -> String {
        let mut text = String::from("steps, in seconds\n");
        for (name, time) in &self.done {
            let mark = if failed == Some(name) { "  <- failed" } else { "" };
            text.push_str(&format!("{:8.1}  {}{mark}\n", time.as_secs_f64(), shortened(name)));
        }
        let total: Duration = self.done.iter().map(|(_, time)| *time).sum();
        text.push_str(&format!("{:8.1}  in all", total.as_secs_f64()));
        text
    }
}

fn shortened(name: &str) -> &str {
    name.split_once(": ").map_or(name, |(title, _)| title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_that_repeats_it() {
        let failure =
            Cmd::new("false --once").arg("two words").env("A", "b c").run().expect_err("false fails");
        assert!(failure.to_string().contains("to repeat it: A='b c' false --once 'two words'"), "{failure}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let failure = Cmd::new("no-such-program-anywhere").run().expect_err("it is not there");
        assert!(failure.to_string().contains("`no-such-program-anywhere` could not be started"), "{failure}");
    }

    #[test]
    fn the_summary_marks_the_step_that_failed() {
        let mut steps = Steps::default();
        steps.step("first: true", || Ok(())).expect("it passes");
        steps.step("second: false", || Err(Failure::new("no"))).expect_err("it fails");
        let summary = steps.summary(Some("second: false"));
        assert!(summary.contains("first\n") && summary.contains("second  <- failed"), "{summary}");
    }

    #[test]
    fn the_root_is_where_the_workspace_is() {
        assert!(root().join("Cargo.toml").is_file() && root().join("crates/xtask").is_dir());
    }
}
