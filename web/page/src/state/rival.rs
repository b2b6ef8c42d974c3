//! The other run, B: the same scenario with some keys changed, beside the one that the page shows, A.

use std::rc::Rc;

use tierscope_worker::protocol::{Board, Duel, FromWorker, ProblemView};

use super::edit::problem_view;
use super::fork::Fork;
use super::sheet::Sheet;
use super::{AppState, Ended, Notice, Phase};

/// B, and whether the form that changes it is open.
#[derive(Clone, Debug, PartialEq)]
pub struct Rival {
    /// The run of A that it stands beside, and what it changes; `None` without one.
    pub of: Option<(u32, Fork)>,
    /// Number of its newest run.
    pub run: u32,
    /// Its text.
    pub text: Rc<str>,
    /// Whether its worker hears messages.
    pub ready: bool,
    /// How far it is.
    pub phase: Phase,
    /// Its state at the cursor, or the last one that arrived.
    pub board: Option<Rc<Board>>,
    /// Whether the form is open.
    pub form: bool,
    /// How often the user asked for it: each time it has the focus.
    pub asked: u32,
}

impl Default for Rival {
    fn default() -> Self {
        Self {
            of: None,
            run: 0,
            text: Rc::from(""),
            ready: false,
            phase: Phase::Idle,
            board: None,
            form: false,
            asked: 0,
        }
    }
}

/// Something that happened to it.
#[derive(Clone, Debug, PartialEq)]
pub enum RivalEvent {
    /// The form opens or closes.
    Form(bool),
    /// Its worker said something.
    Heard(FromWorker),
    /// Its worker died.
    Died(String),
}

impl Rival {
    /// What came of it.
    pub fn ended(&self) -> Option<&Rc<Ended>> {
        self.phase.ended()
    }

    /// Whether it is under way.
    pub fn is_running(&self) -> bool {
        self.phase.is_running()
    }
}

/// A text with changes; all that is wrong with it otherwise. Places are of a text that nobody sees: they are left out.
pub fn changed(text: &str, changes: &[String]) -> Result<String, Vec<ProblemView>> {
    let bare = |problem: &_| ProblemView { line: 0, column: 0, ..problem_view(problem) };
    let mut text = text.to_owned();
    for change in changes {
        text = tierscope_scenario::set(&text, change).map_err(|problem| vec![bare(&problem)])?;
    }
    match tierscope_scenario::parse_any(&text) {
        Ok(_) => Ok(text),
        Err(problems) => Err(problems.iter().map(bare).collect()),
    }
}

impl AppState {
    /// Both sides of the comparison; nothing without a fork.
    pub fn duel(&self) -> Option<Duel> {
        let at_ns = self.fork.as_ref()?.at_ns;
        let (a, b) = (self.run_text.to_string(), self.rival.text.to_string());
        Some(Duel { a, b, at_ns, driven: self.driven })
    }

    /// The end of the run, of both where two are compared.
    pub fn end_ns(&self) -> Option<f64> {
        let end = |ended: &Rc<Ended>| ended.result.end_ns;
        let own = end(self.ended()?);
        Some(self.rival.ended().map_or(own, |other| own.max(end(other))))
    }

    /// Keeps B beside A: whenever A runs anew, or the changes change, so does B.
    pub(super) fn in_step(self) -> Self {
        match &self.fork {
            None if self.rival.of.is_none() => self,
            None => {
                let Rival { run, form, asked, .. } = self.rival;
                Self { rival: Rival { run, form, asked, ..Rival::default() }, ..self }
            }
            Some(_) if self.run == 0 || self.run_text.is_empty() => self,
            Some(fork) if self.rival.of.as_ref().is_some_and(|(run, of)| *run == self.run && of == fork) => {
                self
            }
            Some(fork) => {
                let (text, phase) = match changed(&self.run_text, &fork.changes) {
                    Ok(text) => (Rc::from(text), started()),
                    Err(problems) => (Rc::from(""), Phase::Refused(problems.into())),
                };
                let of = Some((self.run, fork.clone()));
                let Rival { run, ready, form, asked, .. } = self.rival;
                // Refused changes are mended where they were made.
                let form = form && matches!(phase, Phase::Refused(_));
                let rival = Rival { of, run: run + 1, text, ready, phase, board: None, form, asked };
                Self { rival, ..self }
            }
        }
    }

    pub(super) fn rival_event(self, event: RivalEvent) -> Self {
        match event {
            RivalEvent::Form(form) => {
                let sheet = if form { Sheet::Compare } else { self.sheet };
                let asked = self.rival.asked + u32::from(form);
                Self { sheet, rival: Rival { form, asked, ..self.rival }, ..self }
            }
            RivalEvent::Heard(message) => {
                let rival = self.rival.heard(message);
                Self { rival, ..self }
            }
            RivalEvent::Died(reason) => {
                let text =
                    format!("The simulator of B stopped unexpectedly ({reason}). The comparison was ended.");
                let notice = Some(Notice { text, trouble: true });
                Self { notice, fork: None, ..self }
            }
        }
    }
}

fn started() -> Phase {
    Phase::Running { finished: 0, total: 0, now_ns: 0.0, cancelling: false }
}

impl Rival {
    fn heard(self, message: FromWorker) -> Self {
        match message {
            FromWorker::Ready => Self { ready: true, ..self },
            FromWorker::Progress { run, finished, total, now_ns } if run == self.run => {
                Self { phase: Phase::Running { finished, total, now_ns, cancelling: false }, ..self }
            }
            FromWorker::Done { run, result } if run == self.run => {
                Self { phase: Phase::of_result(result), ..self }
            }
            FromWorker::Refused { run, problems } if run == self.run || run == 0 => {
                Self { phase: Phase::Refused(problems.into()), ..self }
            }
            FromWorker::Board { run, board } if run == self.run => {
                Self { board: Some(Rc::from(board)), ..self }
            }
            _ => self,
        }
    }
}
