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
    "two-loads" "Two loads, one pool"
    "two-loads-mended" "Two loads, one pool: mended"
    "sisyphus" "Sisyphus: a victim forgets what it computed"
    "sisyphus-mended" "Sisyphus, mended: content stays until its slot is taken"
    "convoy" "A convoy behind one load"
    "convoy-mended" "The convoy, mended: load only what comes sooner"
    "host-hits-zero" "Why is my host hit rate 0? It stores what G1 has"
    "host-hits-zero-mended" "Why is my host hit rate 0? Mended: store on eviction"
    "disk-hit" "A hit on disk, slower than a miss"
    "disk-hit-mended" "A hit on disk, mended: whichever is sooner"
    "store-outruns-disk" "The store outruns the disk"
    "store-outruns-disk-mended" "The store outruns the disk, mended: back-pressure"
    "coding-agents" "Coding agents: on the wrong side of the cliff"
    "coding-agents-mended" "Coding agents: past the cliff"
    "two-directions" "One link, two directions"
    "two-directions-mended" "One link, two directions, mended: store what was found again"
    "four-workers" "Four workers: two compute prompts, two answer"
};
