//! What wheel and pointer do over the tracks.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{Element, WheelEvent};
use yew::prelude::*;

use crate::chart::tracks::view::View;
use crate::glue::dom::listen;
use crate::state::scene::Stir;

/// Something pressed on the tracks and not let go yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Press {
    x: f64,
    view: View,
    /// It moves the picture; otherwise it spans a stretch.
    pans: bool,
    moved: bool,
}

/// What came of a pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Let {
    /// It was pressed and let go at a place.
    Clicked(f64, f64),
    /// It spanned a stretch.
    Spanned,
}

/// Pixels that a hand may tremble.
const STILL_PX: f64 = 3.0;

/// The pointer on the tracks.
#[derive(Clone, Default)]
pub(super) struct Pointer(Rc<RefCell<Option<Press>>>);

impl PartialEq for Pointer {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Pointer {
    pub(super) fn down(&self, event: &PointerEvent, view: View) {
        if event.button() != 0 {
            return;
        }
        if let Some(element) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) {
            // What leaves the tracks while pressed still belongs to them.
            let _ = element.set_pointer_capture(event.pointer_id());
        }
        let pans = event.shift_key() || event.pointer_type() == "touch";
        *self.0.borrow_mut() = Some(Press { x: f64::from(event.offset_x()), view, pans, moved: false });
    }

    /// What a move of the pressed pointer does.
    pub(super) fn drag(&self, event: &PointerEvent, width: f64) -> Option<Stir> {
        let mut held = self.0.borrow_mut();
        let press = held.as_mut().filter(|_| event.buttons() & 1 == 1)?;
        let x = f64::from(event.offset_x());
        press.moved |= (x - press.x).abs() > STILL_PX;
        if !press.moved {
            return None;
        }
        if press.pans {
            let by = (press.x - x) / width.max(1.0) * press.view.length_ns();
            return Some(Stir::See(View { from_ns: press.view.from_ns + by, to_ns: press.view.to_ns + by }));
        }
        let ns = |x: f64| press.view.ns(x.clamp(0.0, width), width);
        Some(Stir::Span(Some((ns(press.x), ns(x)))))
    }

    pub(super) fn up(&self, event: &PointerEvent) -> Option<Let> {
        let press = self.0.borrow_mut().take()?;
        match (press.moved, press.pans) {
            (false, _) => Some(Let::Clicked(f64::from(event.offset_x()), f64::from(event.offset_y()))),
            (true, false) => Some(Let::Spanned),
            (true, true) => None,
        }
    }
}

/// Pixels of a line, where a wheel counts in lines.
const LINE_PX: f64 = 16.0;

/// Zooms at the pointer, or pans: with Shift, or with a wheel that goes sideways.
#[hook]
pub(super) fn use_wheel(node: &NodeRef, view: View, width: f64, stir: &Callback<Stir>) {
    let (node, stir) = (node.clone(), stir.clone());
    use_effect_with((view, width, node.cast::<Element>()), move |(view, width, element)| {
        let (view, width) = (*view, *width);
        let listener = element.as_ref().map(|element| {
            listen(element, "wheel", move |event| {
                let Some(event) = event.dyn_ref::<WheelEvent>() else { return };
                event.prevent_default();
                let unit = if event.delta_mode() == WheelEvent::DOM_DELTA_LINE { LINE_PX } else { 1.0 };
                let (across, along) = (event.delta_x() * unit, event.delta_y() * unit);
                if event.shift_key() || across.abs() > along.abs() {
                    let px = if across == 0.0 { along } else { across };
                    stir.emit(Stir::Pan(px / width.max(1.0)));
                } else {
                    let factor = (along * 0.0022).clamp(-1.0, 1.0).exp();
                    stir.emit(Stir::Zoom(factor, view.ns(f64::from(event.offset_x()), width)));
                }
            })
        });
        move || drop(listener)
    });
}

/// Scrolls the rows by a wheel over their names.
#[hook]
pub(super) fn use_scroll(node: &NodeRef, scrolled: u32, most: u32, stir: &Callback<Stir>) {
    let (node, stir) = (node.clone(), stir.clone());
    use_effect_with((scrolled, most, node.cast::<Element>()), move |(scrolled, most, element)| {
        let (scrolled, most) = (f64::from(*scrolled), f64::from(*most));
        let listener = element.as_ref().map(|element| {
            listen(element, "wheel", move |event| {
                let Some(event) = event.dyn_ref::<WheelEvent>().filter(|event| !event.ctrl_key()) else {
                    return;
                };
                event.prevent_default();
                let unit = if event.delta_mode() == WheelEvent::DOM_DELTA_LINE { LINE_PX } else { 1.0 };
                stir.emit(Stir::Scroll((scrolled + event.delta_y() * unit).clamp(0.0, most) as u32));
            })
        });
        move || drop(listener)
    });
}
