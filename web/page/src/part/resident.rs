//! How full the tiers below G1 were over time, as a chart that fills its room; nothing where there are none.

use std::rc::Rc;

use yew::prelude::*;

use super::twin::{times, twin};
use crate::chart::palette::Palette;
use crate::chart::resident;
use crate::glue::dom::use_size;
use crate::state::Ended;
use crate::state::format::{clock, count};

/// Keys of the tiers below G1, their names, and the strokes that their lines share with the latencies.
const TIERS: [(&str, &str, &str); 3] = [
    ("g2", "G2", "stroke stroke--ttft"),
    ("g3", "G3", "stroke stroke--itl"),
    ("g4", "G4", "stroke stroke--e2e"),
];

#[derive(Properties, PartialEq)]
pub(crate) struct ResidentProps {
    pub(crate) ended: Rc<Ended>,
    pub(crate) palette: Palette,
}

#[component]
pub(crate) fn Resident(props: &ResidentProps) -> Html {
    let node = use_node_ref();
    let size = use_size(&node);
    let capacity = capacities(&props.ended);
    let svg = use_memo((Rc::clone(&props.ended), props.palette, *size), |(ended, palette, size)| {
        let (samples, end_ns) = (&ended.result.below, ended.result.end_ns);
        if size.0 > 80 && size.1 > 60 {
            resident::svg(&resident::Resident { samples, end_ns, capacity }, palette, *size)
                .unwrap_or_default()
        } else {
            String::new()
        }
    });
    let there = TIERS.into_iter().zip(capacity).filter(|(_, blocks)| *blocks > 0);
    html! {
        <>
            <h3 class="latency__title">
                { "Tiers below G1 over time" }
                <span class="controls__legend" aria-hidden="true">
                    for ((_, name, stroke), _) in there {
                        <span><i class={stroke} />{ name }</span>
                    }
                </span>
            </h3>
            <figure class="chart latency" id="resident-chart">
                <figcaption class="visually-hidden">
                    { "Matchable blocks of each tier below G1 over time, by its capacity. The table of tiers has the figures." }
                </figcaption>
                <div class="chart__room" ref={node} aria-hidden="true">
                    <div class="chart__svg">{ Html::from_html_unchecked(AttrValue::from((*svg).clone())) }</div>
                </div>
            </figure>
            { twin("resident-table", "Tiers below G1 over time", &["At", "G2", "G3", "G4"], rows(&props.ended, capacity)) }
        </>
    }
}

/// Matchable blocks at some times; a dash where there is no such tier.
fn rows(ended: &Ended, capacity: [u32; 3]) -> Vec<Vec<String>> {
    let (samples, end_ns) = (&ended.result.below, ended.result.end_ns);
    let row = |at_ns: f64| {
        let place = samples.partition_point(|sample| sample.at_ns <= at_ns).checked_sub(1);
        let resident = place.map_or([0; 3], |place| samples[place].resident);
        let mut row = vec![clock(at_ns, end_ns)];
        row.extend(
            (0..3).map(|tier| if capacity[tier] > 0 { count(resident[tier].into()) } else { "–".to_owned() }),
        );
        row
    };
    times(end_ns).map(row).collect()
}

/// Blocks of G2, G3 and G4; 0 where there is no such tier.
fn capacities(ended: &Ended) -> [u32; 3] {
    TIERS.map(|(key, _, _)| ended.report.tiers.get(key).map_or(0, |tier| tier.capacity_blocks))
}

/// Whether the run had a tier below G1.
pub(crate) fn has_tiers(ended: &Ended) -> bool {
    capacities(ended).iter().any(|&blocks| blocks > 0)
}
