//! What a few seeds say of many: the intervals of `tierscope diff --seeds` against 200 seeds of the same change.
//!
//! One policy is changed. From the 200 pairs of runs, every disjoint group of 2, 5, 10 and 20 pairs is asked for its
//! interval; the share of intervals that cover the median difference of all 200 is what "95 %" comes to in use.

use tierscope_report::paired::{Pair, Paired, paired};
use tierscope_sim::RunOptions;
use tierscope_tests::{run, scenario};

const SEEDS: u64 = 200;

/// Many requests over few blocks, some prefixes shared.
const PRESSURE: &str = r#"
tierscope = 1
[engine]
block_size_tokens = 8
g1_blocks = 64
[timing]
model = "polynomial"
[workload]
kind = "synthetic"
requests = 40
arrival = "poisson"
rate_per_s = 120
prompt_tokens = { min = 16, max = 160 }
output_tokens = { min = 20, max = 120 }
shared_prefix = { tokens = 32, groups = 6 }
"#;

/// The policy that differs: B preempts the request that has the least to compute again.
const CHANGE: &str = "engine.victim=least_computed";

fn pairs(seeds: std::ops::RangeInclusive<u64>) -> Vec<Pair> {
    let changed = tierscope_scenario::set(PRESSURE, CHANGE).expect("a key that there is");
    seeds
        .map(|seed| {
            let reports = [PRESSURE, &changed].map(|text| {
                let mut scenario = scenario(text);
                scenario.seed = seed;
                run(&scenario, RunOptions::default()).report()
            });
            Pair { seed, same_work: true, of_log: false, reports }
        })
        .collect()
}

fn covers(few: &Paired, difference: f64) -> bool {
    few.interval.is_some_and(|interval| interval.low <= difference && difference <= interval.high)
}

/// How many of the intervals of a metric, of groups of `size` pairs, cover what all pairs say; and of how many.
fn coverage(groups: &[Vec<Paired>], metric: &Paired) -> (usize, usize) {
    let same = |few: &&Paired| few.metric.key == metric.metric.key;
    let few = groups.iter().map(|group| group.iter().find(same).expect("the same metrics"));
    let found: Vec<bool> = few.map(|few| covers(few, metric.difference)).collect();
    (found.iter().filter(|covers| **covers).count(), found.len())
}

#[test]
fn intervals_of_few_seeds_cover_the_difference_of_two_hundred() {
    let all = pairs(1..=SEEDS);
    let whole = paired(&all);
    let standing = whole.iter().filter(|metric| metric.stands_out()).count();
    assert!(standing >= 5, "the change does something: {standing}");
    // Groups of twenty are ten, and the metrics of a group hang together: one odd group is a tenth of all.
    for (size, least, least_of_one) in [(2, 0.93, 0.88), (5, 0.92, 0.85), (10, 0.92, 0.80), (20, 0.88, 0.60)]
    {
        let groups: Vec<Vec<Paired>> = all.chunks_exact(size).map(paired).collect();
        let (mut covered, mut asked) = (0, 0);
        for metric in whole.iter().filter(|metric| !metric.same) {
            let (hits, of) = coverage(&groups, metric);
            println!("{size:>3} seeds: {:<36} {hits} of {of}", metric.metric.key);
            assert!(
                hits as f64 >= least_of_one * of as f64,
                "{} of {size} seeds: {hits} of {of}",
                metric.metric.key
            );
            covered += hits;
            asked += of;
        }
        let share = covered as f64 / asked as f64;
        println!("{size:>3} seeds: {covered} of {asked} intervals cover ({share:.3})");
        assert!(share >= least, "intervals of {size} seeds cover {covered} of {asked}");
    }
}
