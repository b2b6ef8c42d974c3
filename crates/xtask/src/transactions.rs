//! `bench transactions`: what the all-or-nothing transaction costs, held against an engine that takes the same
//! slots in a straight line (issue 3, "Speed").
//!
//! Single acquires are `tests/benches/transactions.rs`. Here are whole runs: the command is built twice, once with
//! the engine's feature `straight-line`, and callgrind counts the instructions of both on one trace. Counts do not
//! depend on how busy the machine is. Missing a target is shown, not failed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::bench::TRACE;
use crate::check;
use crate::run::{Cmd, Failure, Result, root, target_dir};

const SETTINGS: [&str; 2] = ["engine.block_size_tokens=16", "engine.g1_blocks=524288"];
/// Most that transactions may add to a whole run, in percent of its instructions.
const TARGET_PERCENT: f64 = 0.5;

/// One run under callgrind: its instructions, and the digest that it printed.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    instructions: u64,
    digest: String,
}

pub(crate) fn run() -> Result {
    Cmd::new("cargo bench --package tierscope-tests --bench transactions --features bench-internals")
        .run()?;
    println!("\nwhole of conversation_trace, block 16");
    if !root().join(TRACE).is_file() {
        println!("skipped: {TRACE} is absent");
        return Ok(());
    }
    if Cmd::new("valgrind --version").probe().is_none() {
        println!("skipped: valgrind is not installed");
        return Ok(());
    }
    let (straight, transactional) = build_both()?;
    // Both at once: counts do not suffer from it.
    let (straight, transactional) = (start(&straight)?, start(&transactional)?);
    let (straight, transactional) = (finish(straight)?, finish(transactional)?);
    println!("{}", verdict(&transactional, &straight)?);
    Ok(())
}

/// The straight-line command first, so that `target/release/tierscope` is the real one in the end.
fn build_both() -> Result<(PathBuf, PathBuf)> {
    check::build_release().arg("--features").arg("tierscope-engine/straight-line").run()?;
    let straight = keep_as("tierscope-straight-line")?;
    check::build_release().run()?;
    Ok((straight, keep_as("tierscope-transactional")?))
}

/// A copy of the command that the next build leaves alone.
fn keep_as(name: &str) -> Result<PathBuf> {
    let folder = target_dir().join("bench");
    let copy = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let copied = fs::create_dir_all(&folder).and_then(|()| fs::copy(check::release_binary(), &copy));
    copied.map_err(|error| Failure::new(format!("{} could not be written: {error}", copy.display())))?;
    Ok(copy)
}

fn start(program: &Path) -> Result<(Cmd, Child)> {
    let settings = SETTINGS.iter().flat_map(|setting| ["--set", setting]);
    let command = Cmd::new("valgrind --tool=callgrind --callgrind-out-file=/dev/null")
        .arg(program)
        .args(["run", TRACE, "--quiet", "--digest"])
        .args(settings);
    println!("  {command}");
    let child = command.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.map_err(|error| Failure::new(format!("valgrind could not be started: {error}")))?;
    Ok((command, child))
}

fn finish((command, child): (Cmd, Child)) -> Result<Counted> {
    let output =
        child.wait_with_output().map_err(|error| Failure::new(format!("valgrind was lost: {error}")))?;
    let (digest, messages) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let counted =
        collected(&messages).map(|instructions| Counted { instructions, digest: digest.trim().to_owned() });
    counted.filter(|_| output.status.success()).ok_or_else(|| {
        Failure::new(format!("callgrind counted nothing ({}): {messages}", output.status))
            .repeated_by(command.to_string())
    })
}

/// Callgrind's last line: `==123== Collected : 456`.
fn collected(messages: &str) -> Option<u64> {
    let line = messages.lines().find_map(|line| line.split_once("Collected :"))?;
    line.1.trim().parse().ok()
}

fn verdict(transactional: &Counted, straight: &Counted) -> Result<String> {
    if transactional.digest != straight.digest {
        let what = format!(
            "the two engines differ: digest {} with transactions, {} in a straight line",
            transactional.digest, straight.digest
        );
        return Err(Failure::new(what).repeated_by("cargo xtask bench transactions"));
    }
    let more = (transactional.instructions as f64 / straight.instructions as f64 - 1.0) * 100.0;
    let mark = if more > TARGET_PERCENT { "*" } else { "" };
    Ok(format!(
        "  {} instructions with transactions, {} in a straight line: {more:+.3} %{mark}\n  \
         both have the digest {}\ntarget: at most {TARGET_PERCENT} % more; a figure over it is marked *",
        transactional.instructions, straight.instructions, straight.digest
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(instructions: u64, digest: &str) -> Counted {
        Counted { instructions, digest: digest.to_owned() }
    }

    #[test]
    fn callgrinds_count_is_read() {
        let messages = "==7== Events    : Ir\n==7== Collected : 123456\n==7== \n";
        assert_eq!(collected(messages), Some(123_456));
        assert_eq!(collected("valgrind: no such program"), None);
    }

    #[test]
    fn a_ratio_over_its_target_is_marked_and_different_digests_fail() {
        let good = verdict(&counted(1_004, "d"), &counted(1_000, "d")).expect("digests agree");
        assert!(good.contains("+0.400 %\n"), "{good}");
        let bad = verdict(&counted(1_006, "d"), &counted(1_000, "d")).expect("digests agree");
        assert!(bad.contains("+0.600 %*"), "{bad}");
        verdict(&counted(1, "d"), &counted(1, "e")).expect_err("two engines that differ");
    }
}
