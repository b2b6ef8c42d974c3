//! A folder with files in it, the command run there, and what it said.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// The folder.
pub(crate) struct Place(TempDir);

/// What the command said.
pub(crate) struct Answer {
    /// On standard output.
    pub(crate) out: String,
    /// On standard error.
    pub(crate) err: String,
}

impl Place {
    /// A folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let place = Self(TempDir::new().expect("a temporary folder"));
        for (name, text) in files {
            let path = place.path(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        place
    }

    /// The folder itself.
    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    #[allow(dead_code, reason = "only driven runs have a real side")]
    /// A report in it: what a run came to, and what a driven one says of its real side.
    pub(crate) fn report(&self, name: &str) -> (Value, Option<Value>) {
        let text = std::fs::read_to_string(self.path(name)).expect("the report");
        let mut all: Value = serde_json::from_str(&text).expect("JSON");
        let driven = all.as_object_mut().and_then(|report| report.remove("driven"));
        (all, driven)
    }

    /// The command, to be run in it.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tierscope"));
        command.args(args).current_dir(self.folder()).env_remove("RUST_BACKTRACE");
        command
    }

    /// Runs it; it must exit with this code.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str], exit: i32) -> Answer {
        Answer::of(self.command(args).output().expect("the command starts"), exit)
    }
}

impl Answer {
    /// What a command said that ended with this code, and did not panic.
    #[track_caller]
    pub(crate) fn of(output: Output, exit: i32) -> Self {
        let out = String::from_utf8(output.stdout).expect("text");
        let err = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(exit), "\nstdout:\n{out}\nstderr:\n{err}");
        assert!(!err.contains("panicked"), "{err}");
        Self { out, err }
    }
}
