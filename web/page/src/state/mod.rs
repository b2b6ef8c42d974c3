//! What the page knows, and how it changes: pure, tested natively.

pub mod action;
pub mod between;
pub mod differences;
pub mod driven;
pub mod duel;
pub mod edit;
pub mod fork;
pub mod form;
pub mod format;
pub mod gallery;
pub mod glossary;
pub mod inspector;
pub mod intake;
pub mod jobs;
pub mod knobs;
pub mod known;
pub mod moves;
pub mod picked;
pub mod play;
pub mod report;
pub mod rival;
pub mod scene;
pub mod selection;
pub mod sentence;
pub mod share;
pub mod sheet;
pub mod size;
pub mod sweep;
#[cfg(test)]
mod tests;
pub mod tour;
pub mod track_words;
pub mod view;
pub mod workers;

use std::rc::Rc;

use tierscope_worker::protocol::{Board, ProblemView, RunResult, SlotView};

pub use action::Action;
use edit::Draft;
use fork::Fork;
use inspector::Inspector;
use intake::Intake;
use jobs::Jobs;
use known::Known;
use play::Playback;
use report::ReportView;
use rival::Rival;
use selection::Selection;
use share::Export;
use sheet::Sheet;
use view::View;

/// Everything that the page shows follows from this.
#[derive(Clone, Debug, PartialEq)]
pub struct AppState {
    /// The scenario as text, and what the parser says of it.
    pub draft: Rc<Draft>,
    /// Where the text came from.
    pub origin: Origin,
    /// Whether the worker hears messages.
    pub worker_ready: bool,
    /// Number of the newest run; 0 before the first.
    pub run: u32,
    /// How far it is.
    pub phase: Phase,
    /// The text that the newest run was started with.
    pub run_text: Rc<str>,
    /// The recording of which the newest run is the replay: it was driven then, and is simulated otherwise.
    pub driven: Option<u32>,
    /// The cursor in time, and whether it moves.
    pub playback: Playback,
    /// The state at the cursor, or the last one that arrived.
    pub board: Option<Rc<Board>>,
    /// The block under the pointer.
    pub slot: Option<Rc<SlotView>>,
    /// The transaction that is shown, and which ones are looked at.
    pub inspector: Inspector,
    /// What the worker has told besides.
    pub known: Known,
    /// What the user has picked out.
    pub selection: Option<Selection>,
    /// What somebody brings: pasted, dropped, a trace.
    pub intake: Intake,
    /// Whether the scenario is shown as a form.
    pub form: bool,
    /// What the worker told of it.
    pub picked: Option<picked::Picked>,
    /// The run that this one is compared with.
    pub fork: Option<Fork>,
    /// That run.
    pub rival: Rival,
    /// What a pool of workers does, and what came of it.
    pub jobs: Jobs,
    /// The sheet that is seen at the right.
    pub sheet: Sheet,
    /// What the link that was opened says besides the scenario, until it is shown.
    pub opened: Option<Box<View>>,
    /// What is being written for the user to keep.
    pub export: Option<Export>,
    /// Whether the page is part of another one: the board and the timeline alone.
    pub embedded: bool,
    /// Whether the host has another version of the page by now.
    pub new_version: bool,
    /// The step of the first five minutes that is shown.
    pub tour: Option<usize>,
    /// A message across the page.
    pub notice: Option<Notice>,
    /// Light, dark, or as the system says.
    pub theme: Theme,
    /// Whether the list of keys is open.
    pub help: bool,
    /// Whether the user asked for reduced motion: nothing moves by itself then.
    pub still: bool,
}

/// Where the text came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The gallery case of this index, unchanged.
    Gallery(usize),
    /// A link.
    Link,
    /// The user's own hand.
    Edited,
    /// A link that could not be read stays in the address bar, and this gallery case stands in for it.
    BrokenLink(usize),
}

/// How far the newest run is.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Nothing was run yet, or the scenario was refused.
    Idle,
    /// A link was opened whose run is heavy: it begins when the user says so.
    Ready,
    /// Under way.
    Running { finished: u32, total: u32, now_ns: f64, cancelling: bool },
    /// Ended: finished, stuck, or cancelled.
    Ended(Rc<Ended>),
    /// The worker refused the scenario.
    Refused(Rc<[ProblemView]>),
}

impl Phase {
    /// After the end of a run.
    fn of_result(result: RunResult) -> Self {
        match ReportView::of_result(&result) {
            Ok(report) => Self::Ended(Rc::new(Ended { result, report })),
            Err(error) => Self::Refused(Rc::from([ProblemView {
                found: error,
                expected: "the report of this version".to_owned(),
                mend: "reload the page, so that page and worker are of the same version".to_owned(),
                ..ProblemView::default()
            }])),
        }
    }
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Ended {
    /// As the worker sent it.
    pub result: RunResult,
    /// The report, read.
    pub report: ReportView,
}

/// The same result is told by its place, not by all that it holds: while a run plays that is asked sixty times a second.
impl PartialEq for Ended {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.result == other.result && self.report == other.report)
    }
}

/// A message across the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What happened, and what to do.
    pub text: String,
    /// Whether something went wrong.
    pub trouble: bool,
}

/// Light, dark, or as the system says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system says.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// The name in storage and in the page's root element.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme of a name; the system's for any other word.
    pub fn of_name(name: &str) -> Self {
        match name {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }

    /// The next one that the button switches to.
    pub fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }
}

impl Phase {
    /// Whether it is under way.
    pub fn is_running(&self) -> bool {
        matches!(self, Self::Running { .. })
    }

    /// What came of it.
    pub fn ended(&self) -> Option<&Rc<Ended>> {
        match self {
            Self::Ended(ended) => Some(ended),
            _ => None,
        }
    }
}

impl AppState {
    /// The state in which the page opens: what the address holds, or the first gallery case, and a run of it as
    /// soon as the worker is up.
    pub fn opening(hash: &str, theme: Theme, still: bool) -> Self {
        let draft = Rc::new(Draft::new(gallery::CASES[0].text));
        let state = Self {
            draft,
            origin: Origin::Gallery(0),
            worker_ready: false,
            run: 0,
            phase: Phase::Idle,
            run_text: Rc::from(""),
            driven: None,
            playback: Playback::default(),
            board: None,
            slot: None,
            inspector: Inspector::default(),
            known: Known::default(),
            selection: None,
            intake: Intake::default(),
            form: false,
            picked: None,
            fork: None,
            rival: Rival::default(),
            jobs: Jobs::default(),
            sheet: Sheet::default(),
            opened: None,
            export: None,
            embedded: false,
            new_version: false,
            tour: None,
            notice: None,
            theme,
            help: false,
            still,
        };
        if edit::is_blank(hash) { state.started() } else { state.opened_link(hash) }
    }

    /// Whether a run can start now.
    pub fn can_run(&self) -> bool {
        self.draft.scenario.is_some() && !self.is_running()
    }

    /// Whether a run is under way.
    pub fn is_running(&self) -> bool {
        self.phase.is_running()
    }

    /// What came of the newest run.
    pub fn ended(&self) -> Option<&Rc<Ended>> {
        self.phase.ended()
    }

    /// Whether the text has changed since the run that is shown.
    pub fn is_stale(&self) -> bool {
        self.ended().is_some() && *self.run_text != *self.draft.text
    }

    /// The text that the address should hold: none while it has faults, or while a broken link stays visible.
    pub fn address_text(&self) -> Option<&Rc<str>> {
        let broken = matches!(self.origin, Origin::BrokenLink(_));
        (self.draft.scenario.is_some() && !broken).then_some(&self.draft.text)
    }

    /// The faults to show: the parser's, or what the worker refused.
    pub fn problems(&self) -> Rc<[ProblemView]> {
        match &self.phase {
            Phase::Refused(problems) if *self.run_text == *self.draft.text => Rc::clone(problems),
            _ => Rc::clone(&self.draft.problems),
        }
    }
}
