//! The CPU tier's manager against the decisions of the real vLLM manager, operation by operation.
//!
//! Scenarios and golden files are read from `../shared/conformance` (or `TIERSCOPE_CONFORMANCE_DIR`), whose README
//! tells their formats. Every field of every line is compared: what the operation returned, its events, and the
//! tier after it. The invariants of the manager are swept after every operation too.

mod draw;
mod play;

use std::path::{Path, PathBuf};
use std::process::Command;

use play::Player;
use serde_json::{Value, json};
use tierscope_units::RandomStream;

/// The reference manager over drawn cases: one line an operation, in the form of the golden files.
const DRIVER: &str = r#"
import json, sys
sys.path.insert(0, sys.argv[1])
import offload_ref
for case in json.load(open(sys.argv[2])):
    m = offload_ref.Manager(case["config"])
    for i, op in enumerate(case["ops"]):
        if op[0] == "place":
            r = m.ctx[op[1]]["pos"].__setitem__(op[2], op[3])
        else:
            r = m.apply(op)
        got = dict(i=i, op=op[:2])
        if op[0] in ("lookup", "prepare_load", "prepare_store"):
            got["ret"] = r
        if m.events:
            got["events"], m.events = m.events, []
        got.update(m.snap())
        print(json.dumps(got))
"#;

/// Where the golden files are.
fn directory() -> PathBuf {
    match std::env::var_os("TIERSCOPE_CONFORMANCE_DIR") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance"),
    }
}

fn parse(name: &str, text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Plays a scenario and compares every line; the first difference, in words.
fn compare(name: &str, scenario: &Value, lines: &[Value]) -> Result<usize, String> {
    let operations = scenario["ops"].as_array().expect("a scenario has operations");
    if operations.len() != lines.len() {
        return Err(format!("{name}: {} operations, {} lines", operations.len(), lines.len()));
    }
    let mut player = Player::new(&scenario["config"]);
    for (number, (operation, want)) in operations.iter().zip(lines).enumerate() {
        let got = player.play(number, operation);
        if let Some(field) = play::difference(&got, want) {
            return Err(format!(
                "{name}: operation {number} {operation}, field {field}\n  want {}\n  got  {}",
                want[&field], got[&field]
            ));
        }
        player
            .manager
            .check()
            .map_err(|broken| format!("{name}: operation {number} {operation}: {broken}"))?;
    }
    Ok(lines.len())
}

#[test]
fn every_operation_equals_vllm() {
    let directory = directory();
    let golden = directory.join("offload_golden");
    if !golden.is_dir() {
        println!("skipped: {} is absent", golden.display());
        return;
    }
    let text = |path: &Path| {
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let entries = std::fs::read_dir(&golden).expect("the folder of golden files can be listed");
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.expect("an entry can be read").file_name().into_string().ok()?;
            Some(name.strip_suffix(".jsonl")?.to_owned())
        })
        .collect();
    names.sort();
    let (mut operations, mut differences) = (0, Vec::new());
    for name in &names {
        let scenario = directory.join("offload_scenarios").join(format!("{name}.json"));
        let scenario = parse(name, &text(&scenario));
        let lines = text(&golden.join(format!("{name}.jsonl")));
        let lines: Vec<Value> = lines.lines().skip(1).map(|line| parse(name, line)).collect();
        match compare(name, &scenario, &lines) {
            Ok(compared) => operations += compared,
            Err(difference) => differences.push(difference),
        }
    }
    println!("{} files, {operations} operations compared, {} differ", names.len(), differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(operations > 0, "no golden file was compared in {}", golden.display());
}

/// Fresh random sequences on every run, against the reference manager that equals vLLM on all its files. The seed is
/// printed; `TIERSCOPE_SEED` repeats it, `TIERSCOPE_CASES` sets the number of sequences.
#[test]
fn every_operation_equals_the_reference_manager_on_fresh_sequences() {
    let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/tools");
    if !tools.join("offload_ref.py").is_file() {
        println!("skipped: {} is absent", tools.display());
        return;
    }
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: python3 is absent");
        return;
    }
    let (seed, cases) = tierscope_tests::fresh_cases("offload_manager", 300);
    let drawn: Vec<Value> = (0..cases)
        .map(|case| draw::sequence(RandomStream::named(seed, &format!("offload {case}"))))
        .collect();

    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("offload-manager-{seed}.json"));
    std::fs::write(&file, json!(drawn).to_string()).expect("the sequences can be written");
    let run = Command::new("python3").args(["-c", DRIVER]).args([&tools, &file]).output();
    let run = run.expect("python3 runs the reference manager");
    // What it printed before an exception is compared first: the difference tells more.
    let lines: Vec<Value> =
        String::from_utf8_lossy(&run.stdout).lines().map(|line| parse("the reference", line)).collect();
    let (mut rest, mut differences) = (&lines[..], Vec::new());
    for (case, scenario) in drawn.iter().enumerate() {
        let count = scenario["ops"].as_array().map_or(0, Vec::len).min(rest.len());
        let (own, others) = rest.split_at(count);
        rest = others;
        differences.extend(compare(&format!("seed {seed}, sequence {case}"), scenario, own).err());
        if rest.is_empty() {
            break;
        }
    }
    println!("{cases} sequences, {} operations compared, {} differ", lines.len(), differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    std::fs::remove_file(&file).expect("the sequences are removed once they agree");
}
