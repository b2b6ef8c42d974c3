//! A run that goes on under other conditions: what a fork from a time on does.

use std::sync::Arc;

use tierscope_scenario::{Problem, Scenario};
use tierscope_units::SimTime;

use crate::progress::Circles;
use crate::queue::Event;
use crate::simulation::Simulation;

impl Simulation {
    /// Goes on as `new` has it from `at` on, which is not before the last instant. What has happened stays; passes
    /// and copies under way go on, the copies at the new rates.
    ///
    /// # Errors
    ///
    /// When the two scenarios differ in something that is fixed from the beginning, or when copies end as somebody
    /// tells: nobody told what they would have done then. Nothing changes in either case.
    pub fn retune(&mut self, at: SimTime, old: &Scenario, new: &Scenario) -> Result<(), Box<Problem>> {
        if self.copies.is_told() {
            return Err(refusal("a run that was driven"));
        }
        if let Some(fixed) = fixed_in_world(old, new) {
            return Err(refusal(fixed));
        }
        self.fleet.retune(new.fleet_config()).map_err(refusal)?;
        let at = at.max(self.now);
        self.copies.retune(at, new);
        self.timing = Arc::new(new.timing.clone());
        if let Some(acceptance) = &mut self.acceptance {
            acceptance.set_probability(new.draft_acceptance);
        }
        // What went in circles, or stood still, may go on now.
        self.seen.endless = false;
        self.seen.circles.fill_with(Circles::default);
        self.queue.push(at, Event::Retuned);
        Ok(())
    }
}

/// The first thing outside the machines that differs and is fixed from the beginning.
fn fixed_in_world(old: &Scenario, new: &Scenario) -> Option<&'static str> {
    // The rates of links are all that may differ of what lies between workers.
    let between = |scenario: &Scenario| {
        let mut fleet = scenario.fleet.clone()?;
        fleet.handoff_link.rate = old.links.pcie.down;
        Some(fleet)
    };
    let fixed = [
        ("the seed", old.seed != new.seed),
        ("the workload", old.workload != new.workload),
        ("the faults", old.faults != new.faults),
        ("the size of a block's KV", old.kv_bytes_per_block != new.kv_bytes_per_block),
        ("the limits of goodput", old.slo != new.slo),
        ("the workers, or what happens between them", between(old) != between(new)),
    ];
    fixed.into_iter().find(|(_, differs)| *differs).map(|(name, _)| name)
}

fn refusal(fixed: &str) -> Box<Problem> {
    Box::new(Problem {
        file: None,
        line: 1,
        column: 1,
        key: String::new(),
        found: format!("a change of {fixed}"),
        expected: "from a time on: larger tiers, limits of the scheduler, policies of lanes, rates of links or [timing]"
            .to_owned(),
        mend: "fork from the beginning instead".to_owned(),
    })
}
