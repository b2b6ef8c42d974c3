//! Import: paste a command or a configuration, choose or drop a file; what was recognized, what becomes of each thing in it.

use tierscope_scenario::import::{Note, NoteKind};
use tierscope_worker::protocol::ProblemView;
use web_sys::{File, HtmlDialogElement, HtmlInputElement, HtmlTextAreaElement};
use yew::prelude::*;

use crate::state::driven::Driven;
use crate::state::intake::{FilePhase, HandedFile, Intake, Seen, Step};

/// Most notes and problems that are shown.
const SHOWN: usize = 200;

#[derive(Properties, PartialEq)]
pub(crate) struct ImportProps {
    pub(crate) intake: Intake,
    /// What a trace would replace in the present scenario.
    pub(crate) replaced: Vec<String>,
    pub(crate) on_step: Callback<Step>,
    pub(crate) on_file: Callback<File>,
    /// The file of this number is not wanted.
    pub(crate) on_cancel: Callback<u32>,
}

#[component]
pub(crate) fn Import(props: &ImportProps) -> Html {
    let dialog = use_node_ref();
    use_effect_with(dialog.clone(), |dialog| {
        if let Some(dialog) = dialog.cast::<HtmlDialogElement>() {
            // Refused only when it is open already.
            let _ = dialog.show_modal();
        }
    });
    let intake = &props.intake;
    html! {
        <dialog ref={dialog} id="import-dialog" class="import" aria-labelledby="import-title"
            onclose={props.on_step.reform(|_: Event| Step::Close)}>
            <header class="import__head">
                <h2 id="import-title">{ "Import" }</h2>
                <button type="button" class="button button--icon" aria-label="Close"
                    onclick={props.on_step.reform(|_: MouseEvent| Step::Close)}>{ "✕" }</button>
            </header>
            { source(props) }
            <div class="import__found" aria-live="polite">
                for file in [&intake.trace, &intake.recording].into_iter().flatten() {
                    { file_part(props, file) }
                }
                if let Some(driven) = &intake.driven {
                    { driven_part(props, driven) }
                }
                if let Some(seen) = &intake.seen {
                    { seen_part(props, seen) }
                }
            </div>
        </dialog>
    }
}

/// Where a text is pasted and a file is chosen.
fn source(props: &ImportProps) -> Html {
    let oninput = props.on_step.reform(|event: InputEvent| {
        let area: HtmlTextAreaElement = event.target_unchecked_into();
        Step::Text { name: String::new(), text: area.value() }
    });
    let on_file = props.on_file.clone();
    let onchange = Callback::from(move |event: Event| {
        let input: HtmlInputElement = event.target_unchecked_into();
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            on_file.emit(file);
        }
        // So that choosing the same file again counts as a change.
        input.set_value("");
    });
    html! {
        <div class="import__source">
            <label for="import-text">
                { "Paste a " }<code>{ "vllm serve" }</code>
                { " command, Dynamo engine arguments, an LMCache file, a hardware.toml, a scenario or a link" }
            </label>
            <textarea id="import-text" class="import__text" rows="6" spellcheck="false" autocapitalize="off"
                autocomplete="off" placeholder="vllm serve meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 256 --kv-offloading-size 64"
                value={props.intake.text.to_string()} {oninput} />
            <p class="import__file">
                <label class="button import__choose">
                    { "Choose a file…" }
                    <input id="import-file" class="import__input" type="file" {onchange} />
                </label>
                <span>{ "or drop it anywhere on the page. Traces too: Mooncake, Weka, Dynamo, Qwen-Bailian, LMCache, Azure, BurstGPT, packed as .gz or not. And what tierscope drive recorded." }</span>
            </p>
        </div>
    }
}

fn file_part(props: &ImportProps, file: &HandedFile) -> Html {
    let problems: &[ProblemView] = match &file.phase {
        FilePhase::Refused(problems) => problems,
        _ => &[],
    };
    let (number, is_trace) =
        (file.number, props.intake.trace.as_ref().is_some_and(|it| it.number == file.number));
    let [name, id] = if is_trace { ["Trace", "trace"] } else { ["Driven run", "recording"] };
    html! {
        <section class="import__trace" aria-label={name}>
            <p id={format!("{id}-state")} class={classes!("import__sentence", (!problems.is_empty()).then_some("import__sentence--bad"))}>
                { file.sentence() }
            </p>
            if file.is_coming() {
                <div class="import__progress">
                    if file.phase == FilePhase::Checking {
                        <progress aria-label={format!("Checking {}", file.name)} />
                    } else {
                        <progress aria-label={format!("Reading {}", file.name)} max="100" value={(file.share() * 100.0).to_string()} />
                    }
                    <button type="button" id={format!("{id}-cancel")} class="button button--cancel"
                        onclick={props.on_cancel.reform(move |_: MouseEvent| number)}>{ "Cancel" }</button>
                </div>
            }
            { faults(problems) }
            if matches!(file.phase, FilePhase::Ready(_)) {
                { replay(props) }
            }
        </section>
    }
}

fn driven_part(props: &ImportProps, driven: &Driven) -> Html {
    html! {
        <section class="import__trace" aria-label="Driven run that was read">
            <p id="driven-state" class="import__sentence">{ driven.sentence() }</p>
            <p class="import__use">
                <button type="button" id="recording-replay" class="button button--run"
                    onclick={props.on_step.reform(|_: MouseEvent| Step::ReplayDriven)}>{ "Replay" }</button>
                <span>{ "Its scenario takes the place of the present one." }</span>
            </p>
        </section>
    }
}

/// What the trace is replayed on.
fn replay(props: &ImportProps) -> Html {
    let keep = props.intake.keep_scenario;
    let choice = |value: bool, id: &'static str, words: &'static str, what: &'static str| {
        html! {
            <label class="import__choice" for={id}>
                <input type="radio" name="replay-on" {id} checked={keep == value}
                    onchange={props.on_step.reform(move |_: Event| Step::KeepScenario(value))} />
                <span><b>{ words }</b>{ what }</span>
            </label>
        }
    };
    html! {
        <>
            <fieldset class="import__choices">
                <legend class="visually-hidden">{ "Replay it on" }</legend>
                { choice(false, "replay-bare", "With defaults", ": as tierscope run FILE takes a bare trace") }
                { choice(true, "replay-here", "On the present scenario", ": its engine, tiers and links stay") }
                if keep {
                    <ul class="import__replaced">
                        for words in props.replaced.iter() {
                            <li>{ words.clone() }</li>
                        }
                    </ul>
                }
            </fieldset>
            <button type="button" id="trace-replay" class="button button--run"
                onclick={props.on_step.reform(|_: MouseEvent| Step::Replay)}>{ "Replay" }</button>
        </>
    }
}

fn seen_part(props: &ImportProps, seen: &Seen) -> Html {
    let usable = seen.scenario().is_some();
    let problems: Vec<ProblemView> = match seen {
        Seen::Faulty { problems, .. } => problems.clone(),
        Seen::Scenario(draft) => draft.problems.to_vec(),
        Seen::Made { imported, .. } => {
            imported.problems.iter().map(crate::state::edit::problem_view).collect()
        }
        Seen::Unknown(_) => Vec::new(),
    };
    let name = &props.intake.name;
    let sentence = if name.is_empty() { seen.sentence() } else { format!("{name}: {}", seen.sentence()) };
    html! {
        <section class="import__seen" aria-label="What was found">
            <p id="import-sentence" class={classes!("import__sentence", (!usable).then_some("import__sentence--bad"))}>
                { sentence }
            </p>
            { faults(&problems) }
            if usable {
                <p class="import__use">
                    <button type="button" id="import-use" class="button button--run"
                        onclick={props.on_step.reform(|_: MouseEvent| Step::Use)}>{ "Use as scenario" }</button>
                    <span>{ "It takes the place of the present one." }</span>
                </p>
            }
            { notes(seen.notes()) }
            if let (Some(text), false) = (seen.scenario(), seen.notes().is_empty()) {
                <details class="import__made">
                    <summary>{ "The scenario" }</summary>
                    <pre id="import-made" tabindex="0">{ text.to_owned() }</pre>
                </details>
            }
        </section>
    }
}

fn notes(notes: &[Note]) -> Html {
    if notes.is_empty() {
        return html!();
    }
    html! {
        <ul id="import-notes" class="import__notes">
            for note in notes.iter().take(SHOWN) {
                <li class="import__note">
                    <span class={classes!("import__kind", class_of(note.kind))}>{ mark(note.kind) }{ note.kind.word() }</span>
                    <span>
                        if !note.what.is_empty() {
                            <code>{ &note.what }</code>{ " → " }
                        }
                        { &note.words }
                        if note.line > 0 {
                            <span class="import__place">{ format!(" line {}", note.line) }</span>
                        }
                    </span>
                </li>
            }
        </ul>
    }
}

fn mark(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Taken => "✓ ",
        NoteKind::Assumed => "≈ ",
        NoteKind::Left => "– ",
    }
}

fn class_of(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Taken => "import__kind--taken",
        NoteKind::Assumed => "import__kind--assumed",
        NoteKind::Left => "import__kind--left",
    }
}

fn faults(problems: &[ProblemView]) -> Html {
    if problems.is_empty() {
        return html!();
    }
    html! {
        <ul class="import__faults">
            for problem in problems.iter().take(SHOWN) {
                <li>
                    <span class="import__place">{ format!("line {}, column {}: ", problem.line, problem.column) }</span>
                    if !problem.key.is_empty() {
                        <code>{ &problem.key }</code>{ " " }
                    }
                    { format!("found {}; expected {}.", problem.found, problem.expected) }
                    <span class="import__mend">{ format!(" → {}", problem.mend) }</span>
                </li>
            }
        </ul>
    }
}

#[derive(Properties, PartialEq)]
pub(crate) struct OverlayProps {
    pub(crate) over: bool,
}

/// What is seen while a file is held over the page.
#[component]
pub(crate) fn DropOverlay(props: &OverlayProps) -> Html {
    if !props.over {
        return html!();
    }
    html! {
        <div id="drop-overlay" class="drop" aria-hidden="true">
            <div class="drop__card">
                <b>{ "Drop it here" }</b>
                <span>{ "A trace or a driven run to replay, a scenario, a vllm serve command, Dynamo arguments, an LMCache file, a hardware.toml" }</span>
                <span class="drop__small">{ "It stays on this machine: nothing is uploaded." }</span>
            </div>
        </div>
    }
}

#[derive(Properties, PartialEq)]
pub(crate) struct WantedProps {
    pub(crate) file: AttrValue,
    pub(crate) requests: Option<u32>,
    pub(crate) on_open: Callback<()>,
}

/// The scenario names a file that is not here.
#[component]
pub(crate) fn WantedTrace(props: &WantedProps) -> Html {
    let requests = props
        .requests
        .map_or(String::new(), |requests| format!(" ({} requests)", crate::state::intake::grouped(requests)));
    html! {
        <div id="wanted-trace" class="wanted" role="status">
            <span>{ "This scenario replays a file that is not here: drop " }<b>{ props.file.clone() }</b>{ requests }
                { " on the page." }</span>
            <button type="button" class="button" onclick={props.on_open.reform(|_: MouseEvent| ())}>{ "Choose it…" }</button>
        </div>
    }
}
