//! Messages about handoffs on their way: each comes after a delay, and some are lost, doubled or late (rule H2).

use tierscope_engine::Message;
use tierscope_scenario::fleet::{FleetSpec, MessageFate, MessageFault};
use tierscope_units::{SimTime, Span};

/// What the world does with messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    delay: Span,
    /// Each fault with the number of messages that have fitted it.
    faults: Vec<(MessageFault, u32)>,
}

impl Messages {
    pub(crate) fn of(fleet: Option<&FleetSpec>) -> Self {
        let Some(fleet) = fleet else { return Self::default() };
        let faults = fleet.message_faults.iter().map(|&fault| (fault, 0)).collect();
        Self { delay: fleet.message_delay, faults }
    }

    /// When a message that is sent at `now` comes: never, once or twice. Times past the end of time are never.
    pub(crate) fn send(&mut self, now: SimTime, message: &Message) -> [Option<SimTime>; 2] {
        let mut times = [now.checked_add(self.delay), None];
        for (fault, fitted) in &mut self.faults {
            let fits = fault.kind.is_none_or(|kind| kind == message.kind)
                && fault.request.is_none_or(|request| request == message.request);
            if !fits {
                continue;
            }
            let before = *fitted;
            *fitted = fitted.saturating_add(1);
            let struck =
                before >= fault.after && fault.count.is_none_or(|count| before - fault.after < count);
            if !struck {
                continue;
            }
            times = match fault.fate {
                MessageFate::Lost => [None, None],
                MessageFate::Doubled(later) => [times[0], times[0].and_then(|at| at.checked_add(later))],
                MessageFate::Late(later) => times.map(|at| at.and_then(|at| at.checked_add(later))),
            };
        }
        times
    }
}
