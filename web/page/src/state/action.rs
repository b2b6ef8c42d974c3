//! What can happen to the page, and the next state after it.

use std::rc::Rc;

use tierscope_worker::protocol::{Direction, FromWorker, RunResult, TxnFilter};
use yew::Reducible;

use super::edit::{self, Draft};
use super::fork::Fork;
use super::inspector::Inspector;
use super::intake;
use super::jobs::JobEvent;
use super::known::Drawer;
use super::play::{Pace, Playback};
use super::report::Outcome;
use super::rival::RivalEvent;
use super::selection::Selection;
use super::share::ExportKind;
use super::sheet::Sheet;
use super::view::View;
use super::{AppState, Ended, Notice, Origin, Phase, Theme, gallery};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The user changed the text.
    Edit(String),
    /// The user chose a gallery case.
    Choose(usize),
    /// The address holds another scenario.
    OpenLink(String),
    /// The user asks for a run.
    Run,
    /// The user asks to stop it.
    Cancel,
    /// The user asks for another seed, or a fresh seed was drawn; a run follows.
    Reseed(u64),
    /// The user typed another seed.
    TypeSeed(String),
    /// The cursor was moved.
    MoveTo(f64),
    /// Play or pause.
    TogglePlay,
    /// A frame passed while playing.
    Tick(f64),
    /// Another pace.
    SetPace(Pace),
    /// Other transactions are looked at.
    SetFilter(TxnFilter),
    /// Another worker is looked at; the cursor stays.
    SelectWorker(u32),
    /// The worker of the next number, or of the one before.
    NextWorker(Direction),
    /// Something else is picked out, or nothing any more.
    Select(Option<Selection>),
    /// The run is compared with another, or with none any more.
    SetFork(Option<Fork>),
    /// The driven run is compared with the same scenario, simulated.
    CompareSimulation,
    /// Something happened to the run that this one is compared with.
    Rival(RivalEvent),
    /// Something happened to work that a pool of workers does.
    Job(JobEvent),
    /// Another sheet is seen at the right.
    ShowSheet(Sheet),
    /// Something else is told below the timeline, or nothing any more.
    ShowDrawer(Option<Drawer>),
    /// The user goes to an answer.
    PickHit(usize),
    /// The facts at this cursor were asked for.
    AskFacts(f64),
    /// The user goes to a fact of the instant.
    TellFact(usize),
    /// The user goes on to the facts of another instant, or back (`true`).
    LeaveInstant(bool),
    /// Something of the run is to be written for the user to keep, or that is given up.
    Export(Option<(u32, ExportKind)>),
    /// The host has another version of the page, or that is put off.
    NewVersion(bool),
    /// Something was pasted or dropped.
    Intake(intake::Step),
    /// The scenario is shown as a form, or as text.
    ShowForm(bool),
    /// The pointer left the board.
    LeaveBoard,
    /// The user switched the theme.
    SetTheme(Theme),
    /// The first five minutes begin, or are over.
    ShowTour(bool),
    /// A step of them on, or back.
    TourStep(bool),
    /// The list of keys opens or closes.
    ShowHelp(bool),
    /// A message appears.
    Notify(Notice),
    /// The message was read.
    Dismiss,
    /// The worker said something.
    Worker(FromWorker),
    /// The worker is ended, for it cannot hear, and started anew.
    RestartWorker,
    /// The worker died and was started anew.
    WorkerDied(String),
}

impl Reducible for AppState {
    type Action = Action;

    fn reduce(self: Rc<Self>, action: Action) -> Rc<Self> {
        let next = (*self).clone().after(action).in_step().met();
        if next == *self { self } else { Rc::new(next) }
    }
}

impl AppState {
    /// The state after an action.
    pub fn after(self, action: Action) -> Self {
        match action {
            Action::Edit(text) => self.edited(&text),
            Action::Choose(case) => self.chosen(case),
            Action::OpenLink(hash) => self.opened_link(&hash),
            Action::Run if self.can_run() => self.started(),
            Action::Run => self,
            Action::Cancel => self.cancelling(),
            Action::Reseed(seed) => self.reseeded(seed),
            Action::TypeSeed(typed) => self.seed_typed(&typed),
            Action::MoveTo(ns) => self.moved(|at, end_ns| at.paused_at(ns, end_ns)),
            Action::TogglePlay => self.moved(Playback::toggled),
            Action::Tick(ms) => self.moved(|at, end_ns| at.ticked(ms, end_ns)),
            Action::SetPace(pace) => Self { playback: Playback { pace, ..self.playback }, ..self },
            Action::SetFilter(filter) => Self { inspector: self.inspector.with(filter), ..self },
            Action::SelectWorker(worker) => self.with_worker(worker),
            Action::NextWorker(direction) => self.with_next_worker(direction),
            Action::Select(selection) => self.with_selection(selection),
            Action::SetFork(fork) => Self { fork, ..self },
            Action::CompareSimulation => self.compared_with_simulation(),
            Action::Rival(event) => self.rival_event(event),
            Action::Job(event) => self.job_event(event),
            Action::ShowSheet(sheet) => Self { sheet, ..self },
            Action::ShowDrawer(drawer) => self.with_known(|known| known.drawer = drawer),
            Action::PickHit(place) => self.picked(place),
            Action::AskFacts(at_ns) => self.with_known(|known| known.ask_facts(at_ns)),
            Action::TellFact(place) => self.with_known(|known| known.facts.place = place),
            Action::LeaveInstant(back) => self.with_known(|known| known.facts.from_end = back),
            Action::Export(wanted) => self.exporting(wanted),
            Action::NewVersion(new_version) => Self { new_version, ..self },
            Action::Intake(step) => self.taken_in(step),
            Action::ShowForm(form) => Self { form, ..self },
            Action::LeaveBoard => Self { slot: None, ..self },
            Action::SetTheme(theme) => Self { theme, ..self },
            Action::ShowTour(shown) => Self { tour: shown.then_some(0), help: false, ..self },
            Action::TourStep(forward) => self.with_tour_step(forward),
            Action::ShowHelp(help) => Self { help, ..self },
            Action::Notify(notice) => Self { notice: Some(notice), ..self },
            Action::Dismiss => self.dismissed(),
            Action::Worker(message) => self.told(message),
            Action::RestartWorker => Self { worker_ready: false, ..self.started() },
            Action::WorkerDied(reason) => self.mourning(&reason),
        }
    }

    pub(super) fn edited(self, text: &str) -> Self {
        if *self.draft.text == *text {
            return self;
        }
        let origin = match gallery::CASES.iter().position(|case| case.text == text) {
            Some(case) => Origin::Gallery(case),
            None => Origin::Edited,
        };
        Self { draft: Rc::new(Draft::new(text)), origin, opened: None, notice: None, ..self }
    }

    fn chosen(self, case: usize) -> Self {
        let Some(found) = gallery::CASES.get(case) else { return self };
        let draft = Rc::new(Draft::new(found.text));
        // A comparison is one of the scenario that it was made for.
        Self { draft, origin: Origin::Gallery(case), notice: None, fork: None, ..self }
            .without_recording()
            .started()
    }

    pub(super) fn opened_link(self, hash: &str) -> Self {
        match edit::text_of(hash) {
            Ok(text) if *text == *self.draft.text && self.run > 0 => self.opened_view(View::of_hash(hash)),
            Ok(text) => {
                let opened = self.without_recording().edited(&text);
                let origin = if opened.origin == Origin::Edited { Origin::Link } else { opened.origin };
                let heavy = opened.draft.scenario.as_ref().is_some_and(|outline| outline.size.is_heavy());
                let opened = Self { origin, notice: None, ..opened };
                let opened = if heavy { opened.ready() } else { opened.started() };
                opened.opened_view(View::of_hash(hash))
            }
            Err(error) => {
                let text =
                    format!("This link cannot be opened. {error} The first gallery case is shown instead.");
                let draft = Rc::new(Draft::new(gallery::CASES[0].text));
                let notice = Some(Notice { text, trouble: true });
                let broken = Self { draft, origin: Origin::BrokenLink(0), notice, ..self };
                broken.without_recording().started()
            }
        }
    }

    /// The run of a link waits for a word of the user's.
    fn ready(self) -> Self {
        let playback = Playback { pace: self.playback.pace, ..Playback::default() };
        let inspector = Inspector::default();
        Self { phase: Phase::Ready, playback, board: None, slot: None, selection: None, inspector, ..self }
    }

    /// A new run of the text, if it is valid.
    pub(super) fn started(self) -> Self {
        if self.draft.scenario.is_none() {
            return Self { phase: Phase::Idle, board: None, slot: None, ..self };
        }
        let driven = self.driven_by(&self.draft.text);
        let fresh = *self.run_text != *self.draft.text || driven != self.driven;
        let playback =
            if fresh { Playback { pace: self.playback.pace, ..Playback::default() } } else { self.playback };
        let filter = if fresh { TxnFilter::default() } else { self.inspector.filter };
        let selection = self.selection.filter(|_| !fresh);
        // What a link says waits with its run; any other run goes its own way.
        let opened = self.opened.filter(|_| self.phase == Phase::Ready);
        Self {
            opened,
            export: None,
            fork: Self::fork_of(self.fork, driven.is_some()),
            driven,
            run: self.run + 1,
            run_text: Rc::clone(&self.draft.text),
            phase: Phase::Running { finished: 0, total: 0, now_ns: 0.0, cancelling: false },
            playback: Playback { playing: fresh && !self.still, ..playback },
            board: None,
            slot: None,
            inspector: Inspector::default().with(filter),
            selection,
            known: self.known.anew(),
            picked: None,
            ..self
        }
    }

    fn cancelling(self) -> Self {
        match self.phase {
            Phase::Running { finished, total, now_ns, .. } => {
                Self { phase: Phase::Running { finished, total, now_ns, cancelling: true }, ..self }
            }
            _ => self,
        }
    }

    fn seed_typed(self, typed: &str) -> Self {
        match typed.trim().parse() {
            Ok(seed) => self.reseeded(seed),
            Err(_) => {
                let text = "A seed is a whole number, such as 42; this one was not taken.".to_owned();
                Self { notice: Some(Notice { text, trouble: true }), ..self }
            }
        }
    }

    fn reseeded(self, seed: u64) -> Self {
        match self.draft.with_seed(seed) {
            Ok(text) => self.edited(&text).started(),
            Err(text) => Self { notice: Some(Notice { text, trouble: true }), ..self },
        }
    }

    pub(super) fn moved(self, how: impl FnOnce(Playback, f64) -> Playback) -> Self {
        match self.end_ns() {
            Some(end_ns) => Self { playback: how(self.playback, end_ns), ..self },
            None => self,
        }
    }

    fn dismissed(self) -> Self {
        let origin = match self.origin {
            Origin::BrokenLink(case) => Origin::Gallery(case),
            other => other,
        };
        Self { notice: None, origin, ..self }
    }

    fn told(self, message: FromWorker) -> Self {
        match message {
            FromWorker::Ready => Self { worker_ready: true, ..self },
            FromWorker::Progress { run, finished, total, now_ns } if run == self.run => match self.phase {
                Phase::Running { cancelling, .. } => {
                    Self { phase: Phase::Running { finished, total, now_ns, cancelling }, ..self }
                }
                _ => self,
            },
            FromWorker::Done { run, result } if run == self.run => self.ended_with(result),
            FromWorker::Refused { run, problems } if run == self.run || run == 0 => {
                Self { phase: Phase::Refused(problems.into()), ..self }
            }
            FromWorker::Board { run, board } if run == self.run && board.worker == self.worker() => {
                Self { board: Some(Rc::from(board)), ..self }.with_opened_worker()
            }
            FromWorker::Exported { run, part } if run == self.run => self.exported(&part),
            FromWorker::Stepped { run, board } if run == self.run => {
                let playback = Playback { cursor_ns: board.at_ns, playing: false, ..self.playback };
                // Of another worker it is asked for again.
                let board = if board.worker == self.worker() { Some(Rc::from(board)) } else { self.board };
                Self { playback, board, ..self }
            }
            FromWorker::Trace { trace, said } => self.told_of_file(trace, said),
            FromWorker::Told { run, at_ns, about, told } if run == self.run => {
                self.told_of(&about, at_ns, told)
            }
            FromWorker::Found { run, asked, found } if run == self.run => self.found(asked, *found),
            FromWorker::Tracks { run, tracks } if run == self.run => self.with_tracks(*tracks),
            FromWorker::Hits { run, query, hits } if run == self.run => self.answered(query, *hits),
            FromWorker::Facts { run, asked_ns, instant } if run == self.run => {
                self.with_facts(asked_ns, *instant)
            }
            FromWorker::Occupancy { run, worker, occupancy }
                if (run, worker) == (self.run, self.worker()) =>
            {
                self.with_occupancy(occupancy)
            }
            FromWorker::Slot { run, worker, slot } if (run, worker) == (self.run, self.worker()) => {
                Self { slot: Some(Rc::new(slot)), ..self }
            }
            _ => self,
        }
    }

    fn ended_with(self, result: RunResult) -> Self {
        let phase = Phase::of_result(result);
        let Phase::Ended(ended) = &phase else { return Self { phase, ..self } };
        let Ended { result, report } = &**ended;
        let playback = match report.outcome {
            // What is stuck, or was stopped, is of interest where it stopped.
            Outcome::DeadEnd | Outcome::Cancelled | Outcome::Stopped => {
                self.playback.paused_at(result.end_ns, result.end_ns)
            }
            Outcome::Finished if self.still && self.playback.cursor_ns == 0.0 => {
                self.playback.paused_at(busiest_ns(result), result.end_ns)
            }
            Outcome::Finished => {
                Playback { cursor_ns: self.playback.cursor_ns.min(result.end_ns), ..self.playback }
            }
        };
        Self { playback, phase, ..self }.arrived().with_digest_compared()
    }

    fn mourning(self, reason: &str) -> Self {
        let text = format!(
            "The simulator stopped unexpectedly ({reason}). It was started again; the scenario is unchanged. \
             Please report the scenario's link."
        );
        Self {
            worker_ready: false,
            phase: Phase::Idle,
            export: None,
            notice: Some(Notice { text, trouble: true }),
            ..self
        }
    }
}

/// The time at which most blocks were active: worth a look where nothing moves by itself.
fn busiest_ns(result: &RunResult) -> f64 {
    result.occupancy.iter().rev().max_by_key(|sample| sample.active).map_or(0.0, |sample| sample.at_ns)
}
