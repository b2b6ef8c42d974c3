//! The timeline: the cursor in time, and the run as tracks that can be zoomed, searched and read as a table.

mod brush;
mod controls;
mod drawer;
mod keys;
mod labels;
mod look;
mod paint;
mod pointer;
mod room;
mod search;
mod tip;

use std::rc::Rc;

use tierscope_worker::protocol::Direction;
use yew::prelude::*;

use crate::chart::palette::Palette;
use crate::chart::tracks::layout::{Group, Layout};
use crate::chart::tracks::model::Shared;
use crate::state::Action;
use crate::state::known::{Drawer, Known};
use crate::state::play::Playback;
use crate::state::scene::{Scene, Stir};
use crate::state::selection::Selection;
use controls::{Controls, controls, fit_icon, slider, table_icon};
use drawer::DrawerView;
use room::Room;
use search::Search;

#[derive(Properties, PartialEq)]
pub(crate) struct TimelineProps {
    /// The end of a run that is over.
    pub(crate) end_ns: Option<f64>,
    pub(crate) known: Known,
    pub(crate) selection: Option<Selection>,
    /// Blocks in G1.
    pub(crate) capacity: u32,
    /// The worker whose counters are shown.
    pub(crate) worker: u32,
    /// Whether there are several.
    pub(crate) several: bool,
    pub(crate) playback: Playback,
    /// Where the run that this one is compared with parts from it.
    pub(crate) parting_ns: Option<f64>,
    pub(crate) palette: Palette,
    pub(crate) act: Callback<Action>,
    pub(crate) on_step: Callback<Direction>,
    /// A question in words.
    pub(crate) on_ask: Callback<String>,
}

#[component]
pub(crate) fn Timeline(props: &TimelineProps) -> Html {
    let scene = use_reducer_eq(Scene::default);
    let stir = {
        let dispatcher = scene.dispatcher();
        Callback::from(move |stir: Stir| dispatcher.dispatch(stir))
    };
    let layout = use_memo(
        (props.known.tracks.clone(), props.worker, scene.arrangement.clone()),
        |(tracks, worker, arrangement)| {
            let model = tracks.as_ref().map(|tracks| &tracks.0);
            model.map_or_else(Layout::default, |model| Layout::new(model, *worker, arrangement))
        },
    );
    let hover = use_state_eq(|| None::<(f64, f64)>);
    let width = use_state_eq(|| 0.0);
    use_follow(props, &stir);
    keys::use_keys(props, &scene, &stir, keys::Aim { hover: *hover, width: *width });
    let wanted = keys::meant(props, &scene);
    let tools = html! {
        <>
            <Search off={props.known.tracks.is_none()} answer={props.known.answer.clone()} on_ask={props.on_ask.clone()}
                on_pick={props.act.reform(Action::PickHit)} />
            <button type="button" id="fit" class="button button--icon" disabled={props.known.tracks.is_none()}
                title="Fit the selection, or the whole run (f)" aria-label="Fit"
                onclick={stir.reform(move |_: MouseEvent| Stir::Fit(wanted))}>{ fit_icon() }</button>
            { table_button(props) }
        </>
    };
    let zoom = {
        let (stir, span) = (stir.clone(), scene.span);
        Callback::from(move |()| stir.emit(Stir::Fit(span)))
    };
    html! {
        <div class={classes!("timeline", props.known.drawer.map(|_| "timeline--told"))}>
            { controls(Controls { end_ns: props.end_ns, playback: props.playback, act: &props.act, on_step: &props.on_step, tools }) }
            { slider(props.end_ns, props.playback.cursor_ns, scene.view, &props.act) }
            if let Some(model) = &props.known.tracks {
                <Room model={model.clone()} layout={Rc::clone(&layout)} scene={(*scene).clone()} selection={props.selection.clone()}
                    cursor_ns={props.playback.cursor_ns} parting_ns={props.parting_ns} capacity={props.capacity} several={props.several}
                    palette={props.palette} folded={folded(&scene)} hover={*hover} act={props.act.clone()} stir={stir.clone()}
                    on_hover={let hover = hover.clone(); Callback::from(move |spot| hover.set(spot))}
                    on_width={let width = width.clone(); Callback::from(move |px| width.set(px))} />
                { left_out(model) }
            } else {
                <p class="empty timeline__empty">
                    { if props.end_ns.is_some() { "Gathering the tracks…" } else { "The tracks of a run appear when it ends." } }
                </p>
            }
            if let (Some(model), Some(drawer)) = (&props.known.tracks, props.known.drawer) {
                <DrawerView {drawer} model={model.clone()} {layout} view={scene.view} scrolled={scene.scrolled} span={scene.span}
                    several={props.several} answer={props.known.answer.clone()} facts={props.known.facts.clone()}
                    playing={props.playback.playing} end_ns={scene.end_ns} act={props.act.clone()} on_zoom={zoom} />
            }
        </div>
    }
}

fn table_button(props: &TimelineProps) -> Html {
    let open = props.known.drawer == Some(Drawer::Table);
    let next = (!open).then_some(Drawer::Table);
    html! {
        <button type="button" id="as-table" class="button button--icon" disabled={props.known.tracks.is_none()}
            aria-pressed={open.to_string()} title="What is seen, as a table" aria-label="As table"
            onclick={props.act.reform(move |_: MouseEvent| Action::ShowDrawer(next))}>{ table_icon() }</button>
    }
}

fn folded(scene: &Scene) -> Rc<[Group]> {
    scene.arrangement.folded.iter().copied().collect()
}

/// What the tracks do not show, if memory was short.
fn left_out(model: &Shared) -> Html {
    let out = model.0.tracks.left_out;
    if out.iter().all(|&count| count == 0) {
        return html!();
    }
    let what = ["passes", "copies", "events", "phases of requests"];
    let list: Vec<String> = out
        .into_iter()
        .zip(what)
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", crate::state::format::count(count.into())))
        .collect();
    html! {
        <p class="timeline__left-out" id="left-out">{ format!("Not drawn, to bound memory: {}.", list.join(", ")) }</p>
    }
}

/// The view opens with a run, and follows the cursor.
#[hook]
fn use_follow(props: &TimelineProps, stir: &Callback<Stir>) {
    let end_ns = props.known.tracks.as_ref().map(|tracks| tracks.0.tracks.end_ns);
    use_effect_with((props.known.tracks.clone(), end_ns), {
        let stir = stir.clone();
        move |(_, end_ns)| {
            if let Some(end_ns) = *end_ns {
                stir.emit(Stir::Open(end_ns));
            }
        }
    });
    let (cursor, playing) = (props.playback.cursor_ns, props.playback.playing);
    use_effect_with((cursor, playing), {
        let stir = stir.clone();
        move |&(cursor, playing)| stir.emit(Stir::Follow(cursor, playing))
    });
}
