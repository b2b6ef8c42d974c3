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

impl Capability {
    /// Whether its times say something about the kind of thing that it is: not those of software that plays a GPU, of a
    /// driver that stands in for one, or of an object store that lies in this process's own memory.
    ///
    /// # Errors
    ///
    /// What it is instead, in words.
    pub fn is_measurable(&self) -> Result<(), String> {
        if !self.stand_in {
            return Ok(());
        }
        let instead = match self.kind {
            Kind::Wgpu => "a processor in the role of a GPU",
            Kind::Cuda => "a stand-in for the driver of a GPU",
            Kind::Object => "memory of this process in the role of an object store",
            Kind::Host | Kind::Disk => "something else in its role",
        };
        Err(format!("{} is {instead}: its times say nothing about a real one", self.name))
    }

    /// Whether what it reads and writes may come from the page cache and not from a disk: direct I/O was not got.
    pub fn is_cached(&self) -> bool {
        self.kind == Kind::Disk && self.shortfalls.iter().any(|words| words.starts_with("no direct I/O"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capability(kind: Kind, name: &str, stand_in: bool) -> Capability {
        Capability {
            kind,
            name: name.to_owned(),
            slots: 1,
            block_bytes: 8,
            concurrency: 1,
            outlives_process: false,
            stand_in,
            shortfalls: Vec::new(),
        }
    }

    #[test]
    fn who_plays_another_part_is_not_measured() {
        for kind in [Kind::Cuda, Kind::Wgpu, Kind::Host, Kind::Disk, Kind::Object] {
            let why = capability(kind, "llvmpipe", true).is_measurable().expect_err("it plays a part");
            assert!(why.starts_with("llvmpipe is "), "{why}");
            assert_eq!(capability(kind, "llvmpipe", false).is_measurable(), Ok(()));
        }
    }

    #[test]
    fn a_disk_without_direct_io_is_said_to_be_cached() {
        let mut disk = capability(Kind::Disk, "/tmp", false);
        assert!(!disk.is_cached());
        disk.shortfalls.push("no direct I/O: the file system says no".to_owned());
        assert!(disk.is_cached());
    }
}
