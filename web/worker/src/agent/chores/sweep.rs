//! Points of a plan: the same rows as `tierscope sweep` computes.

use tierscope_scenario::parse_any;
use tierscope_sweep::{
    Knob, Mode, Plan, Row, Shard, State, Value, attempt, columns, part, refused, results, seeds,
};

use super::supply::Supply;
use super::{Problems, refusal, trouble};
use crate::protocol::{KnobView, PlanText, PlanView, RowView, RowsForm};

/// Most points of a plan in the page.
const POINTS_MAX: u64 = 2_000;

/// Looks at a plan.
pub(super) fn plan(asked: &PlanText) -> Result<PlanView, Problems> {
    let plan = read(asked)?;
    let points = plan.points();
    if points > POINTS_MAX {
        let found = format!("{points} points");
        let mend = "take fewer values or seeds, or run tierscope sweep";
        return Err(trouble("knob", found, &format!("at most {POINTS_MAX} in the page"), mend));
    }
    let knobs = plan.knobs.iter().map(|knob| KnobView { key: knob.key.clone(), values: knob.values.clone() });
    Ok(PlanView {
        points: points as u32,
        columns: columns(&plan).into_iter().map(|column| column.name).collect(),
        knobs: knobs.collect(),
        seeds: plan.seeds.len().max(1) as u32,
    })
}

/// Computes a point.
pub(super) fn point(supply: &mut Supply<'_>, asked: &PlanText, index: u32) -> Result<RowView, Problems> {
    let plan = read(asked)?;
    if u64::from(index) >= plan.points() {
        return Err(trouble("point", index.to_string(), "a point of the plan", "reload the page"));
    }
    let row = computed(supply, &plan, u64::from(index));
    let columns = columns(&plan);
    let text = |name: &str| {
        let at = columns.iter().position(|column| column.name == name);
        match at.and_then(|at| row.0.get(at)) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        }
    };
    let cells = row.0.iter().map(|cell| match cell {
        Value::Whole(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::None | Value::Text(_) => None,
    });
    let (state, detail, line) = (text("state"), text("detail"), part::entry(&row));
    Ok(RowView { index, state, detail, cells: cells.collect(), line })
}

fn computed(supply: &mut Supply<'_>, plan: &Plan, index: u64) -> Row {
    let no = |detail: &str| refused(plan, index, State::Refused, detail);
    let attempt = match attempt(plan, index) {
        Ok(attempt) => attempt,
        Err(detail) => return no(&detail),
    };
    match supply.ready(&attempt.scenario) {
        Ok((workload, cache)) => {
            attempt.run(plan, &workload, &cache, |_| true).unwrap_or_else(|| no("it was stopped"))
        }
        Err(problems) => no(&problems.first().map_or_else(String::new, |problem| {
            format!("{}: found {}, expected {}", problem.key, problem.found, problem.expected)
        })),
    }
}

/// Writes rows down in the order of their points, as the command does.
pub(super) fn rows(
    supply: &Supply<'_>,
    asked: &PlanText,
    lines: &[String],
    form: RowsForm,
) -> Result<String, Problems> {
    let mut plan = read(asked)?;
    let rows = part::recover("", &plan, Shard::WHOLE, &lines.concat()).unwrap_or_default();
    Ok(match form {
        RowsForm::Csv => results::csv(&plan, &rows),
        RowsForm::Json => {
            // Only the plan's digest, which is in this form alone, covers the trace's bytes.
            if let Ok(scenario) = parse_any(&plan.text) {
                plan.traces = supply.weighed(&scenario);
            }
            let first = (0..plan.points()).find_map(|index| attempt(&plan, index).ok());
            results::json(&plan, &rows, first.as_ref().map(|attempt| &attempt.scenario))
        }
    })
}

fn read(asked: &PlanText) -> Result<Plan, Problems> {
    let knobs = asked.knobs.iter().map(|knob| Knob::parse(knob)).collect::<Result<Vec<_>, _>>();
    let chosen = asked.seeds.trim();
    let seeds = if chosen.is_empty() { Ok(Vec::new()) } else { seeds(chosen) };
    let plan = Plan {
        mode: Mode::Run,
        text: asked.text.clone(),
        knobs: knobs.map_err(|found| refusal(&found))?,
        seeds: seeds.map_err(|found| refusal(&found))?,
        traces: Vec::new(),
    };
    plan.check().map_err(|found| refusal(&found))?;
    Ok(plan)
}
