//! What the worker has told about a run that is over, besides the board: its tracks, answers to questions in words, and
//! the facts of an instant.

use std::rc::Rc;

use tierscope_worker::protocol::{About, Hit, Hits, Instant, OutcomeFilter, Tracks, TxnFilter};

use super::AppState;
use super::selection::Selection;
use crate::chart::tracks::model::{Model, Shared};

/// What is told below the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawer {
    /// What happened in the span that was dragged over.
    Span,
    /// The facts of the instant at the cursor.
    Facts,
    /// The answers to a question in words.
    Hits,
    /// What is seen, as a table.
    Table,
}

/// What the worker has told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// The tracks of the run.
    pub tracks: Option<Shared>,
    /// What is told below the timeline.
    pub drawer: Option<Drawer>,
    /// The newest answer.
    pub answer: Option<Answer>,
    /// The facts of an instant.
    pub facts: Facts,
}

/// An answer to a question in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The question.
    pub query: Rc<str>,
    /// The answer.
    pub hits: Rc<Hits>,
    /// The hit that was gone to.
    pub chosen: Option<usize>,
}

/// The outcome of transactions that was asked for, if it was.
fn answered_outcome(known: &Known) -> Option<OutcomeFilter> {
    let query = known.answer.as_ref()?.query.to_lowercase();
    let words = [
        ("outcome:exhausted", OutcomeFilter::Exhausted),
        ("outcome:blocked", OutcomeFilter::Blocked),
        ("outcome:retried", OutcomeFilter::Retried),
        ("outcome:ready", OutcomeFilter::Ready),
    ];
    words.into_iter().find(|(word, _)| query.contains(word)).map(|(_, outcome)| outcome)
}

/// The facts of an instant, one of them marked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The cursor for which they were asked.
    pub asked_ns: Option<f64>,
    /// What the worker told last.
    pub instant: Option<Rc<Instant>>,
    /// It is of an earlier cursor: the answer is on its way.
    pub late: bool,
    /// The marked one.
    pub place: usize,
    /// The next ones are told from their end: the user steps back.
    pub from_end: bool,
}

impl Known {
    /// Of a new run: what belongs to the run before is forgotten; the drawer stays where it means something.
    pub fn anew(&self) -> Self {
        let drawer = self.drawer.filter(|drawer| matches!(drawer, Drawer::Facts | Drawer::Table));
        Self { drawer, ..Self::default() }
    }
}

impl Known {
    /// Facts are on their way; the ones before are shown until they come.
    pub(super) fn ask_facts(&mut self, at_ns: f64) {
        self.facts.asked_ns = Some(at_ns);
        self.facts.late = true;
    }
}

/// Whether a step through the facts stays within the instant, and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactStep {
    /// To another fact of the instant.
    Within(usize),
    /// To the next instant, or the one before.
    Beyond,
}

impl AppState {
    /// The tracks have come.
    pub(super) fn with_tracks(self, tracks: Tracks) -> Self {
        let tracks = Some(Shared(Rc::new(Model::new(tracks))));
        Self { known: Known { tracks, ..self.known }, ..self }
    }

    /// A question was answered: the first answer is gone to.
    pub(super) fn answered(self, query: String, hits: Hits) -> Self {
        let answer = Some(Answer { query: query.into(), hits: Rc::new(hits), chosen: None });
        Self { known: Known { answer, drawer: Some(Drawer::Hits), ..self.known }, ..self }.picked(0)
    }

    /// An answer was gone to: the cursor and the selection follow.
    pub(super) fn picked(self, place: usize) -> Self {
        let Some(answer) = self.known.answer.clone() else { return self };
        let Some(hit) = answer.hits.hits.get(place) else { return self };
        let (at_ns, selection) = (hit.at_ns, about(hit));
        let known = Known { answer: Some(Answer { chosen: Some(place), ..answer }), ..self.known.clone() };
        // What is asked for by its outcome is what the inspector is to show.
        let outcome = answered_outcome(&known);
        let inspector = match outcome {
            Some(outcome) => {
                let filter = TxnFilter { outcome, request: None, ..self.inspector.filter };
                self.inspector.clone().with(filter)
            }
            None => self.inspector.clone(),
        };
        Self { known, selection, inspector, ..self }
            .moved(|playback, end_ns| playback.paused_at(at_ns, end_ns))
    }

    /// Facts came; those of an earlier cursor are dropped.
    pub(super) fn with_facts(self, asked_ns: f64, instant: Instant) -> Self {
        if self.known.facts.asked_ns != Some(asked_ns) {
            return self;
        }
        let place = if self.known.facts.from_end { instant.facts.len().saturating_sub(1) } else { 0 };
        let instant = Some(Rc::new(instant));
        let facts = Facts { asked_ns: Some(asked_ns), instant, late: false, place, from_end: false };
        Self { known: Known { facts, ..self.known }, ..self }
    }

    /// The cursor for which facts should be asked: where it rests, while they are looked at.
    pub fn open_facts(&self) -> Option<f64> {
        let looked_at = self.known.drawer == Some(Drawer::Facts) && self.ended().is_some();
        let cursor = self.playback.cursor_ns;
        (looked_at && !self.playback.playing && self.known.facts.asked_ns != Some(cursor)).then_some(cursor)
    }

    /// Where a step through the facts leads; nothing while they have not come.
    pub fn fact_step(&self, back: bool) -> Option<FactStep> {
        let facts = &self.known.facts;
        let here = facts.asked_ns == Some(self.playback.cursor_ns) && !facts.late;
        let instant = facts.instant.as_ref().filter(|_| here)?;
        let next = if back { facts.place.checked_sub(1) } else { Some(facts.place + 1) };
        Some(next.filter(|next| *next < instant.facts.len()).map_or(FactStep::Beyond, FactStep::Within))
    }

    pub(super) fn with_known(self, change: impl FnOnce(&mut Known)) -> Self {
        let mut known = self.known.clone();
        change(&mut known);
        Self { known, ..self }
    }
}

/// What a hit is about.
pub fn about(hit: &Hit) -> Option<Selection> {
    match &hit.about {
        About::Request(request) => Some(Selection::Request(*request)),
        About::Block(hash) => u64::from_str_radix(hash, 16).ok().map(Selection::Block),
        About::Transfer(transfer) => Some(Selection::Transfer(*transfer as u64)),
        About::Worker(worker) => Some(Selection::Worker(*worker)),
    }
}

/// The hit that the next step leads to, and round again.
pub fn next_hit(answer: &Answer, back: bool) -> Option<usize> {
    let count = answer.hits.hits.len();
    match answer.chosen {
        _ if count == 0 => None,
        None => Some(if back { count - 1 } else { 0 }),
        Some(at) => Some((at + if back { count - 1 } else { 1 }) % count),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::finished_first;
    use super::*;
    use crate::state::Action;
    use tierscope_worker::protocol::FromWorker;

    fn hit(at_ns: f64, request: u32) -> Hit {
        Hit { at_ns, words: String::new(), about: About::Request(request) }
    }

    #[test]
    fn an_answer_is_gone_through_and_the_cursor_follows() {
        let state = finished_first();
        let hits = Hits { understood: true, hits: vec![hit(1e8, 3), hit(5e8, 4)], total: 2, caveat: None };
        let told = FromWorker::Hits { run: state.run, query: "x".to_owned(), hits: Box::new(hits) };
        let state = state.after(Action::Worker(told));
        assert_eq!(state.known.drawer, Some(Drawer::Hits));
        let next = |state: &AppState, back| next_hit(state.known.answer.as_ref().expect("an answer"), back);
        assert_eq!((state.playback.cursor_ns, state.selection.clone()), (1e8, Some(Selection::Request(3))));
        assert_eq!([next(&state, false), next(&state, true)], [Some(1), Some(1)]);
        let state = state.after(Action::PickHit(1));
        assert_eq!((state.playback.cursor_ns, state.playback.playing), (5e8, false));
        assert_eq!(state.selection, Some(Selection::Request(4)));
        assert_eq!([next(&state, false), next(&state, true)], [Some(0), Some(0)]);
        let same = state.clone().after(Action::PickHit(9));
        assert_eq!(same, state);
    }

    #[test]
    fn facts_are_stepped_through_one_by_one() {
        let state = finished_first().after(Action::MoveTo(1e8));
        assert_eq!(state.open_facts(), None);
        let state = state.after(Action::ShowDrawer(Some(Drawer::Facts)));
        assert_eq!((state.open_facts(), state.fact_step(false)), (Some(1e8), None));
        let state = state.after(Action::AskFacts(1e8));
        assert_eq!(state.open_facts(), None, "it was asked");
        let instant = Instant { at_ns: 9e7, facts: vec!["a".to_owned(), "b".to_owned()], total: 2 };
        let told =
            |asked_ns| FromWorker::Facts { run: state.run, asked_ns, instant: Box::new(instant.clone()) };
        let late = state.clone().after(Action::Worker(told(5e7)));
        assert_eq!(late.known.facts.instant, None);
        let state = state.clone().after(Action::Worker(told(1e8)));
        assert_eq!(state.fact_step(false), Some(FactStep::Within(1)));
        assert_eq!(state.fact_step(true), Some(FactStep::Beyond));
        let state = state.after(Action::TellFact(1));
        assert_eq!(state.fact_step(false), Some(FactStep::Beyond));
        let state = state.after(Action::LeaveInstant(true)).after(Action::MoveTo(5e7));
        assert_eq!((state.fact_step(false), state.open_facts()), (None, Some(5e7)));
        let state = state.after(Action::AskFacts(5e7));
        let back = FromWorker::Facts { run: state.run, asked_ns: 5e7, instant: Box::new(instant) };
        assert_eq!(state.after(Action::Worker(back)).known.facts.place, 1, "back to the last one");
    }
}
