//! The root: joins the state to the browser's services, and hands each part what it shows.

use std::rc::Rc;

use tierscope_worker::protocol::{
    Direction, OutcomeFilter, ProblemView, ToWorker, Transaction, TxnFilter, Way,
};
use yew::prelude::*;

use crate::chart::palette::Palette;
use crate::effects::{self, Seeker};
use crate::glue::{address, dom, offline, theme, visit};
use crate::part::board::Board;
use crate::part::census::Census;
use crate::part::compare::Compare;
use crate::part::driven::Driven;
use crate::part::duel::Duel;
use crate::part::editor::Editor;
use crate::part::embed::Embed;
use crate::part::form::{Form, Toggle};
use crate::part::header::Header;
use crate::part::help::Help;
use crate::part::hits::Hits;
use crate::part::import::{DropOverlay, Import, WantedTrace};
use crate::part::inspector::Inspector;
use crate::part::latency::Latency;
use crate::part::moves::Moves;
use crate::part::notice::Notice;
use crate::part::picked::{Hands, Picked};
use crate::part::problems::{self, Problems};
use crate::part::ready::Ready;
use crate::part::resident::{self, Resident};
use crate::part::results::Results;
use crate::part::share::{Share, ShareMenu};
use crate::part::sizing::Sizing;
use crate::part::tabs::Tabs;
use crate::part::timeline::Timeline;
use crate::part::title::{Standing, Title};
use crate::part::tour::Tour;
use crate::part::update::Update;
use crate::part::workers::Workers;
use crate::state::fork::Fork;
use crate::state::rival::RivalEvent;
use crate::state::{self, intake::Step};
use crate::state::{Action, AppState, Ended, Phase, driven, duel, format, inspector};

/// The page.
#[component]
pub fn App() -> Html {
    let state = use_reducer(|| {
        let (hash, embedded) = (address::hash(), address::embedded());
        let tour = (!embedded && visit::wants_tour(&hash)).then_some(0);
        let opening = AppState::opening(&hash, theme::kept(), theme::reduced_motion());
        AppState { tour, embedded, ..opening }
    });
    let palette = use_state_eq(Palette::default);
    let seeker = use_mut_ref(Seeker::default);
    effects::use_worker(&state, &seeker);
    effects::use_files(&state, &seeker);
    effects::use_drop(&state, &seeker);
    effects::use_run(&state, &seeker);
    effects::use_cursor(&state, &seeker);
    effects::use_inspector(&state, &seeker);
    effects::use_known(&state, &seeker);
    effects::use_rival(&state, &seeker);
    effects::use_jobs(&state, &seeker);
    effects::use_picked(&state, &seeker);
    effects::use_clock(&state);
    effects::use_address(&state);
    effects::use_theme(&state, &palette);
    effects::use_notice(&state);
    effects::use_keys(&state, &seeker);
    effects::use_export(&state, &seeker);
    effects::use_offline(&state);
    let offer = effects::use_tour(&state, &seeker);

    // One and the same at every drawing: parts whose other properties are the same too are not drawn again.
    let act = use_callback(state.dispatcher(), |action: Action, to| to.dispatch(action));
    if state.embedded {
        return embedded(&state, &act, *palette, &seeker);
    }
    html! {
        <>
            { header(&state, &act, &seeker) }
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
                            <Compare text={Rc::clone(&state.run_text)} ended={state.ended().cloned()}
                                cursor_ns={state.playback.cursor_ns} fork={state.fork.clone()} rival={state.rival.clone()} driven={state.driven.is_some()}
                                jobs={state.jobs.clone()} act={act.clone()} />
                            <Sizing text={Rc::clone(&state.draft.text)} valid={state.draft.scenario.is_some()}
                                jobs={state.jobs.clone()} palette={*palette} act={act.clone()} />
                        </Tabs>
                    </div>
                </div>
            </main>
            { imports(&state, &act, &seeker) }
            if state.help {
                <Help on_close={act.reform(|()| Action::ShowHelp(false))} on_tour={act.reform(|()| Action::ShowTour(true))} />
            }
            if let Some(step) = state.tour {
                <Tour {step} on_step={act.reform(Action::TourStep)} on_end={act.reform(|()| Action::ShowTour(false))} on_offer={offer} />
            }
            if state.new_version {
                <Update on_reload={Callback::from(|()| offline::reload())} on_later={act.reform(|()| Action::NewVersion(false))} />
            }
        </>
    }
}

/// The page as part of another one: the board, the timeline, and the way to the whole.
fn embedded(
    state: &UseReducerHandle<AppState>,
    act: &Callback<Action>,
    palette: Palette,
    seeker: &Shared,
) -> Html {
    let title = state.draft.scenario.as_deref().map_or(String::new(), |outline| outline.title.clone());
    let href = address::whole_page(&effects::whole_hash(state));
    html! {
        <>
            <Embed {title} {href} />
            if let Some(notice) = state.notice.clone() {
                <Notice {notice} on_dismiss={act.reform(|()| Action::Dismiss)} />
            }
            <main class="page page--embedded">
                <div class="column column--centre">
                    <section class="panel panel--board" aria-label="Board">
                        { centre(state, act, palette, seeker) }
                    </section>
                    <section class="panel panel--time" aria-label="Timeline">
                        { timeline(state, act, palette, seeker) }
                    </section>
                </div>
            </main>
            if state.help {
                <Help on_close={act.reform(|()| Action::ShowHelp(false))} on_tour={act.reform(|()| Action::ShowTour(true))} />
            }
        </>
    }
}

type Shared = Rc<std::cell::RefCell<Seeker>>;

fn header(state: &UseReducerHandle<AppState>, act: &Callback<Action>, seeker: &Shared) -> Html {
    let outline = state.draft.scenario.as_deref();
    let ended =
        state.ended().map(|ended| (ended.report.outcome, AttrValue::from(ended.report.digest.clone())));
    let digest_act = act.clone();
    let on_share = {
        let (state, seeker) = (state.clone(), Rc::clone(seeker));
        Callback::from(move |what: Share| effects::share(&state, &seeker, what))
    };
    html! {
        <Header
            origin={state.origin}
            seed={outline.map(|outline| outline.seed)}
            driven={state.driven.is_some() && !state.is_stale()}
            running={state.is_running()}
            can_run={state.can_run() && state.worker_ready}
            stale={state.is_stale()}
            {ended}
            theme={state.theme}
            on_choose={act.reform(Action::Choose)}
            on_run={act.reform(|()| Action::Run)}
            on_cancel={act.reform(|()| Action::Cancel)}
            on_seed={act.reform(Action::TypeSeed)}
            on_fresh_seed={act.reform(|()| effects::fresh_seed())}
            on_what_if={act.reform(|()| Action::Rival(RivalEvent::Form(true)))}
            on_import={act.reform(|()| Action::Intake(Step::Open))}
            on_copy_digest={Callback::from(move |digest: AttrValue| effects::copy(&digest, "Digest", digest_act.clone()))}
            on_theme={act.reform(Action::SetTheme)}
            on_help={act.reform(|()| Action::ShowHelp(true))}
        >
            <ShareMenu has_scenario={outline.is_some()} has_run={state.ended().is_some()} driven={state.driven.is_some()} export={state.export} {on_share} />
        </Header>
    }
}

fn scenario(state: &UseReducerHandle<AppState>, act: &Callback<Action>) -> Html {
    let problems = state.problems();
    html! {
        <>
            <div class="scenario__head">
                <h2>{ "Scenario" }</h2>
                <Toggle form={state.form} on_toggle={act.reform(Action::ShowForm)} />
            </div>
            { form(state, act, &problems) }
            <Editor hidden={state.form} text={Rc::clone(&state.draft.text)} problems={Rc::clone(&problems)}
                on_edit={act.reform(Action::Edit)} on_run={act.reform(|()| Action::Run)} />
            if let Some(wanted) = state.wanted_trace() {
                <WantedTrace file={wanted.file.to_string()} requests={wanted.requests}
                    on_open={act.reform(|()| Action::Intake(Step::Open))} />
            }
            <Problems text={Rc::clone(&state.draft.text)} {problems} outline={state.draft.scenario.clone()}
                on_show_text={act.reform(|()| Action::ShowForm(false))} />
        </>
    }
}

/// The import dialog, and what is seen while a file is held over the page.
fn imports(state: &UseReducerHandle<AppState>, act: &Callback<Action>, seeker: &Shared) -> Html {
    let on_file = {
        let (state, seeker) = (state.clone(), Rc::clone(seeker));
        Callback::from(move |file| effects::accept(&state, &seeker, file))
    };
    let on_cancel = {
        let (state, seeker) = (state.clone(), Rc::clone(seeker));
        Callback::from(move |number: u32| effects::cancel_file(&state, &seeker, number))
    };
    html! {
        <>
            if state.intake.open {
                <Import intake={state.intake.clone()} replaced={state.replaced()} on_step={act.reform(Action::Intake)}
                    {on_file} {on_cancel} />
            }
            <DropOverlay over={state.intake.over} />
        </>
    }
}

/// The form, where it is chosen; the text stays beside it, unseen, so that its cursor and history do.
fn form(state: &UseReducerHandle<AppState>, act: &Callback<Action>, problems: &Rc<[ProblemView]>) -> Html {
    if !state.form {
        return html!();
    }
    let (text, to_text) = (Rc::clone(&state.draft.text), act.clone());
    let on_line = Callback::from(move |line: u32| {
        to_text.emit(Action::ShowForm(false));
        problems::go_to_line(&text, line);
    });
    html! {
        <Form text={Rc::clone(&state.draft.text)} problems={Rc::clone(problems)} outline={state.draft.scenario.clone()}
            on_edit={act.reform(Action::Edit)} {on_line}
            on_trouble={act.reform(|text: String| Action::Notify(state::Notice { text, trouble: true }))} />
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
        Callback::from(move |(tier, slot, among, at_ns)| {
            seeker.borrow().send(&ToWorker::Inspect { run, worker, at_ns, tier, slot, among });
        })
    };
    let marks = state.marks();
    html! {
        <>
            <Title {title} {lesson} standing={standing(state)}>
                if let Some(line) = state.driven_line() {
                    <Driven {line} on_compare={act.reform(|()| Action::CompareSimulation)}
                        on_back={act.reform(|()| Action::Intake(Step::ReplayDriven))} />
                }
            </Title>
            if !state.workers().is_empty() {
                <Workers workers={Rc::from(state.workers())} chosen={state.worker()}
                    on_choose={act.reform(Action::SelectWorker)} on_select={act.reform(Action::Select)} />
            }
            if state.phase == Phase::Ready {
                { ready(state, act) }
            } else if let Some(fork) = &state.fork {
                { versus(state, fork, act, palette) }
            } else {
            <Board board={state.board.clone()} slot={state.slot.clone()} {palette} marks={Rc::clone(&marks)}
                cursor_ns={state.playback.cursor_ns} still={state.still} selection={state.selection.clone()}
                rings={state.rings()} on_inspect={inspect} on_leave={act.reform(|()| Action::LeaveBoard)}
                on_select={act.reform(Action::Select)} />
            }
            <div class="below">
                <p id="live" aria-live={if state.playback.playing { "off" } else { "polite" }}>{ live(state) }</p>
                if let Some(note) = note(state, !marks.is_empty()) {
                    <p>{ note }</p>
                }
            </div>
        </>
    }
}

/// What the marks on the board mean.
fn note(state: &AppState, marked: bool) -> Option<&'static str> {
    let labelled = state.board.as_ref().is_some_and(|board| !board.labels.is_empty());
    match (&state.fork, marked) {
        (Some(_), _) => None,
        (None, true) => Some("Ringed: the transaction's. H hit, N new, V new over a victim, S source"),
        (None, false) => labelled.then_some("Number on a block: its request"),
    }
}

/// Where both runs of a comparison part.
fn parting_ns(state: &AppState) -> Option<f64> {
    state.jobs.difference.as_deref().and_then(duel::parting)?.at_ns()
}

/// Both runs of a comparison.
fn versus(state: &UseReducerHandle<AppState>, fork: &Fork, act: &Callback<Action>, palette: Palette) -> Html {
    let end = |ended: &Rc<Ended>| ended.result.end_ns;
    html! {
        <Duel boards={[state.board.clone(), state.rival.board.clone()]} whats={driven::sides(fork, state.driven.is_some())}
            standings={[&state.phase, &state.rival.phase].map(duel::standing)}
            ends_ns={[state.ended().map(end), state.rival.ended().map(end)]}
            cursor_ns={state.playback.cursor_ns} parting_ns={parting_ns(state)} {palette} on_move={act.reform(Action::MoveTo)} />
    }
}

fn ready(state: &UseReducerHandle<AppState>, act: &Callback<Action>) -> Html {
    let Some(outline) = state.draft.scenario.as_deref() else { return html!() };
    html! {
        <Ready size={outline.size.clone()} can_run={state.can_run() && state.worker_ready}
            missing={state.wanted_trace().map(|wanted| AttrValue::from(wanted.file.to_string()))}
            on_run={act.reform(|()| Action::Run)} />
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
    let on_ask = {
        let (run, seeker) = (state.run, Rc::clone(seeker));
        Callback::from(move |query| seeker.borrow().send(&ToWorker::Search { run, query }))
    };
    html! {
        <Timeline end_ns={state.ended().map(|ended| ended.result.end_ns)} known={state.known.clone()}
            selection={state.selection.clone()} worker={state.worker()} several={!state.workers().is_empty()}
            capacity={state.board.as_ref().map_or(0, |board| board.totals.capacity())}
            playback={state.playback} parting_ns={parting_ns(state)} {palette} act={act.clone()} on_step={step} {on_ask} />
    }
}

/// The transaction at the cursor, below it the census, and what moves between tiers.
fn happenings(state: &UseReducerHandle<AppState>, act: &Callback<Action>, seeker: &Shared) -> Html {
    let end_ns = state.ended().map_or(0.0, |ended| ended.result.end_ns);
    let find = {
        let (state, seeker) = (state.clone(), Rc::clone(seeker));
        Callback::from(move |way: Way| effects::find(&state, &seeker, way))
    };
    let on_select = act.reform(Action::Select);
    html! {
        <>
            if let Some(selection) = state.selection.clone() {
                <Picked {selection} answer={state.picked.clone()} ended={state.ended().is_some()} {end_ns}
                    hands={hands(state, act)} />
            }
            <section class="side__inspector" aria-label="Transaction">
                <Inspector found={state.inspector.found.clone()} filter={state.inspector.filter}
                    {end_ns}
                    on_find={find} on_filter={act.reform(Action::SetFilter)} />
            </section>
            <section class="side__census" aria-label="Who waits for what">
                <h2>{ "Who waits for what" }</h2>
                <div class="panel__scroll" tabindex="0">
                    <Census board={state.board.clone()} selection={state.selection.clone()} on_select={on_select.clone()} />
                    <Moves board={state.board.clone()} end_ns={clock_end(state)} {on_select} />
                </div>
            </section>
        </>
    }
}

/// What can be done with what is picked out.
fn hands(state: &UseReducerHandle<AppState>, act: &Callback<Action>) -> Hands {
    let (worker, to_txn) = (state.worker(), act.clone());
    Hands {
        on_select: act.reform(Action::Select),
        on_move: act.reform(Action::MoveTo),
        on_txn: Callback::from(move |txn: Transaction| {
            let (outcome, request) = (OutcomeFilter::All, Some(txn.request));
            to_txn.emit(Action::SetFilter(TxnFilter { worker, outcome, request }));
            to_txn.emit(Action::MoveTo(txn.at_ns));
            dom::show("inspector");
        }),
    }
}

fn results(state: &UseReducerHandle<AppState>, palette: Palette) -> Html {
    html! {
        <>
            <Results ended={state.ended().cloned()} />
            if let Some(ended) = state.ended().filter(|ended| resident::has_tiers(ended)) {
                <Resident ended={Rc::clone(ended)} {palette} />
            }
            if let Some(ended) = state.ended() {
                <Hits ended={Rc::clone(ended)} {palette} />
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
            driven: state.driven.is_some(),
        },
        Phase::Ready => Standing::Ready,
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
