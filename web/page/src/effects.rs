//! What the state makes happen outside the page: messages to the worker, the address, the theme, frames.

mod inspect;
mod intake;
mod jobs;
mod known;
mod picked;
mod rival;
mod share;
mod tour;

use std::cell::RefCell;
use std::rc::Rc;

use tierscope_worker::protocol::{Direction, FromWorker, ToWorker, TraceSaid, Way};
use yew::prelude::*;

pub(crate) use inspect::{find, use_inspector};
pub(crate) use intake::{accept, cancel_file, use_drop, use_files};
pub(crate) use jobs::use_jobs;
pub(crate) use known::{step_fact, use_known};
pub(crate) use picked::use_picked;
pub(crate) use rival::use_rival;
pub(crate) use share::{share, use_export, use_offline, whole_hash};
pub(crate) use tour::use_tour;

use crate::chart::palette::Palette;
use crate::glue::parcel::Parcel;
use crate::glue::worker::Line;
use crate::glue::{address, dom, keys, theme, worker};
use crate::state::intake::Step;
use crate::state::rival::RivalEvent;
use crate::state::{Action, AppState, Notice, Phase, edit};

type State = UseReducerHandle<AppState>;
type Shared = Rc<RefCell<Seeker>>;

/// The line to the worker, and the one seek that may be under way on it.
#[derive(Default)]
pub(crate) struct Seeker {
    line: Option<Line>,
    /// The run, worker and time that the page wants to see.
    wanted: Option<(u32, u32, f64)>,
    /// A seek is answered before the next is sent: the worker never falls behind.
    under_way: bool,
    /// Questions for transactions.
    finds: inspect::Finds,
    /// What is being written for the user to keep.
    desk: share::Desk,
    /// The files that were handed over; they outlive workers.
    bag: Rc<RefCell<intake::Bag>>,
    /// The files whose coming the worker was told.
    announced: Vec<u32>,
    /// Ends the worker and starts another.
    restart: Callback<()>,
    /// Questions about what is picked out.
    tells: picked::Tells,
}

impl Seeker {
    /// Sends a message, if there is a worker.
    pub(crate) fn send(&self, message: &ToWorker) {
        if let Some(line) = &self.line {
            line.send(message);
        }
    }

    fn send_slice(&self, trace: u32, slice: &js_sys::Uint8Array) {
        if let Some(line) = &self.line {
            line.send_slice(trace, slice);
        }
    }

    fn want(&mut self, run: u32, worker: u32, at_ns: f64) {
        self.wanted = Some((run, worker, at_ns));
        if !self.under_way {
            self.ask();
        }
    }

    /// A board came; if it is not the one that is wanted by now, that one is asked for.
    fn answered(&mut self, run: u32, worker: u32, at_ns: f64) {
        self.under_way = false;
        if self.wanted == Some((run, worker, at_ns)) {
            self.wanted = None;
        }
        self.ask();
    }

    fn ask(&mut self) {
        if let Some((run, worker, at_ns)) = self.wanted {
            self.under_way = true;
            self.send(&ToWorker::Seek { run, worker, at_ns });
        }
    }

    fn forget(&mut self) {
        self.wanted = None;
        self.under_way = false;
        self.finds = inspect::Finds::default();
        self.tells = picked::Tells::default();
    }
}

/// A trace or a recording that the page was given, for other workers than its first.
fn parcel(seeker: &Shared, number: u32) -> Option<Parcel> {
    seeker.borrow().bag.borrow().get(number).cloned()
}

/// Keeps a worker alive as long as the page.
#[hook]
pub(crate) fn use_worker(state: &State, seeker: &Shared) {
    let dispatcher = state.dispatcher();
    // Counts up when the worker died, so that the effect starts another.
    let lives = use_state(|| 0u32);
    let seeker = Rc::clone(seeker);
    use_effect_with(*lives, move |&life| {
        let heard = {
            let (dispatcher, seeker) = (dispatcher.clone(), Rc::clone(&seeker));
            Callback::from(move |message: FromWorker| {
                match &message {
                    FromWorker::Board { run, board } => {
                        seeker.borrow_mut().answered(*run, board.worker, board.asked_ns)
                    }
                    FromWorker::Found { asked, .. } if asked.way == Way::AtCursor => {
                        seeker.borrow_mut().found()
                    }
                    FromWorker::Exported { part, .. } => seeker.borrow_mut().desk.take(part),
                    FromWorker::Trace { trace, said: TraceSaid::Heard { bytes } } => {
                        intake::go_on(&seeker, &dispatcher, *trace, *bytes);
                    }
                    FromWorker::Told { .. } => seeker.borrow_mut().told(),
                    _ => {}
                }
                dispatcher.dispatch(Action::Worker(message));
            })
        };
        let died = {
            const MOST_LIVES: u32 = 5;
            let (dispatcher, lives) = (dispatcher.clone(), lives.clone());
            Callback::from(move |reason: String| {
                dispatcher.dispatch(Action::WorkerDied(reason));
                if life < MOST_LIVES {
                    lives.set(life + 1);
                }
            })
        };
        let line = worker::start(heard, died);
        let restart = Callback::from(move |()| lives.set(life + 1));
        let bag = Rc::clone(&seeker.borrow().bag);
        *seeker.borrow_mut() = Seeker { line, bag, restart, ..Seeker::default() };
        move || {
            let bag = Rc::clone(&seeker.borrow().bag);
            *seeker.borrow_mut() = Seeker { bag, ..Seeker::default() };
        }
    });
}

/// Starts each new run, and passes on the wish to cancel it.
#[hook]
pub(crate) fn use_run(state: &State, seeker: &Shared) {
    let (run, ready) = (state.run, state.worker_ready);
    let (running, worker) = (state.is_running(), state.worker());
    use_effect_with((run, ready), {
        let (seeker, text, driven) = (Rc::clone(seeker), Rc::clone(&state.run_text), state.driven);
        move |_| {
            if ready && running {
                seeker.borrow_mut().forget();
                seeker.borrow().send(&match driven {
                    Some(recording) => ToWorker::Replay { run, recording, worker },
                    None => ToWorker::Run { run, text: text.to_string(), worker },
                });
            }
        }
    });
    // A run has a worker from its beginning; this is for a change of mind.
    use_effect_with(worker, {
        let seeker = Rc::clone(seeker);
        move |&worker| seeker.borrow().send(&ToWorker::Select { run, worker })
    });
    let cancelling = matches!(state.phase, Phase::Running { cancelling: true, .. });
    use_effect_with((run, cancelling), {
        let seeker = Rc::clone(seeker);
        move |_| {
            if cancelling {
                seeker.borrow().send(&ToWorker::Cancel { run });
            }
        }
    });
}

/// Asks for the board at the cursor, one question at a time.
#[hook]
pub(crate) fn use_cursor(state: &State, seeker: &Shared) {
    let (run, worker) = (state.run, state.worker());
    let wanted = state.ended().map(|_| (worker, state.playback.cursor_ns));
    let shown = state.board.as_ref().map(|board| (board.worker, board.asked_ns));
    let seeker = Rc::clone(seeker);
    use_effect_with((run, wanted, shown), move |_| {
        if let Some((worker, at_ns)) = wanted.filter(|_| wanted != shown) {
            seeker.borrow_mut().want(run, worker, at_ns);
        }
    });
}

/// Moves the cursor, frame by frame, while the run plays.
#[hook]
pub(crate) fn use_clock(state: &State) {
    let playing = state.playback.playing && state.ended().is_some();
    let cursor = state.playback.cursor_ns;
    let dispatcher = state.dispatcher();
    let last = use_mut_ref(|| None::<f64>);
    use_effect_with((playing, cursor, state.run), move |_| {
        if !playing {
            *last.borrow_mut() = None;
        }
        let frame = playing.then(|| {
            dom::next_frame(move |now_ms| {
                let passed = last.borrow_mut().replace(now_ms).map_or(16.0, |before| now_ms - before);
                dispatcher.dispatch(Action::Tick(passed));
            })
        });
        move || drop(frame)
    });
}

/// Keeps the scenario and what is seen of it in the address bar, and opens what the user puts there.
#[hook]
pub(crate) fn use_address(state: &State) {
    /// Typing and moving are written down when they pause for this long.
    const PAUSE_MS: i32 = 250;
    // Packing takes longer than the rest: it is done once for each text.
    let packed = use_mut_ref(|| (Rc::<str>::from(""), String::new()));
    let wanted = state.address_text().cloned().map(|text| (text, state.view()));
    use_effect_with(wanted, move |wanted| {
        let timer = wanted.clone().map(|(text, view)| {
            dom::after(PAUSE_MS, move || {
                let packed = &mut *packed.borrow_mut();
                if packed.0 != text || packed.1.is_empty() {
                    *packed = (Rc::clone(&text), edit::hash_of(&text));
                }
                address::replace_hash(&format!("{}{view}", packed.1));
            })
        });
        move || drop(timer)
    });
    let dispatcher = state.dispatcher();
    use_effect_with((), move |()| {
        let listener = address::on_hash_change(move |hash| dispatcher.dispatch(Action::OpenLink(hash)));
        move || drop(listener)
    });
    let title = state.draft.scenario.as_ref().map(|outline| outline.title.clone());
    use_effect_with(title, |title| {
        if let Some(document) = dom::window().document() {
            document.set_title(
                &title.as_ref().map_or("Tierscope".to_owned(), |title| format!("{title} · Tierscope")),
            );
        }
    });
}

/// Applies the theme, and reads the drawings' colours whenever they may have changed.
#[hook]
pub(crate) fn use_theme(state: &State, palette: &UseStateHandle<Palette>) {
    let set = palette.setter();
    use_effect_with(state.theme, {
        let set = set.clone();
        move |&chosen| {
            theme::apply(chosen);
            set.set(theme::palette());
        }
    });
    use_effect_with((), move |()| {
        let listener = theme::on_system_change(move || set.set(theme::palette()));
        move || drop(listener)
    });
}

/// Takes good news away after a while; trouble stays until it is read.
#[hook]
pub(crate) fn use_notice(state: &State) {
    /// For a short text; a longer one is longer to read.
    const LASTS_MS: i32 = 3_000;
    const LASTS_PER_CHAR_MS: i32 = 50;
    let passing =
        state.notice.as_ref().filter(|notice| !notice.trouble).map(|notice| notice.text.len() as i32);
    let dispatcher = state.dispatcher();
    use_effect_with(passing, move |&passing| {
        let lasts = passing.map(|chars| LASTS_MS.max(LASTS_PER_CHAR_MS.saturating_mul(chars)));
        let timer = lasts.map(|lasts| dom::after(lasts, move || dispatcher.dispatch(Action::Dismiss)));
        move || drop(timer)
    });
}

/// The keys that work everywhere on the page.
#[hook]
pub(crate) fn use_keys(state: &State, seeker: &Shared) {
    let (state, seeker) = (state.clone(), Rc::clone(seeker));
    // A listener that knows the present state: renewed with each of its changes that matter to it.
    let shown = state.transaction().map(|transaction| transaction.txn);
    let deps = (
        state.run,
        (state.help, state.intake.open),
        state.playback.cursor_ns,
        state.ended().is_some(),
        shown,
        state.inspector.filter,
        state.board.as_ref().map_or(0, |board| board.workers.len()),
        (state.known.drawer, state.known.facts.clone()),
        state.selection.is_some(),
        state.tour.is_some(),
    );
    use_effect_with(deps, move |_| {
        let end_ns = state.end_ns().unwrap_or(0.0);
        let listener = keys::on_key(move |key| {
            if state.intake.open || (state.help && key != "?") {
                return false;
            }
            if state.tour.is_some() && tour::key(&state, key) {
                return true;
            }
            match key {
                " " => state.dispatch(Action::TogglePlay),
                "," => step(&state, &seeker, Direction::Back),
                "." => step(&state, &seeker, Direction::Forward),
                "[" => find(&state, &seeker, Way::Previous),
                "]" => find(&state, &seeker, Way::Next),
                "Home" => state.dispatch(Action::MoveTo(0.0)),
                "End" => state.dispatch(Action::MoveTo(end_ns)),
                "<" => step_fact(&state, &seeker, Direction::Back),
                ">" => step_fact(&state, &seeker, Direction::Forward),
                "n" => state.dispatch(Action::NextWorker(Direction::Forward)),
                "N" => state.dispatch(Action::NextWorker(Direction::Back)),
                "F" => state.dispatch(Action::Rival(RivalEvent::Form(true))),
                "i" => state.dispatch(Action::Intake(Step::Open)),
                "Escape" if state.selection.is_some() => state.dispatch(Action::Select(None)),
                "?" => state.dispatch(Action::ShowHelp(!state.help)),
                _ => return false,
            }
            true
        });
        move || drop(listener)
    });
}

/// Asks for the instant before or after the cursor.
pub(crate) fn step(state: &State, seeker: &Shared, direction: Direction) {
    if state.ended().is_some() {
        let from_ns = state.playback.cursor_ns;
        // A pause first: otherwise the next frame would overtake the step.
        state.dispatch(Action::MoveTo(from_ns));
        seeker.borrow().send(&ToWorker::Step { run: state.run, worker: state.worker(), from_ns, direction });
    }
}

/// A seed from the browser's own entropy: the only draw that no scenario determines.
pub(crate) fn fresh_seed() -> Action {
    match getrandom::u32() {
        Ok(seed) => Action::Reseed(u64::from(seed)),
        Err(error) => {
            let text = format!("The browser gave no random number ({error}). Type a seed instead.");
            Action::Notify(Notice { text, trouble: true })
        }
    }
}

/// Copies something, and says so.
pub(crate) fn copy(text: &str, what: &'static str, act: Callback<Action>) {
    copy_with(text, what, "", act);
}

/// The same, and says something more.
fn copy_with(text: &str, what: &'static str, more: &'static str, act: Callback<Action>) {
    let done = Callback::from(move |copied: bool| {
        let text = if copied {
            format!("{what} copied.{more}")
        } else {
            format!(
                "The browser does not allow copying here. {what}: take it from the address bar or the screen."
            )
        };
        act.emit(Action::Notify(Notice { text, trouble: false }));
    });
    address::copy(text, done);
}
