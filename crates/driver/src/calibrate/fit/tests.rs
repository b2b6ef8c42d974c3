//! The fit on made-up times, with the noise and the outliers of real ones.

use tierscope_units::RandomStream;

use super::*;

const LANES: [Lane; 2] = [Lane::G2ToG3, Lane::G3ToG2];

/// A made-up link: latency and overhead in nanoseconds, nanoseconds for each byte.
struct Truth {
    latency: f64,
    per_block: [f64; 2],
    slowness: [f64; 2],
    both: [f64; 2],
}

const DISK: Truth =
    Truth { latency: 80_000.0, per_block: [9_000.0, 4_000.0], slowness: [0.5, 0.25], both: [0.8, 0.6] };

/// Times of a grid of points, each off by a factor near 1.
fn samples(truth: &Truth, noise: f64, seed: u64) -> Vec<Sample> {
    let mut stream = RandomStream::named(seed, "calibrate.noise");
    let mut samples = Vec::new();
    for block_bytes in [4_096, 65_536, 1 << 20, 8 << 20] {
        for (nth, lane) in LANES.into_iter().enumerate() {
            for (blocks, in_flight, with_opposite) in [
                (1, 1, false),
                (4, 1, false),
                (16, 1, false),
                (64, 1, false),
                (4, 4, false),
                (8, 1, true),
                (32, 1, true),
            ] {
                let point = Point { lane, block_bytes, blocks, in_flight, with_opposite };
                let slowness = if with_opposite { truth.both[nth] } else { truth.slowness[nth] };
                let exact =
                    truth.latency + point.moved_blocks() * truth.per_block[nth] + point.bytes() * slowness;
                let times = (0..9).map(|_| exact * (1.0 + noise * stream.normal())).collect();
                samples.extend(Sample::of(point, times));
            }
        }
    }
    samples
}

fn near(found: f64, truth: f64, share: f64) -> bool {
    (found - truth).abs() <= share * truth
}

fn assert_is(link: &LinkFit, truth: &Truth, share: f64) {
    assert!(near(link.latency_ns, truth.latency, share), "latency {}", link.latency_ns);
    for (nth, fit) in link.lanes.iter().enumerate() {
        let fit = fit.expect("both were measured");
        assert!(near(fit.per_block_ns, truth.per_block[nth], share), "{fit:?}");
        assert!(near(fit.ns_per_byte, truth.slowness[nth], share), "{fit:?}");
        let both = fit.with_opposite_ns_per_byte.expect("it was measured");
        assert!(near(both, truth.both[nth], share), "{fit:?}");
    }
}

#[test]
fn times_without_noise_give_the_figures_back() {
    let link = LinkFit::of(LANES, &samples(&DISK, 0.0, 1)).expect("enough points");
    assert_is(&link, &DISK, 1e-6);
    assert!(link.lanes.iter().flatten().all(|fit| fit.residual_max < 1e-6 && fit.points == 28));
}

#[test]
fn noise_and_outliers_move_them_little() {
    for seed in 1..=20 {
        let mut samples = samples(&DISK, 0.08, seed);
        // Every ninth point was taken while something else went on.
        for sample in samples.iter_mut().step_by(9) {
            sample.median_ns *= 4.0;
        }
        let link = LinkFit::of(LANES, &samples).expect("enough points");
        assert_is(&link, &DISK, 0.15);
    }
}

#[test]
fn the_fit_is_a_function_of_the_times() {
    let samples = samples(&DISK, 0.05, 7);
    assert_eq!(LinkFit::of(LANES, &samples), LinkFit::of(LANES, &samples));
}

#[test]
fn a_lane_by_itself_is_fitted_and_too_few_points_are_not() {
    let all = samples(&DISK, 0.0, 1);
    let up: Vec<Sample> = all.iter().filter(|it| it.point.lane == LANES[1]).copied().collect();
    let link = LinkFit::of(LANES, &up).expect("enough points of one lane");
    assert!(link.lanes[0].is_none() && near(link.lanes[1].expect("fitted").ns_per_byte, 0.25, 1e-6));
    assert_eq!(LinkFit::of(LANES, &up[..3]), None);
    assert_eq!(LinkFit::of(LANES, &[]), None);
}

#[test]
fn no_lane_is_made_faster_by_the_other() {
    let odd = Truth { both: [0.1, 0.1], ..DISK };
    let link = LinkFit::of(LANES, &samples(&odd, 0.0, 1)).expect("enough points");
    for fit in link.lanes.iter().flatten() {
        assert_eq!(fit.with_opposite_ns_per_byte, Some(fit.ns_per_byte));
    }
}

#[test]
fn what_is_predicted_is_the_formula() {
    let link = LinkFit::of(LANES, &samples(&DISK, 0.0, 1)).expect("enough points");
    let point = Point { lane: LANES[0], block_bytes: 32_768, blocks: 5, in_flight: 3, with_opposite: false };
    let by_hand = 80_000.0 + 15.0 * (9_000.0 + 32_768.0 * 0.5);
    assert!(near(link.predict_ns(&point).expect("fitted"), by_hand, 1e-6));
    assert_eq!(link.predict_ns(&Point { lane: Lane::G1ToG2, ..point }), None);
}
