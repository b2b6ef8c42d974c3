//! Tiers, the lanes between them, and why blocks move along them, by name.

/// A tier of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// GPU memory of one worker.
    G1,
    /// Pinned host memory.
    G2,
    /// Local disk.
    G3,
    /// Object store.
    G4,
}

impl Tier {
    /// Number of tiers.
    pub const COUNT: usize = 4;
    /// All tiers, the nearest first.
    pub const ALL: [Self; Self::COUNT] = [Self::G1, Self::G2, Self::G3, Self::G4];

    /// Its place in [`Tier::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::G1 => "g1",
            Self::G2 => "g2",
            Self::G3 => "g3",
            Self::G4 => "g4",
        }
    }
}

/// One directed pair of tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Offload.
    G1ToG2,
    /// Offload.
    G2ToG3,
    /// Offload.
    G2ToG4,
    /// Onboard.
    G2ToG1,
    /// Staging.
    G3ToG2,
    /// Staging.
    G4ToG2,
}

impl Lane {
    /// Number of lanes.
    pub const COUNT: usize = 6;
    /// All lanes: downward first.
    pub const ALL: [Self; Self::COUNT] =
        [Self::G1ToG2, Self::G2ToG3, Self::G2ToG4, Self::G2ToG1, Self::G3ToG2, Self::G4ToG2];

    /// Its place in [`Lane::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Where blocks come from.
    pub const fn from(self) -> Tier {
        match self {
            Self::G1ToG2 => Tier::G1,
            Self::G2ToG3 | Self::G2ToG4 | Self::G2ToG1 => Tier::G2,
            Self::G3ToG2 => Tier::G3,
            Self::G4ToG2 => Tier::G4,
        }
    }

    /// Where blocks go.
    pub const fn to(self) -> Tier {
        match self {
            Self::G2ToG1 => Tier::G1,
            Self::G1ToG2 | Self::G3ToG2 | Self::G4ToG2 => Tier::G2,
            Self::G2ToG3 => Tier::G3,
            Self::G2ToG4 => Tier::G4,
        }
    }

    /// Whether blocks go to a slower tier.
    pub const fn is_down(self) -> bool {
        matches!(self, Self::G1ToG2 | Self::G2ToG3 | Self::G2ToG4)
    }

    /// The word for it in scenarios and exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::G1ToG2 => "g1_g2",
            Self::G2ToG3 => "g2_g3",
            Self::G2ToG4 => "g2_g4",
            Self::G2ToG1 => "g2_g1",
            Self::G3ToG2 => "g3_g2",
            Self::G4ToG2 => "g4_g2",
        }
    }
}

/// Why blocks are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// They were evicted; their slots are held until the copy ends.
    Evicted,
    /// They were computed.
    Computed,
    /// They were found often.
    Hit,
    /// They are about to be evicted.
    Boundary,
    /// They came to the tier above, which feeds this one.
    Chained,
    /// A request wants them.
    Wanted,
}

impl Cause {
    /// The word for it in exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Evicted => "evicted",
            Self::Computed => "computed",
            Self::Hit => "hit",
            Self::Boundary => "boundary",
            Self::Chained => "chained",
            Self::Wanted => "wanted",
        }
    }
}
