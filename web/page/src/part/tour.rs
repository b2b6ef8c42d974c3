//! A step of the first five minutes: a card beside what it speaks of, which is ringed. It takes no focus and blocks nothing.

use yew::prelude::*;

use crate::glue::dom;
use crate::state::tour::{Offer, STEPS};

#[derive(Properties, PartialEq)]
pub(crate) struct TourProps {
    /// Which step.
    pub(crate) step: usize,
    /// On, or back.
    pub(crate) on_step: Callback<bool>,
    pub(crate) on_end: Callback<()>,
    pub(crate) on_offer: Callback<Offer>,
}

/// Room that a card takes.
const WIDTH_PX: f64 = 320.0;
const HEIGHT_PX: f64 = 200.0;

#[component]
pub(crate) fn Tour(props: &TourProps) -> Html {
    // Counts up when the window changes: places are measured anew.
    let measured = use_state(|| 0u32);
    let place = use_state_eq(Place::default);
    use_effect_with((props.step, *measured), {
        let place = place.clone();
        move |&(step, _)| place.set(Place::beside(STEPS[step].target))
    });
    use_effect_with(*measured, {
        let measured = measured.clone();
        move |&count| {
            let listener = dom::listen(&dom::window(), "resize", move |_| measured.set(count + 1));
            move || drop(listener)
        }
    });
    let step = STEPS[props.step];
    let last = props.step + 1 == STEPS.len();
    html! {
        <aside class="tour" id="tour" aria-label="First steps">
            <div class="tour__ring" style={place.ring.clone()} aria-hidden="true" />
            <div class="tour__card" style={place.card.clone()} role="status">
                <h2>{ step.title }</h2>
                <p>{ step.words }</p>
                <div class="tour__hands">
                    <button type="button" id="tour-skip" class="button button--small"
                        onclick={props.on_end.reform(|_: MouseEvent| ())} title="End the tour (Esc)">{ "Skip" }</button>
                    <span class="tour__count">{ format!("{} of {}", props.step + 1, STEPS.len()) }</span>
                    if let Some((offer, name)) = step.offer {
                        <button type="button" id="tour-offer" class="button button--small"
                            onclick={props.on_offer.reform(move |_: MouseEvent| offer)}>{ name }</button>
                    }
                    <button type="button" id="tour-back" class="button button--small" disabled={props.step == 0}
                        onclick={props.on_step.reform(|_: MouseEvent| false)} title="Back (←)">{ "Back" }</button>
                    <button type="button" id="tour-next" class="button button--small button--first"
                        onclick={props.on_step.reform(|_: MouseEvent| true)} title="On (→ or Enter)">
                        { if last { "Done" } else { "Next" } }
                    </button>
                </div>
            </div>
        </aside>
    }
}

/// Where the ring and the card stand.
#[derive(Clone, Debug, Default, PartialEq)]
struct Place {
    ring: String,
    card: String,
}

impl Place {
    /// Below what is pointed at, else above it, else in its lower corner; always within the window.
    fn beside(target: &str) -> Self {
        let Some(element) = dom::by_selector(target) else { return Self::default() };
        let (rect, (width, height)) = (element.get_bounding_client_rect(), dom::window_size());
        let ring = format!(
            "left:{:.0}px;top:{:.0}px;width:{:.0}px;height:{:.0}px",
            rect.left() - 4.0,
            rect.top() - 4.0,
            rect.width() + 8.0,
            rect.height() + 8.0
        );
        let top = if rect.bottom() + 12.0 + HEIGHT_PX < height {
            rect.bottom() + 12.0
        } else if rect.top() - 12.0 > HEIGHT_PX {
            rect.top() - 12.0 - HEIGHT_PX
        } else {
            (height - HEIGHT_PX - 16.0).max(8.0)
        };
        // Beside a tall column there is room to its left.
        let tall = rect.height() > HEIGHT_PX * 2.0 && rect.left() > WIDTH_PX;
        let left = if tall { rect.left() - WIDTH_PX - 16.0 } else { rect.left() };
        let left = left.min(width - WIDTH_PX - 12.0).max(8.0);
        Self { ring, card: format!("left:{left:.0}px;top:{top:.0}px") }
    }
}
