//! What this scenario is about, and how its run stands: the words above the board.

use yew::prelude::*;

use crate::state::format;
use crate::state::report::Outcome;

/// How the run stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Standing {
    Faulty,
    Waking,
    /// A heavy run waits for a word.
    Ready,
    Running {
        finished: u32,
        total: u32,
        now_ns: f64,
        cancelling: bool,
    },
    Ended {
        outcome: Outcome,
        end_ns: f64,
        wall_ms: f64,
        passes: u64,
        rejected: u64,
        unfinished: u64,
        /// It was driven: nothing of it is modelled but the passes.
        driven: bool,
    },
}

#[derive(Properties, PartialEq)]
pub(crate) struct TitleProps {
    pub(crate) title: AttrValue,
    pub(crate) lesson: AttrValue,
    pub(crate) standing: Standing,
    /// What stands above how the run stands.
    #[prop_or_default]
    pub(crate) children: Html,
}

#[component]
pub(crate) fn Title(props: &TitleProps) -> Html {
    html! {
        <div class="title">
            <div class="title__words">
                <h1>{ props.title.clone() }</h1>
                <p>{ props.lesson.clone() }</p>
            </div>
            { props.children.clone() }
            { standing(&props.standing) }
        </div>
    }
}

fn standing(standing: &Standing) -> Html {
    match standing {
        Standing::Faulty => html! {
            <p class="title__standing">{ "The scenario has faults: see the marks in the text." }</p>
        },
        Standing::Waking => html! {
            <p class="title__standing">{ "Starting the simulator…" }</p>
        },
        Standing::Ready => html! {
            <p class="title__standing">{ "Not run yet." }</p>
        },
        Standing::Running { finished, total, now_ns, cancelling } => {
            let doing = if *cancelling { "Stopping" } else { "Running" };
            html! {
                <div class="title__standing title__standing--running">
                    <span>{ format!("{doing}: {finished} of {total} requests, t = {}", format::time(*now_ns)) }</span>
                    <progress id="progress" aria-label="Run progress" max={(*total).max(1).to_string()}
                        value={finished.to_string()} />
                </div>
            }
        }
        Standing::Ended { outcome, end_ns, wall_ms, passes, rejected, unfinished, driven } => {
            let ran = format!(
                "{} {}, {} passes, in {wall_ms:.0} ms",
                format::time(*end_ns),
                if *driven { "replayed" } else { "simulated" },
                format::count(*passes)
            );
            html! {
                <div class="title__standing">
                    if *outcome == Outcome::DeadEnd {
                        <p class="title__dead-end" role="alert">
                            { format!("Dead end at t = {}: {} wait and nothing will wake them. The census names who waits for what.",
                                format::time(*end_ns), format::counted(*unfinished as u32, "request", "requests")) }
                        </p>
                    } else {
                        <p>{ ran }</p>
                    }
                    if *rejected > 0 {
                        <p class="title__refused">{ format!("{} refused at arrival: see the results.",
                            format::counted(*rejected as u32, "request", "requests")) }</p>
                    }
                </div>
            }
        }
    }
}
