//! G1: memory of a GPU, or host memory that stands in for it.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Medium};

use super::MediaArgs;
use super::args::G1;

pub(super) fn open(args: &MediaArgs, arena: &Arc<Arena>, slots: u32) -> Result<Box<dyn Medium>> {
    match (args.g1, &args.g1_device) {
        (G1::Host, Some(device)) => Err(anyhow!(
            "error: --g1-device {device}: host memory has no devices\n  mend: --g1 wgpu, or no --g1-device"
        )),
        (G1::Wgpu, _) | (G1::Auto, Some(_)) => by_wgpu::open(args, arena, slots),
        (G1::Auto, None) if by_wgpu::has_gpu() => by_wgpu::open(args, arena, slots),
        (G1::Host | G1::Auto, None) => host(args, arena, slots),
    }
}

fn host(args: &MediaArgs, arena: &Arc<Arena>, slots: u32) -> Result<Box<dyn Medium>> {
    let medium = HostMedium::of_memory(Arc::clone(arena), slots, args.threads)
        .map_err(|error| anyhow!("error: {error}"))?;
    Ok(Box::new(medium))
}

#[cfg(feature = "wgpu")]
mod by_wgpu {
    use std::sync::Arc;

    use anyhow::{Result, anyhow};
    use tierscope_tiers::gpu::wgpu::{WgpuMedium, WgpuOptions, list};
    use tierscope_tiers::{Arena, Medium};

    use crate::media::MediaArgs;
    use crate::output;

    /// Whether there is one that is more than a CPU.
    pub(super) fn has_gpu() -> bool {
        list().iter().any(|gpu| !gpu.is_software)
    }

    pub(super) fn open(args: &MediaArgs, arena: &Arc<Arena>, slots: u32) -> Result<Box<dyn Medium>> {
        let adapter = args.g1_device.clone();
        let options = WgpuOptions { threads: args.threads, adapter, ..WgpuOptions::default() };
        let medium = WgpuMedium::open(Arc::clone(arena), slots, &options)
            .map_err(|error| anyhow!("error: G1: {error}"))?;
        output::complain(&format!("note: G1 is {}", medium.capability().name));
        Ok(Box::new(medium))
    }
}

#[cfg(not(feature = "wgpu"))]
mod by_wgpu {
    use std::sync::Arc;

    use anyhow::{Result, anyhow};
    use tierscope_tiers::{Arena, Medium};

    use crate::media::MediaArgs;

    pub(super) const fn has_gpu() -> bool {
        false
    }

    pub(super) fn open(_: &MediaArgs, _: &Arc<Arena>, _: u32) -> Result<Box<dyn Medium>> {
        Err(anyhow!(
            "error: G1: this command was built without wgpu\n  mend: cargo build --release --package tierscope --features \
             wgpu, or --g1 host"
        ))
    }
}
