//! What a medium is, and what it could not get.

/// What kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A GPU's memory, by CUDA.
    Cuda,
    /// A GPU's memory, by wgpu.
    Wgpu,
    /// Host memory that stands in for a GPU's.
    Host,
    /// A disk.
    Disk,
    /// An object store.
    Object,
}

impl Kind {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Wgpu => "wgpu",
            Self::Host => "host",
            Self::Disk => "disk",
            Self::Object => "object",
        }
    }
}

/// What a medium is and what it got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// What kind of thing.
    pub kind: Kind,
    /// What it says of itself: a device's name, a folder.
    pub name: String,
    /// Slots.
    pub slots: u32,
    /// Bytes of each.
    pub block_bytes: usize,
    /// Batches that it works on at once.
    pub concurrency: u32,
    /// Whether what is persisted outlives the process.
    pub outlives_process: bool,
    /// Whether it plays the part of a device that is not there: a driver's double, a GPU in software. It works, and its
    /// speed says nothing.
    pub stand_in: bool,
    /// What was asked for and not got, in words, each with its reason: locked memory, direct I/O.
    pub shortfalls: Vec<String>,
}
