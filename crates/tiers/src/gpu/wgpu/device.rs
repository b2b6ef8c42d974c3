//! A GPU's slots as a medium.

use std::sync::Arc;

use wgpu::{Adapter, DeviceDescriptor, Features};

use super::adapter::{self, AdapterChoice, at_once};
use super::error::WgpuError;
use super::link::Link;
use super::slots::Slots;
use super::staging::Stagings;
use crate::arena::Arena;
use crate::capability::{Capability, Kind};
use crate::device::{Device, Loaded, Outcome, Stored, Wanted};
use crate::fault::Fault;
use crate::host::Held;
use crate::medium::{Key, Slot};
use crate::pool::Pooled;

/// A GPU, by wgpu.
pub type WgpuMedium = Pooled<WgpuDevice>;

/// Bytes that one submission moves at most. More, and one thread's copying has nothing of the GPU's to overlap with.
const SUBMISSION_BYTES: u64 = 4 << 20;

/// How a GPU is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WgpuOptions {
    /// Threads that copy between the arena and the staging buffers.
    pub threads: u32,
    /// Which GPU.
    pub adapter: AdapterChoice,
    /// Bytes of the largest buffer, where that is to be less than the adapter allows.
    pub buffer_bytes_max: Option<u64>,
}

impl Default for WgpuOptions {
    fn default() -> Self {
        Self { threads: 2, adapter: None, buffer_bytes_max: None }
    }
}

/// A GPU's slots, as a thread sees them.
pub struct WgpuDevice {
    // Before the device: buffers are given back first.
    stagings: Stagings,
    slots: Slots,
    pub(super) link: Link,
    /// By slot, its content.
    keys: Vec<Held>,
    block_bytes: u64,
    grain: usize,
}

impl WgpuDevice {
    #[cfg(test)]
    pub(super) fn slots(&self) -> &Slots {
        &self.slots
    }

    fn held(&self, slot: Slot) -> Result<&Held, Fault> {
        if self.link.is_lost() {
            return Err(Fault::Gone);
        }
        self.keys.get(slot.0 as usize).ok_or(Fault::OutOfRange)
    }

    /// Stores at most `grain` blocks: all of them, or none that is served.
    fn store_part(&self, part: &[Stored<'_>]) -> Outcome {
        for block in part {
            // Half of a copy is nobody's content.
            self.held(block.there)?.set(None);
        }
        let staging = self.stagings.take(&self.link)?;
        staging.put(part).map_err(|fault| self.link.reason(fault))?;
        let slots = part.iter().map(|block| block.there);
        self.link.run(
            |encoder| self.slots.fill(encoder, staging.up(), slots),
            |landing| staging.map_up(landing),
        )?;
        self.stagings.give(staging);
        for block in part {
            self.held(block.there)?.set(Some(block.key));
        }
        Ok(())
    }

    /// Loads at most `grain` blocks, each of which is there.
    fn load_part(&self, part: Vec<Loaded<'_>>) -> Outcome {
        let staging = self.stagings.take(&self.link)?;
        let bytes = part.len() as u64 * self.block_bytes;
        let slots = part.iter().map(|block| block.there);
        self.link.run(
            |encoder| self.slots.drain(encoder, staging.down(), slots),
            |landing| staging.map_down(bytes, landing),
        )?;
        staging.take(bytes, part.into_iter()).map_err(|fault| self.link.reason(fault))?;
        self.stagings.give(staging);
        Ok(())
    }

    fn holds(&self, key: Key, slot: Slot) -> Outcome {
        if self.held(slot)?.is(key) { Ok(()) } else { Err(Fault::Missing) }
    }
}

impl Device for WgpuDevice {
    fn grain(&self) -> usize {
        self.grain
    }

    fn store(&self, block: Stored<'_>, wanted: &Wanted) -> Outcome {
        self.store_many(&[block], wanted).pop().unwrap_or(Err(Fault::Device))
    }

    fn load(&self, block: Loaded<'_>, wanted: &Wanted) -> Outcome {
        self.load_many(vec![block], wanted).pop().unwrap_or(Err(Fault::Device))
    }

    fn store_many(&self, blocks: &[Stored<'_>], wanted: &Wanted) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(blocks.len());
        for part in blocks.chunks(self.grain) {
            let stored = if wanted.is_wanted() { self.store_part(part) } else { Err(Fault::Cancelled) };
            outcomes.resize(outcomes.len() + part.len(), stored);
        }
        outcomes
    }

    fn load_many(&self, blocks: Vec<Loaded<'_>>, wanted: &Wanted) -> Vec<Outcome> {
        let names: Vec<(Key, Slot)> = blocks.iter().map(|block| (block.key, block.there)).collect();
        let mut outcomes: Vec<Outcome> = names.iter().map(|&(key, slot)| self.holds(key, slot)).collect();
        let mut there =
            blocks.into_iter().zip(&outcomes).filter(|(_, held)| held.is_ok()).map(|(block, _)| block);
        let mut loaded = Vec::new();
        loop {
            let part: Vec<Loaded<'_>> = there.by_ref().take(self.grain).collect();
            let count = part.len();
            if count == 0 {
                break;
            }
            let outcome = if wanted.is_wanted() { self.load_part(part) } else { Err(Fault::Cancelled) };
            loaded.resize(loaded.len() + count, outcome);
        }
        drop(there);
        let came = outcomes.iter_mut().zip(names).filter(|(held, _)| held.is_ok());
        for ((outcome, (key, slot)), loaded) in came.zip(loaded) {
            // Also afterwards: who stores into a slot that is being loaded from has a fault in their books.
            *outcome = loaded.and_then(|()| self.holds(key, slot));
        }
        outcomes
    }

    fn forget(&self, slot: Slot) {
        if let Some(held) = self.keys.get(slot.0 as usize) {
            held.set(None);
        }
    }
}

impl WgpuMedium {
    /// So many slots of a GPU's memory beside an arena.
    ///
    /// # Errors
    ///
    /// See [`WgpuError`]; its text has what was found and a mend.
    pub fn open(arena: Arc<Arena>, slots: u32, options: &WgpuOptions) -> Result<Self, WgpuError> {
        let adapter = adapter::choose(&options.adapter)?;
        let threads = options.threads.max(1);
        let sizes = Sizes::new(&adapter, arena.block_bytes(), slots, options)?;
        let device = open(&adapter, slots, threads, sizes)?;
        let info = adapter::info(&adapter);
        let mut shortfalls = Vec::new();
        if info.is_software {
            shortfalls.push(format!("{}: a CPU in the role of a GPU, no measure of one", info.name));
        }
        let capability = Capability {
            kind: Kind::Wgpu,
            name: format!("{} ({})", info.name, info.driver),
            slots,
            block_bytes: arena.block_bytes(),
            concurrency: threads,
            outlives_process: false,
            stand_in: info.is_software,
            shortfalls,
        };
        Self::new(device, arena, capability).map_err(WgpuError::Threads)
    }
}

/// What is asked of a GPU, within its limits.
#[derive(Clone, Copy)]
struct Sizes {
    block_bytes: u64,
    /// Slots of a buffer.
    each: u32,
    /// Blocks of a submission.
    grain: usize,
    /// Bytes of all of it.
    total: u64,
}

impl Sizes {
    fn new(
        adapter: &Adapter,
        block_bytes: usize,
        slots: u32,
        options: &WgpuOptions,
    ) -> Result<Self, WgpuError> {
        let limit = adapter.limits().max_buffer_size;
        let most = limit.min(options.buffer_bytes_max.unwrap_or(limit));
        let bad = WgpuError::BadBlock { block_bytes, most };
        let bytes = block_bytes as u64;
        if bytes == 0 || !bytes.is_multiple_of(8) {
            return Err(bad);
        }
        let Some(each) = Slots::each(bytes, most) else { return Err(bad) };
        let grain = (SUBMISSION_BYTES / bytes).max(1);
        let pairs = u64::from(options.threads.max(1)) * 2;
        let total =
            u64::from(slots).saturating_mul(bytes).saturating_add((pairs * grain).saturating_mul(bytes));
        if let Some(has) = adapter::memory_bytes(adapter).filter(|&has| total > has) {
            let adapter = adapter.get_info().name;
            return Err(WgpuError::NoMemory { adapter, bytes: total, has: Some(has) });
        }
        Ok(Self { block_bytes: bytes, each, grain: grain as usize, total })
    }
}

fn open(adapter: &Adapter, slots: u32, threads: u32, sizes: Sizes) -> Result<WgpuDevice, WgpuError> {
    let name = || adapter.get_info().name;
    let refused = |doing, words: String| WgpuError::Refused { adapter: name(), doing, words };
    let wanted = DeviceDescriptor {
        label: Some("tier"),
        required_features: Features::empty(),
        required_limits: adapter.limits(),
        ..DeviceDescriptor::default()
    };
    let opened = at_once(adapter.request_device(&wanted));
    let opened = opened.ok_or_else(|| refused("open a device", "it does not answer".to_owned()))?;
    let (device, queue) = opened.map_err(|error| refused("open a device", error.to_string()))?;
    let link = Link::new(device, queue);
    let no_memory = |error: wgpu::Error| match error {
        wgpu::Error::OutOfMemory { .. } => {
            WgpuError::NoMemory { adapter: name(), bytes: sizes.total, has: None }
        }
        other => refused("give memory", other.to_string()),
    };
    let stagings =
        Stagings::new(&link, threads, sizes.grain as u64 * sizes.block_bytes).map_err(no_memory)?;
    let memory = Slots::new(&link, slots, sizes.block_bytes, sizes.each).map_err(no_memory)?;
    let cleared = link.run(|encoder| memory.clear(encoder), |_| {});
    cleared.map_err(|fault| match fault {
        Fault::NoSpace => WgpuError::NoMemory { adapter: name(), bytes: sizes.total, has: None },
        other => refused("clear its memory", other.to_string()),
    })?;
    let keys = (0..slots).map(|_| Held::default()).collect();
    let Sizes { block_bytes, grain, .. } = sizes;
    Ok(WgpuDevice { stagings, slots: memory, link, keys, block_bytes, grain })
}
