//! Host memory beside a loop of `copy_from_slice`.

use std::sync::Arc;

use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Slot, Way};

use crate::{Outcome, Plan, compare, on_threads, ours};

pub(crate) fn measure(plan: &Plan) -> Outcome {
    let (arena, moves) = (plan.arena()?, plan.moves());
    let mut medium = HostMedium::of_memory(Arc::clone(&arena), plan.blocks, plan.threads)
        .map_err(|error| error.to_string())?;
    let beside = Memory::new(plan)?;
    for (way, what) in [(Way::Store, "host, store"), (Way::Load, "host, load")] {
        let plain = || beside.copy(plan, &arena, way);
        compare(plan, what, || ours(&mut medium, &moves, plan.batch, way), plain)?;
    }
    Ok(())
}

/// The other side of the plain loop: memory of the same kind.
struct Memory {
    other: Arena,
    scattered: Vec<u32>,
}

impl Memory {
    fn new(plan: &Plan) -> Outcome<Self> {
        let other = Arena::new(plan.blocks, plan.block_bytes, false).map_err(|error| error.to_string())?;
        Ok(Self { other, scattered: plan.scattered() })
    }

    /// Slots are borrowed for the time of a copy, since there is no other way to them: two atomic additions for each block.
    fn copy(&self, plan: &Plan, arena: &Arena, way: Way) -> Outcome<std::time::Duration> {
        let pairs: Vec<(u32, u32)> = self.scattered.iter().copied().zip(0..).collect();
        let parts: Vec<&[(u32, u32)]> = pairs.chunks(plan.batch).collect();
        on_threads(plan.threads, parts.len(), |_, part| {
            for &(there, here) in parts[part] {
                let (from, into) = match way {
                    Way::Store => (arena.read(Slot(here)), self.other.write(Slot(there))),
                    Way::Load => (self.other.read(Slot(there)), arena.write(Slot(here))),
                };
                let (Some(from), Some(mut into)) = (from, into) else { return Err("in use".to_owned()) };
                into.copy_from_slice(&from);
            }
            Ok(())
        })
    }
}
