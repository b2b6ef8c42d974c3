//! Results: Parquet and CSV side by side, JSON, and the tables for people.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use tierscope_sweep::{Mode, Plan, Row, State, Value, attempt, columns, results, sizing};

use crate::exit::Exit;
use crate::output;

/// Where results go.
pub(crate) struct Results<'a> {
    pub(crate) out: Option<&'a Path>,
    pub(crate) json: Option<&'a Path>,
    pub(crate) quiet: bool,
}

/// `FILE.csv` of `FILE`, `FILE.parquet` or `FILE.csv`.
pub(crate) fn beside(out: &Path, ending: &str) -> PathBuf {
    let known = out.extension().is_some_and(|found| found == "parquet" || found == "csv");
    let mut name = if known { out.with_extension("") } else { out.to_owned() }.into_os_string();
    name.push(ending);
    name.into()
}

/// The journal of a sweep that writes `out`.
pub(crate) fn journal_of(out: &Path) -> PathBuf {
    beside(out, ".journal")
}

impl Results<'_> {
    /// Refuses before the work what could not be written after it.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(out) = self.out else { return Ok(()) };
        if output::is_stdout(out) {
            return Err(anyhow!(
                "error: --out - is standard output\n  mend: name a file; --json - prints JSON"
            ));
        }
        if out.is_dir() {
            let shown = out.display();
            return Err(anyhow!("error: {shown} is a folder\n  mend: name a file in it, or one --shard i/n"));
        }
        let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
        match folder.filter(|folder| !folder.is_dir()) {
            Some(folder) => {
                Err(anyhow!("error: there is no folder {}\n  mend: make it first", folder.display()))
            }
            None => Ok(()),
        }
    }

    /// Writes and prints what was asked for.
    pub(crate) fn deliver(&self, plan: &Plan, rows: &[Row]) -> Result<Exit> {
        // The scenario whose break-even is told: the first that is one.
        let scenario = (0..plan.points().min(1_000)).find_map(|index| attempt(plan, index).ok());
        let scenario = scenario.as_ref().map(|attempt| &attempt.scenario);
        if let Some(out) = self.out {
            output::write_file(&beside(out, ".csv"), results::csv(plan, rows))?;
            write_parquet(plan, rows, &beside(out, ".parquet"))?;
        }
        if let Some(json) = self.json {
            output::write_file(json, results::json(plan, rows, scenario))?;
        }
        if !self.quiet && !self.json.is_some_and(output::is_stdout) {
            let mut text = sizing::render(plan, rows);
            if let (Mode::Run, Some(scenario)) = (plan.mode, scenario) {
                text.push_str(&sizing::break_even(scenario));
            }
            text.push_str(&format!("Plan {}, {} points.\n", plan.digest(), rows.len()));
            output::say(&text)?;
        }
        Ok(exit(plan, rows))
    }
}

/// A sweep of nothing but refusals is bad usage; a violated invariant is a fault of the program.
fn exit(plan: &Plan, rows: &[Row]) -> Exit {
    if let Some(detail) = broken(plan, rows) {
        output::complain(&format!(
            "error: {detail}\n  mend: please report it with the command and its files"
        ));
        return Exit::Broken;
    }
    let state = place(plan, "state");
    if !rows.is_empty() && rows.iter().all(|row| text(row, state) == State::Refused.word()) {
        let reason = text(&rows[0], place(plan, "detail"));
        output::complain(&format!("error: every point is refused, the first because: {reason}"));
        return Exit::BadInput;
    }
    Exit::Done
}

/// What to say of a row that a violated invariant left; `None` without one.
pub(crate) fn broken(plan: &Plan, rows: &[Row]) -> Option<String> {
    let state = place(plan, "state");
    let row = rows.iter().find(|row| text(row, state) == State::Broken.word())?;
    Some(format!("point {}: {}", row.point()?, text(row, place(plan, "detail"))))
}

/// Where a column stands in each row.
fn place(plan: &Plan, name: &str) -> Option<usize> {
    columns(plan).iter().position(|column| column.name == name)
}

fn text(row: &Row, at: Option<usize>) -> &str {
    match at.and_then(|at| row.0.get(at)) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

#[cfg(feature = "parquet")]
fn write_parquet(plan: &Plan, rows: &[Row], path: &Path) -> Result<()> {
    use tierscope_columns::{Cells, Column};
    use tierscope_sweep::Kind;

    let columns = columns(plan).into_iter().enumerate().map(|(at, column)| {
        let cells = rows.iter().map(|row| row.0.get(at).unwrap_or(&Value::None));
        let cells = match column.kind {
            Kind::Whole => Cells::Whole(cells.map(whole).collect()),
            Kind::Real => Cells::Real(cells.map(real).collect()),
            Kind::Text => Cells::Text(cells.map(words).collect()),
        };
        Column { name: column.name, cells }
    });
    let digest = plan.digest().to_string();
    let metadata = [("tierscope", tierscope_sim::VERSION), ("tierscope.plan", &digest)];
    let bytes = tierscope_columns::parquet(&columns.collect::<Vec<_>>(), &metadata)?;
    output::write_file(path, bytes)
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_: &Plan, _: &[Row], path: &Path) -> Result<()> {
    output::complain(&format!("{} is not written: this command was built without Parquet", path.display()));
    Ok(())
}

#[cfg(feature = "parquet")]
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Whole(number) => Some(*number),
        _ => None,
    }
}

#[cfg(feature = "parquet")]
fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Real(number) => Some(*number),
        _ => None,
    }
}

#[cfg(feature = "parquet")]
fn words(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}
