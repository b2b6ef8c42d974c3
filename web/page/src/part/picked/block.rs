//! A block's content: where it is now, and its story.

use tierscope_worker::protocol::{BlockTold, Resident};
use yew::prelude::*;

use super::View;
use crate::state::format::count;
use crate::state::picked::{event, here};

pub(super) fn block(told: &BlockTold, view: &View<'_>) -> Html {
    let last = told.events.iter().rposition(|event| event.at_ns <= view.at_ns);
    let several = told.events.iter().any(|event| event.worker != told.events[0].worker);
    html! {
        <>
            <div class="picked__first" id="picked-here">
                if told.here.is_empty() {
                    <p>{ "It is resident nowhere at the cursor." }</p>
                } else {
                    <ul>{ for told.here.iter().map(|resident| one(resident, view)) }</ul>
                }
                if let Some(place) = told.place {
                    <p class="picked__remark">{ format!("Block {} of every prompt that has it.", count(u64::from(place) + 1)) }</p>
                }
            </div>
            <h3>{ "Its story" }</h3>
            if told.cut {
                <p class="empty">{ "The run's oldest events are not kept: the story may lack its beginning." }</p>
            }
            if told.events_before > 0 {
                <p class="empty">{ format!("{} before", count(told.events_before.into())) }</p>
            }
            <ol class="picked__list" id="picked-story">
                for (place, shown) in told.events.iter().enumerate() {
                    <li aria-current={(Some(place) == last).then_some("true")}>
                        { view.time(shown.at_ns) }
                        <span>
                            { view.sentence(&event(shown.what)) }
                            if several {
                                <small>{ format!(" at worker {}", shown.worker) }</small>
                            }
                        </span>
                    </li>
                }
            </ol>
            if told.events_more > 0 {
                <p class="empty">{ format!("and {} after", count(told.events_more.into())) }</p>
            }
        </>
    }
}

fn one(resident: &Resident, view: &View<'_>) -> Html {
    html! { <li>{ view.sentence(&here(resident)) }</li> }
}
