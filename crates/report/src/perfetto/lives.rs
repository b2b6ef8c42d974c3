//! What each request is in, as spans within the span of its life.

use std::collections::BTreeMap;

use tierscope_units::RequestId;

use super::events::Events;

/// What a request is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting,
    Blocked,
    Loading,
    Prefill,
    Decode,
    Preempted,
    /// Admitted once more after it had answered in part: computes again what it lost, and goes on.
    Resumed,
    Handoff,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Blocked => "blocked",
            Self::Loading => "loading",
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Preempted => "preempted",
            Self::Resumed => "resumed",
            Self::Handoff => "handoff",
        }
    }
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Life {
    phase: Phase,
    /// What it was in before it was blocked.
    before: Phase,
    /// Whether its first token is visible.
    answers: bool,
}

/// All requests under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Lives(BTreeMap<RequestId, Life>);

impl Lives {
    /// It is there; who has arrived already (at another worker) is not told of twice.
    pub(super) fn arrive(&mut self, request: RequestId, args: &str, events: &mut Events<'_>) {
        if self.0.contains_key(&request) {
            return;
        }
        let phase = Phase::Waiting;
        self.0.insert(request, Life { phase, before: phase, answers: false });
        events.of_request("b", request, &name(request), args);
        events.of_request("b", request, phase.name(), "");
    }

    /// It is in another phase from now on.
    pub(super) fn enter(&mut self, request: RequestId, phase: Phase, args: &str, events: &mut Events<'_>) {
        let Some(life) = self.0.get_mut(&request) else { return };
        if life.phase == phase {
            return;
        }
        events.of_request("e", request, life.phase.name(), "");
        events.of_request("b", request, phase.name(), args);
        life.before = life.phase;
        life.phase = phase;
    }

    /// What blocked it has ended: it goes on with what it was in.
    pub(super) fn unblocked(&mut self, request: RequestId, events: &mut Events<'_>) {
        if let Some(life) = self.0.get(&request).filter(|life| life.phase == Phase::Blocked) {
            self.enter(request, life.before, "", events);
        }
    }

    /// It is in the batch.
    pub(super) fn admitted(&mut self, request: RequestId, args: &str, events: &mut Events<'_>) {
        let answers = self.0.get(&request).is_some_and(|life| life.answers);
        let phase = if answers { Phase::Resumed } else { Phase::Prefill };
        self.enter(request, phase, args, events);
    }

    /// Its first token is visible.
    pub(super) fn first_token(&mut self, request: RequestId, events: &mut Events<'_>) {
        if let Some(life) = self.0.get_mut(&request) {
            life.answers = true;
        }
        // Where the prompt was computed for another worker, the handoff goes on.
        if self.0.get(&request).is_some_and(|life| life.phase != Phase::Handoff) {
            self.enter(request, Phase::Decode, "", events);
        }
    }

    /// It is in the batch of the worker that it was handed to.
    pub(super) fn joined(&mut self, request: RequestId, events: &mut Events<'_>) {
        let answers = self.0.get(&request).is_some_and(|life| life.answers);
        self.enter(request, if answers { Phase::Decode } else { Phase::Prefill }, "", events);
    }

    /// Something about it that takes no time.
    pub(super) fn mark(&self, request: RequestId, what: &str, args: &str, events: &mut Events<'_>) {
        if self.0.contains_key(&request) {
            events.of_request("n", request, what, args);
        }
    }

    /// It is over.
    pub(super) fn end(&mut self, request: RequestId, how: &str, events: &mut Events<'_>) {
        if let Some(life) = self.0.remove(&request) {
            events.of_request("e", request, life.phase.name(), "");
            events.of_request("e", request, &name(request), &format!(r#""outcome":"{how}""#));
        }
    }

    /// All that are left are over, since the run is.
    pub(super) fn end_all(&mut self, events: &mut Events<'_>) {
        while let Some(&request) = self.0.keys().next() {
            self.end(request, "unfinished", events);
        }
    }
}

fn name(request: RequestId) -> String {
    format!("request {}", request.0)
}
