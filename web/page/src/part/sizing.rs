//! Many runs: the sizing chart, which needs nothing typed, and sweeps over a knob's values or two knobs'.

mod chart;
mod outcome;
mod sweep;

use std::rc::Rc;

use yew::prelude::*;

use crate::chart::palette::Palette;
use crate::state::Action;
use crate::state::jobs::Jobs;
use chart::Chart;
use outcome::Outcome;
use sweep::Fields;

#[derive(Properties, PartialEq)]
pub(crate) struct SizingProps {
    /// The scenario, and whether it is valid.
    pub(crate) text: Rc<str>,
    pub(crate) valid: bool,
    pub(crate) jobs: Jobs,
    pub(crate) palette: Palette,
    pub(crate) act: Callback<Action>,
}

#[component]
pub(crate) fn Sizing(props: &SizingProps) -> Html {
    html! {
        <div class="sizing panel__scroll" tabindex="0">
            <Chart text={Rc::clone(&props.text)} valid={props.valid} jobs={props.jobs.clone()}
                palette={props.palette} act={props.act.clone()} />
            <Fields text={Rc::clone(&props.text)} valid={props.valid} jobs={props.jobs.clone()} act={props.act.clone()} />
            if let Some(sweep) = props.jobs.sweep.clone().filter(|sweep| !sweep.rows.is_empty()) {
                <Outcome {sweep} jobs={props.jobs.clone()} palette={props.palette} act={props.act.clone()} />
            }
        </div>
    }
}
