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
                what: "g3, 1 x 64 blocks stored".to_owned(),
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
    expect![[r#"
        calibrated in 60 s, 16 points, 128 MiB gone through each way

          g2  host memory
          g3  disk /mnt/nvme; page cache, not the disk; 4 threads

        measured: medians, in brackets the range of the middle half of the repeats
          lane       block            one block alone                       most at once    both ways
          g2_g3      4 KiB           85.0 µs [77-102]         0.408 GB/s (1 x 16 blocks)   0.240 GB/s
          g2_g3      1 MiB           607 µs [547-729]          1.97 GB/s (1 x 16 blocks)   0.988 GB/s
          g3_g2      4 KiB           84.0 µs [76-101]         0.454 GB/s (1 x 16 blocks)   0.272 GB/s
          g3_g2      1 MiB           345 µs [311-414]          3.88 GB/s (1 x 16 blocks)    1.95 GB/s

        fitted: latency + blocks x (overhead + bytes / rate); off by: at the points it was made from
          lane         GB/s    both ways    latency    per block  points  off by (most)  spread   again
          g2_g3   2.00 GB/s    1.00 GB/s    80.0 µs       3.0 µs       8      0 % (0 %)    30 %    30 %
          g3_g2   4.00 GB/s    2.00 GB/s    80.0 µs       3.0 µs       8      0 % (0 %)    30 %       -
          g2_g3 is unsteady: measured again at the end, it differed by 30 %
          the driver hears of an end 6.2 µs after it (median); that is in none of the figures

        held out, predicted by the simulator's links
          lane       block load          batches       off by     bias  within 15 %
          g2_g3    512 KiB by itself           3          3 %     +3 %         62 %
          g2_g3    512 KiB mixed             120         14 %    -14 %         62 %
          g3_g2    512 KiB mixed             120          8 %     +8 %         62 %

        not measured
          g2_g4, g4_g2: nothing was given for g4
          g3, 1 x 64 blocks stored, blocks of 8 MiB: needs 64 slots; 16 could be prepared
    "#]]
    .assert_eq(&render(&made_up()));
}

#[test]
fn nothing_held_out_is_said() {
    let text = render(&Calibration { predictions: Vec::new(), ..made_up() });
    assert!(text.contains("how well this predicts is not known"), "{text}");
}
