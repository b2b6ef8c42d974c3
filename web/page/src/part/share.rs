//! The share menu: links, a command line, a frame for another page, files, and Perfetto.

use web_sys::{HtmlElement, Node};
use yew::prelude::*;

use crate::glue::dom;
use crate::state::share::{Export, ExportKind};

/// What can be taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    Link,
    Command,
    Frame,
    Scenario,
    Report,
    Series,
    Write(ExportKind),
    /// What is being written is given up.
    Stop,
}

#[derive(Properties, PartialEq)]
pub(crate) struct ShareMenuProps {
    /// Whether there is a valid scenario, which links and files are made of.
    pub(crate) has_scenario: bool,
    /// Whether there is a run, which reports and traces are made of.
    pub(crate) has_run: bool,
    /// Whether the run is a driven one.
    pub(crate) driven: bool,
    pub(crate) export: Option<Export>,
    pub(crate) on_share: Callback<Share>,
}

/// An entry of the menu.
struct Item {
    id: &'static str,
    what: Share,
    name: &'static str,
    /// What it is, where the name does not say it.
    note: &'static str,
    needs_run: bool,
}

const fn item(
    id: &'static str,
    what: Share,
    name: &'static str,
    note: &'static str,
    needs_run: bool,
) -> Item {
    Item { id, what, name, note, needs_run }
}

const GROUPS: &[(&str, &[Item])] = &[
    (
        "Copy",
        &[
            item(
                "copy-link",
                Share::Link,
                "Copy link",
                "this scenario, where you stand, what is picked out",
                false,
            ),
            item(
                "copy-command",
                Share::Command,
                "Copy command line",
                "the same run by the tierscope command",
                false,
            ),
            item(
                "copy-frame",
                Share::Frame,
                "Copy frame",
                "an <iframe> of the board for another page",
                false,
            ),
        ],
    ),
    (
        "Download",
        &[
            item("save-scenario", Share::Scenario, "Scenario", ".toml", false),
            item("save-report", Share::Report, "Report", ".json", true),
            item(
                "save-requests",
                Share::Write(ExportKind::Requests),
                "Requests",
                ".csv, a row for each",
                true,
            ),
            item("save-series", Share::Series, "Series over time", ".csv", true),
            item(
                "save-trace",
                Share::Write(ExportKind::Trace),
                "Trace for Perfetto or Chrome",
                ".json",
                true,
            ),
        ],
    ),
    (
        "Elsewhere",
        &[item(
            "open-perfetto",
            Share::Write(ExportKind::Perfetto),
            "Open in Perfetto",
            "opens ui.perfetto.dev and hands it the trace, within your browser. Nothing else here ever leaves this page.",
            true,
        )],
    ),
];

const MENU: &str = "share-menu";
const BUTTON: &str = "share";

/// The ids of the entries that work, in order.
fn working(props: &ShareMenuProps) -> Vec<&'static str> {
    let all = GROUPS.iter().flat_map(|(_, items)| items.iter());
    all.filter(|item| works(props, item)).map(|item| item.id).collect()
}

fn works(props: &ShareMenuProps, item: &Item) -> bool {
    if item.needs_run { props.has_run } else { props.has_scenario }
}

#[component]
pub(crate) fn ShareMenu(props: &ShareMenuProps) -> Html {
    let open = use_state_eq(|| false);
    let items = working(props);
    // The first entry has the focus once the menu is there.
    use_effect_with(*open, {
        let first = items.first().copied();
        move |&open| {
            if let Some(first) = first.filter(|_| open) {
                dom::focus(first);
            }
        }
    });
    let close = {
        let open = open.clone();
        Callback::from(move |()| {
            open.set(false);
            dom::focus(BUTTON);
        })
    };
    let onkeydown = {
        let (close, items) = (close.clone(), items.clone());
        Callback::from(move |event: KeyboardEvent| menu_key(&event, &items, &close))
    };
    let onfocusout = {
        let open = open.clone();
        Callback::from(move |event: FocusEvent| {
            let inside = event.current_target().zip(event.related_target()).is_some_and(|(menu, to)| {
                menu.unchecked_into_node().contains(Some(&to.unchecked_into_node()))
            });
            if !inside {
                open.set(false);
            }
        })
    };
    let onclick = {
        let open = open.clone();
        Callback::from(move |_: MouseEvent| open.set(!*open))
    };
    let on_button_key = {
        let open = open.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "ArrowDown" && !*open {
                event.prevent_default();
                open.set(true);
            }
        })
    };
    let choose = |what: Share| {
        let (close, on_share) = (close.clone(), props.on_share.clone());
        Callback::from(move |_: MouseEvent| {
            close.emit(());
            on_share.emit(what);
        })
    };
    html! {
        <div class="share" {onfocusout}>
            { progress(props) }
            <button type="button" id={BUTTON} class="button" aria-haspopup="menu" aria-expanded={open.to_string()}
                aria-controls={MENU} disabled={!props.has_scenario} {onclick} onkeydown={on_button_key}
                title="Links, files, Perfetto">
                { "Share" }
                <svg class="icon share__arrow" viewBox="0 0 16 16" aria-hidden="true"><path d="M4 6h8l-4 5z" /></svg>
            </button>
            if *open {
                <div id={MENU} class="share__menu" role="menu" aria-label="Share" {onkeydown}>
                    for (name, group) in GROUPS.iter() {
                        <div class="share__group" role="group" aria-label={*name}>
                            <span class="share__title" aria-hidden="true">{ *name }</span>
                            for entry in group.iter() {
                                <button type="button" role="menuitem" id={entry.id} class="share__item" tabindex="-1"
                                    disabled={!works(props, entry)} onclick={choose(entry.what)}>
                                    <span>{ entry.name }</span>
                                    <small>{ note(props, entry) }</small>
                                </button>
                            }
                        </div>
                    }
                </div>
            }
        </div>
    }
}

/// What an entry is; a link has less of a driven run than of a simulated one.
fn note(props: &ShareMenuProps, entry: &Item) -> &'static str {
    match entry.what {
        Share::Link | Share::Frame if props.driven => "the scenario alone: a link cannot hold a recording",
        _ => entry.note,
    }
}

/// Up and down go round; who types goes to the next entry that begins so.
fn menu_key(event: &KeyboardEvent, items: &[&'static str], close: &Callback<()>) {
    let here = event.target().and_then(|target| target.dyn_into_element());
    let here = here.and_then(|element| items.iter().position(|id| *id == element.id()));
    let count = items.len();
    if count == 0 {
        return;
    }
    let to = match event.key().as_str() {
        "ArrowDown" => here.map_or(0, |at| (at + 1) % count),
        "ArrowUp" => here.map_or(count - 1, |at| (at + count - 1) % count),
        "Home" => 0,
        "End" => count - 1,
        "Escape" => {
            event.prevent_default();
            event.stop_propagation();
            close.emit(());
            return;
        }
        _ => return,
    };
    event.prevent_default();
    event.stop_propagation();
    dom::focus(items[to]);
}

fn progress(props: &ShareMenuProps) -> Html {
    let Some(export) = &props.export else { return html!() };
    let name = format!("Writing {}", export.kind.name());
    let on_stop = props.on_share.reform(|_: MouseEvent| Share::Stop);
    html! {
        <div id="export" class="share__progress" role="status">
            <span>{ name.clone() }</span>
            <progress aria-label={name} max="1" value={format!("{:.3}", export.share)} />
            <button type="button" id="stop-export" class="button" onclick={on_stop}>{ "Stop" }</button>
        </div>
    }
}

/// What an event was at, as the element that it is here.
trait AsElement {
    fn dyn_into_element(self) -> Option<HtmlElement>;
    fn unchecked_into_node(self) -> Node;
}

impl AsElement for web_sys::EventTarget {
    fn dyn_into_element(self) -> Option<HtmlElement> {
        wasm_bindgen::JsCast::dyn_into(self).ok()
    }

    fn unchecked_into_node(self) -> Node {
        wasm_bindgen::JsCast::unchecked_into(self)
    }
}
