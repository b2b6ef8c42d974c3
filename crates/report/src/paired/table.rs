//! Paired metrics as a table.

use tierscope_units::time::NS_PER_MS;

use super::{Method, Paired, Unit};
use crate::table::{aligned, plain};

/// The table, ending with a newline; empty where no metric differs.
pub fn render(metrics: &[Paired]) -> String {
    let differing = metrics.iter().filter(|metric| !metric.same);
    let seeds = metrics.iter().map(|metric| metric.pairs).max().unwrap_or(0);
    let mut table = plain(["metric", "A", "B", "B − A", "relative", "95 % from", "to", ""]);
    let mut student = false;
    let mut rows = 0;
    for paired in differing {
        let unit = paired.metric.unit;
        let sign = |value: f64| format!("{}{}", if value > 0.0 { "+" } else { "" }, shown(value, unit));
        let ends = paired.interval.map_or([String::new(), String::new()], |interval| {
            student |= interval.method == Method::Student;
            [sign(interval.low), sign(interval.high)]
        });
        let relative = paired.relative.map_or("–".to_owned(), |share| format!("{:+.2} %", share * 100.0));
        let [a, b] = paired.medians.map(|value| shown(value, unit));
        let [low, high] = ends;
        let mark = if paired.stands_out() { "*" } else { "" };
        let name = format!("{}{}", paired.metric.name, suffix(unit));
        table.add_row([name, a, b, sign(paired.difference), relative, low, high, mark.to_owned()]);
        rows += 1;
    }
    match rows {
        0 => String::new(),
        _ => format!("{}\n{}", aligned(table), legend(seeds, student)),
    }
}

fn legend(seeds: usize, student: bool) -> String {
    match (seeds, student) {
        (0 | 1, _) => "one pair of runs: plain differences; --seeds N says how sure they are\n".to_owned(),
        (_, true) => format!(
            "medians over {seeds} seeds, differences paired by seed; Student's intervals (ten seeds or more are \
             bootstrapped); * excludes zero\n"
        ),
        _ => format!(
            "medians over {seeds} seeds, differences paired by seed; bootstrapped intervals of the median; * excludes \
             zero\n"
        ),
    }
}

fn suffix(unit: Unit) -> &'static str {
    match unit {
        Unit::Ns => ", ms",
        Unit::PerSecond => "/s",
        Unit::Share => ", %",
        Unit::Count => "",
    }
}

fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Ns => format!("{:.3}", value / NS_PER_MS as f64),
        Unit::PerSecond => format!("{value:.3}"),
        Unit::Share => format!("{:.3}", value * 100.0),
        Unit::Count if value == libm::trunc(value) => format!("{value:.0}"),
        Unit::Count => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired::{Interval, METRICS};
    use expect_test::expect;

    fn row(key: &str, medians: [f64; 2], interval: Option<(f64, f64, Method)>) -> Paired {
        let metric = METRICS.iter().find(|metric| metric.key == key).expect("a metric");
        let difference = medians[1] - medians[0];
        Paired {
            metric,
            pairs: 12,
            medians,
            difference,
            relative: (medians[0] != 0.0).then(|| difference / medians[0]),
            same: difference == 0.0,
            interval: interval.map(|(low, high, method)| Interval { low, high, method }),
        }
    }

    #[test]
    fn rows_that_differ_are_shown_and_those_that_stand_out_are_marked() {
        let ends = |low, high| Some((low, high, Method::Bootstrap));
        let rows = [
            row("latency.ttft_ns.p99", [15_500_000.0, 12_250_000.0], ends(-4_000_000.0, -1_000_000.0)),
            row("hit_ratio.first_admission.g2", [0.0, 0.125], ends(-0.01, 0.25)),
            row("preemptions", [3.0, 4.5], ends(0.5, 3.0)),
            row("passes", [7.0, 7.0], ends(0.0, 0.0)),
        ];
        expect![[r#"
            ╭────────────────────────────────────────────────────────────────────────────────╮
            │ metric               A        B     B − A   relative   95 % from        to     │
            ├────────────────────────────────────────────────────────────────────────────────┤
            │ TTFT p99, ms    15.500   12.250    -3.250   -20.97 %      -4.000    -1.000   * │
            │ hits in G2, %    0.000   12.500   +12.500          –      -1.000   +25.000     │
            │ preemptions          3      4.5      +1.5   +50.00 %        +0.5        +3   * │
            ╰────────────────────────────────────────────────────────────────────────────────╯
            medians over 12 seeds, differences paired by seed; bootstrapped intervals of the median; * excludes zero
        "#]].assert_eq(&render(&rows));
        assert_eq!(render(&rows[3..]), "", "what is the same is not told");
    }
}
