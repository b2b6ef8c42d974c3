//! The flags that name real media, of `drive` and `calibrate` alike.

use std::path::PathBuf;
use std::str::FromStr;

use tierscope_tiers::Residence;

/// The flags.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MediaArgs {
    /// What G1 is: host (memory that stands in for a GPU's), cuda or cuda:N (the Nth GPU that this process sees, from 0)
    #[arg(long, value_name = "WHICH", default_value = "host")]
    pub(crate) g1: G1Choice,
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

/// What G1 is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum G1Choice {
    /// Host memory that stands in for a GPU's.
    Host,
    /// A GPU, by CUDA.
    Cuda {
        /// Which one, as the driver counts them.
        ordinal: u32,
    },
}

impl FromStr for G1Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, number) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest)));
        match (word, number) {
            ("host", None) => Ok(Self::Host),
            ("cuda", None) => Ok(Self::Cuda { ordinal: 0 }),
            ("cuda", Some(number)) => {
                let ordinal =
                    number.parse().map_err(|_| format!("cuda:{number}: expected a number, as in cuda:0"))?;
                Ok(Self::Cuda { ordinal })
            }
            _ => Err("expected host, cuda or cuda:N".to_owned()),
        }
    }
}

impl G1Choice {
    /// What host memory is to be beside it: a GPU's driver locks it by itself, where the system may refuse that to us.
    pub(super) fn residence(&self) -> Residence {
        match self {
            Self::Host => Residence::Locked,
            Self::Cuda { .. } => Residence::Present,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g1_is_named_or_the_name_is_refused() {
        assert_eq!("host".parse(), Ok(G1Choice::Host));
        assert_eq!("cuda".parse(), Ok(G1Choice::Cuda { ordinal: 0 }));
        assert_eq!("cuda:3".parse(), Ok(G1Choice::Cuda { ordinal: 3 }));
        for wrong in ["", "cuda:", "cuda:-1", "cuda:x", "host:1", "gpu", "CUDA"] {
            assert!(wrong.parse::<G1Choice>().is_err(), "{wrong}");
        }
    }
}
