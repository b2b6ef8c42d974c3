//! The bar at the top: which case, run and cancel, seed, link, digest, theme, help.

use web_sys::HtmlSelectElement;
use yew::prelude::*;

use super::kept::Kept;
use crate::state::{Origin, Theme, gallery, report::Outcome};

#[derive(Properties, PartialEq)]
pub(crate) struct HeaderProps {
    pub(crate) origin: Origin,
    pub(crate) seed: Option<u64>,
    /// What is shown is a driven run.
    pub(crate) driven: bool,
    pub(crate) running: bool,
    pub(crate) can_run: bool,
    pub(crate) stale: bool,
    pub(crate) ended: Option<(Outcome, AttrValue)>,
    pub(crate) theme: Theme,
    pub(crate) on_choose: Callback<usize>,
    pub(crate) on_run: Callback<()>,
    pub(crate) on_cancel: Callback<()>,
    pub(crate) on_seed: Callback<String>,
    pub(crate) on_fresh_seed: Callback<()>,
    pub(crate) on_what_if: Callback<()>,
    pub(crate) on_import: Callback<()>,
    pub(crate) on_copy_digest: Callback<AttrValue>,
    pub(crate) on_theme: Callback<Theme>,
    pub(crate) on_help: Callback<()>,
    /// What stands before the last buttons.
    pub(crate) children: Html,
}

#[component]
pub(crate) fn Header(props: &HeaderProps) -> Html {
    let theme = props.theme;
    html! {
        <header class="header">
            <a class="header__brand" href="./" title="Open the first gallery case">
                { mark() }
                <span>{ "Tierscope" }</span>
            </a>
            { picker(props) }
            { run_button(props) }
            { seed(props) }
            { digest(props) }
            <div class="header__end">
                <button type="button" id="what-if" class="button" disabled={props.seed.is_none()}
                    onclick={props.on_what_if.reform(|_: MouseEvent| ())}
                    title="Compare with the same scenario changed (Shift+F)">
                    { "What if…" }
                </button>
                <button type="button" id="import" class="button"
                    onclick={props.on_import.reform(|_: MouseEvent| ())}
                    title="Paste a vllm serve command or a configuration, choose or drop a file (i)">
                    { "Import" }
                </button>
                { props.children.clone() }
                <button type="button" id="theme" class="button button--icon"
                    onclick={props.on_theme.reform(move |_: MouseEvent| theme.next())}
                    title={format!("Theme: {}", theme.name())}
                    aria-label={format!("Theme: {}; switch to {}", theme.name(), theme.next().name())}>
                    { match theme { Theme::System => "◐", Theme::Light => "☀", Theme::Dark => "☾" } }
                </button>
                <button type="button" id="help" class="button button--icon"
                    onclick={props.on_help.reform(|_: MouseEvent| ())}
                    title="Keys and words (?)" aria-label="Keys and words">
                    { "?" }
                </button>
            </div>
        </header>
    }
}

/// Four shelves, the fullest on top.
fn mark() -> Html {
    html! {
        <svg class="header__mark" viewBox="0 0 20 20" aria-hidden="true">
            <rect x="2" y="2" width="16" height="3" rx="1" />
            <rect x="2" y="6.5" width="12" height="3" rx="1" opacity="0.75" />
            <rect x="2" y="11" width="8" height="3" rx="1" opacity="0.55" />
            <rect x="2" y="15.5" width="4" height="3" rx="1" opacity="0.4" />
        </svg>
    }
}

fn picker(props: &HeaderProps) -> Html {
    let onchange = props.on_choose.reform(|event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        // The first entry is none of the gallery's.
        select.selected_index().saturating_sub(1).max(0) as usize
    });
    let chosen = match props.origin {
        Origin::Gallery(case) | Origin::BrokenLink(case) => Some(case),
        Origin::Link | Origin::Edited => None,
    };
    let own = match props.origin {
        _ if props.driven => "A driven run",
        Origin::Link => "From a link",
        _ => "Your own scenario",
    };
    html! {
        <label class="header__field">
            <span class="visually-hidden">{ "Gallery case" }</span>
            <select id="case" class="select" {onchange}>
                <option selected={chosen.is_none()} disabled=true hidden=true>{ own }</option>
                for (at, case) in gallery::CASES.iter().enumerate() {
                    <option value={case.name} selected={chosen == Some(at)}>{ case.title }</option>
                }
            </select>
        </label>
    }
}

fn run_button(props: &HeaderProps) -> Html {
    if props.running {
        return html! {
            <button type="button" id="cancel" class="button button--cancel" key="cancel"
                onclick={props.on_cancel.reform(|_: MouseEvent| ())}>
                { "Cancel" }
            </button>
        };
    }
    html! {
        <button type="button" id="run" key="run"
            class={classes!("button", "button--run", props.stale.then_some("button--stale"))}
            disabled={!props.can_run} onclick={props.on_run.reform(|_: MouseEvent| ())}
            title={if props.stale { "The text has changed since this run (Ctrl+Enter)" } else { "Run (Ctrl+Enter)" }}>
            { if props.stale { "Run changes" } else { "Run" } }
        </button>
    }
}

fn seed(props: &HeaderProps) -> Html {
    html! {
        <div class="header__seed" role="group" aria-label="Seed">
            <label>
                <span class="header__label">{ "Seed" }</span>
                <Kept id="seed" size="10" value={props.seed.map(|seed| seed.to_string()).unwrap_or_default()}
                    disabled={props.seed.is_none()} on_change={props.on_seed.clone()} />
            </label>
            <button type="button" id="new-seed" class="button" disabled={props.seed.is_none() || props.running}
                onclick={props.on_fresh_seed.reform(|_: MouseEvent| ())} title="Draw a new seed and run" aria-label="New seed">
                { "New" }
            </button>
        </div>
    }
}

fn digest(props: &HeaderProps) -> Html {
    let Some((outcome, digest)) = &props.ended else {
        return html! {
            <div class="header__digest" />
        };
    };
    let class = match outcome {
        Outcome::Finished => "outcome outcome--finished",
        Outcome::DeadEnd => "outcome outcome--dead-end",
        Outcome::Cancelled | Outcome::Stopped => "outcome outcome--cancelled",
    };
    let copied = digest.clone();
    html! {
        <div class={classes!("header__digest", props.stale.then_some("header__digest--stale"))}>
            <span id="outcome" {class}>{ outcome.words() }</span>
            <button type="button" id="digest" class="digest" data-digest={digest.clone()}
                title={format!("Digest of the run's events: equal digests, equal runs, here and on the command line. {digest} (click to copy)")}
                aria-label={format!("digest {}…: copy all of it", digest.get(..12).unwrap_or_default())}
                onclick={props.on_copy_digest.reform(move |_: MouseEvent| copied.clone())}>
                <span class="digest__word">{ "digest" }</span>
                <code>{ digest.get(..8).unwrap_or_default().to_owned() }{ "…" }</code>
            </button>
        </div>
    }
}
