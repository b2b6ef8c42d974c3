//! The latency distributions, as a chart that fills its room.

use std::rc::Rc;

use yew::prelude::*;

use crate::chart::latency;
use crate::chart::palette::Palette;
use crate::glue::dom::use_size;
use crate::state::Ended;

#[derive(Properties, PartialEq)]
pub(crate) struct LatencyProps {
    pub(crate) ended: Option<Rc<Ended>>,
    pub(crate) palette: Palette,
}

#[component]
pub(crate) fn Latency(props: &LatencyProps) -> Html {
    let node = use_node_ref();
    let size = use_size(&node);
    let svg = use_memo((props.ended.clone(), props.palette, *size), |(ended, palette, size)| match ended {
        Some(ended) if size.0 > 80 && size.1 > 60 => {
            latency::svg(&ended.result.latency, palette, *size).unwrap_or_default()
        }
        _ => String::new(),
    });
    html! {
        <figure class="chart latency" id="latency-chart">
            <figcaption class="visually-hidden">
                { "Share of requests at or below each latency: TTFT, ITL and E2E. The table above has the figures." }
            </figcaption>
            <div class="chart__room" ref={node} aria-hidden="true">
                <div class="chart__svg">{ Html::from_html_unchecked(AttrValue::from((*svg).clone())) }</div>
            </div>
        </figure>
    }
}
