//! The latency distributions, as a chart that fills its room.

use std::rc::Rc;

use yew::prelude::*;

use super::twin::twin;
use crate::chart::latency;
use crate::chart::palette::Palette;
use crate::glue::dom::use_size;
use crate::state::Ended;
use crate::state::format::time;
use tierscope_worker::protocol::Distribution;

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
        <>
            <figure class="chart latency" id="latency-chart">
                <figcaption class="visually-hidden">
                    { "Share of requests at or below each latency: TTFT, ITL and E2E. The table above has the figures." }
                </figcaption>
                <div class="chart__room" ref={node} aria-hidden="true">
                    <div class="chart__svg">{ Html::from_html_unchecked(AttrValue::from((*svg).clone())) }</div>
                </div>
            </figure>
            if let Some(ended) = &props.ended {
                { twin("latency-table", "Latency distribution", &["Share", "TTFT", "ITL", "E2E"], rows(&ended.result.latency)) }
            }
        </>
    }
}

/// The latency that a share of the requests does not exceed.
fn rows(lines: &[Distribution]) -> Vec<Vec<String>> {
    const SHARES: [f64; 7] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0];
    let at = |line: &Distribution, share: f64| {
        let place = line.points.partition_point(|point| point.1 < share);
        line.points.get(place).map_or("–".to_owned(), |point| time(point.0))
    };
    let row = |share: f64| {
        let mut row = vec![format!("{:.0} %", share * 100.0)];
        row.extend(lines.iter().map(|line| at(line, share)));
        row
    };
    SHARES.map(row).into()
}
