//! A folder with files in it, and the command run there.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// A few conversations over two tiers: some milliseconds a run.
pub(crate) const SCENARIO: &[(&str, &str)] = &[(
    "s.toml",
    r#"tierscope = 1
[engine]
block_size_tokens = 16
g1_blocks = 100
[g2]
blocks = 100
[offload]
store = "on_compute"
[slo]
ttft_ms = 200
[workload]
kind = "synthetic"
requests = 12
arrival = "poisson"
rate_per_s = 8.0
prompt_tokens = { min = 30, max = 200 }
output_tokens = { min = 4, max = 12 }
shared_prefix = { tokens = 64, groups = 2 }
turns = 2
turn_delay_ms = 100
"#,
)];

/// The folder.
pub(crate) struct Place(TempDir);

/// What the command said.
pub(crate) struct Answer {
    /// On standard output.
    pub(crate) stdout: String,
    /// On standard error.
    pub(crate) stderr: String,
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

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The command, to be run in it.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tierscope"));
        command.args(args).current_dir(self.0.path()).env_remove("RUST_BACKTRACE");
        command
    }

    /// Runs it; it must exit with this code.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str], exit: i32) -> Answer {
        let output = self.command(args).output().expect("the command starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let answer = Answer { stdout: text(&output.stdout), stderr: text(&output.stderr) };
        assert_eq!(output.status.code(), Some(exit), "{args:?}\n{}\n{}", answer.stdout, answer.stderr);
        answer
    }

    /// What a file in it holds.
    #[track_caller]
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The same as text.
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("text")
    }

    /// The same of a file that may not be there yet.
    pub(crate) fn try_text(&self, name: &str) -> String {
        std::fs::read(self.path(name))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// The names of what is in it.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }
}
