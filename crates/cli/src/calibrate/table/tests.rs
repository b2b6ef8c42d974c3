//! The table of measurements that were made up.

use expect_test::expect;
use tierscope_driver::calibrate::{Point, Prediction, Repeated, Subject};
use tierscope_engine::Tier;

use super::*;

fn sample(lane: Lane, block_bytes: u64, blocks: u32, with_opposite: bool, median_ns: f64) -> Sample {
    let point = Point { lane, block_bytes, blocks, in_flight: 1, with_opposite };
    Sample { point, median_ns, quartiles_ns: [0.9 * median_ns, 1.2 * median_ns], repeats: 9 }
}

fn made_up() -> Calibration {
    let lanes = [Lane::G2ToG3, Lane::G3ToG2];
    let mut samples = Vec::new();
    for (lane, slowness) in lanes.into_iter().zip([0.5, 0.25]) {
        for block_bytes in [4_096, 1 << 20] {
            for (blocks, with_opposite) in [(1, false), (4, false), (16, false), (8, true)] {
                let bytes = f64::from(blocks) * block_bytes as f64;
                let factor = if with_opposite { 2.0 } else { 1.0 };
                let ns = 80_000.0 + f64::from(blocks) * 3_000.0 + bytes * slowness * factor;
                samples.push(sample(lane, block_bytes, blocks, with_opposite, ns));
            }
        }
    }
    let prediction = |lane, mixed, bias: f64| Prediction {
        lane,
        block_bytes: 512 << 10,
        mixed,
        batches: if mixed { 120 } else { 3 },
        error: bias.abs(),
        bias,
        within: 0.625,
    };
    let links = [None, LinkFit::of(lanes, &samples), None];
    let again = |median_ns: f64| Repeated { before: samples[0], after: Sample { median_ns, ..samples[0] } };
    Calibration {
        subjects: vec![
            Subject { tier: Tier::G2, name: "host memory".to_owned(), remarks: vec![] },
            Subject {
                tier: Tier::G3,
                name: "disk /mnt/nvme".to_owned(),
                remarks: vec!["page cache, not the disk".to_owned(), "4 threads".to_owned()],
            },
        ],
        working_set_bytes: 128 << 20,
        took_s: 59.7,
        repeated: vec![again(1.3 * samples[0].median_ns)],
        samples,
        missed: vec![
            Missed {
                what: "g2_g4, g4_g2".to_owned(),
                block_bytes: None,
                why: "nothing was given for g4".to_owned(),
            },
            Missed {
                what: "g3, 1 batches of 64".to_owned(),
                block_bytes: Some(8 << 20),
                why: "needs 64 slots; 16 could be prepared".to_owned(),
            },
        ],
        links,
        predictions: vec![
            prediction(lanes[0], false, 0.031),
            prediction(lanes[0], true, -0.14),
            prediction(lanes[1], true, 0.08),
        ],
        noticed_ns: 6_200.0,
    }
}

#[test]
fn all_of_it() {
    expect![[r#""#]].assert_eq(&render(&made_up()));
}

#[test]
fn nothing_held_out_is_said() {
    let text = render(&Calibration { predictions: Vec::new(), ..made_up() });
    assert!(text.contains("how well this predicts is not known"), "{text}");
}
