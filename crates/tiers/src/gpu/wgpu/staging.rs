//! The memory that host and GPU both reach: a pair of buffers for each thread, made once and used again.

use std::sync::{Mutex, PoisonError};

use wgpu::{Buffer, BufferDescriptor, BufferUsages, MapMode};

use super::link::{Landing, Link};
use crate::device::{Loaded, Stored};
use crate::fault::Fault;

/// Blocks on their way up and down.
pub(super) struct Staging {
    /// Mapped, but while the GPU reads it.
    up: Buffer,
    /// Mapped only while it is read.
    down: Buffer,
}

impl Staging {
    fn new(link: &Link, bytes: u64) -> Self {
        let make = |label, usage, mapped_at_creation| {
            let wanted = BufferDescriptor { label: Some(label), size: bytes, usage, mapped_at_creation };
            link.device.create_buffer(&wanted)
        };
        Self {
            up: make("up", BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC, true),
            down: make("down", BufferUsages::MAP_READ | BufferUsages::COPY_DST, false),
        }
    }

    /// What the GPU reads from.
    pub(super) fn up(&self) -> &Buffer {
        &self.up
    }

    /// What the GPU writes to.
    pub(super) fn down(&self) -> &Buffer {
        &self.down
    }

    /// Blocks, one behind the other, for the GPU to read.
    pub(super) fn put(&self, blocks: &[Stored<'_>]) -> Result<(), Fault> {
        let mut view = self.up.get_mapped_range_mut(..).map_err(|_| Fault::Device)?;
        let mut at = 0;
        for block in blocks {
            let end = at + block.from.len();
            view.slice(at..end).copy_from_slice(block.from);
            at = end;
        }
        drop(view);
        self.up.unmap();
        Ok(())
    }

    /// Has it mapped again when the GPU has read it.
    pub(super) fn map_up(&self, landing: &Landing) {
        self.up.map_async(MapMode::Write, .., landing.promise());
    }

    /// Has the first bytes mapped when the GPU has written them.
    pub(super) fn map_down(&self, bytes: u64, landing: &Landing) {
        self.down.map_async(MapMode::Read, ..bytes, landing.promise());
    }

    /// Blocks, one behind the other, that the GPU has written and that are mapped.
    pub(super) fn take<'a>(&self, bytes: u64, blocks: impl Iterator<Item = Loaded<'a>>) -> Result<(), Fault> {
        let view = self.down.get_mapped_range(..bytes).map_err(|_| Fault::Device)?;
        let mut rest = &view[..];
        for block in blocks {
            let (bytes, after) = rest.split_at_checked(block.into.len()).ok_or(Fault::Device)?;
            block.into.copy_from_slice(bytes);
            rest = after;
        }
        drop(view);
        self.down.unmap();
        Ok(())
    }
}

/// All of them.
pub(super) struct Stagings {
    bytes: u64,
    free: Mutex<Vec<Staging>>,
}

impl Stagings {
    /// So many pairs of so many bytes each.
    pub(super) fn new(link: &Link, count: u32, bytes: u64) -> Result<Self, wgpu::Error> {
        let (free, error) = link.complaints(|| (0..count).map(|_| Staging::new(link, bytes)).collect());
        error.map_or(Ok(Self { bytes, free: Mutex::new(free) }), Err)
    }

    /// A pair that nobody has; a new one where one was lost to a fault.
    pub(super) fn take(&self, link: &Link) -> Result<Staging, Fault> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(staging) = free {
            return Ok(staging);
        }
        let (staging, fault) = link.scoped(|| Staging::new(link, self.bytes));
        fault.map(|()| staging).map_err(|fault| link.reason(fault))
    }

    /// Gives one back that is as it was. One that is not is dropped instead: the GPU may still be at it.
    pub(super) fn give(&self, staging: Staging) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(staging);
    }
}
