//! Points of a plan as curves and maps: each setting of the knobs with its value over the seeds.

use tierscope_worker::protocol::{PlanText, PlanView, RowView};

use super::differences::Wish;
use super::format::{count, percent, rate, time};

/// Points of a plan, computed so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// What was asked for.
    pub asked: PlanText,
    /// That, read.
    pub plan: PlanView,
    /// The rows, in the order of their points.
    pub rows: Vec<RowView>,
}

/// A number of a row.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Its column.
    pub column: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// How it is printed.
    pub print: fn(f64) -> String,
    /// What one wants of it.
    pub wish: Wish,
}

const fn measure(column: &'static str, name: &'static str, print: fn(f64) -> String, wish: Wish) -> Measure {
    Measure { column, name, print, wish }
}

fn whole(value: f64) -> String {
    // Medians of two seeds may lie between two numbers.
    if value.fract() == 0.0 { count(value as u64) } else { format!("{value:.1}") }
}

fn per_s(value: f64) -> String {
    format!("{}/s", rate(value))
}

/// The measures, in the order of their list.
pub const MEASURES: [Measure; 20] = [
    measure("ttft_p99_ns", "TTFT p99", time, Wish::Less),
    measure("ttft_p90_ns", "TTFT p90", time, Wish::Less),
    measure("ttft_p50_ns", "TTFT p50", time, Wish::Less),
    measure("ttft_avg_ns", "TTFT mean", time, Wish::Less),
    measure("itl_p99_ns", "ITL p99", time, Wish::Less),
    measure("itl_avg_ns", "ITL mean", time, Wish::Less),
    measure("e2e_p99_ns", "E2E p99", time, Wish::Less),
    measure("e2e_p50_ns", "E2E p50", time, Wish::Less),
    measure("goodput_requests_per_s", "Goodput", per_s, Wish::More),
    measure("requests_per_s", "Requests per second", per_s, Wish::More),
    measure("output_tokens_per_s", "Output tokens per second", per_s, Wish::More),
    measure("hit_ratio_total", "Hit ratio, all tiers", percent, Wish::More),
    measure("hit_ratio_g1", "Hit ratio, G1", percent, Wish::Neither),
    measure("hit_ratio_g2", "Hit ratio, G2", percent, Wish::Neither),
    measure("hit_ratio_g3", "Hit ratio, G3", percent, Wish::Neither),
    measure("hit_ratio_g4", "Hit ratio, G4", percent, Wish::Neither),
    measure("preemptions", "Preemptions", whole, Wish::Less),
    measure("recomputed_tokens", "Recomputed tokens", whole, Wish::Less),
    measure("completed", "Completed requests", whole, Wish::More),
    measure("makespan_ns", "Makespan", time, Wish::Less),
];

impl Measure {
    /// The measure of a column; the first for any other word.
    pub fn of(column: &str) -> Self {
        MEASURES.into_iter().find(|measure| measure.column == column).unwrap_or(MEASURES[0])
    }
}

/// One setting of the knobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Which value of each knob.
    pub at: Vec<usize>,
    /// Over the seeds: least, median, greatest; `None` where nothing was measured.
    pub value: Option<[f64; 3]>,
    /// Seeds that were measured.
    pub seeds: usize,
    /// Why there is nothing, or what is amiss.
    pub remark: String,
}

impl Sweep {
    /// The settings in the order of the plan, with a measure. Those without a row yet are left out.
    pub fn settings(&self, measure: Measure) -> Vec<Setting> {
        let column = self.plan.columns.iter().position(|name| name == measure.column);
        let seeds = self.plan.seeds.max(1);
        let mut settings: Vec<Setting> = Vec::new();
        let mut values: Vec<f64> = Vec::new();
        for (place, row) in self.rows.iter().enumerate() {
            values.extend(column.and_then(|column| row.cells.get(column).copied().flatten()));
            let number = row.index / seeds;
            let last = self.rows.get(place + 1).is_none_or(|next| next.index / seeds != number);
            if last {
                let rows = self.rows[..=place].iter().rev().take_while(|row| row.index / seeds == number);
                let remark = rows.filter(|row| row.state != "finished").last().map_or(String::new(), remark);
                settings.push(Setting {
                    at: self.place(number),
                    value: spread(&mut values),
                    seeds: values.len(),
                    remark,
                });
                values.clear();
            }
        }
        settings
    }

    /// Which value of each knob the setting of a number has: the last knob turns fastest.
    fn place(&self, number: u32) -> Vec<usize> {
        let mut rest = number as usize;
        let mut at: Vec<usize> = Vec::new();
        for knob in self.plan.knobs.iter().rev() {
            at.push(rest % knob.values.len().max(1));
            rest /= knob.values.len().max(1);
        }
        at.reverse();
        at
    }

    /// A setting as `--set` takes it.
    pub fn changes(&self, at: &[usize]) -> Vec<String> {
        let knobs = self.plan.knobs.iter().zip(at);
        knobs.filter_map(|(knob, &at)| Some(format!("{}={}", knob.key, knob.values.get(at)?))).collect()
    }

    /// The values of a knob as numbers; `None` where one is no number.
    pub fn numbers(&self, knob: usize) -> Option<Vec<f64>> {
        let values = &self.plan.knobs.get(knob)?.values;
        let number = |value: &String| value.replace('_', "").parse().ok().filter(|it: &f64| it.is_finite());
        values.iter().map(number).collect()
    }
}

fn remark(row: &RowView) -> String {
    let state = row.state.replace('_', " ");
    if row.detail.is_empty() { state } else { format!("{state}: {}", row.detail) }
}

fn spread(values: &mut [f64]) -> Option<[f64; 3]> {
    values.sort_by(f64::total_cmp);
    let (first, last) = (*values.first()?, *values.last()?);
    let middle = values.len() / 2;
    let median =
        if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 };
    Some([first, median, last])
}

/// What is wrong with the fields of a sweep before anything runs; nothing where the pool may look at it.
pub fn plan(text: &str, knobs: [(&str, &str); 2], seeds: &str) -> PlanText {
    let written = knobs.iter().filter(|(key, _)| !key.trim().is_empty());
    let knobs = written.map(|(key, values)| format!("{}={}", key.trim(), values.trim())).collect();
    PlanText { text: text.to_owned(), knobs, seeds: seeds.trim().to_owned() }
}

/// A range around a value that is worth a look, as the field of values takes it.
pub fn suggestion(value: &str, words: &[&str]) -> String {
    if !words.is_empty() {
        return words.join(",");
    }
    match value.replace('_', "").parse::<f64>() {
        Ok(number) if number >= 4.0 && number.fract() == 0.0 => {
            format!("{}..{}*2", (number / 4.0).floor().max(1.0), number * 8.0)
        }
        Ok(number) if number > 0.0 => format!("{}..{}*2", number / 4.0, number * 8.0),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use tierscope_worker::protocol::KnobView;

    use super::*;

    fn sweep() -> Sweep {
        let knob = |key: &str, values: &[&str]| KnobView {
            key: key.to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        let plan = PlanView {
            points: 12,
            columns: vec!["point".to_owned(), "ttft_p99_ns".to_owned()],
            knobs: vec![knob("a", &["1", "2"]), knob("b", &["x", "y", "z"])],
            seeds: 2,
        };
        let row = |index: u32| RowView {
            index,
            state: if index == 3 { "dead_end" } else { "finished" }.to_owned(),
            cells: vec![Some(f64::from(index)), (index != 2).then(|| f64::from(index) * 10.0)],
            ..RowView::default()
        };
        Sweep {
            asked: PlanText::default(),
            plan,
            rows: (0..12).filter(|index| *index != 5).map(row).collect(),
        }
    }

    #[test]
    fn seeds_are_put_together_and_knobs_kept_apart() {
        let sweep = sweep();
        let settings = sweep.settings(Measure::of("ttft_p99_ns"));
        let at: Vec<_> = settings.iter().map(|setting| setting.at.clone()).collect();
        assert_eq!(at, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]].map(Vec::from));
        assert_eq!(settings[0].value, Some([0.0, 5.0, 10.0]));
        assert_eq!((settings[1].value, settings[1].seeds), (Some([30.0, 30.0, 30.0]), 1));
        assert_eq!((settings[1].remark.as_str(), settings[0].remark.as_str()), ("dead end", ""));
        assert_eq!(settings[2].value, Some([40.0; 3]), "the other seed is not there yet");
        assert_eq!(sweep.changes(&settings[4].at), ["a=2", "b=y"]);
        assert_eq!((sweep.numbers(0), sweep.numbers(1)), (Some(vec![1.0, 2.0]), None));
    }

    #[test]
    fn a_measure_that_no_row_has_is_nothing() {
        assert_eq!(sweep().settings(Measure::of("hit_ratio_g4"))[0].value, None);
    }

    #[test]
    fn fields_become_a_plan() {
        let plan = plan("t", [("g2.blocks", "1,2"), (" ", "3")], " 1..5 ");
        assert_eq!((plan.knobs, plan.seeds), (vec!["g2.blocks=1,2".to_owned()], "1..5".to_owned()));
        let suggested = [suggestion("640", &[]), suggestion("0.06", &[]), suggestion("lru", &["lru", "x"])];
        assert_eq!(suggested, ["160..5120*2", "0.015..0.48*2", "lru,x"]);
    }
}
