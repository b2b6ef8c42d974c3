//! Two runs at one time beside each other, and where they part, in words.

use tierscope_worker::protocol::{Board, Difference, Parting};

use super::Phase;
use super::format::{clock, count, percent};

/// A count in A and in B.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// What is counted.
    pub name: String,
    /// In A, in B; `None` where there is no such tier.
    pub sides: [Option<u32>; 2],
}

impl Totals {
    /// B − A with its sign; nothing where one of them is missing, `=` where both are the same.
    pub fn difference(&self) -> String {
        match self.sides {
            [Some(a), Some(b)] if a == b => "=".to_owned(),
            [Some(a), Some(b)] => {
                format!("{}{}", if b < a { "−" } else { "+" }, count(u64::from(b.abs_diff(a))))
            }
            _ => String::new(),
        }
    }
}

/// The counts of each tier, and of the requests.
pub fn totals(a: Option<&Board>, b: Option<&Board>) -> Vec<Totals> {
    let boards = [a, b];
    let of = |name: &str, read: &dyn Fn(&Board) -> Option<u32>| Totals {
        name: name.to_owned(),
        sides: boards.map(|board| board.and_then(read)),
    };
    let mut totals = vec![
        of("G1 in use", &|board| Some(board.totals.active + board.totals.shared + board.totals.reserved)),
        of("G1 cached", &|board| Some(board.totals.cached)),
        of("G1 free", &|board| Some(board.totals.free)),
    ];
    for tier in ["G2", "G3", "G4"] {
        let view =
            |board: &Board| board.tiers.iter().find(|view| view.tier.as_str() == tier).map(|it| it.totals);
        if boards.into_iter().flatten().any(|board| view(board).is_some()) {
            let resident = |board: &Board| view(board).map(|it| it.cached + it.active + it.shared);
            totals.push(of(&format!("{tier} resident"), &resident));
            totals.push(of(&format!("{tier} free"), &|board| view(board).map(|it| it.free)));
        }
    }
    totals.extend([
        of("Running", &|board| Some(board.running)),
        of("Waiting", &|board| Some(board.waiting)),
        of("Done", &|board| Some(board.finished)),
    ]);
    totals
}

/// Where two runs part: the decisions, or, where all of those are the same, the facts.
pub fn parting(difference: &Difference) -> Option<&Parting> {
    difference.decision.as_ref().or(difference.first.as_ref())
}

/// That in words.
pub fn in_words(difference: &Difference, end_ns: f64) -> String {
    let Some(parting) = parting(difference) else {
        return match difference.equal {
            true => "A and B mean the same in everything: there is no difference.".to_owned(),
            false => "A and B differ, too far apart for the first difference to be named.".to_owned(),
        };
    };
    let at = |ns: f64| clock(ns, end_ns);
    let words = match &parting.sides {
        [Some(a), Some(b)] if a.at_ns == b.at_ns => {
            format!("At {} A {}, B {}.", at(a.at_ns), a.words, b.words)
        }
        [Some(a), Some(b)] => {
            format!("A {} at {}, B {} at {}.", a.words, at(a.at_ns), b.words, at(b.at_ns))
        }
        [Some(a), None] => format!("At {} A {}; B does nothing more of the kind.", at(a.at_ns), a.words),
        [None, Some(b)] => format!("At {} B {}; A does nothing more of the kind.", at(b.at_ns), b.words),
        [None, None] => "They part at a fact that cannot be named.".to_owned(),
    };
    match difference.same_decisions {
        true => {
            format!("{words} Every decision is the same: only when things happen, or what moves, differs.")
        }
        false => words,
    }
}

/// How far a run is, in a few words.
pub fn standing(phase: &Phase) -> String {
    match phase {
        Phase::Idle | Phase::Ready => "not started".to_owned(),
        Phase::Running { total: 0, .. } => "starting".to_owned(),
        Phase::Running { finished, total, .. } => {
            format!("running, {}", percent(f64::from(*finished) / f64::from(*total)))
        }
        Phase::Ended(ended) => ended.report.outcome.words().to_owned(),
        Phase::Refused(_) => "refused".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use tierscope_worker::protocol::{Cells, Said, TierName, TierView, Totals as Blocks};

    use super::*;

    #[test]
    fn tiers_of_either_side_are_counted() {
        let g2 = TierView {
            tier: TierName::G2,
            totals: Blocks { cached: 5, free: 3, ..Blocks::default() },
            cells: Cells::default(),
        };
        let a = Board { totals: Blocks { active: 2, shared: 1, ..Blocks::default() }, ..Board::default() };
        let b = Board { tiers: vec![g2], running: 4, ..a.clone() };
        let totals = totals(Some(&a), Some(&b));
        let find = |name: &str| totals.iter().find(|line| line.name == name).expect("a line");
        assert_eq!(find("G1 in use").sides, [Some(3), Some(3)]);
        assert_eq!(
            (find("G2 resident").sides, find("G2 resident").difference()),
            ([None, Some(5)], String::new())
        );
        assert_eq!([find("G1 in use").difference(), find("Running").difference()], ["=", "+4"]);
    }

    #[test]
    fn a_parting_is_a_sentence() {
        let told = |at_ns, words: &str| Some(Said { at_ns, words: words.to_owned() });
        let mut difference = Difference::default();
        let mut say = |sides| {
            difference.decision = Some(Parting { sides });
            in_words(&difference, 2e9)
        };
        let (a, b) = ("sends request 4 to worker 3", "sends request 4 to worker 0");
        assert_eq!(
            say([told(520e6, a), told(520e6, b)]),
            "At 0.520 s A sends request 4 to worker 3, B sends request 4 to worker 0."
        );
        assert!(say([told(1e9, a), told(5e8, b)]).ends_with("at 0.500 s."));
        assert!(say([None, told(5e8, b)]).contains("A does nothing more"));
        let equal = Difference { equal: true, ..Difference::default() };
        assert!(in_words(&equal, 1e9).contains("no difference"));
    }
}
