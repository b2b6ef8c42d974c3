//! G1: memory of a GPU, or host memory that stands in for it.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Medium};

use super::MediaArgs;
use super::args::G1Choice;

pub(super) fn open(args: &MediaArgs, arena: &Arc<Arena>, slots: u32) -> Result<Box<dyn Medium>> {
    match args.g1 {
        G1Choice::Host => {
            let medium = HostMedium::of_memory(Arc::clone(arena), slots, args.threads)
                .map_err(|error| anyhow!("error: {error}"))?;
            Ok(Box::new(medium))
        }
        G1Choice::Cuda { ordinal } => cuda(args, arena, slots, ordinal),
    }
}

#[cfg(feature = "cuda")]
fn cuda(args: &MediaArgs, arena: &Arc<Arena>, slots: u32, ordinal: u32) -> Result<Box<dyn Medium>> {
    use tierscope_tiers::gpu::cuda::{CudaMedium, CudaOptions};

    let options = CudaOptions { ordinal, threads: args.threads };
    let medium =
        CudaMedium::open(Arc::clone(arena), slots, options).map_err(|error| anyhow!("error: {error}"))?;
    Ok(Box::new(medium))
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: &MediaArgs, _: &Arc<Arena>, _: u32, _: u32) -> Result<Box<dyn Medium>> {
    Err(anyhow!(
        "error: --g1 cuda: this command was built without CUDA\n  mend: cargo build -p tierscope --features cuda"
    ))
}
