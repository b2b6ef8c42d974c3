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
    /// Messages under way by number, with how often each is still to come; numbers are used again.
    under_way: Vec<Option<(Message, u8)>>,
    vacant: Vec<u32>,
}

impl Messages {
    pub(crate) fn of(fleet: Option<&FleetSpec>) -> Self {
        let Some(fleet) = fleet else { return Self::default() };
        let faults = fleet.message_faults.iter().map(|&fault| (fault, 0)).collect();
        Self { delay: fleet.message_delay, faults, ..Self::default() }
    }

    /// A message is sent at `now`: its number, and when it comes: never, once or twice.
    pub(crate) fn send(&mut self, now: SimTime, message: Message) -> (u32, [Option<SimTime>; 2]) {
        let times = self.times(now, &message);
        let comes = times.iter().flatten().count() as u8;
        if comes == 0 {
            return (0, times);
        }
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.under_way.push(None);
            self.under_way.len() as u32 - 1
        });
        self.under_way[number as usize] = Some((message, comes));
        (number, times)
    }

    /// A message has come.
    pub(crate) fn receive(&mut self, number: u32) -> Option<Message> {
        let place = self.under_way.get_mut(number as usize)?;
        let (message, left) = place.as_mut()?;
        let message = *message;
        *left -= 1;
        if *left == 0 {
            *place = None;
            self.vacant.push(number);
        }
        Some(message)
    }

    /// Times past the end of time are never.
    /// A message that is on its way.
    pub(crate) fn under_way(&self, number: u32) -> Option<Message> {
        let (message, _) = self.under_way.get(number as usize)?.as_ref()?;
        Some(*message)
    }

    fn times(&mut self, now: SimTime, message: &Message) -> [Option<SimTime>; 2] {
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
