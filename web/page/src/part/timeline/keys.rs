//! The keys of the timeline: W and S zoom, A and D pan, F fits, / asks.

use yew::prelude::*;

use super::TimelineProps;
use crate::glue::{dom, keys};
use crate::state::Action;
use crate::state::known::Drawer;
use crate::state::scene::{Scene, Stir};

/// Where a key zooms: at the pointer, or else at the cursor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Aim {
    pub(super) hover: Option<(f64, f64)>,
    pub(super) width: f64,
}

const ZOOM: f64 = 0.7;
const PAN: f64 = 0.2;

/// What "fit" is meant for: the span that is told about, or what is picked out.
pub(super) fn meant(props: &TimelineProps, scene: &Scene) -> Option<(f64, f64)> {
    let span = scene.span.filter(|_| props.known.drawer == Some(Drawer::Span));
    span.or_else(|| props.known.tracks.as_ref()?.0.extent(props.selection.as_ref()?))
}

#[hook]
pub(super) fn use_keys(
    props: &TimelineProps,
    scene: &UseReducerHandle<Scene>,
    stir: &Callback<Stir>,
    aim: Aim,
) {
    let view = scene.view;
    let cursor = props.playback.cursor_ns;
    let middle = if view.shows(cursor) { cursor } else { view.ns(0.5, 1.0) };
    let at_ns = aim.hover.map_or(middle, |(x, _)| view.ns(x, aim.width));
    let wanted = meant(props, scene);
    let open = props.known.tracks.is_some();
    let told = props.known.drawer.is_some();
    let (stir, act) = (stir.clone(), props.act.clone());
    use_effect_with((open, at_ns, wanted, told), move |&(open, at_ns, wanted, told)| {
        let listener = keys::on_key(move |key| {
            if !open {
                return false;
            }
            match key {
                "w" => stir.emit(Stir::Zoom(ZOOM, at_ns)),
                "s" => stir.emit(Stir::Zoom(1.0 / ZOOM, at_ns)),
                "a" => stir.emit(Stir::Pan(-PAN)),
                "d" => stir.emit(Stir::Pan(PAN)),
                "W" => stir.emit(Stir::Zoom(ZOOM * ZOOM * ZOOM, at_ns)),
                "S" => stir.emit(Stir::Zoom(1.0 / (ZOOM * ZOOM * ZOOM), at_ns)),
                "A" => stir.emit(Stir::Pan(-4.0 * PAN)),
                "D" => stir.emit(Stir::Pan(4.0 * PAN)),
                "f" => stir.emit(Stir::Fit(wanted)),
                "/" => dom::focus("search"),
                "Escape" if told => {
                    stir.emit(Stir::Span(None));
                    act.emit(Action::ShowDrawer(None));
                }
                _ => return false,
            }
            true
        });
        move || drop(listener)
    });
}
