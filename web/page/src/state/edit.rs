//! The scenario under the user's hands: text, what the parser says of it, and links.

use std::rc::Rc;

use tierscope_scenario::link::{self, LinkError};
use tierscope_scenario::{Problem, Scenario, import};
use tierscope_worker::protocol::ProblemView;

use super::size::Size;

/// A text and what the parser says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The text.
    pub text: Rc<str>,
    /// What the page shows of a valid scenario.
    pub scenario: Option<Rc<Outline>>,
    /// Its faults, in order of place.
    pub problems: Rc<[ProblemView]>,
}

/// What the page shows of a valid scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Its title.
    pub title: String,
    /// What it teaches.
    pub lesson: String,
    /// Its seed.
    pub seed: u64,
    /// How pass times are modelled.
    pub timing: &'static str,
    /// The defaults that matter.
    pub defaults: Vec<String>,
    /// How large it is.
    pub size: Size,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Blocks of G1 to G4; 0 for a tier that is not there.
    pub capacities: [u32; 4],
    /// The trace that it replays.
    pub trace: Option<Wanted>,
}

/// A trace that a scenario names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its name, without folders.
    pub file: Rc<str>,
    /// Its requests, where the text tells them.
    pub requests: Option<u32>,
}

impl Draft {
    /// Parses a text.
    pub fn new(text: &str) -> Self {
        let text = Rc::from(text);
        match tierscope_scenario::parse_any(&text) {
            Ok(scenario) => {
                let outline = outline(scenario, &text);
                Self { text, scenario: Some(Rc::new(outline)), problems: Rc::from([]) }
            }
            Err(problems) => {
                Self { text, scenario: None, problems: problems.iter().map(problem_view).collect() }
            }
        }
    }

    /// The text with another seed; the fault that stands in the way otherwise.
    pub fn with_seed(&self, seed: u64) -> Result<String, String> {
        tierscope_scenario::set(&self.text, &format!("seed={seed}")).map_err(|problem| problem.to_string())
    }
}

fn outline(scenario: Scenario, text: &str) -> Outline {
    let size = Size::of(&scenario);
    let trace = scenario.trace_path().map(|path| Wanted {
        file: Rc::from(path.rsplit(['/', '\\']).next().unwrap_or(path)),
        requests: import::noted_requests(text),
    });
    let below = scenario.engine.tiers.as_ref();
    let blocks = |tier: Option<u32>| tier.unwrap_or(0);
    let capacities = [
        scenario.engine.g1_blocks,
        blocks(below.map(|below| below.g2.blocks)),
        blocks(below.and_then(|below| below.g3.as_ref()).map(|tier| tier.blocks)),
        blocks(below.and_then(|below| below.g4.as_ref()).map(|tier| tier.blocks)),
    ];
    let title = if scenario.title.is_empty() { "Untitled scenario".to_owned() } else { scenario.title };
    Outline {
        title,
        lesson: scenario.lesson,
        seed: scenario.seed,
        timing: scenario.timing.name(),
        defaults: scenario.defaults,
        size,
        block_bytes: scenario.kv_bytes_per_block,
        capacities,
        trace,
    }
}

pub(crate) fn problem_view(problem: &Problem) -> ProblemView {
    ProblemView {
        line: problem.line,
        column: problem.column,
        key: problem.key.clone(),
        found: problem.found.clone(),
        expected: problem.expected.clone(),
        mend: problem.mend.clone(),
    }
}

/// Whether an address holds no scenario at all.
pub fn is_blank(hash: &str) -> bool {
    hash.trim_start_matches('#').is_empty()
}

/// The address part of a text: `#v2.…`.
pub fn hash_of(text: &str) -> String {
    format!("#{}", link::encode(text))
}

/// The text of an address part, or what is wrong with it and what to do.
pub fn text_of(hash: &str) -> Result<String, String> {
    link::decode(hash).map_err(|error| trouble_in_words(&error))
}

fn trouble_in_words(error: &LinkError) -> String {
    let words = match error {
        LinkError::Empty | LinkError::NoVersion { .. } => {
            "It holds no scenario: copy the whole address again, with all that follows the #."
        }
        LinkError::UnknownVersion { found } => {
            return format!(
                "It is of version {found}, which this release does not know: open it with the newest release."
            );
        }
        LinkError::NotBase64 { .. } => {
            "It has characters that no link has: copy it again, without line breaks or added marks."
        }
        LinkError::NotDeflate | LinkError::NotText => {
            "It was cut or changed on its way: copy the whole link again."
        }
        LinkError::TooLong { .. } | LinkError::TooLarge => {
            "It is larger than any scenario may be: ask for the scenario as a file instead."
        }
    };
    words.to_owned()
}
