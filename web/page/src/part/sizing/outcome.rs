//! What a sweep came to: a curve or a map, a table, a closer look at one setting, and files.

use std::rc::Rc;

use tierscope_worker::protocol::RowsForm;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use crate::chart::palette::Palette;
use crate::chart::sweep::{self as chart, Curve, Drawn, Map, short};
use crate::glue::dom::use_size;
use crate::state::fork::Fork;
use crate::state::jobs::{JobEvent, Jobs, Slot};
use crate::state::rival::RivalEvent;
use crate::state::sheet::Sheet;
use crate::state::sweep::{MEASURES, Measure, Setting, Sweep};
use crate::state::{Action, rival};

#[derive(Properties, PartialEq)]
pub(super) struct OutcomeProps {
    pub(super) sweep: Rc<Sweep>,
    pub(super) jobs: Jobs,
    pub(super) palette: Palette,
    pub(super) act: Callback<Action>,
}

#[component]
pub(super) fn Outcome(props: &OutcomeProps) -> Html {
    let column = use_state_eq(|| MEASURES[0].column.to_owned());
    let chosen = use_state_eq(|| None::<usize>);
    let measure = Measure::of(&column);
    let settings = use_memo((Rc::clone(&props.sweep), (*column).clone()), |(sweep, column)| {
        sweep.settings(Measure::of(column))
    });
    use_effect_with(Rc::clone(&props.sweep), {
        let chosen = chosen.clone();
        move |_| chosen.set(None)
    });
    let onchange = {
        let column = column.clone();
        Callback::from(move |event: Event| {
            let select: HtmlSelectElement = event.target_unchecked_into();
            column.set(select.value());
        })
    };
    let choose = {
        let chosen = chosen.clone();
        Callback::from(move |setting: usize| chosen.set(Some(setting)))
    };
    let nothing = settings.iter().all(|setting| setting.value.is_none());
    html! {
        <section class="outcome-of-sweep" id="sweep-outcome" aria-label="What the sweep came to">
            <div class="compare__title">
                <label>{ "Show " }<select id="sweep-measure" class="select select--small" {onchange}>
                    for one in MEASURES { <option value={one.column} selected={one.column == measure.column}>{ one.name }</option> }
                </select></label>
                { files(props) }
            </div>
            if nothing { <p class="empty">{ "No point has this number. The table says why." }</p> }
            <Picture sweep={Rc::clone(&props.sweep)} settings={Rc::clone(&settings)} column={measure.column}
                palette={props.palette} chosen={*chosen} on_choose={choose.clone()} />
            if let Some(setting) = chosen.and_then(|at| settings.get(at)) {
                { closer(props, setting, measure) }
            } else if !nothing {
                <p class="compare__aspects">{ "Click on a point to open it." }</p>
            }
            { table(&props.sweep, &settings, measure, &choose) }
        </section>
    }
}

fn files(props: &OutcomeProps) -> Html {
    let busy = props.jobs.is_under_way(Slot::Export) || props.jobs.is_under_way(Slot::Sweep);
    let button = |form: RowsForm, id: &'static str, name: &'static str| {
        html! {
            <button type="button" {id} class="button button--small" disabled={busy} title={format!("Download all rows as {name}, as tierscope sweep writes them")}
                onclick={props.act.reform(move |_: MouseEvent| Action::Job(JobEvent::Export(form)))}>{ name }</button>
        }
    };
    html! {
        <span class="compare__buttons">{ button(RowsForm::Csv, "sweep-csv", "CSV") }{ button(RowsForm::Json, "sweep-json", "JSON") }</span>
    }
}

/// A setting in words: `g2.blocks = 4096`.
fn title(sweep: &Sweep, at: &[usize]) -> String {
    sweep.changes(at).iter().map(|change| change.replacen('=', " = ", 1)).collect::<Vec<_>>().join(", ")
}

fn value(setting: &Setting, measure: Measure) -> String {
    match setting.value {
        Some([low, middle, high]) if low < high => {
            format!("{} ({} … {})", (measure.print)(middle), (measure.print)(low), (measure.print)(high))
        }
        Some([_, middle, _]) => (measure.print)(middle),
        None => "–".to_owned(),
    }
}

fn closer(props: &OutcomeProps, setting: &Setting, measure: Measure) -> Html {
    let changes = props.sweep.changes(&setting.at);
    let open = {
        let (text, changes, act) = (props.sweep.asked.text.clone(), changes.clone(), props.act.clone());
        Callback::from(move |_: MouseEvent| {
            if let Ok(text) = rival::changed(&text, &changes) {
                act.emit(Action::SetFork(None));
                act.emit(Action::Edit(text));
                act.emit(Action::Run);
            }
        })
    };
    let compare = {
        let act = props.act.clone();
        Callback::from(move |_: MouseEvent| {
            act.emit(Action::SetFork(Some(Fork { at_ns: None, changes: changes.clone() })));
            act.emit(Action::Rival(RivalEvent::Form(false)));
            act.emit(Action::ShowSheet(Sheet::Compare));
        })
    };
    html! {
        <div class="closer" id="sweep-closer" role="group" aria-label="The chosen point">
            <p aria-live="polite"><b>{ title(&props.sweep, &setting.at) }</b>{ format!(": {} {}", measure.name, value(setting, measure)) }
                if !setting.remark.is_empty() { <span class="closer__remark">{ format!(" {}", setting.remark) }</span> }</p>
            <div class="compare__buttons">
                <button type="button" id="open-point" class="button button--small" onclick={open}>{ "Open this scenario" }</button>
                <button type="button" id="compare-point" class="button button--small" onclick={compare}>{ "Compare as B" }</button>
            </div>
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct PictureProps {
    sweep: Rc<Sweep>,
    settings: Rc<Vec<Setting>>,
    column: &'static str,
    palette: Palette,
    chosen: Option<usize>,
    on_choose: Callback<usize>,
}

#[component]
fn Picture(props: &PictureProps) -> Html {
    let node = use_node_ref();
    let size = use_size(&node);
    let deps = (Rc::clone(&props.sweep), Rc::clone(&props.settings), props.column, props.palette, *size);
    let drawn = use_memo(deps, |(sweep, settings, column, palette, size)| {
        if size.0 > 120 && size.1 > 80 {
            draw(sweep, settings, Measure::of(column), palette, *size)
        } else {
            Drawn::default()
        }
    });
    let measure = Measure::of(props.column);
    let two = props.sweep.plan.knobs.len() > 1;
    let spot = |(at, [left, top, width, height]): &(usize, [f64; 4])| {
        let (at, setting) = (*at, &props.settings[*at]);
        let name =
            format!("{}: {} {}", title(&props.sweep, &setting.at), measure.name, value(setting, measure));
        html! {
            <button type="button" class={if two { "spot spot--cell" } else { "spot" }} title={name.clone()} aria-label={name}
                aria-pressed={(props.chosen == Some(at)).to_string()}
                style={format!("left:{left:.1}px;top:{top:.1}px;width:{width:.1}px;height:{height:.1}px")}
                onclick={props.on_choose.reform(move |_: MouseEvent| at)} />
        }
    };
    let knobs: Vec<&str> = props.sweep.plan.knobs.iter().map(|knob| knob.key.as_str()).collect();
    html! {
        <figure class={if two { "chart sweep__figure sweep__figure--map" } else { "chart sweep__figure" }} id="sweep-figure" data-kind={if two { "map" } else { "curve" }}>
            <figcaption>
                if two { { format!("{} over {} (→) and {} (↑); the stronger the colour the more", measure.name, knobs[0], knobs[1]) } }
                else { { format!("{} over {}", measure.name, knobs.first().copied().unwrap_or_default()) }
                    if props.sweep.plan.seeds > 1 { { "; the line is the median of the seeds, the band reaches from the least to the greatest" } } }
            </figcaption>
            <div class="chart__room" ref={node}>
                <div class="chart__svg" aria-hidden="true">{ Html::from_html_unchecked(AttrValue::from(drawn.svg.clone())) }</div>
                { for drawn.spots.iter().map(spot) }
            </div>
        </figure>
    }
}

fn draw(sweep: &Sweep, settings: &[Setting], measure: Measure, palette: &Palette, size: (u32, u32)) -> Drawn {
    let values = |at: usize| sweep.plan.knobs.get(at).map_or(&[][..], |knob| &knob.values);
    let drawn = match sweep.plan.knobs.len() {
        0 | 1 => {
            let numbers = sweep.numbers(0);
            let curve = Curve { settings, values: values(0), numbers: numbers.as_deref(), measure };
            chart::curve(&curve, palette, size)
        }
        _ => chart::map(&Map { settings, values: [values(0), values(1)], measure }, palette, size),
    };
    drawn.unwrap_or_default()
}

/// A key that may go on in the next line behind its dots and strokes.
fn breakable(key: &str) -> String {
    key.replace('.', ".\u{200b}").replace('_', "_\u{200b}")
}

/// The chart as a table; each line can be chosen too.
fn table(sweep: &Sweep, settings: &[Setting], measure: Measure, choose: &Callback<usize>) -> Html {
    let knobs = &sweep.plan.knobs;
    let line = |(at, setting): (usize, &Setting)| {
        let cells =
            knobs.iter().zip(&setting.at).map(|(knob, &at)| knob.values.get(at).map_or("", String::as_str));
        html! {
            <tr>
                { for cells.map(|cell| html! { <th scope="row" title={cell.to_owned()}>{ short(cell) }</th> }) }
                <td>{ value(setting, measure) }
                    if !setting.remark.is_empty() { <small class="closer__remark">{ setting.remark.clone() }</small> }</td>
                <td><button type="button" class="button button--small" aria-label={format!("Choose {}", title(sweep, &setting.at))}
                    onclick={choose.reform(move |_: MouseEvent| at)}>{ "…" }</button></td>
            </tr>
        }
    };
    html! {
        <table class="table differences" id="sweep-table">
            <caption class="visually-hidden">{ format!("{} of each setting", measure.name) }</caption>
            <thead><tr>
                for knob in knobs { <th scope="col">{ breakable(&knob.key) }</th> }
                <th scope="col">{ measure.name }</th><th scope="col"><span class="visually-hidden">{ "Choose" }</span></th>
            </tr></thead>
            <tbody>{ for settings.iter().enumerate().map(line) }</tbody>
        </table>
    }
}
