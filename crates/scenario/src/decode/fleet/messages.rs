//! `[[message_fault]]`: what goes wrong with messages about handoffs (rule H2).

use tierscope_engine::MessageKind;
use tierscope_units::{RequestId, Span};

use crate::decode::fields::Fields;
use crate::fleet::{MessageFate, MessageFault};
use crate::limit;

/// The faults in their order; `requests` is how many requests there are, where that is known.
pub(super) fn decode(root: &Fields<'_>, requests: Option<u64>) -> Vec<MessageFault> {
    let Some(items) = root.items("message_fault") else { return Vec::new() };
    if let (true, Some(entry)) = (items.len() > limit::MESSAGE_FAULTS, root.entry("message_fault")) {
        let expected = format!("at most {} faults", limit::MESSAGE_FAULTS);
        root.refuse(entry, expected, "let one strike more messages, by count");
        return Vec::new();
    }
    let mut list = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let path = format!("{}[{index}]", root.key("message_fault"));
        let Some(one) = Fields::open(item, &path, root.problems) else { continue };
        list.extend(fault(&one, requests));
        one.close();
    }
    list
}

fn fault(fields: &Fields<'_>, requests: Option<u64>) -> Option<MessageFault> {
    let kinds = [MessageKind::Prefilled, MessageKind::Reserved, MessageKind::Received];
    let most = u64::from(u32::MAX);
    let last = requests.unwrap_or(limit::REQUESTS).saturating_sub(1);
    let fault = MessageFault {
        kind: fields.word("message", &kinds.map(|kind| (kind.name(), kind))),
        request: fields.count("request", 0, last).map(RequestId),
        after: fields.count("after", 0, most).unwrap_or(0),
        count: fields.count("count", 1, most),
        fate: MessageFate::Lost,
    };
    Some(MessageFault { fate: fate(fields)?, ..fault })
}

#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Lost,
    Doubled,
    Late,
}

fn fate(fields: &Fields<'_>) -> Option<MessageFate> {
    if !fields.has("fate") {
        fields.missing("fate", "what becomes of the message", "add fate = \"lost\"");
    }
    let fate = fields.word("fate", &[("lost", Fate::Lost), ("doubled", Fate::Doubled), ("late", Fate::Late)]);
    let delay = fields.copy_milliseconds("delay_ms");
    match fate {
        None => None,
        Some(Fate::Lost) => {
            let mend = "write fate = \"late\", or remove it";
            fields.misplaced("delay_ms", "it only beside fate = \"doubled\" or \"late\"", mend);
            Some(MessageFate::Lost)
        }
        Some(fate) => {
            if !fields.has("delay_ms") {
                fields.missing("delay_ms", "how much later the message comes", "add delay_ms = 5");
            }
            let late: fn(Span) -> MessageFate =
                if fate == Fate::Doubled { MessageFate::Doubled } else { MessageFate::Late };
            delay.map(late)
        }
    }
}
