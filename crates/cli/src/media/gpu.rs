//! G1: memory of a GPU, or host memory in its role.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Medium};

use super::args::G1Choice;

/// What `auto` means on this machine, told before host memory is taken: how that is to be depends on it.
pub(crate) fn settle(choice: &G1Choice) -> G1Choice {
    match choice {
        G1Choice::Auto if by_cuda::has_gpu() => G1Choice::Cuda { ordinal: 0 },
        G1Choice::Auto if by_wgpu::has_gpu() => G1Choice::Wgpu { adapter: None },
        G1Choice::Auto => G1Choice::Host,
        named => named.clone(),
    }
}

/// G1 as it was settled, with so many threads that copy.
pub(super) fn open(
    choice: &G1Choice,
    threads: u32,
    arena: &Arc<Arena>,
    slots: u32,
) -> Result<Box<dyn Medium>> {
    match choice {
        G1Choice::Host | G1Choice::Auto => {
            let medium = HostMedium::of_memory(Arc::clone(arena), slots, threads)
                .map_err(|error| anyhow!("error: {error}"))?;
            Ok(Box::new(medium))
        }
        G1Choice::Cuda { ordinal } => by_cuda::open(threads, arena, slots, *ordinal),
        G1Choice::Wgpu { adapter } => by_wgpu::open(threads, arena, slots, adapter.clone()),
    }
}

#[cfg(feature = "cuda")]
mod by_cuda {
    use std::sync::Arc;

    use anyhow::{Result, anyhow};
    use tierscope_tiers::gpu::cuda::{CudaMedium, CudaOptions, has_gpu as found};
    use tierscope_tiers::{Arena, Medium};

    /// Whether there is a driver with a device, and no stand-in for one.
    pub(super) fn has_gpu() -> bool {
        found()
    }

    pub(super) fn open(
        threads: u32,
        arena: &Arc<Arena>,
        slots: u32,
        ordinal: u32,
    ) -> Result<Box<dyn Medium>> {
        let options = CudaOptions { ordinal, threads };
        let medium =
            CudaMedium::open(Arc::clone(arena), slots, options).map_err(|error| anyhow!("error: {error}"))?;
        Ok(Box::new(medium))
    }
}

#[cfg(not(feature = "cuda"))]
mod by_cuda {
    use std::sync::Arc;

    use anyhow::{Result, anyhow};
    use tierscope_tiers::{Arena, Medium};

    pub(super) const fn has_gpu() -> bool {
        false
    }

    pub(super) fn open(_: u32, _: &Arc<Arena>, _: u32, _: u32) -> Result<Box<dyn Medium>> {
        Err(anyhow!(
            "error: G1: this command was built without CUDA\n  mend: cargo build --release --package tierscope --features \
             cuda, or --g1 host"
        ))
    }
}

#[cfg(feature = "wgpu")]
mod by_wgpu {
    use std::sync::Arc;

    use anyhow::{Result, anyhow};
    use tierscope_tiers::gpu::wgpu::{WgpuMedium, WgpuOptions, list};
    use tierscope_tiers::{Arena, Medium};

    /// Whether there is one that is more than a processor.
    pub(super) fn has_gpu() -> bool {
        list().iter().any(|gpu| !gpu.is_software)
    }

    pub(super) fn open(
        threads: u32,
        arena: &Arc<Arena>,
        slots: u32,
        adapter: Option<String>,
    ) -> Result<Box<dyn Medium>> {
        let options = WgpuOptions { threads, adapter, ..WgpuOptions::default() };
        let medium = WgpuMedium::open(Arc::clone(arena), slots, &options)
            .map_err(|error| anyhow!("error: G1: {error}"))?;
        Ok(Box::new(medium))
    }
}

#[cfg(not(feature = "wgpu"))]
mod by_wgpu {
    use std::sync::Arc;

    use anyhow::{Result, anyhow};
    use tierscope_tiers::{Arena, Medium};

    pub(super) const fn has_gpu() -> bool {
        false
    }

    pub(super) fn open(_: u32, _: &Arc<Arena>, _: u32, _: Option<String>) -> Result<Box<dyn Medium>> {
        Err(anyhow!(
            "error: G1: this command was built without wgpu\n  mend: cargo build --release --package tierscope --features \
             wgpu, or --g1 host"
        ))
    }
}
