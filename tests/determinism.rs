//! Rule E3: equal scenario, seed and version give equal facts. The digests of all scenarios of the repository
//! are kept in `digests.txt`; this test runs natively in debug, natively in release (by the command), and in
//! wasm, and all must agree with the file. A digest that changes is a change of behaviour, or of the canonical
//! stream: `UPDATE_EXPECT=1 cargo test -p tierscope-tests --test determinism` writes the file anew.

use std::fmt::Write as _;

use tierscope_sim::{RunOptions, RunState};
use tierscope_tests::{SCENARIOS, report, run, scenario};
use tierscope_units::SimTime;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const KEPT: &str = include_str!("digests.txt");

#[test]
fn digests_are_what_they_were() {
    let mut found = String::new();
    for (name, text) in SCENARIOS {
        let (report, _) = report(text);
        writeln!(found, "{} {name}", report.digest).expect("a string takes all text");
    }
    #[cfg(not(target_arch = "wasm32"))]
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/digests.txt");
        std::fs::write(path, &found).expect("digests.txt can be written");
        return;
    }
    let differing: Vec<&str> = found.lines().filter(|line| !KEPT.lines().any(|kept| kept == *line)).collect();
    assert!(differing.is_empty(), "not in digests.txt:\n{}", differing.join("\n"));
    assert_eq!(KEPT.lines().count(), SCENARIOS.len(), "digests.txt and the scenarios differ in number");
}

#[test]
fn twice_is_the_same() {
    for (name, text) in SCENARIOS {
        assert_eq!(report(text), report(text), "{name}");
    }
}

/// Another seed draws another workload: the digest depends on it where anything is drawn.
#[test]
fn the_seed_matters_where_something_is_drawn() {
    for (name, text) in SCENARIOS {
        let mut scenario = scenario(text);
        let before = run(&scenario, RunOptions::default()).folds().digest();
        scenario.seed += 1;
        let after = run(&scenario, RunOptions::default()).folds().digest();
        let draws = ["\"poisson\"", "{ min", "stddev =", "draft_tokens ="];
        let drawn = draws.iter().any(|draw| text.contains(draw));
        if drawn {
            assert_ne!(before, after, "{name}");
        }
    }
}

/// A sought state is the state that the run had: seeking and running on gives the same remaining facts, and
/// the forward run is not disturbed.
#[test]
fn seeking_gives_the_state_of_the_run() {
    for (name, text) in SCENARIOS {
        let scenario = scenario(text);
        let run = run(&scenario, RunOptions { keyframes: true });
        let end = run.simulation().now().as_ns();
        for part in [0, 1, 3, 7, 10] {
            let at = SimTime::from_ns(end / 10 * part + part % 3);
            let sought = run.seek(at);
            assert!(sought.now() <= at, "{name}: a sought state is not later than asked");
            assert!(sought.next_time().is_none_or(|next| next > at), "{name}: nor is it too early");
            sought.engine().check().expect("a sought state is sound");
        }
        let last = run.seek(SimTime::from_ns(end));
        assert_eq!(last.engine().g1().occupancy(), run.simulation().engine().g1().occupancy(), "{name}");
        assert_ne!(run.state(), RunState::Running, "{name}");
    }
}
