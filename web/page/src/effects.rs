//! What the state makes happen outside the page: messages to the worker, the address, the theme, frames.

mod inspect;

use std::cell::RefCell;
use std::rc::Rc;

use tierscope_worker::protocol::{Direction, FromWorker, ToWorker, Way};
use yew::prelude::*;

pub(crate) use inspect::{find, use_inspector};

use crate::app::link_of;
use crate::chart::palette::Palette;
use crate::glue::worker::Line;
use crate::glue::{address, dom, keys, theme, worker};
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
}

impl Seeker {
    /// Sends a message, if there is a worker.
    pub(crate) fn send(&self, message: &ToWorker) {
        if let Some(line) = &self.line {
            line.send(message);
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
    }
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
                    _ => {}
                }
                dispatcher.dispatch(Action::Worker(message));
            })
        };
        let died = {
            const MOST_LIVES: u32 = 5;
            let dispatcher = dispatcher.clone();
            Callback::from(move |reason: String| {
                dispatcher.dispatch(Action::WorkerDied(reason));
                if life < MOST_LIVES {
                    lives.set(life + 1);
                }
            })
        };
        let line = worker::start(heard, died);
        *seeker.borrow_mut() = Seeker { line, ..Seeker::default() };
        move || *seeker.borrow_mut() = Seeker::default()
    });
}

/// Starts each new run, and passes on the wish to cancel it.
#[hook]
pub(crate) fn use_run(state: &State, seeker: &Shared) {
    let (run, ready) = (state.run, state.worker_ready);
    let (running, worker) = (state.is_running(), state.worker());
    use_effect_with((run, ready), {
        let (seeker, text) = (Rc::clone(seeker), Rc::clone(&state.run_text));
        move |_| {
            if ready && running {
                seeker.borrow_mut().forget();
                seeker.borrow().send(&ToWorker::Run { run, text: text.to_string(), worker });
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

/// Keeps the scenario in the address bar, and opens what the user puts there.
#[hook]
pub(crate) fn use_address(state: &State) {
    /// Typing is written down when it pauses for this long.
    const PAUSE_MS: i32 = 250;
    let text = state.address_text().cloned();
    use_effect_with(text, |text| {
        let text = text.clone();
        let timer =
            text.map(|text| dom::after(PAUSE_MS, move || address::replace_hash(&edit::hash_of(&text))));
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
    const LASTS_MS: i32 = 3_000;
    let passing = state.notice.as_ref().is_some_and(|notice| !notice.trouble);
    let dispatcher = state.dispatcher();
    use_effect_with(passing, move |&passing| {
        let timer = passing.then(|| dom::after(LASTS_MS, move || dispatcher.dispatch(Action::Dismiss)));
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
        state.help,
        state.playback.cursor_ns,
        state.ended().is_some(),
        shown,
        state.inspector.filter,
        state.board.as_ref().map_or(0, |board| board.workers.len()),
    );
    use_effect_with(deps, move |_| {
        let end_ns = state.ended().map_or(0.0, |ended| ended.result.end_ns);
        let listener = keys::on_key(move |key| {
            if state.help && key != "?" {
                return false;
            }
            match key {
                " " => state.dispatch(Action::TogglePlay),
                "," => step(&state, &seeker, Direction::Back),
                "." => step(&state, &seeker, Direction::Forward),
                "[" => find(&state, &seeker, Way::Previous),
                "]" => find(&state, &seeker, Way::Next),
                "Home" => state.dispatch(Action::MoveTo(0.0)),
                "End" => state.dispatch(Action::MoveTo(end_ns)),
                "w" => state.dispatch(Action::NextWorker(Direction::Forward)),
                "W" => state.dispatch(Action::NextWorker(Direction::Back)),
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

/// Copies the link of a text.
pub(crate) fn copy_link(text: &str, act: Callback<Action>) {
    let link = link_of(text);
    address::replace_hash(&edit::hash_of(text));
    copy(&link, "Link", act);
}

/// Copies something, and says so.
pub(crate) fn copy(text: &str, what: &'static str, act: Callback<Action>) {
    let done = Callback::from(move |copied: bool| {
        let text = if copied {
            format!("{what} copied.")
        } else {
            format!(
                "The browser does not allow copying here. {what}: take it from the address bar or the screen."
            )
        };
        act.emit(Action::Notify(Notice { text, trouble: false }));
    });
    address::copy(text, done);
}
