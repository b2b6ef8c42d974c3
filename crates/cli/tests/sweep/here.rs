//! The scenario that is swept, and what is looked at in its folder.

use std::collections::BTreeSet;

use crate::place::Place;

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

impl Place {
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
        let entries = std::fs::read_dir(self.folder()).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }
}
