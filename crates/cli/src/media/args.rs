//! The flags that name real media, of `drive`, `calibrate` and `conform` alike.

use std::path::PathBuf;
use std::str::FromStr;

use tierscope_tiers::Residence;

/// The flags.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MediaArgs {
    /// What G1 is: host (memory in the role of a GPU), cuda or cuda:N (the Nth GPU that this process sees, from 0), wgpu or
    /// wgpu:NAME (by Vulkan; a part of its name, or its number); auto is a GPU where one is found, else host
    #[arg(long, value_name = "WHICH", default_value = "auto")]
    pub(crate) g1: G1Choice,
    /// The folder that is G3; what an earlier run left there gives way
    #[arg(long, value_name = "DIR")]
    pub(crate) g3: Option<PathBuf>,
    /// The object store that is G4: s3://bucket/prefix (endpoint and keys from AWS_*), file:///folder, memory:///
    #[arg(long, value_name = "URL")]
    pub(crate) g4: Option<String>,
    /// Threads that copy, for each medium
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) threads: u32,
    /// Take more than 8 GiB of memory where the blocks of G1 and G2 need it
    #[arg(long)]
    pub(crate) memory: bool,
}

/// What G1 is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum G1Choice {
    /// A GPU where one is found, else host memory in its role.
    Auto,
    /// Host memory in the role of a GPU.
    Host,
    /// A GPU, by CUDA.
    Cuda {
        /// Which one, as the driver counts them.
        ordinal: u32,
    },
    /// A GPU, by Vulkan.
    Wgpu {
        /// Which one: a part of its name, or its number. A processor in the role of a GPU is taken only when it is named.
        adapter: Option<String>,
    },
}

impl FromStr for G1Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, which) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest)));
        match (word, which) {
            ("auto", None) => Ok(Self::Auto),
            ("host", None) => Ok(Self::Host),
            ("cuda", None) => Ok(Self::Cuda { ordinal: 0 }),
            ("cuda", Some(number)) => {
                let ordinal =
                    number.parse().map_err(|_| format!("cuda:{number}: expected a number, as in cuda:0"))?;
                Ok(Self::Cuda { ordinal })
            }
            ("wgpu", which) if which != Some("") => Ok(Self::Wgpu { adapter: which.map(str::to_owned) }),
            _ => Err("expected auto, host, cuda, cuda:N, wgpu or wgpu:NAME".to_owned()),
        }
    }
}

impl G1Choice {
    /// What host memory is to be beside it: CUDA's driver locks it by itself, where the system may refuse that to us.
    pub(super) fn residence(&self) -> Residence {
        match self {
            Self::Cuda { .. } => Residence::Present,
            Self::Auto | Self::Host | Self::Wgpu { .. } => Residence::Locked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g1_is_named_or_the_name_is_refused() {
        let wgpu = |adapter: Option<&str>| Ok(G1Choice::Wgpu { adapter: adapter.map(str::to_owned) });
        assert_eq!("auto".parse(), Ok(G1Choice::Auto));
        assert_eq!("host".parse(), Ok(G1Choice::Host));
        assert_eq!("cuda".parse(), Ok(G1Choice::Cuda { ordinal: 0 }));
        assert_eq!("cuda:3".parse(), Ok(G1Choice::Cuda { ordinal: 3 }));
        assert_eq!("wgpu".parse(), wgpu(None));
        assert_eq!("wgpu:llvmpipe".parse(), wgpu(Some("llvmpipe")));
        for wrong in ["", "cuda:", "cuda:-1", "cuda:x", "host:1", "gpu", "CUDA", "wgpu:", "auto:0"] {
            assert!(wrong.parse::<G1Choice>().is_err(), "{wrong}");
        }
    }
}
