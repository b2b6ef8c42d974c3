//! A GPU by wgpu beside the plainest use of wgpu: `write_buffer` for each block on the way in; on the way out a copy for each
//! into a buffer that is mapped. Both in submissions of the same size, on the same number of threads.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tierscope_tiers::gpu::wgpu::{WgpuMedium, WgpuOptions};
use tierscope_tiers::{Arena, Medium, Slot, Way};
use wgpu::{
    Backends, Buffer, BufferDescriptor, BufferUsages, CommandEncoderDescriptor, Device, DeviceDescriptor,
    Instance, InstanceDescriptor, MapMode, PollType, Queue,
};

use crate::{Outcome, Plan, compare, on_threads, ours};

/// As large as ours.
const SUBMISSION_BYTES: usize = 4 << 20;

pub(crate) fn measure(plan: &Plan) -> Outcome {
    let (arena, moves) = (plan.arena()?, plan.moves());
    let options = WgpuOptions { threads: plan.threads, adapter: plan.gpu.clone(), ..WgpuOptions::default() };
    let mut medium =
        WgpuMedium::open(Arc::clone(&arena), plan.blocks, &options).map_err(|error| error.to_string())?;
    println!("wgpu: {}", medium.capability().name);
    for words in &medium.capability().shortfalls {
        println!("note: wgpu: {words}");
    }
    let plain = Plain::new(plan, &medium.capability().name)?;
    for (way, what) in [(Way::Store, "wgpu, store"), (Way::Load, "wgpu, load")] {
        let beside = || plain.copy(plan, &arena, way);
        compare(plan, what, || ours(&mut medium, &moves, plan.batch, way), beside)?;
    }
    Ok(())
}

struct Plain {
    device: Device,
    queue: Queue,
    blocks: Buffer,
    /// One for each thread.
    readable: Vec<Buffer>,
    scattered: Vec<u32>,
    /// Blocks of a submission.
    together: usize,
}

impl Plain {
    /// On the adapter of which the name begins as this one does.
    fn new(plan: &Plan, name: &str) -> Outcome<Self> {
        let mut wanted = InstanceDescriptor::new_without_display_handle();
        wanted.backends = Backends::VULKAN;
        wanted.flags = wgpu::InstanceFlags::empty();
        let adapters = at_once(Instance::new(wanted).enumerate_adapters(Backends::VULKAN))?;
        let found = adapters.into_iter().find(|adapter| name.starts_with(&adapter.get_info().name));
        let adapter = found.ok_or("the adapter is there no more")?;
        let wanted = DeviceDescriptor { required_limits: adapter.limits(), ..DeviceDescriptor::default() };
        let opened = at_once(adapter.request_device(&wanted))?;
        let (device, queue) = opened.map_err(|error| error.to_string())?;
        let make = |size: u64, usage| {
            let wanted = BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
            device.create_buffer(&wanted)
        };
        let block = plan.block_bytes as u64;
        let together = (SUBMISSION_BYTES / plan.block_bytes).clamp(1, plan.batch);
        let blocks = make(u64::from(plan.blocks) * block, BufferUsages::COPY_SRC | BufferUsages::COPY_DST);
        let readable = || make(together as u64 * block, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let readable = (0..plan.threads).map(|_| readable()).collect();
        Ok(Self { device, queue, blocks, readable, scattered: plan.scattered(), together })
    }

    fn copy(&self, plan: &Plan, arena: &Arena, way: Way) -> Outcome<Duration> {
        let pairs: Vec<(u32, u32)> = self.scattered.iter().copied().zip(0..).collect();
        let parts: Vec<&[(u32, u32)]> = pairs.chunks(self.together).collect();
        on_threads(plan.threads, parts.len(), |thread, part| match way {
            Way::Store => self.store(plan, arena, parts[part]),
            Way::Load => self.load(plan, arena, parts[part], &self.readable[thread]),
        })
    }

    fn store(&self, plan: &Plan, arena: &Arena, part: &[(u32, u32)]) -> Outcome {
        for &(there, here) in part {
            let at = u64::from(there) * plan.block_bytes as u64;
            self.queue.write_buffer(&self.blocks, at, &arena.read(Slot(here)).ok_or("in use")?);
        }
        let index = self.queue.submit([]);
        self.wait(index)
    }

    fn load(&self, plan: &Plan, arena: &Arena, part: &[(u32, u32)], readable: &Buffer) -> Outcome {
        let block = plan.block_bytes as u64;
        let mut encoder = self.device.create_command_encoder(&CommandEncoderDescriptor::default());
        for (&(there, _), at) in part.iter().zip(0..) {
            encoder.copy_buffer_to_buffer(
                &self.blocks,
                u64::from(there) * block,
                readable,
                at * block,
                block,
            );
        }
        let index = self.queue.submit([encoder.finish()]);
        let (tells, told) = mpsc::channel();
        let bytes = part.len() as u64 * block;
        // Nobody listens any more only if this thread has ended.
        readable.map_async(MapMode::Read, ..bytes, move |result| drop(tells.send(result)));
        self.wait(index)?;
        told.recv().map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let view = readable.get_mapped_range(..bytes).map_err(|error| error.to_string())?;
        for (&(_, here), bytes) in part.iter().zip(view.chunks(plan.block_bytes)) {
            arena.write(Slot(here)).ok_or("in use")?.copy_from_slice(bytes);
        }
        drop(view);
        readable.unmap();
        Ok(())
    }

    fn wait(&self, index: wgpu::SubmissionIndex) -> Outcome {
        let wait = PollType::Wait { submission_index: Some(index), timeout: None };
        self.device.poll(wait).map(|_| ()).map_err(|error| error.to_string())
    }
}

/// What a future of wgpu comes to: outside of browsers all of them are ready when they are made.
fn at_once<T>(future: impl Future<Output = T>) -> Outcome<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => Err("wgpu does not answer".to_owned()),
    }
}
