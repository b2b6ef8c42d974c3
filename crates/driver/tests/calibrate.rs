//! Calibration on media that are not what they should be, and on small real ones.

use std::sync::Arc;
use std::time::Duration;

use tierscope_driver::calibrate::{CalibrateError, Calibration, Opened, Options, Plan, Sizes, calibrate};
use tierscope_engine::Lane;
use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Batch, BatchId, Bell, Capability, Ended, Fault, Kind, Medium, Slot};

/// Host memory that says it is something else, and fails where it is told to.
struct Actor {
    inside: HostMedium,
    capability: Capability,
    /// Every batch of more blocks ends with this.
    fails_above: Option<(usize, Fault)>,
    fails: Vec<Ended>,
}

impl Medium for Actor {
    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn submit(&mut self, batch: Batch) {
        match self.fails_above {
            Some((blocks, fault)) if batch.moves.len() > blocks => {
                let results = vec![Err(fault); batch.moves.len()];
                let [queued, copied, looked] = [Duration::ZERO; 3];
                let copied_at = std::time::Instant::now();
                self.fails.push(Ended { id: batch.id, results, queued, copied, looked, copied_at });
            }
            _ => self.inside.submit(batch),
        }
    }

    fn next_ended(&mut self, wait: Duration) -> Option<Ended> {
        self.fails.pop().or_else(|| self.inside.next_ended(wait))
    }

    fn ring(&mut self, bell: Bell) {
        self.inside.ring(bell);
    }

    fn cancel(&mut self, id: BatchId) {
        self.inside.cancel(id);
    }

    fn forget(&mut self, slot: Slot) {
        self.inside.forget(slot);
    }

    fn persist(&mut self) -> Result<(), Fault> {
        self.inside.persist()
    }

    fn close(&mut self) {
        self.inside.close();
    }
}

fn actor(arena: &Arc<Arena>, kind: Kind, name: &str, fails_above: Option<(usize, Fault)>) -> Box<dyn Medium> {
    let inside = HostMedium::of_memory(Arc::clone(arena), arena.slots(), 2).expect("some memory");
    let stand_in = matches!(kind, Kind::Wgpu | Kind::Cuda);
    let capability = Capability { kind, name: name.to_owned(), stand_in, ..inside.capability().clone() };
    Box::new(Actor { inside, capability, fails_above, fails: Vec::new() })
}

fn run(
    g1: &dyn Fn(&Arc<Arena>) -> Box<dyn Medium>,
    watch: &mut dyn FnMut(&str) -> bool,
) -> Result<Calibration, CalibrateError> {
    let plan = Plan::new(2, 64 << 20, None);
    let mut open = |Sizes { block_bytes, slots }: Sizes| {
        let arena = Arena::new(slots, block_bytes as usize, false).map_err(|error| error.to_string())?;
        let arena = Arc::new(arena);
        let media = [Some(g1(&arena)), None, None];
        Ok(Opened { arena, media })
    };
    calibrate(&plan, Options { seed: 1 }, &mut open, watch)
}

#[test]
fn host_memory_is_measured_fitted_and_predicted() {
    let found = run(&|arena| actor(arena, Kind::Host, "host memory", None), &mut |_| true);
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    let link = found.links[0].as_ref().expect("it was measured");
    for lane in [Lane::G1ToG2, Lane::G2ToG1] {
        let fit = link.lane(lane).expect("both ways");
        assert!(fit.ns_per_byte > 0.0 && fit.points >= 8, "{fit:?}");
        assert!(fit.with_opposite_ns_per_byte.is_some_and(|both| both >= fit.ns_per_byte), "{fit:?}");
        let of_lane = found.predictions.iter().filter(|it| it.lane == lane);
        assert_eq!(of_lane.map(|it| it.mixed).collect::<Vec<bool>>(), [false, true]);
        assert!(found.repeat_difference(lane).is_some());
    }
    assert!(found.missed.iter().any(|it| it.what == "g2_g3, g3_g2" && it.why.contains("nothing was given")));
}

#[test]
fn a_stand_in_is_refused() {
    for (kind, name) in [(Kind::Wgpu, "llvmpipe (LLVM 15)"), (Kind::Cuda, "stand-in: no GPU")] {
        let refused =
            run(&|arena| actor(arena, kind, name, None), &mut |_| true).expect_err("it plays a part");
        assert!(matches!(refused, CalibrateError::Unmeasurable { tier: "g1", .. }), "{refused:?}");
        assert!(refused.to_string().contains("mend"), "{refused}");
    }
}

#[test]
fn a_lane_that_fails_is_told_with_its_reason() {
    let failing = |arena: &Arc<Arena>| actor(arena, Kind::Host, "host memory", Some((16, Fault::Device)));
    let found = run(&failing, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    assert!(found.missed.iter().any(|it| it.why.contains("the device failed")), "{:?}", found.missed);
    assert!(found.samples.iter().all(|it| it.point.blocks <= 16));
    let always = |arena: &Arc<Arena>| actor(arena, Kind::Host, "host memory", Some((0, Fault::NoSpace)));
    let nothing = run(&always, &mut |_| true).expect_err("nothing could be measured");
    assert!(nothing.to_string().contains("no space is left"), "{nothing}");
}

#[test]
fn who_watches_can_stop_it_at_any_time() {
    for calls in [0, 1, 3, 6] {
        let mut left = calls;
        let stopped = run(&|arena| actor(arena, Kind::Host, "host memory", None), &mut |_| {
            let goes_on = left > 0;
            left -= i32::from(goes_on);
            goes_on
        });
        assert_eq!(stopped, Err(CalibrateError::Stopped));
    }
}
