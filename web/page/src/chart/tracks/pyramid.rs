//! The severest of any stretch of spans, without looking at each.

use std::ops::Range;

use tierscope_worker::protocol::{SpanKind, Spans};

/// For each sixteen of the level below, the highest code; codes of what is not severe are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pyramid {
    levels: Vec<Vec<u8>>,
}

const FAN: usize = 16;

impl Pyramid {
    /// Over all spans.
    pub fn new(spans: &Spans) -> Self {
        let ground: Vec<u8> = (0..spans.len()).map(|place| severity(spans.code(place))).collect();
        let mut levels = vec![ground];
        while let Some(below) = levels.last().filter(|level| level.len() > FAN) {
            let above = below.chunks(FAN).map(|sixteen| sixteen.iter().copied().max().unwrap_or(0)).collect();
            levels.push(above);
        }
        Self { levels }
    }

    /// The highest code of a stretch; 0 where nothing in it is severe.
    pub fn severest(&self, range: Range<usize>) -> u8 {
        let (mut from, mut to) = (range.start, range.end);
        let mut most = 0;
        for level in &self.levels {
            if to.saturating_sub(from) <= 2 * FAN {
                return most.max(highest(level, from, to));
            }
            let (inner_from, inner_to) = (from.next_multiple_of(FAN), to / FAN * FAN);
            most = most.max(highest(level, from, inner_from)).max(highest(level, inner_to, to));
            (from, to) = (inner_from / FAN, inner_to / FAN);
        }
        most
    }
}

/// The highest code of a stretch of a level.
fn highest(level: &[u8], from: usize, to: usize) -> u8 {
    let mut most = 0;
    for &code in level.get(from..to).unwrap_or_default() {
        if code > most {
            most = code;
        }
    }
    most
}

pub(super) fn severity(code: u8) -> u8 {
    if SpanKind::of_code(code).is_severe() { code } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tracks::model::tests::{random, spans_of};

    #[test]
    fn it_says_what_a_look_at_each_says() {
        let mut draw = random(7);
        let kinds: Vec<SpanKind> = (0..5_000)
            .map(|_| if draw(40) == 0 { SpanKind::ALL[draw(24) as usize] } else { SpanKind::Decode })
            .collect();
        let spans = spans_of(kinds.iter().enumerate().map(|(at, kind)| (at as f64, at as f64 + 1.0, *kind)));
        let pyramid = Pyramid::new(&spans);
        for _ in 0..3_000 {
            let (a, b) = (draw(5_001) as usize, draw(5_001) as usize);
            let range = a.min(b)..a.max(b);
            let dumb =
                kinds[range.clone()].iter().filter(|kind| kind.is_severe()).map(|kind| *kind as u8).max();
            assert_eq!(pyramid.severest(range.clone()), dumb.unwrap_or(0), "{range:?}");
        }
        assert_eq!(Pyramid::default().severest(0..0), 0);
    }
}
