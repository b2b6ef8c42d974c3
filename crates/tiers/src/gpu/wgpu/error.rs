//! Why no tier could be made of a GPU.

use std::fmt;
use std::io;

use super::adapter::GpuInfo;

/// Why a GPU could not be opened.
#[derive(Debug)]
pub enum WgpuError {
    /// No adapter at all, none of the name, or none that is more than a CPU.
    NoAdapter {
        /// What was asked for; `None`: any GPU.
        asked: Option<String>,
        /// What there is.
        found: Vec<GpuInfo>,
    },
    /// A block of no bytes, of a size that is no multiple of 8, or larger than a buffer of this adapter may be.
    BadBlock {
        /// Bytes asked for.
        block_bytes: usize,
        /// The most that a buffer may have.
        most: u64,
    },
    /// The GPU has too little memory.
    NoMemory {
        /// The adapter's name.
        adapter: String,
        /// Bytes asked for, staging buffers included.
        bytes: u64,
        /// Bytes of its memory; `None`: it has more, and refused all the same.
        has: Option<u64>,
    },
    /// The driver refuses.
    Refused {
        /// The adapter's name.
        adapter: String,
        /// What was to be done.
        doing: &'static str,
        /// What it says.
        words: String,
    },
    /// No threads.
    Threads(io::Error),
}

impl fmt::Display for WgpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAdapter { asked, found } => no_adapter(f, asked.as_deref(), found),
            Self::BadBlock { block_bytes, most } => write!(
                f,
                "a block has {block_bytes} bytes; on this GPU it needs a positive multiple of 8, at most {most}\n  mend: \
                 another size of blocks"
            ),
            Self::NoMemory { adapter, bytes, has } => {
                write!(f, "{adapter}: {bytes} bytes of memory are asked for, ")?;
                match has {
                    Some(has) => write!(f, "it has {has}")?,
                    None => write!(f, "its driver gives fewer")?,
                }
                f.write_str("\n  mend: fewer blocks of G1, smaller ones, or another GPU")
            }
            Self::Refused { adapter, doing, words } => write!(
                f,
                "{adapter}: its driver refuses to {doing}: {words}\n  mend: another GPU or a newer driver, or host memory in \
                 its role"
            ),
            Self::Threads(error) => {
                write!(
                    f,
                    "the system starts no threads: {error}\n  mend: fewer threads, or a higher `ulimit -u`"
                )
            }
        }
    }
}

fn no_adapter(f: &mut fmt::Formatter<'_>, asked: Option<&str>, found: &[GpuInfo]) -> fmt::Result {
    match asked {
        None => f.write_str("wgpu finds no GPU")?,
        Some(asked) => write!(f, "wgpu finds no GPU `{asked}`, by name or by number")?,
    }
    if found.is_empty() {
        return f.write_str(
            ": there is no Vulkan driver\n  mend: install the GPU's driver (a CPU in the role of a GPU, on Debian: apt-get \
             install mesa-vulkan-drivers libvulkan1), or take host memory in its role",
        );
    }
    f.write_str("; there is")?;
    for (info, number) in found.iter().zip(0..) {
        write!(f, "{} number {number}, {info}", if number == 0 { "" } else { ";" })?;
    }
    f.write_str("\n  mend: name one of these by a part of its name or by its number, as in --g1 wgpu:0")
}

impl std::error::Error for WgpuError {}
