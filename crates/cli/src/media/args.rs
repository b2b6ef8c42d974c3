//! The flags that name real media, of `drive` and `calibrate` alike.

use std::path::PathBuf;

/// What G1 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum G1 {
    /// A GPU where one is found, else host memory in its role
    Auto,
    /// Host memory in the role of a GPU
    Host,
    /// A GPU, by Vulkan
    Wgpu,
}

/// The flags.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MediaArgs {
    /// What G1 is
    #[arg(long, value_name = "MEDIUM", value_enum, default_value_t = G1::Auto)]
    pub(crate) g1: G1,
    /// The GPU, by a part of its name or by its number; a CPU in the role of a GPU is taken only when it is named
    #[arg(long, value_name = "NAME|N")]
    pub(crate) g1_device: Option<String>,
    /// The folder that is G3; what an earlier run left there is taken over
    #[arg(long, value_name = "DIR")]
    pub(crate) g3: Option<PathBuf>,
    /// Threads that copy, for each medium
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) threads: u32,
    /// Take more than 8 GiB of memory where the blocks of G1 and G2 need it
    #[arg(long)]
    pub(crate) memory: bool,
}
