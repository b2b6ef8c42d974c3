//! The bar above the tracks: play, step, the clock, the pace; and the slider, which moves the cursor over the whole run.

use tierscope_worker::protocol::Direction;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::chart::tracks::view::View;
use crate::state::play::{FIT_S, Pace, Playback};
use crate::state::{Action, format};

/// What the bar shows and does.
pub(super) struct Controls<'a> {
    /// The end of a run that is over.
    pub(super) end_ns: Option<f64>,
    pub(super) playback: Playback,
    pub(super) act: &'a Callback<Action>,
    pub(super) on_step: &'a Callback<Direction>,
    /// What stands at the end of the bar.
    pub(super) tools: Html,
}

/// Steps of the slider over the whole run.
const SLIDER_STEPS: f64 = 1000.0;

pub(super) fn controls(props: Controls<'_>) -> Html {
    let off = props.end_ns.is_none();
    let end_ns = props.end_ns.unwrap_or(0.0);
    let playing = props.playback.playing && !off;
    let step = |direction| props.on_step.reform(move |_: MouseEvent| direction);
    html! {
        <div class="controls" role="group" aria-label="Time">
            <button type="button" id="play" class="button button--play" disabled={off}
                onclick={props.act.reform(|_: MouseEvent| Action::TogglePlay)}
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
            { pace(&props, off) }
            { props.tools }
        </div>
    }
}

fn pace(props: &Controls<'_>, off: bool) -> Html {
    let act = props.act.clone();
    let onchange = Callback::from(move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        if let Some(pace) = Pace::of_word(&select.value()) {
            act.emit(Action::SetPace(pace));
        }
    });
    let name = |pace| match pace {
        Pace::Fit => format!("Fit: {FIT_S} s"),
        Pace::Tenths(_) => pace.word(),
    };
    html! {
        <select id="pace" class="select controls__pace" disabled={off} {onchange} aria-label="Play speed"
            title="Simulated time in real time; Fit plays the whole run in 15 seconds">
            for pace in Pace::ALL {
                <option value={pace.word()} selected={pace == props.playback.pace}>{ name(pace) }</option>
            }
        </select>
    }
}

/// The slider, and under it which part of the run is seen below.
pub(super) fn slider(end_ns: Option<f64>, cursor_ns: f64, view: View, act: &Callback<Action>) -> Html {
    let off = end_ns.is_none();
    let end_ns = end_ns.unwrap_or(0.0);
    let act = act.clone();
    let oninput = Callback::from(move |event: InputEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        act.emit(Action::MoveTo(input.value_as_number() / SLIDER_STEPS * end_ns));
    });
    let at = if end_ns > 0.0 { cursor_ns / end_ns * SLIDER_STEPS } else { 0.0 };
    let share = |ns: f64| if end_ns > 0.0 { (ns / end_ns).clamp(0.0, 1.0) * 100.0 } else { 0.0 };
    let (from, to) = (share(view.from_ns), share(view.to_ns));
    html! {
        <div class="slider__room">
            <input id="time" class="slider" type="range" min="0" max={SLIDER_STEPS.to_string()} step="1"
                value={format!("{at:.0}")} disabled={off} aria-label="Time"
                aria-valuetext={format::clock(cursor_ns, end_ns)} {oninput} />
            if !off && to - from < 99.0 {
                <span class="slider__view" aria-hidden="true">
                    <i style={format!("left:{from:.2}%;width:{:.2}%", (to - from).max(0.3))} />
                </span>
            }
        </div>
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

/// Two corners that frame what is meant.
pub(super) fn fit_icon() -> Html {
    icon("M2 2h5v1.6H3.6V7H2zM9 2h5v5h-1.6V3.6H9zM2 9h1.6v3.4H7V14H2zM12.4 9H14v5H9v-1.6h3.4z")
}

/// Lines and a column.
pub(super) fn table_icon() -> Html {
    icon(
        "M2 2.5h12v2.2H2zM2 6h4v2H2zM7.2 6H14v2H7.2zM2 9.2h4v2H2zM7.2 9.2H14v2H7.2zM2 12.4h4v1.6H2zM7.2 12.4H14v1.6H7.2z",
    )
}
