//! A GPU's memory in slots: in as many buffers as its limits ask for.

use wgpu::{Buffer, BufferDescriptor, BufferUsages, CommandEncoder};

use super::link::Link;
use crate::medium::Slot;

/// Larger buffers win nothing, and a driver is more likely to have this much in one piece.
const BUFFER_BYTES_MAX: u64 = 1 << 30;

/// The buffers.
pub(super) struct Slots {
    buffers: Vec<Buffer>,
    block_bytes: u64,
    /// Slots of each buffer; the last one may have fewer.
    each: u32,
}

/// Where slots that follow each other are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    buffer: usize,
    /// Bytes from its beginning.
    at: u64,
    bytes: u64,
}

impl Slots {
    /// How many slots a buffer of so many bytes has; `None` when it has not even one.
    pub(super) fn each(block_bytes: u64, buffer_bytes_max: u64) -> Option<u32> {
        let each = buffer_bytes_max.min(BUFFER_BYTES_MAX.max(block_bytes)) / block_bytes;
        u32::try_from(each).ok().filter(|&each| each > 0)
    }

    /// Takes the memory and clears it: pages that are given only when they are touched are given now.
    pub(super) fn new(link: &Link, slots: u32, block_bytes: u64, each: u32) -> Result<Self, wgpu::Error> {
        let counts = (0..slots.div_ceil(each)).map(|buffer| each.min(slots - buffer * each));
        let (buffers, error) = link.complaints(|| {
            let buffers = counts.map(|count| {
                link.device.create_buffer(&BufferDescriptor {
                    label: Some("blocks"),
                    size: u64::from(count) * block_bytes,
                    usage: BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            });
            buffers.collect()
        });
        error.map_or(Ok(Self { buffers, block_bytes, each }), Err)
    }

    pub(super) fn clear(&self, encoder: &mut CommandEncoder) {
        for buffer in &self.buffers {
            encoder.clear_buffer(buffer, 0, None);
        }
    }

    #[cfg(test)]
    pub(super) fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    fn run(&self, slot: Slot) -> Run {
        let (buffer, at) = (slot.0 / self.each, slot.0 % self.each);
        Run { buffer: buffer as usize, at: u64::from(at) * self.block_bytes, bytes: self.block_bytes }
    }

    /// Copies slots, in order, out of a staging buffer in which they follow each other.
    pub(super) fn fill(
        &self,
        encoder: &mut CommandEncoder,
        from: &Buffer,
        slots: impl Iterator<Item = Slot>,
    ) {
        self.each_run(slots, |run, at| {
            encoder.copy_buffer_to_buffer(from, at, &self.buffers[run.buffer], run.at, run.bytes);
        });
    }

    /// Copies slots, in order, into a staging buffer in which they follow each other.
    pub(super) fn drain(
        &self,
        encoder: &mut CommandEncoder,
        into: &Buffer,
        slots: impl Iterator<Item = Slot>,
    ) {
        self.each_run(slots, |run, at| {
            encoder.copy_buffer_to_buffer(&self.buffers[run.buffer], run.at, into, at, run.bytes);
        });
    }

    /// Slots that follow each other are one command. With each run, where it is in the staging buffer.
    fn each_run(&self, slots: impl Iterator<Item = Slot>, mut copy: impl FnMut(Run, u64)) {
        let mut open: Option<Run> = None;
        let mut at = 0;
        for next in slots.map(|slot| self.run(slot)) {
            match &mut open {
                Some(run) if (run.buffer, run.at + run.bytes) == (next.buffer, next.at) => {
                    run.bytes += next.bytes
                }
                Some(run) => {
                    copy(*run, at);
                    at += run.bytes;
                    *run = next;
                }
                None => open = Some(next),
            }
        }
        if let Some(run) = open {
            copy(run, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_command_and_buffers_end_runs() {
        let slots = Slots { buffers: Vec::new(), block_bytes: 8, each: 4 };
        let runs = |numbers: &[u32]| {
            let mut runs = Vec::new();
            slots.each_run(numbers.iter().map(|&n| Slot(n)), |run, at| {
                runs.push((run.buffer, run.at, run.bytes, at))
            });
            runs
        };
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[1, 2, 3, 4, 5]), [(0, 8, 24, 0), (1, 0, 16, 24)]);
        assert_eq!(runs(&[5, 4, 0]), [(1, 8, 8, 0), (1, 0, 8, 8), (0, 0, 8, 16)]);
        assert_eq!(runs(&[2, 2]), [(0, 16, 8, 0), (0, 16, 8, 8)]);
    }

    #[test]
    fn a_buffer_has_whole_slots() {
        assert_eq!(Slots::each(8, 1 << 12), Some(512));
        assert_eq!(Slots::each(1 << 20, (2 << 30) - 1), Some(1024));
        assert_eq!(Slots::each(3 << 30, 4 << 30), Some(1), "a block may be larger than buffers usually are");
        assert_eq!(Slots::each(4096, 4095), None);
    }
}
