//! The plan: which runs there are, in one order, and a digest by which shards know that they belong together.

use tierscope_units::Digest;

use crate::knob::Knob;
use crate::refusal::{Refusal, quote};

/// Most points of a plan.
const POINTS_MAX: u64 = 100_000;
/// Most knobs.
const KNOBS_MAX: usize = 3;
/// Most seeds.
const SEEDS_MAX: usize = 100_000;
/// Part of the digest: raised when rows change their meaning.
const FORMAT: u32 = 1;

/// What a point computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A whole run.
    Run,
    /// Hits by the order of requests alone: no scheduler, no time.
    CacheOnly,
}

impl Mode {
    /// The mode as files spell it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::CacheOnly => "cache_only",
        }
    }
}

/// Which runs there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What each point computes.
    pub mode: Mode,
    /// The scenario that the knobs are turned on.
    pub text: String,
    /// The knobs; the last one turns fastest, but for the seeds.
    pub knobs: Vec<Knob>,
    /// The seeds, which change fastest; empty for the scenario's own.
    pub seeds: Vec<u64>,
    /// The content of each trace file by its name in the scenario, in order of the names.
    pub traces: Vec<(String, Digest)>,
}

/// One run of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point<'a> {
    /// Its number, from 0.
    pub index: u64,
    /// The values of the knobs.
    pub values: Vec<&'a str>,
    /// The seed, unless it is the scenario's own.
    pub seed: Option<u64>,
}

impl Plan {
    /// Looks at what was asked for together.
    ///
    /// # Errors
    /// No knob or more than three, a key twice, or more than a hundred thousand points.
    pub fn check(&self) -> Result<(), Refusal> {
        let keys: Vec<&str> = self.knobs.iter().map(|knob| knob.key.as_str()).collect();
        if keys.is_empty() || keys.len() > KNOBS_MAX {
            return Err(Refusal::new(
                "--knob",
                format!("{} knobs", keys.len()),
                format!("one to {KNOBS_MAX}"),
                "name what is to be changed, for example --knob engine.g1_blocks=500..8000*2",
            ));
        }
        if let Some(twice) =
            keys.iter().enumerate().find_map(|(at, key)| keys[..at].contains(key).then_some(key))
        {
            let mend = "give all values of a key to one --knob";
            return Err(Refusal::new(
                "--knob",
                format!("the key {} twice", quote(twice)),
                "each key once",
                mend,
            ));
        }
        if keys.contains(&"seed") && !self.seeds.is_empty() {
            let mend = "leave one of the two out";
            return Err(Refusal::new("--knob", "the key seed, and --seeds too", "seeds in one place", mend));
        }
        let points = self.knobs.iter().try_fold(self.seeds.len().max(1) as u64, |points, knob| {
            points.checked_mul(knob.values.len() as u64).filter(|&points| points <= POINTS_MAX)
        });
        points.map(drop).ok_or_else(|| {
            let expected = format!("at most {POINTS_MAX}");
            Refusal::new("--knob", "more points", expected, "take fewer values or fewer seeds")
        })
    }

    /// How many points there are.
    pub fn points(&self) -> u64 {
        let values = self.knobs.iter().map(|knob| knob.values.len() as u64);
        values.product::<u64>() * self.seeds.len().max(1) as u64
    }

    /// The point with a number below [`Plan::points`].
    pub fn point(&self, index: u64) -> Point<'_> {
        let mut rest = index;
        let mut digit = |base: usize| {
            let base = base.max(1) as u64;
            let digit = rest % base;
            rest /= base;
            digit as usize
        };
        let seed = self.seeds.get(digit(self.seeds.len())).copied();
        let mut values: Vec<&str> = Vec::with_capacity(self.knobs.len());
        for knob in self.knobs.iter().rev() {
            let at = digit(knob.values.len());
            values.extend(knob.values.get(at).map(String::as_str));
        }
        values.reverse();
        Point { index, values, seed }
    }

    /// The plan as JSON, always the same for the same plan.
    pub fn to_json(&self) -> serde_json::Value {
        let knobs = self.knobs.iter().map(|knob| serde_json::json!([knob.key, knob.values]));
        let traces = self.traces.iter().map(|(name, digest)| serde_json::json!([name, digest.to_string()]));
        serde_json::json!({
            "format": FORMAT,
            "tierscope": tierscope_sim::VERSION,
            "mode": self.mode.word(),
            "scenario": self.text,
            "knobs": knobs.collect::<Vec<_>>(),
            "seeds": self.seeds,
            "traces": traces.collect::<Vec<_>>(),
        })
    }

    /// Reads what [`Plan::to_json`] wrote, by this version.
    pub(crate) fn from_json(value: &serde_json::Value) -> Option<Self> {
        let texts = |value: &serde_json::Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|text| Some(text.as_str()?.to_owned())).collect()
        };
        if value["format"] != FORMAT || value["tierscope"] != tierscope_sim::VERSION {
            return None;
        }
        let mode = [Mode::Run, Mode::CacheOnly].into_iter().find(|mode| value["mode"] == mode.word())?;
        let knobs = value["knobs"].as_array()?.iter();
        let knobs = knobs.map(|knob| Some(Knob::new(knob[0].as_str()?.to_owned(), texts(&knob[1])?)));
        let seeds = value["seeds"].as_array()?;
        let traces = value["traces"].as_array()?.iter();
        let traces = traces.map(|trace| {
            let digest = u128::from_str_radix(trace[1].as_str()?, 16).ok()?;
            Some((trace[0].as_str()?.to_owned(), Digest(digest)))
        });
        let plan = Self {
            mode,
            text: value["scenario"].as_str()?.to_owned(),
            knobs: knobs.collect::<Option<_>>()?,
            seeds: seeds.iter().map(serde_json::Value::as_u64).collect::<Option<_>>()?,
            traces: traces.collect::<Option<_>>()?,
        };
        plan.check().ok()?;
        Some(plan)
    }

    /// What all shards of a sweep have in common.
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_json().to_string().as_bytes())
    }
}

/// One of the equal shares of a plan: every n-th point, so that costly corners are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// From 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl Shard {
    /// The whole plan.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Reads `i/n`.
    ///
    /// # Errors
    /// What is no such pair with 1 ≤ i ≤ n.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let pair =
            text.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
        match pair {
            Some((number, of)) if 1 <= number && number <= of && of <= 100_000 => Ok(Self { number, of }),
            _ => Err(Refusal::new("--shard", quote(text), "i/n with i from 1 to n", "for example 1/20")),
        }
    }

    /// The numbers of its points, in order.
    pub fn points(self, plan: &Plan) -> impl Iterator<Item = u64> + use<> {
        (u64::from(self.number) - 1..plan.points()).step_by(self.of as usize)
    }

    /// The name of its file, without an ending.
    pub fn name(self) -> String {
        format!("part-{:05}-of-{:05}", self.number, self.of)
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Reads seeds: `1,2,3` or `1..20`, both ends among them.
///
/// # Errors
/// What is no list of seeds, or has one twice, or more than a hundred thousand.
pub fn seeds(text: &str) -> Result<Vec<u64>, Refusal> {
    let bad = |found: String| {
        let mend = "for example 1..20, or 1,2,3";
        Refusal::new("--seeds", found, "seeds from 0 to 9223372036854775807, each once", mend)
    };
    let seed = |text: &str| text.trim().parse::<u64>().ok().filter(|&seed| seed <= i64::MAX as u64);
    let mut seeds = Vec::new();
    for item in text.split(',') {
        let (first, last) = item.split_once("..").unwrap_or((item, item));
        let ends = seed(first).zip(seed(last)).filter(|(first, last)| first <= last);
        let (first, last) = ends.ok_or_else(|| bad(quote(item)))?;
        if last - first >= (SEEDS_MAX - seeds.len()) as u64 {
            return Err(bad(format!("more than {SEEDS_MAX} seeds")));
        }
        seeds.extend(first..=last);
    }
    let mut sorted = seeds.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|two| two[0] == two[1]) {
        Some(twice) => Err(bad(format!("the seed {} twice", twice[0]))),
        None => Ok(seeds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(knobs: &[&str], seeds: &[u64]) -> Plan {
        let knobs = knobs.iter().map(|knob| Knob::parse(knob).expect("a knob")).collect();
        Plan { mode: Mode::Run, text: "tierscope = 1".into(), knobs, seeds: seeds.to_vec(), traces: vec![] }
    }

    #[test]
    fn points_have_one_order_and_seeds_change_fastest() {
        let plan = plan(&["a=1,2", "b=x,y,z"], &[7, 8]);
        assert_eq!(plan.points(), 12);
        let shown: Vec<String> = (0..12)
            .map(|index| plan.point(index))
            .map(|point| format!("{}{}", point.values.concat(), point.seed.expect("a seed")))
            .collect();
        assert_eq!(shown.join(" "), "1x7 1x8 1y7 1y8 1z7 1z8 2x7 2x8 2y7 2y8 2z7 2z8");
    }

    #[test]
    fn shards_take_each_point_once() {
        let plan = plan(&["a=1..10+1"], &[]);
        for of in [1, 3, 10, 17] {
            let mut all: Vec<u64> = (1..=of).flat_map(|number| Shard { number, of }.points(&plan)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..10).collect::<Vec<_>>(), "{of} shards");
        }
        for bad in ["", "1", "0/3", "4/3", "1/0", "-1/3", "a/b", "1/100001"] {
            assert!(Shard::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Shard::parse("2/20").expect("a shard").name(), "part-00002-of-00020");
    }

    #[test]
    fn whatever_changes_a_row_changes_the_digest() {
        let first = plan(&["a=1,2"], &[1]);
        let mut others = vec![plan(&["a=1,3"], &[1]), plan(&["b=1,2"], &[1]), plan(&["a=1,2"], &[2])];
        others.push(Plan { mode: Mode::CacheOnly, ..first.clone() });
        others.push(Plan { text: "tierscope = 1 ".into(), ..first.clone() });
        others.push(Plan { traces: vec![("t".into(), Digest(1))], ..first.clone() });
        for other in others {
            assert_ne!(other.digest(), first.digest(), "{other:?}");
            assert_eq!(Plan::from_json(&other.to_json()), Some(other));
        }
    }

    #[test]
    fn seeds_are_a_list_of_numbers_and_ranges() {
        assert_eq!(seeds("3,1..2, 9").expect("seeds"), [3, 1, 2, 9]);
        for bad in ["", "x", "2..1", "1,1", "0..100000", "-1", "9223372036854775808"] {
            assert!(seeds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn too_much_is_refused() {
        assert!(plan(&[], &[]).check().is_err());
        assert!(plan(&["a=1", "a=2"], &[]).check().is_err());
        assert!(plan(&["seed=1"], &[1]).check().is_err());
        assert!(plan(&["a=1", "b=1", "c=1", "d=1"], &[]).check().is_err());
        let many = ["a=1..1000+1", "b=1..100+1", "c=1,2"];
        assert!(plan(&many, &[]).check().is_err());
        assert!(plan(&many[..2], &[]).check().is_ok());
    }
}
