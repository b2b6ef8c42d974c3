//! What is shared: copied, saved, or handed to Perfetto; and the files that let the page open offline.

use std::rc::Rc;

use tierscope_worker::protocol::{ExportPart, ToWorker};
use yew::prelude::*;

use super::{Shared, State, copy, copy_with};
use crate::glue::{address, dom, offline, perfetto, save};
use crate::part::share::Share;
use crate::state::share::{self, ExportKind};
use crate::state::{Action, AppState, Notice, edit};

pub(super) const CSV: &str = "text/csv;charset=utf-8";
pub(super) const JSON: &str = "application/json";

/// What is being written, where it goes, and the window that waits for it.
#[derive(Default)]
pub(crate) struct Desk {
    number: u32,
    kind: Option<ExportKind>,
    file: String,
    title: String,
    parts: save::Parts,
    window: Option<web_sys::Window>,
    talk: Option<perfetto::Talk>,
}

impl Desk {
    /// Keeps the next part; with the last one the whole goes where it is wanted.
    pub(super) fn take(&mut self, part: &ExportPart) {
        let Some(kind) = self.kind.filter(|_| part.number == self.number) else { return };
        self.parts.push(&part.bytes);
        if part.end.is_none() {
            return;
        }
        self.kind = None;
        let parts = std::mem::take(&mut self.parts);
        let mime = if kind == ExportKind::Requests { CSV } else { JSON };
        let Some(whole) = parts.whole(mime) else { return };
        match self.window.take() {
            Some(window) => self.talk = perfetto::hand_over(window, &whole, &self.title, &self.file),
            None => save::blob(&self.file, &whole),
        }
    }
}

/// The part of the address that says it all.
pub(crate) fn whole_hash(state: &AppState) -> String {
    format!("{}{}", edit::hash_of(&state.draft.text), state.view())
}

/// Does what was chosen in the share menu.
pub(crate) fn share(state: &State, seeker: &Shared, what: Share) {
    let act = {
        let dispatcher = state.dispatcher();
        Callback::from(move |action: Action| dispatcher.dispatch(action))
    };
    match what {
        Share::Link => {
            let hash = whole_hash(state);
            address::replace_hash(&hash);
            copy_with(&address::address_with(&hash), "Link", state.left_out_of_links(), act);
        }
        Share::Command => {
            let link = edit::hash_of(&state.draft.text);
            let line = share::command_line(&link, state.fork.as_ref(), state.driven_file());
            copy(&line, "Command line", act);
        }
        Share::Frame => {
            let title = state.draft.scenario.as_ref().map_or("", |outline| outline.title.as_str());
            let frame = share::iframe(&address::address_with(""), &whole_hash(state), title);
            copy_with(&frame, "Frame", state.left_out_of_links(), act);
        }
        Share::Scenario => {
            save::text(&state.file_name(state.scenario_ending()), "application/toml", &state.draft.text);
        }
        Share::Report => with_run(state, "report.json", |ended, name| save::text(name, JSON, &ended.report)),
        Share::Series => {
            with_run(state, "series.csv", |ended, name| save::text(name, CSV, &share::series_csv(ended)));
        }
        Share::Write(kind) => write(state, seeker, kind),
        Share::Stop => act.emit(Action::Export(None)),
    }
}

fn with_run(state: &State, ending: &str, save: impl FnOnce(&tierscope_worker::protocol::RunResult, &str)) {
    if let Some(ended) = state.ended() {
        save(&ended.result, &state.file_name(ending));
    }
}

/// Asks the worker for a file. A window for Perfetto opens now, while this is the user's click.
fn write(state: &State, seeker: &Shared, kind: ExportKind) {
    let number = seeker.borrow().desk.number.wrapping_add(1);
    let title = state.draft.scenario.as_ref().map_or(String::new(), |outline| outline.title.clone());
    let file = state.file_name(kind.ending());
    let mut desk = Desk { number, kind: Some(kind), file, title, ..Desk::default() };
    if kind == ExportKind::Perfetto {
        desk.window = perfetto::open();
        if desk.window.is_none() {
            let text = "The browser did not let the window of ui.perfetto.dev open. Allow it, or download the trace and \
                        open it there."
                .to_owned();
            state.dispatch(Action::Notify(Notice { text, trouble: true }));
            return;
        }
    }
    seeker.borrow_mut().desk = desk;
    state.dispatch(Action::Export(Some((number, kind))));
}

/// Has the worker write what is wanted, and stop when it is not wanted any more.
#[hook]
pub(crate) fn use_export(state: &State, seeker: &Shared) {
    let (run, wanted) = (state.run, state.export.map(|export| (export.number, export.kind)));
    let seeker = Rc::clone(seeker);
    use_effect_with((run, wanted), move |&(run, wanted)| {
        let message = match wanted {
            Some((number, kind)) => ToWorker::Export { run, number, kind: kind.of_worker() },
            None => ToWorker::StopExport { run },
        };
        seeker.borrow().send(&message);
    });
}

/// Has the page's files kept once it is at rest, and looks now and then whether there are newer ones.
#[hook]
pub(crate) fn use_offline(state: &State) {
    /// Between two looks, when the user comes back to the page.
    const REST_MS: f64 = 600_000.0;
    let rests = state.ended().is_some();
    use_effect_with(rests, move |&rests| {
        if rests {
            offline::register();
        }
    });
    let dispatcher = state.dispatcher();
    use_effect_with((), move |()| {
        let heard = offline::on_update(move || dispatcher.dispatch(Action::NewVersion(true)));
        let last = std::cell::Cell::new(js_sys::Date::now());
        let back = dom::listen(&dom::window(), "focus", move |_| {
            let now = js_sys::Date::now();
            if now - last.get() >= REST_MS {
                last.set(now);
                offline::check();
            }
        });
        move || drop((heard, back))
    });
}
