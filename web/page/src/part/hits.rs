//! The hit ratio over time, as a chart that fills its room, and as a table.

use std::rc::Rc;

use yew::prelude::*;

use super::twin::{times, twin};
use crate::chart::hits::{self, Ratio};
use crate::chart::palette::Palette;
use crate::glue::dom::use_size;
use crate::state::Ended;
use crate::state::format::{clock, percent};

#[derive(Properties, PartialEq)]
pub(crate) struct HitsProps {
    pub(crate) ended: Rc<Ended>,
    pub(crate) palette: Palette,
}

#[component]
pub(crate) fn Hits(props: &HitsProps) -> Html {
    let node = use_node_ref();
    let size = use_size(&node);
    let end_ns = props.ended.result.end_ns;
    let ratios =
        use_memo(Rc::clone(&props.ended), |ended| hits::ratios(&ended.result.hits, ended.result.end_ns));
    let svg =
        use_memo((Rc::clone(&ratios), end_ns, props.palette, *size), |(ratios, end_ns, palette, size)| {
            let room = size.0 > 80 && size.1 > 60;
            if room { hits::svg(ratios, *end_ns, palette, *size).unwrap_or_default() } else { String::new() }
        });
    if ratios.is_empty() {
        return html!();
    }
    html! {
        <>
            <h3 class="latency__title">
                { "Hit ratio over time" }
                <span class="controls__legend" aria-hidden="true">
                    <span><i class="stroke stroke--ttft" />{ "so far" }</span>
                    <span><i class="stroke stroke--itl" />{ "lately" }</span>
                </span>
            </h3>
            <figure class="chart latency" id="hits-chart">
                <figcaption class="visually-hidden">
                    { "Share of prompt tokens that first admissions found cached: since the run began, and in the last tenth of the run." }
                </figcaption>
                <div class="chart__room" ref={node} aria-hidden="true">
                    <div class="chart__svg">{ Html::from_html_unchecked(AttrValue::from((*svg).clone())) }</div>
                </div>
            </figure>
            { twin("hits-table", "Hit ratio over time", &["Until", "So far", "Lately"], rows(&ratios, end_ns)) }
        </>
    }
}

fn rows(ratios: &[Ratio], end_ns: f64) -> Vec<Vec<String>> {
    let row = |at_ns: f64| {
        let known =
            ratios.partition_point(|ratio| ratio.at_ns <= at_ns).checked_sub(1).map(|place| ratios[place]);
        let cell =
            |value: fn(&Ratio) -> f64| known.as_ref().map_or("–".to_owned(), |ratio| percent(value(ratio)));
        vec![clock(at_ns, end_ns), cell(|ratio| ratio.so_far), cell(|ratio| ratio.lately)]
    };
    times(end_ns).map(row).collect()
}
