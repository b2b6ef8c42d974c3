//! The gallery: scenarios that each teach one thing. The files lie in `web/gallery`.

/// One case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The file's name without its ending.
    pub name: &'static str,
    /// What the picker shows; the scenario's own title, as a test makes sure.
    pub title: &'static str,
    /// The scenario.
    pub text: &'static str,
}

macro_rules! cases {
    ($($name:literal $title:literal)*) => {
        &[$(Case { name: $name, title: $title, text: include_str!(concat!("../../../gallery/", $name, ".toml")) }),*]
    };
}

/// All cases, in the order of the picker. A page without a scenario in its address opens the first.
pub const CASES: &[Case] = cases! {
    "first-steps" "First steps: four requests, one pool"
    "shared-prefix" "A shared prefix pays"
    "preemption" "Preemption under pressure"
    "twelve-blocks" "Twelve blocks, four requests"
    "hold-and-wait" "Hold and wait: a dead end"
    "hold-and-wait-mended" "Hold and wait, mended"
    "blocked-on-offload" "Blocked on an offload"
    "never-fits" "A prompt that can never fit"
    "chat-sessions" "Chat sessions, several turns"
    "prefill-chunks" "One long prompt among short ones"
    "rush-hour" "Rush hour in a large pool"
};
