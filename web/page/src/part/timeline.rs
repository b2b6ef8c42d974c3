//! The cursor in time: play, step, slide; and occupancy over the same axis.

use std::rc::Rc;

use tierscope_worker::protocol::{Board, Direction};
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::chart::occupancy::{self, Occupancy};
use crate::chart::palette::Palette;
use crate::glue::dom::use_size;
use crate::state::play::{Pace, Playback};
use crate::state::{Ended, format};

#[derive(Properties, PartialEq)]
pub(crate) struct TimelineProps {
    pub(crate) ended: Option<Rc<Ended>>,
    pub(crate) board: Option<Rc<Board>>,
    /// Whose chart it is, where there are several workers.
    pub(crate) worker: Option<u32>,
    pub(crate) playback: Playback,
    pub(crate) palette: Palette,
    pub(crate) on_move: Callback<f64>,
    pub(crate) on_toggle: Callback<()>,
    pub(crate) on_step: Callback<Direction>,
    pub(crate) on_pace: Callback<Pace>,
}

/// Steps of the slider over the whole run.
const SLIDER_STEPS: f64 = 1000.0;

#[component]
pub(crate) fn Timeline(props: &TimelineProps) -> Html {
    let node = use_node_ref();
    let size = use_size(&node);
    let end_ns = props.ended.as_ref().map_or(0.0, |ended| ended.result.end_ns);
    let capacity = props.board.as_ref().map_or(0, |board| board.totals.capacity());
    let svg = use_memo(
        (props.ended.clone(), capacity, props.palette, *size),
        |(ended, capacity, palette, size)| match ended {
            Some(ended) if size.0 > 120 && size.1 > 80 => {
                let samples = &ended.result.occupancy;
                let chart = Occupancy { samples, end_ns: ended.result.end_ns, capacity: *capacity };
                occupancy::svg(&chart, palette, *size).unwrap_or_default()
            }
            _ => String::new(),
        },
    );
    let scale = occupancy::time_scale(f64::from(size.0), end_ns);
    let onpointer = {
        let on_move = props.on_move.clone();
        Callback::from(move |event: PointerEvent| {
            if event.buttons() & 1 == 1 {
                on_move.emit(scale.value(f64::from(event.offset_x())));
            }
        })
    };
    html! {
        <div class="timeline">
            { controls(props, end_ns) }
            { slider(props, end_ns) }
            <figure class="chart occupancy" id="occupancy-chart">
                <figcaption class="visually-hidden">
                    { "Blocks active and cached over time, and below them the requests running and waiting. The slider moves the cursor over it." }
                </figcaption>
                <div class="chart__room" ref={node} aria-hidden="true" onpointerdown={onpointer.clone()} onpointermove={onpointer}>
                    <div class="chart__svg">{ Html::from_html_unchecked(AttrValue::from((*svg).clone())) }</div>
                    if props.ended.is_some() {
                        { legends(props.worker) }
                        <div class="chart__cursor" style={format!("transform:translateX({:.2}px)", scale.px(props.playback.cursor_ns))} />
                    } else {
                        <p class="empty">{ "Occupancy over time appears when a run ends." }</p>
                    }
                </div>
            </figure>
        </div>
    }
}

fn controls(props: &TimelineProps, end_ns: f64) -> Html {
    let off = props.ended.is_none();
    let playing = props.playback.playing && !off;
    let step = |direction| props.on_step.reform(move |_: MouseEvent| direction);
    let onchange = props.on_pace.clone();
    let onchange = Callback::from(move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        if let Some(pace) = Pace::of_seconds(&select.value()) {
            onchange.emit(pace);
        }
    });
    html! {
        <div class="controls" role="group" aria-label="Time">
            <button type="button" id="play" class="button button--play" disabled={off}
                onclick={props.on_toggle.reform(|_: MouseEvent| ())}
                title="Play or pause (Space)" aria-label={if playing { "Pause" } else { "Play" }}>
                { if playing { pause_icon() } else { play_icon() } }
            </button>
            <button type="button" id="step-back" class="button button--icon" disabled={off} onclick={step(Direction::Back)}
                title="Previous instant (,)" aria-label="Previous instant">{ step_icon(true) }</button>
            <button type="button" id="step" class="button button--icon" disabled={off} onclick={step(Direction::Forward)}
                title="Next instant (.)" aria-label="Next instant">{ step_icon(false) }</button>
            <output id="clock" class="controls__clock" for="time">
                if off {
                    <span>{ "–" }</span>
                } else {
                    { format::clock(props.playback.cursor_ns, end_ns) }
                    <span>{ format!(" / {}", format::clock(end_ns, end_ns)) }</span>
                }
            </output>
            <label class="controls__pace">
                <span>{ "Play in" }</span>
                <select id="pace" class="select" disabled={off} {onchange}>
                    for pace in Pace::ALL {
                        <option value={pace.seconds().to_string()} selected={pace == props.playback.pace}>
                            { format!("{} s", pace.seconds()) }
                        </option>
                    }
                </select>
            </label>
        </div>
    }
}

/// The legends of the two plots, each above its own.
fn legends(worker: Option<u32>) -> Html {
    let of = |what: &str| match worker {
        Some(worker) => format!("{what} of worker {worker}"),
        None => what.to_owned(),
    };
    html! {
        <>
            <span class="chart__legend">
                { of("Blocks") }
                <span><i class="swatch swatch--active" />{ "active" }</span>
                <span><i class="swatch swatch--cached-area" />{ "cached" }</span>
            </span>
            <span class="chart__legend" style={format!("top:{:.0}%", occupancy::BLOCKS_SHARE * 100.0)}>
                { of("Requests") }
                <span><i class="stroke stroke--running" />{ "running" }</span>
                <span><i class="stroke stroke--waiting" />{ "waiting" }</span>
            </span>
        </>
    }
}

fn slider(props: &TimelineProps, end_ns: f64) -> Html {
    let on_move = props.on_move.clone();
    let oninput = Callback::from(move |event: InputEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        on_move.emit(input.value_as_number() / SLIDER_STEPS * end_ns);
    });
    let at = if end_ns > 0.0 { props.playback.cursor_ns / end_ns * SLIDER_STEPS } else { 0.0 };
    html! {
        <input id="time" class="slider" type="range" min="0" max={SLIDER_STEPS.to_string()} step="1"
            value={format!("{at:.0}")} disabled={props.ended.is_none()} aria-label="Time"
            aria-valuetext={format::clock(props.playback.cursor_ns, end_ns)} {oninput} />
    }
}

fn icon(path: &'static str) -> Html {
    html! {
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d={path} /></svg>
    }
}

fn play_icon() -> Html {
    icon("M4 2.5v11l9-5.5z")
}

fn pause_icon() -> Html {
    icon("M4 3h3v10H4zM9 3h3v10H9z")
}

fn step_icon(back: bool) -> Html {
    icon(if back { "M12 3v10L5 8zM3.5 3H5v10H3.5z" } else { "M4 3v10l7-5zM11 3h1.5v10H11z" })
}
