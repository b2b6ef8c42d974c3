//! How the timeline is looked at: which stretch of time, which rows, what is dragged over. It belongs to the timeline
//! alone, and no other part of the page depends on it.

use std::rc::Rc;

use yew::Reducible;

use crate::chart::tracks::layout::{Arrangement, Group, TrackId};
use crate::chart::tracks::view::View;

/// How it is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The end of the run.
    pub end_ns: f64,
    /// What is seen of it.
    pub view: View,
    /// Which rows are pinned and folded.
    pub arrangement: Arrangement,
    /// How far the rows are scrolled, in pixels.
    pub scrolled: u32,
    /// What was dragged over: from one time to a later one.
    pub span: Option<(f64, f64)>,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            end_ns: 0.0,
            view: View::whole(0.0),
            arrangement: Arrangement::default(),
            scrolled: 0,
            span: None,
        }
    }
}

/// What the user does with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stir {
    /// Another run is over.
    Open(f64),
    /// Zoom in (a factor below one) or out, about a time.
    Zoom(f64, f64),
    /// Pan by a share of what is seen.
    Pan(f64),
    /// See a certain stretch.
    See(View),
    /// The cursor has come here, by itself (`true`) or by the user's hand.
    Follow(f64, bool),
    /// Zoom to a stretch; to the whole run if that is seen already, or if there is none.
    Fit(Option<(f64, f64)>),
    /// Pin a track, or unpin it.
    Pin(TrackId),
    /// Fold a group, or unfold it.
    Fold(Group),
    /// Make sure that a group is not folded.
    Unfold(Group),
    /// Scroll to so many pixels.
    Scroll(u32),
    /// Drag over a stretch, in whichever direction; or over nothing any more.
    Span(Option<(f64, f64)>),
}

impl Reducible for Scene {
    type Action = Stir;

    fn reduce(self: Rc<Self>, stir: Stir) -> Rc<Self> {
        let next = (*self).clone().after(stir);
        if next == *self { self } else { Rc::new(next) }
    }
}

impl Scene {
    /// The scene after it.
    pub fn after(mut self, stir: Stir) -> Self {
        let end_ns = self.end_ns;
        match stir {
            Stir::Open(end_ns) => {
                let arrangement = self.arrangement;
                return Self { end_ns, view: View::whole(end_ns), arrangement, ..Self::default() };
            }
            Stir::Zoom(factor, at_ns) => self.view = self.view.zoomed(factor, at_ns, end_ns),
            Stir::Pan(share) => self.view = self.view.panned(share, end_ns),
            Stir::See(view) => self.view = view.panned(0.0, end_ns),
            Stir::Follow(ns, true) => self.view = self.view.following(ns, end_ns),
            Stir::Follow(ns, false) => self.view = self.view.showing(ns, end_ns),
            Stir::Fit(wanted) => {
                let wanted = wanted.map(|(from, to)| View::around(from, to, end_ns));
                self.view = wanted.filter(|view| *view != self.view).unwrap_or(View::whole(end_ns));
            }
            Stir::Pin(track) => self.arrangement.toggle_pin(track),
            Stir::Fold(group) => self.arrangement.toggle_fold(group),
            Stir::Unfold(group) => {
                self.arrangement.folded.remove(&group);
            }
            Stir::Scroll(px) => self.scrolled = px,
            Stir::Span(span) => {
                let within = |ns: f64| ns.round().clamp(0.0, end_ns);
                self.span = span.map(|(a, b)| (within(a.min(b)), within(a.max(b))));
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Scene {
        Scene::default().after(Stir::Open(1e9))
    }

    #[test]
    fn fit_goes_to_what_is_meant_and_back_to_the_whole() {
        let near = open().after(Stir::Fit(Some((2e8, 3e8))));
        assert!(near.view.from_ns < 2e8 && near.view.to_ns > 3e8 && near.view.length_ns() < 1.2e8);
        assert_eq!(near.clone().after(Stir::Fit(Some((2e8, 3e8)))).view, open().view);
        assert_eq!(near.after(Stir::Fit(None)).view, open().view);
    }

    #[test]
    fn a_span_may_be_dragged_either_way_and_stays_in_the_run() {
        let span = |a, b| open().after(Stir::Span(Some((a, b)))).span;
        assert_eq!(span(5e8, 2e8), Some((2e8, 5e8)));
        assert_eq!(span(-3.0, 7e9), Some((0.0, 1e9)));
    }

    #[test]
    fn the_cursor_is_followed_only_where_it_leaves_the_view() {
        let near = open().after(Stir::Zoom(0.1, 0.0));
        assert_eq!(near.clone().after(Stir::Follow(5e7, true)), near);
        let next = near.clone().after(Stir::Follow(5e8, true)).view;
        assert!(next.shows(5e8) && next.px(5e8, 1.0) < 0.1, "a page further: {next:?}");
        assert!(near.after(Stir::Follow(5e8, false)).view.px(5e8, 1.0) > 0.8);
    }

    #[test]
    fn a_new_run_keeps_the_pins() {
        let folded = open().after(Stir::Fold(Group::Requests)).after(Stir::Scroll(9));
        let next = folded.clone().after(Stir::Open(5.0));
        assert_eq!((next.arrangement.clone(), next.scrolled, next.end_ns), (folded.arrangement, 0, 5.0));
        assert!(next.after(Stir::Unfold(Group::Requests)).arrangement.folded.is_empty());
    }
}
