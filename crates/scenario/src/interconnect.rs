//! The links that blocks cross between tiers: rates and latencies, and the named ones.
//!
//! A link has two directions. Each has a rate of its own while it works alone and one for while the other direction
//! works too (rule L7): a PCIe card gives less of each then. How transfers share a link is the simulator's.

use tierscope_engine::{CopyEstimate, Lane};
use tierscope_units::Span;
use tierscope_units::time::NS_PER_S;

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRate {
    /// Bytes per second while the other direction is idle; at least 1.
    pub alone_bytes_per_s: u64,
    /// Bytes per second while the other direction works; at least 1, at most the rate alone.
    pub both_bytes_per_s: u64,
    /// Before the first byte of each batch.
    pub latency: Span,
}

/// Both directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRates {
    /// To the slower tier.
    pub down: LinkRate,
    /// To the faster tier.
    pub up: LinkRate,
}

/// All links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links {
    /// Between G1 and G2.
    pub pcie: LinkRates,
    /// Between G2 and G3.
    pub disk: LinkRates,
    /// Between G2 and G4.
    pub object: LinkRates,
}

impl LinkRate {
    /// How long a copy of so many blocks takes when nothing else moves, as the engine is told to believe it.
    pub fn estimate(&self, bytes_per_block: u64) -> CopyEstimate {
        let ns = u128::from(bytes_per_block) * u128::from(NS_PER_S);
        let per_block = ns.div_ceil(u128::from(self.alone_bytes_per_s.max(1)));
        let per_block = Span::from_ns(u64::try_from(per_block).unwrap_or(u64::MAX));
        CopyEstimate { latency: self.latency, per_block }
    }
}

impl Links {
    /// The direction of the link that a lane crosses.
    pub const fn of(&self, lane: Lane) -> LinkRate {
        match lane {
            Lane::G1ToG2 => self.pcie.down,
            Lane::G2ToG1 => self.pcie.up,
            Lane::G2ToG3 => self.disk.down,
            Lane::G3ToG2 => self.disk.up,
            Lane::G2ToG4 => self.object.down,
            Lane::G4ToG2 => self.object.up,
        }
    }
}

impl Default for Links {
    fn default() -> Self {
        Self { pcie: PCIE[0].rates(), disk: DISK[0].rates(), object: OBJECT[0].rates() }
    }
}

/// A link by name. The figures are effective ones, two to ten times below those of data sheets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkPreset {
    /// Name in scenarios.
    pub name: &'static str,
    /// To the slower tier, alone, in GB/s (10⁹).
    pub down_gb_per_s: f64,
    /// To the faster tier, alone.
    pub up_gb_per_s: f64,
    /// Of each direction while both work; `None` where neither slows the other.
    pub both_gb_per_s: Option<f64>,
    /// Before the first byte of each batch, in microseconds.
    pub latency_us: u32,
    /// Where the figures come from.
    pub source: &'static str,
}

const INFERENCE_SIM: &str = "the device presets of inference-sim";

/// Links between G1 and G2; the first is the default.
pub const PCIE: &[LinkPreset] = &[
    LinkPreset {
        name: "pcie4",
        down_gb_per_s: 25.0,
        up_gb_per_s: 25.0,
        both_gb_per_s: Some(18.6),
        // A round figure, here and in the next two.
        latency_us: 10,
        source: "16 lanes, pinned memory: 24 to 26 of 32 GB/s; both directions at once: the README of nvbandwidth",
    },
    LinkPreset {
        name: "pcie5",
        down_gb_per_s: 50.0,
        up_gb_per_s: 50.0,
        both_gb_per_s: None,
        latency_us: 10,
        source: "16 lanes, pinned memory: 50 to 55 of 64 GB/s; 41 to 44 through a KV connector (LMCache)",
    },
    LinkPreset {
        name: "c2c",
        down_gb_per_s: 297.0,
        up_gb_per_s: 375.0,
        both_gb_per_s: None,
        latency_us: 10,
        source: "NVLink-C2C of a GH200, 450 GB/s nominal: as measured at KTH",
    },
];

/// Links between G2 and G3; the first is the default.
pub const DISK: &[LinkPreset] = &[
    LinkPreset {
        name: "nvme_gen4",
        down_gb_per_s: 4.0,
        up_gb_per_s: 6.5,
        both_gb_per_s: None,
        latency_us: 80,
        source: "PM9A3: 3.5 to 4 GB/s written, 6.5 to 6.9 read; latency: the device presets of inference-sim",
    },
    LinkPreset {
        name: "nvme_gen5",
        down_gb_per_s: 6.6,
        up_gb_per_s: 13.0,
        both_gb_per_s: None,
        latency_us: 80,
        source: "PM1743: 6.6 GB/s written, 13 to 14 read; latency as of gen4",
    },
    LinkPreset {
        name: "nvme_gen3",
        down_gb_per_s: 3.0,
        up_gb_per_s: 3.5,
        both_gb_per_s: None,
        latency_us: 100,
        source: INFERENCE_SIM,
    },
    LinkPreset {
        name: "sata",
        down_gb_per_s: 0.5,
        up_gb_per_s: 0.55,
        both_gb_per_s: None,
        latency_us: 150,
        source: INFERENCE_SIM,
    },
];

/// Links between G2 and G4; the first is the default.
pub const OBJECT: &[LinkPreset] = &[LinkPreset {
    name: "s3",
    down_gb_per_s: 1.0,
    up_gb_per_s: 1.0,
    both_gb_per_s: None,
    latency_us: 30_000,
    source: "the device presets of inference-sim; parallel ranges reach 1 to 4 GB/s a host",
}];

/// Links from worker to worker, which handoffs cross in one direction; the first is the default.
pub const HANDOFF: &[LinkPreset] = &[
    LinkPreset {
        name: "nic_400g",
        down_gb_per_s: 45.0,
        up_gb_per_s: 45.0,
        both_gb_per_s: None,
        latency_us: 10,
        source: "one card of 400 Gb/s (NDR), 50 GB/s nominal: 40 to 45; latency between two GPUs: AIConfigurator",
    },
    LinkPreset {
        name: "nvlink4",
        down_gb_per_s: 450.0,
        up_gb_per_s: 450.0,
        both_gb_per_s: None,
        latency_us: 10,
        source: "H100 to H100 in one host, nominal: no measured figure is published; latency as above",
    },
];

impl LinkPreset {
    /// The rates.
    pub fn rates(&self) -> LinkRates {
        let rate = |gb_per_s: f64| LinkRate {
            alone_bytes_per_s: bytes_per_s(gb_per_s),
            both_bytes_per_s: bytes_per_s(self.both_gb_per_s.unwrap_or(gb_per_s).min(gb_per_s)),
            latency: Span::from_ns(u64::from(self.latency_us) * 1_000),
        };
        LinkRates { down: rate(self.down_gb_per_s), up: rate(self.up_gb_per_s) }
    }
}

/// Decimal gigabytes per second as whole bytes per second, at least 1.
pub(crate) fn bytes_per_s(gb_per_s: f64) -> u64 {
    // A float-to-int cast saturates and maps NaN to 0, the same on every platform.
    (libm::round(gb_per_s * 1e9) as u64).max(1)
}

/// Whole bytes per second as decimal gigabytes: [`bytes_per_s`] gives them back, up to the fastest link.
pub(crate) fn gb_per_s(bytes_per_s: u64) -> f64 {
    bytes_per_s as f64 / 1e9
}
