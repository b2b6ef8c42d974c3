//! The root: joins the state to the browser's services, and hands each part what it shows.

use std::rc::Rc;

use tierscope_worker::protocol::{Direction, ToWorker, Way};
use yew::prelude::*;

use crate::chart::palette::Palette;
use crate::effects::{self, Seeker};
use crate::glue::{address, theme};
use crate::part::board::Board;
use crate::part::census::Census;
use crate::part::compare::Compare;
use crate::part::editor::Editor;
use crate::part::header::Header;
use crate::part::help::Help;
use crate::part::inspector::Inspector;
use crate::part::latency::Latency;
use crate::part::moves::Moves;
use crate::part::notice::Notice;
use crate::part::problems::Problems;
use crate::part::resident::{self, Resident};
use crate::part::results::Results;
use crate::part::sizing::Sizing;
use crate::part::tabs::Tabs;
use crate::part::timeline::Timeline;
use crate::part::title::{Standing, Title};
use crate::part::workers::Workers;
use crate::state::{Action, AppState, Phase, edit, format, inspector};

/// The page.
#[component]
pub fn App() -> Html {
    let state = use_reducer(|| AppState::opening(&address::hash(), theme::kept(), theme::reduced_motion()));
    let palette = use_state_eq(Palette::default);
    let seeker = use_mut_ref(Seeker::default);
    effects::use_worker(&state, &seeker);
    effects::use_run(&state, &seeker);
    effects::use_cursor(&state, &seeker);
    effects::use_inspector(&state, &seeker);
    effects::use_clock(&state);
    effects::use_address(&state);
    effects::use_theme(&state, &palette);
    effects::use_notice(&state);
    effects::use_keys(&state, &seeker);

    let act = {
        let dispatcher = state.dispatcher();
        Callback::from(move |action: Action| dispatcher.dispatch(action))
    };
    html! {
        <>
            { header(&state, &act) }
            if let Some(notice) = state.notice.clone() {
                <Notice {notice} on_dismiss={act.reform(|()| Action::Dismiss)} />
            }
            <main class="page">
                <div class="column column--left">
                    <section class="panel panel--scenario" aria-label="Scenario">
                        { scenario(&state, &act) }
                    </section>
                </div>
                <div class="column column--centre">
                    <section class="panel panel--board" aria-label="Board">
                        { centre(&state, &act, *palette, &seeker) }
                    </section>
                    <section class="panel panel--time" aria-label="Timeline">
                        { timeline(&state, &act, *palette, &seeker) }
                    </section>
                </div>
                <div class="column column--right">
                    <div class="panel panel--side">
                        <Tabs label="What happened" chosen={state.sheet} on_choose={act.reform(Action::ShowSheet)}>
                            { happenings(&state, &act, &seeker) }
                            { results(&state, *palette) }
                            <Compare />
                            <Sizing />
                        </Tabs>
                    </div>
                </div>
            </main>
            if state.help {
                <Help on_close={act.reform(|()| Action::ShowHelp(false))} />
            }
        </>
    }
}

type Shared = Rc<std::cell::RefCell<Seeker>>;

fn header(state: &UseReducerHandle<AppState>, act: &Callback<Action>) -> Html {
    let outline = state.draft.scenario.as_deref();
    let ended =
        state.ended().map(|ended| (ended.report.outcome, AttrValue::from(ended.report.digest.clone())));
    let text = Rc::clone(&state.draft.text);
    let (copy_act, digest_act) = (act.clone(), act.clone());
    html! {
        <Header
            origin={state.origin}
            seed={outline.map(|outline| outline.seed)}
            running={state.is_running()}
            can_run={state.can_run() && state.worker_ready}
            stale={state.is_stale()}
            {ended}
            theme={state.theme}
            on_choose={act.reform(Action::Choose)}
            on_run={act.reform(|()| Action::Run)}
            on_cancel={act.reform(|()| Action::Cancel)}
            on_seed={act.reform(Action::Reseed)}
            on_fresh_seed={act.reform(|()| effects::fresh_seed())}
            on_copy_link={Callback::from(move |()| effects::copy_link(&text, copy_act.clone()))}
            on_copy_digest={Callback::from(move |digest: AttrValue| effects::copy(&digest, "Digest", digest_act.clone()))}
            on_theme={act.reform(Action::SetTheme)}
            on_help={act.reform(|()| Action::ShowHelp(true))}
        />
    }
}

fn scenario(state: &UseReducerHandle<AppState>, act: &Callback<Action>) -> Html {
    let problems = state.problems();
    html! {
        <>
            <h2>{ "Scenario" }</h2>
            <Editor text={Rc::clone(&state.draft.text)} problems={Rc::clone(&problems)}
                on_edit={act.reform(Action::Edit)} on_run={act.reform(|()| Action::Run)} />
            <Problems text={Rc::clone(&state.draft.text)} {problems} outline={state.draft.scenario.clone()} />
        </>
    }
}

fn centre(
    state: &UseReducerHandle<AppState>,
    act: &Callback<Action>,
    palette: Palette,
    seeker: &Shared,
) -> Html {
    let (title, lesson) = match state.draft.scenario.as_deref() {
        Some(outline) => (outline.title.clone(), outline.lesson.clone()),
        None => ("This scenario cannot run yet".to_owned(), String::new()),
    };
    let inspect = {
        let (run, worker, seeker) = (state.run, state.worker(), Rc::clone(seeker));
        Callback::from(move |(slot, at_ns)| {
            seeker.borrow().send(&ToWorker::Inspect { run, worker, at_ns, slot });
        })
    };
    let marks = state.marks();
    html! {
        <>
            <Title {title} {lesson} standing={standing(state)} />
            if !state.workers().is_empty() {
                <Workers workers={Rc::from(state.workers())} chosen={state.worker()}
                    on_choose={act.reform(Action::SelectWorker)} />
            }
            <Board board={state.board.clone()} slot={state.slot.clone()} {palette} marks={Rc::clone(&marks)}
                on_inspect={inspect} on_leave={act.reform(|()| Action::LeaveBoard)} />
            <div class="below">
                <p id="live" aria-live={if state.playback.playing { "off" } else { "polite" }}>{ live(state) }</p>
                if !marks.is_empty() {
                    <p>{ "Ringed: the transaction's. H hit, N new, V new over a victim, S source" }</p>
                } else if state.board.as_ref().is_some_and(|board| !board.labels.is_empty()) {
                    <p>{ "Number on a block: its request" }</p>
                }
            </div>
        </>
    }
}

fn timeline(
    state: &UseReducerHandle<AppState>,
    act: &Callback<Action>,
    palette: Palette,
    seeker: &Shared,
) -> Html {
    let step = {
        let (state, seeker) = (state.clone(), Rc::clone(seeker));
        Callback::from(move |direction: Direction| effects::step(&state, &seeker, direction))
    };
    html! {
        <Timeline ended={state.ended().cloned()} board={state.board.clone()}
            worker={(!state.workers().is_empty()).then(|| state.worker())} playback={state.playback} {palette}
            on_move={act.reform(Action::MoveTo)}
            on_toggle={act.reform(|()| Action::TogglePlay)}
            on_step={step}
            on_pace={act.reform(Action::SetPace)} />
    }
}

/// The transaction at the cursor, below it the census, and what moves between tiers.
fn happenings(state: &UseReducerHandle<AppState>, act: &Callback<Action>, seeker: &Shared) -> Html {
    let end_ns = state.ended().map_or(0.0, |ended| ended.result.end_ns);
    let find = {
        let (state, seeker) = (state.clone(), Rc::clone(seeker));
        Callback::from(move |way: Way| effects::find(&state, &seeker, way))
    };
    html! {
        <>
            <section class="side__inspector" aria-label="Transaction">
                <Inspector found={state.inspector.found.clone()} filter={state.inspector.filter}
                    {end_ns}
                    on_find={find} on_filter={act.reform(Action::SetFilter)} />
            </section>
            <section class="side__census" aria-label="Who waits for what">
                <h2>{ "Who waits for what" }</h2>
                <div class="panel__scroll" tabindex="0">
                    <Census board={state.board.clone()} />
                    <Moves board={state.board.clone()} end_ns={clock_end(state)} />
                </div>
            </section>
        </>
    }
}

fn results(state: &UseReducerHandle<AppState>, palette: Palette) -> Html {
    html! {
        <>
            <Results ended={state.ended().cloned()} />
            if let Some(ended) = state.ended().filter(|ended| resident::has_tiers(ended)) {
                <Resident ended={Rc::clone(ended)} {palette} />
            }
            <h3 class="latency__title">
                { "Latency distribution" }
                <span class="controls__legend" aria-hidden="true">
                    <span><i class="stroke stroke--ttft" />{ "TTFT" }</span>
                    <span><i class="stroke stroke--itl" />{ "ITL" }</span>
                    <span><i class="stroke stroke--e2e" />{ "E2E" }</span>
                </span>
            </h3>
            <Latency ended={state.ended().cloned()} {palette} />
        </>
    }
}

fn standing(state: &AppState) -> Standing {
    match &state.phase {
        _ if !state.problems().is_empty() => Standing::Faulty,
        Phase::Running { .. } if !state.worker_ready => Standing::Waking,
        Phase::Running { finished, total, now_ns, cancelling } => {
            Standing::Running { finished: *finished, total: *total, now_ns: *now_ns, cancelling: *cancelling }
        }
        Phase::Ended(ended) => Standing::Ended {
            outcome: ended.report.outcome,
            end_ns: ended.result.end_ns,
            wall_ms: ended.result.wall_ms,
            passes: ended.report.passes,
            rejected: ended.report.requests.rejected,
            unfinished: ended.report.requests.unfinished,
        },
        Phase::Idle | Phase::Refused(_) => Standing::Waking,
    }
}

/// One line that says what the board shows.
fn live(state: &AppState) -> String {
    let Some(board) = &state.board else { return "Nothing to show yet.".to_owned() };
    let end_ns = state.ended().map_or(board.at_ns, |ended| ended.result.end_ns);
    let shown = state.transaction().filter(|_| !state.playback.playing);
    let shown = shown.map_or(String::new(), |shown| {
        format!(". Request {}: {}", shown.request, inspector::outcome_name(shown.outcome))
    });
    let whose = if state.workers().is_empty() { String::new() } else { format!("worker {}: ", board.worker) };
    format!(
        "t = {}: {whose}{} running, {} waiting, {} done{shown}",
        format::clock(board.asked_ns, end_ns),
        board.running,
        board.waiting,
        board.finished
    )
}

/// The end of the run, or how far it is: times are written as its clock does.
fn clock_end(state: &AppState) -> f64 {
    let now = state.board.as_ref().map_or(0.0, |board| board.at_ns);
    state.ended().map_or(now, |ended| ended.result.end_ns)
}

/// The link of a text, for those who copy it.
pub(crate) fn link_of(text: &str) -> String {
    address::address_with(&edit::hash_of(text))
}
