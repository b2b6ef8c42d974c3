//! Chores: pieces of work that any worker of the pool can do, each a function of what its message holds (and of the
//! trace that the page was given). What they come to depends neither on the worker nor on the order.

use serde::{Deserialize, Serialize};

use super::ProblemView;

/// A piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Chore {
    /// Look at a plan of many runs.
    Plan { plan: PlanText },
    /// Compute one point of a plan.
    Point { plan: PlanText, index: u32 },
    /// Write rows down, each as its point gave it, in any order.
    Rows { plan: PlanText, rows: Vec<String>, form: RowsForm },
    /// Compute one of `of` equal shares of a sizing chart.
    Size { text: String, share: u32, of: u32 },
    /// Find where two runs part.
    Compare { duel: Duel },
    /// Run both sides of a comparison with a seed.
    Pair { duel: Duel, seed: u32 },
    /// Say how sure the differences of several pairs are.
    Spread { pairs: Vec<PairView> },
}

impl Chore {
    /// The recording that it needs.
    pub fn recording(&self) -> Option<u32> {
        match self {
            Self::Compare { duel } => duel.driven,
            _ => None,
        }
    }
}

/// What came of a chore.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// It goes on; the share that is done, 0 to 1.
    Progress { share: f64 },
    /// The plan is sound.
    Plan { plan: PlanView },
    /// A point.
    Point { row: RowView },
    /// Rows as a file.
    Rows { text: String },
    /// A share of a sizing chart.
    Size { sizing: Box<SizingView> },
    /// Where two runs part.
    Compare { difference: Box<Difference> },
    /// A pair of runs.
    Pair { pair: PairView },
    /// How sure differences are.
    Spread { spread: SpreadView },
    /// It cannot be done.
    Refused { problems: Vec<ProblemView> },
}

/// A plan of many runs, as the user wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanText {
    /// The scenario.
    pub text: String,
    /// One to three knobs, as `tierscope sweep --knob` takes them.
    pub knobs: Vec<String>,
    /// Seeds as `--seeds` takes them; empty for the scenario's own.
    pub seeds: String,
}

/// A plan, read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanView {
    /// How many points there are.
    pub points: u32,
    /// The names of a row's cells.
    pub columns: Vec<String>,
    /// The knobs.
    pub knobs: Vec<KnobView>,
    /// How many seeds each setting is run with; 1 for the scenario's own.
    pub seeds: u32,
}

/// A knob and its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnobView {
    /// The key.
    pub key: String,
    /// As `--set` takes them.
    pub values: Vec<String>,
}

/// A point of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowView {
    /// Its number.
    pub index: u32,
    /// How it ended, as the column `state` says.
    pub state: String,
    /// Why it did not finish; may be empty.
    pub detail: String,
    /// Its numbers, one a column; `None` for text and for what was not measured.
    pub cells: Vec<Option<f64>>,
    /// The whole row, exact, for [`Chore::Rows`].
    pub line: String,
}

/// A form in which rows are handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowsForm {
    /// As `tierscope sweep --out FILE.csv` writes it.
    Csv,
    /// As `--json` writes it.
    Json,
}

/// Two runs: A, and B, which is another scenario from its beginning, or from a time of A on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Duel {
    /// The scenario of A.
    pub a: String,
    /// That of B.
    pub b: String,
    /// B is A up to this time.
    pub at_ns: Option<f64>,
    /// A is the driven run of this recording; B is simulated whatever A is.
    pub driven: Option<u32>,
}

/// Where two runs part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Whether they mean the same in everything.
    pub equal: bool,
    /// Whether both had the same requests.
    pub same_work: bool,
    /// Facts of A and B.
    pub facts: [f64; 2],
    /// The first facts that differ.
    pub first: Option<Parting>,
    /// Whether every decision is the same.
    pub same_decisions: bool,
    /// The first decisions that differ.
    pub decision: Option<Parting>,
    /// What differs, aspect by aspect; those of which neither run says anything are left out.
    pub aspects: Vec<AspectView>,
}

/// What stands in A and in B where they part; `None` where that run says nothing more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parting {
    /// A and B.
    pub sides: [Option<Said>; 2],
}

/// A fact in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// When, by the clock of its run.
    pub at_ns: f64,
    /// What happened.
    pub words: String,
}

/// One way to look at two runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AspectView {
    /// Its name.
    pub name: String,
    /// Whether both say the same.
    pub equal: bool,
    /// Entries of A and of B.
    pub entries: [f64; 2],
    /// When they part first.
    pub at_ns: Option<f64>,
}

/// Two runs of one seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairView {
    /// The seed.
    pub seed: u32,
    /// Whether both had the same requests.
    pub same_work: bool,
    /// Their digests.
    pub digests: [String; 2],
    /// For each metric its value in A and in B.
    pub values: Vec<[Option<f64>; 2]>,
}

/// How sure differences are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpreadView {
    /// Pairs that were taken.
    pub pairs: u32,
    /// The seed makes no difference to either side: one pair says all.
    pub without_chance: bool,
    /// Pairs whose two runs had different requests.
    pub other_work: u32,
    /// A line for each metric that some pair has.
    pub metrics: Vec<MetricView>,
}

/// A metric over pairs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricView {
    /// What it is called.
    pub name: String,
    /// What it is counted in.
    pub unit: MetricUnit,
    /// Medians of A and of B.
    pub medians: [f64; 2],
    /// The median of the differences B − A.
    pub difference: f64,
    /// That, by A's median.
    pub relative: Option<f64>,
    /// Whether A and B are the same in every pair.
    pub same: bool,
    /// Where that median lies, at 95 %.
    pub interval: Option<[f64; 2]>,
    /// Whether the interval excludes zero.
    pub stands_out: bool,
}

/// What a metric is counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MetricUnit {
    /// Nanoseconds.
    Ns,
    /// A rate per second.
    PerSecond,
    /// A share of one.
    Share,
    /// A number of things.
    #[default]
    Count,
}

/// What caches of every size would hit, and what the tiers of a scenario are worth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizingView {
    /// Requests of the workload.
    pub requests: f64,
    /// Different blocks in their prompts.
    pub distinct_blocks: f64,
    /// Tokens of a block of the engine.
    pub block_tokens: u32,
    /// Bytes of such a block.
    pub block_bytes: f64,
    /// Hit ratio of a cache without limits.
    pub infinite: f64,
    /// Caches of some sizes, ascending.
    pub points: Vec<CapacityView>,
    /// The scenario's tiers, each with those above it.
    pub tiers: Vec<TierMark>,
    /// GB/s at which loading a block takes as long as computing it; `None` where computing takes no time.
    pub break_even_gb_per_s: Option<f64>,
    /// The ways from the tiers to G1.
    pub paths: Vec<PathView>,
    /// How pass times are modelled, on which the break-even rests.
    pub timing: String,
    /// Workers whose tiers are counted together.
    pub workers: u32,
}

/// A cache of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CapacityView {
    /// Its size, in blocks of the engine.
    pub blocks: f64,
    /// What it hits under LRU, 0 to 1 by tokens.
    pub lru: f64,
    /// What it hits at best.
    pub optimal: f64,
}

/// A tier with those above it, as one cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TierMark {
    /// `G1`, `G1+G2`.
    pub name: String,
    /// As one cache.
    pub cache: CapacityView,
}

/// The way of a block from a tier to G1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathView {
    /// The tier.
    pub tier: String,
    /// Its own link.
    pub link: String,
    /// The rate of that link.
    pub link_gb_per_s: f64,
    /// The rate of the whole way.
    pub gb_per_s: f64,
    /// What the link would need so that loading is as fast as computing; `None` where no rate is enough.
    pub link_break_even_gb_per_s: Option<f64>,
}

impl Parting {
    /// When the earlier of the two stands there.
    pub fn at_ns(&self) -> Option<f64> {
        let times = self.sides.iter().flatten().map(|told| told.at_ns);
        times.reduce(f64::min)
    }
}
