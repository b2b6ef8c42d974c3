//! `tierscope sweep merge`: from parts to one file. Whatever could make the file other than that of one undisturbed
//! process is refused: another plan, a missing share, two that differ, a share under way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use tierscope_sweep::part::{self, Part};
use tierscope_sweep::{Plan, Row, Shard};

use super::args::MergeArgs;
use super::deliver::Results;
use super::shards::quoted;
use crate::exit::Exit;
use crate::{input, output};

/// Most bytes of a part.
const PART_BYTES_MAX: u64 = 4 << 30;
/// Missing shares that are named; the rest are counted.
const NAMED: usize = 20;

pub(crate) fn merge(args: &MergeArgs) -> Result<Exit> {
    let results = Results { out: args.out.as_deref(), json: args.json.as_deref(), quiet: args.quiet };
    if args.out.is_none() && args.json.is_none() && args.quiet {
        return Err(anyhow!("error: nothing is asked for\n  mend: add --out FILE, or leave --quiet out"));
    }
    results.check()?;
    let (plan, rows) = collect(&args.parts)?;
    results.deliver(&plan, &rows)
}

/// The rows of all parts of a folder, each point once, in order.
pub(crate) fn collect(folder: &Path) -> Result<(Plan, Vec<Row>)> {
    let mut found: BTreeMap<Shard, (PathBuf, Part)> = BTreeMap::new();
    let listed = list(folder)?;
    for path in &listed.parts {
        let part = read(path)?;
        if let Some((first, other)) = found.values().next()
            && other.plan != part.plan
        {
            return Err(differ(first, &other.plan, path, &part.plan));
        }
        if let Some((first, other)) = found.get(&part.shard) {
            same(first, other, path, &part)?;
            continue;
        }
        found.insert(part.shard, (path.clone(), part));
    }
    let Some((_, (_, first))) = found.first_key_value() else {
        let shown = folder.display();
        return Err(anyhow!(
            "error: {shown}: found no part, expected part-00001-of-….jsonl\n  mend: run the shares with --shard i/n \
             --out {shown}"
        ));
    };
    let (plan, again) = (first.plan.clone(), first.again.clone());
    complete(folder, &found, &again)?;
    if let Some(path) = listed.under_way.first() {
        let path = path.display();
        return Err(anyhow!(
            "error: {path}: found what a share under way leaves, expected finished parts alone\n  mend: wait for it, or \
             run its command again"
        ));
    }
    let mut rows: Vec<Row> = found.into_values().flat_map(|(_, part)| part.rows).collect();
    rows.sort_by_key(Row::point);
    if !rows.iter().map(Row::point).eq((0..plan.points()).map(Some)) {
        return Err(anyhow!("error: the parts do not hold each point once\n  mend: run the shares again"));
    }
    Ok((plan, rows))
}

/// The rows of a part that is there already, of this plan.
///
/// # Errors
/// When there is something else.
pub(crate) fn existing(path: &Path, plan: &Plan) -> Result<Option<Vec<Row>>> {
    if !path.exists() {
        return Ok(None);
    }
    let part = read(path)?;
    if part.plan != *plan {
        let shown = path.display();
        return Err(anyhow!(
            "error: {shown}: found a part of another plan ({}), expected none or one of this ({})\n  mend: name another \
             folder, or remove the old parts",
            part.plan.digest(),
            plan.digest(),
        ));
    }
    Ok(Some(part.rows))
}

fn read(path: &Path) -> Result<Part> {
    let place = path.display().to_string();
    let text = input::utf8(input::read_file(path, PART_BYTES_MAX)?, &place)?;
    Ok(part::read(&place, &text)?)
}

#[derive(Default)]
struct Listed {
    parts: Vec<PathBuf>,
    under_way: Vec<PathBuf>,
}

fn list(folder: &Path) -> Result<Listed> {
    let unreadable = |error: std::io::Error| {
        let folder = folder.display();
        anyhow!("error: cannot list {folder}: {error}\n  mend: name the folder that the shares wrote to")
    };
    let mut listed = Listed::default();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".jsonl") {
            listed.parts.push(path);
        } else if name.ends_with(".journal") || name.starts_with(".tierscope-") {
            listed.under_way.push(path);
        }
    }
    listed.parts.sort();
    listed.under_way.sort();
    Ok(listed)
}

fn differ(first: &Path, one: &Plan, second: &Path, other: &Plan) -> anyhow::Error {
    anyhow!(
        "error: {}: found plan {}, expected plan {} as in {}\n  mend: keep the parts of each sweep in a folder of its own",
        second.display(),
        other.digest(),
        one.digest(),
        first.display(),
    )
}

/// Two parts of one share are one when they hold the same rows.
fn same(first: &Path, one: &Part, second: &Path, other: &Part) -> Result<()> {
    match one.rows == other.rows {
        true => Ok(()),
        false => Err(anyhow!(
            "error: {}: found other rows than in {}, expected the same, for both are part {}\n  mend: remove both and run \
             it again; if they differ again, please report it",
            second.display(),
            first.display(),
            one.shard,
        )),
    }
}

/// Every share of one number of shares, or the commands that make those that are missing.
fn complete(folder: &Path, found: &BTreeMap<Shard, (PathBuf, Part)>, again: &[String]) -> Result<()> {
    let of = found.keys().map(|shard| shard.of).max().unwrap_or(0);
    if let Some(odd) = found.keys().find(|shard| shard.of != of) {
        let path = found[odd].0.display();
        return Err(anyhow!(
            "error: {path}: found a part of {} shares, expected of {of}\n  mend: keep the shares of one number together",
            odd.of
        ));
    }
    let missing: Vec<Shard> =
        (1..=of).map(|number| Shard { number, of }).filter(|shard| !found.contains_key(shard)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let words = again.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let place = quoted(&folder.display().to_string());
    let commands = missing
        .iter()
        .take(NAMED)
        .map(|shard| format!("\n    tierscope {words} --shard {shard} --out {place}"));
    let rest = match missing.len() {
        count if count > NAMED => format!("\n    … and {} more", count - NAMED),
        _ => String::new(),
    };
    Err(anyhow!(
        "error: {}: found {} of {of} shares, expected all\n  mend: run those that are missing:{}{rest}",
        folder.display(),
        found.len(),
        commands.collect::<String>(),
    ))
}

/// Removes a folder of parts that was made for one sweep.
pub(crate) fn discard(folder: &Path) -> Result<()> {
    std::fs::remove_dir_all(folder).or_else(|error| {
        output::complain(&format!("{} is left behind: {error}", folder.display()));
        Ok(())
    })
}
