//! The document that must follow the code: every column of a sweep is in `docs/SWEEPS.md`.

use tierscope_sweep::{Knob, Mode, Plan, State, columns};

const DOCUMENT: &str = include_str!("../../../docs/SWEEPS.md");

#[test]
fn every_column_and_state_is_documented() {
    for mode in [Mode::Run, Mode::CacheOnly] {
        let knobs = vec![Knob::parse("a.knob=1,2").expect("a knob")];
        let plan = Plan { mode, text: String::new(), knobs, seeds: vec![], traces: vec![] };
        for column in columns(&plan).into_iter().filter(|column| column.name != "a.knob") {
            assert!(
                DOCUMENT.contains(&format!("`{}`", column.name)),
                "docs/SWEEPS.md does not have {}",
                column.name
            );
        }
    }
    for state in [State::Finished, State::DeadEnd, State::Refused, State::Failed, State::Broken] {
        assert!(DOCUMENT.contains(&format!("| `{}` |", state.word())), "{state:?}");
    }
}
