//! The same bytes however often it is interrupted, killed, split or repeated.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use crate::here::SCENARIO;
use crate::place::Place;
use tierscope_units::Digest;

/// 20 points.
const KNOBS: [&str; 6] =
    ["--knob", "engine.g1_blocks=20,40..160*2,400", "--knob", "g2.blocks=50,100", "--seeds", "1..2"];

fn with<'a>(first: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["sweep", "s.toml"];
    args.extend(first);
    args.extend(rest);
    args
}

/// The files of a sweep that nothing disturbed.
fn undisturbed(place: &Place) -> (Vec<u8>, Vec<u8>) {
    place.run(&with(&KNOBS, &["--out", "whole.parquet", "--quiet"]), 0);
    (place.bytes("whole.csv"), place.bytes("whole.parquet"))
}

#[track_caller]
fn assert_same(place: &Place, name: &str, whole: &(Vec<u8>, Vec<u8>)) {
    assert_eq!(place.bytes(&format!("{name}.csv")), whole.0, "{name}.csv");
    assert!(place.bytes(&format!("{name}.parquet")) == whole.1, "{name}.parquet differs");
}

#[test]
fn the_bytes_do_not_depend_on_threads_and_rows_stand_in_order() {
    let place = Place::with(SCENARIO);
    let whole = undisturbed(&place);
    place.run(&with(&KNOBS, &["--jobs", "1", "--out", "one.csv", "--quiet"]), 0);
    assert_same(&place, "one", &whole);
    place.run(&with(&KNOBS, &["--jobs", "5", "--out", "five", "--quiet"]), 0);
    assert_same(&place, "five", &whole);

    let csv = String::from_utf8(whole.0).expect("text");
    let points = csv.lines().skip(1).map(|line| line.split(',').next().expect("a cell").to_owned());
    assert_eq!(points.collect::<Vec<_>>(), (0..20).map(|point: u32| point.to_string()).collect::<Vec<_>>());
    assert!(csv.starts_with("point,engine.g1_blocks,g2.blocks,seed,state,detail,digest,"), "{csv}");
    assert_eq!(&whole.1[..4], b"PAR1");
    let left: BTreeSet<String> = place.names();
    assert!(!left.iter().any(|name| name.contains("journal") || name.contains(".part")), "{left:?}");
}

#[test]
fn a_row_is_the_run_that_the_command_run_makes() {
    let place = Place::with(SCENARIO);
    place.run(&with(&["--knob", "engine.g1_blocks=30,60", "--seeds", "5"], &["--out", "r", "--quiet"]), 0);
    let one = place.run(&["run", "s.toml", "--set", "engine.g1_blocks=60", "--seed", "5", "--digest"], 0);
    let csv = place.text("r.csv");
    assert!(csv.lines().nth(2).expect("two points").contains(one.out.trim()), "{csv}");
}

#[test]
fn a_killed_sweep_goes_on_where_it_stopped_and_gives_the_same_file() {
    let place = Place::with(SCENARIO);
    let knobs = ["--knob", "engine.g1_blocks=20..400:100", "--seeds", "1..3"];
    place.run(&with(&knobs, &["--out", "whole", "--quiet"]), 0);
    let mut child = place
        .command(&with(&knobs, &["--out", "killed", "--jobs", "2"]))
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    // Half way by what it wrote down, not by a clock.
    let lines = || place.try_text("killed.journal").lines().count();
    while lines() < 60 {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it could be killed");
        std::thread::yield_now();
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("it has ended");
    let survived = lines() - 1;
    assert!((59..300).contains(&survived), "{survived} of 300 were finished");
    assert!(!place.path("killed.csv").exists() && !place.path("killed.parquet").exists());

    // A mark in a row that was finished shows later that it was taken as it stood. And half a line is nobody's loss.
    let journal = place.text("killed.journal");
    let line = journal.lines().nth(1).expect("a row");
    let row = line.split_once(' ').expect("a digest and a row").1.replacen("polynomial", "POLYNOMIAL", 1);
    let marked = format!("{} {row}", Digest::of(row.as_bytes()));
    let torn = &marked[..marked.len() / 2];
    std::fs::write(place.path("killed.journal"), journal.replacen(line, &marked, 1) + torn).expect("written");

    let again = place.run(&with(&knobs, &["--out", "killed"]), 0);
    assert!(again.err.contains("of 300 points are finished already"), "{}", again.err);
    let csv = place.text("killed.csv");
    assert_eq!(csv.matches("POLYNOMIAL").count(), 1, "the finished point was not run again");
    assert_eq!(csv.replace("POLYNOMIAL", "polynomial"), place.text("whole.csv"));
    assert!(!place.path("killed.journal").exists());
}

#[test]
fn a_killed_share_gives_the_same_part_and_the_same_file() {
    let place = Place::with(SCENARIO);
    let knobs = ["--knob", "engine.g1_blocks=20..400:100", "--seeds", "1..3"];
    place.run(&with(&knobs, &["--out", "whole", "--quiet"]), 0);
    let share = with(&knobs, &["--shard", "1/2", "--out", "parts", "--quiet"]);
    let mut child = place.command(&share).spawn().expect("it starts");
    while place.try_text("parts/part-00001-of-00002.journal").lines().count() < 20 {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it could be killed");
        std::thread::yield_now();
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("it has ended");
    place.run(&with(&knobs, &["--shard", "2/2", "--out", "parts", "--quiet"]), 0);
    let refused = place.run(&["sweep", "merge", "parts", "--out", "merged"], 2);
    assert!(refused.err.contains("found 1 of 2 shares"), "{}", refused.err);
    place.run(&share, 0);
    place.run(&["sweep", "merge", "parts", "--out", "merged", "--quiet"], 0);
    let whole = (place.bytes("whole.csv"), place.bytes("whole.parquet"));
    assert_same(&place, "merged", &whole);
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_says_how_to_go_on() {
    let place = Place::with(SCENARIO);
    let knobs = ["--knob", "engine.g1_blocks=20..400:100", "--seeds", "1..3"];
    let child = place
        .command(&with(&knobs, &["--out", "r"]))
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    while place.try_text("r.journal").lines().count() < 10 {
        std::thread::yield_now();
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill is there").success());
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(2), "it ends by itself");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(said.contains("interrupted") && said.contains("the same command goes on"), "{said}");
    assert_eq!(place.names(), BTreeSet::from(["r.journal".to_owned(), "s.toml".to_owned()]));
    place.run(&with(&knobs, &["--out", "r", "--quiet"]), 0);
    place.run(&with(&knobs, &["--out", "whole", "--quiet"]), 0);
    assert_eq!(place.bytes("r.csv"), place.bytes("whole.csv"));
}

#[test]
fn shares_make_the_file_of_one_process_in_whatever_order_and_number_they_ran() {
    let place = Place::with(SCENARIO);
    let whole = undisturbed(&place);
    for (of, order) in [(2, vec![2, 1]), (7, vec![3, 1, 7, 2, 6, 5, 4])] {
        let folder = format!("parts{of}");
        for number in order {
            let shard = format!("{number}/{of}");
            place.run(&with(&KNOBS, &["--shard", &shard, "--out", &folder, "--quiet"]), 0);
        }
        place.run(&["sweep", "merge", &folder, "--out", "merged", "--quiet"], 0);
        assert_same(&place, "merged", &whole);
    }
    let again = place.run(&with(&KNOBS, &["--shard", "1/2", "--out", "parts2"]), 0);
    assert!(again.err.contains("is there already, and whole"), "{}", again.err);
}

#[test]
fn merge_refuses_what_would_not_be_the_whole_sweep() {
    let place = Place::with(SCENARIO);
    let share = |knob: &str, shard: &str, folder: &str| {
        place.run(&["sweep", "s.toml", "--knob", knob, "--shard", shard, "--out", folder, "--quiet"], 0);
    };
    let refused = |folder: &str| place.run(&["sweep", "merge", folder, "--out", "m"], 2).err;
    share("engine.g1_blocks=20,40,80", "1/3", "p");
    let said = refused("p");
    assert!(said.contains("found 1 of 3 shares"), "{said}");
    for shard in ["2/3", "3/3"] {
        let command =
            format!("tierscope sweep s.toml --knob engine.g1_blocks=20,40,80 --shard {shard} --out p");
        assert!(said.contains(&command), "{said}");
    }
    share("engine.g1_blocks=20,40,80", "2/3", "p");
    share("engine.g1_blocks=20,40,80", "3/3", "p");

    // A copy of a share counts once.
    std::fs::copy(place.path("p/part-00002-of-00003.jsonl"), place.path("p/copy.jsonl")).expect("copied");
    place.run(&["sweep", "merge", "p", "--out", "m", "--quiet"], 0);

    for leftover in ["p/part-00002-of-00003.journal", "p/.tierscope-abc.part"] {
        std::fs::write(place.path(leftover), "").expect("written");
        assert!(refused("p").contains("under way"), "{leftover}");
        std::fs::remove_file(place.path(leftover)).expect("removed");
    }
    let part = place.text("p/part-00001-of-00003.jsonl");
    std::fs::write(place.path("p/part-00001-of-00003.jsonl"), part.replace("finished", "finishec"))
        .expect("written");
    assert!(refused("p").contains("cut off or changed"));
    std::fs::write(place.path("p/part-00001-of-00003.jsonl"), &part[..part.len() - 9]).expect("written");
    assert!(refused("p").contains("cut off or changed"));
    std::fs::write(place.path("p/part-00001-of-00003.jsonl"), &part).expect("written");

    share("engine.g1_blocks=20,40,81", "1/3", "q");
    std::fs::copy(place.path("q/part-00001-of-00003.jsonl"), place.path("p/other.jsonl")).expect("copied");
    assert!(refused("p").contains("expected plan"), "another plan");
    std::fs::remove_file(place.path("p/other.jsonl")).expect("removed");

    share("engine.g1_blocks=20,40,80", "1/2", "q2");
    std::fs::copy(place.path("q2/part-00001-of-00002.jsonl"), place.path("p/other.jsonl")).expect("copied");
    assert!(refused("p").contains("found a part of 2 shares, expected of 3"), "another number of shares");
    std::fs::remove_file(place.path("p/other.jsonl")).expect("removed");

    std::fs::create_dir(place.path("empty")).expect("made");
    assert!(refused("empty").contains("found no part"));
    assert!(refused("absent").contains("cannot list"));
    place.run(&["sweep", "merge", "p", "--out", "m", "--quiet"], 0);
}

#[test]
fn points_that_cannot_be_run_are_rows_that_say_so() {
    let place = Place::with(SCENARIO);
    let said = place.run(&with(&["--knob", "engine.g1_blocks=0,x,40"], &["--out", "r"]), 0).out;
    assert!(said.contains("refused: engine.g1_blocks: found"), "{said}");
    let csv = place.text("r.csv");
    let states: Vec<&str> = csv.lines().skip(1).filter_map(|line| line.split(',').nth(3)).collect();
    assert_eq!(states, ["refused", "refused", "finished"]);
    let all = place.run(&with(&["--knob", "engine.g1_block=1,2"], &[]), 2).err;
    assert!(all.contains("every point is refused") && all.contains("g1_block"), "{all}");
    let block =
        place.run(&with(&["--knob", "engine.block_size_tokens=16,48"], &["--quiet", "--json", "-"]), 0);
    assert_eq!(block.out.matches("\"state\": \"finished\"").count(), 2, "{}", block.out);
}

#[test]
fn a_dead_end_is_a_row_too() {
    let dead = "tierscope = 1\n[engine]\nblock_size_tokens = 4\ng1_blocks = 4\nvictim = \"nobody\"\nadmission = \
        \"next_chunk\"\nmax_num_batched_tokens = 8\nmax_model_len = 16\n[workload]\nkind = \"requests\"\n\
        [[workload.request]]\nat_ms = 0\nprompt_tokens = 6\noutput_tokens = 6\n[[workload.request]]\nat_ms = 0\n\
        prompt_tokens = 6\noutput_tokens = 6\n";
    let place = Place::with(&[("s.toml", dead)]);
    place.run(&with(&["--knob", "engine.g1_blocks=4,64"], &["--out", "r", "--quiet"]), 0);
    let csv = place.text("r.csv");
    let states: Vec<&str> = csv.lines().skip(1).filter_map(|line| line.split(',').nth(3)).collect();
    assert_eq!(states, ["dead_end", "finished"], "{csv}");
}

#[test]
fn bad_usage_is_refused_with_a_mend() {
    let place = Place::with(SCENARIO);
    let cases: [(&[&str], &str); 10] = [
        (&["sweep", "s.toml"], "--knob"),
        (&["sweep", "s.toml", "--knob", "a"], "expected KEY=VALUES"),
        (&["sweep", "s.toml", "--knob", "seed=1,2", "--seeds", "1"], "seeds in one place"),
        (&["sweep", "s.toml", "--knob", "a=1", "--shard", "3/2", "--out", "d"], "i/n with i from 1 to n"),
        (&["sweep", "s.toml", "--knob", "a=1", "--shard", "1/2"], "--out"),
        (&["sweep", "absent.toml", "--knob", "a=1"], "cannot read absent.toml"),
        (&["sweep", "s.toml", "--knob", "a=1", "--out", "."], "is a folder"),
        (&["sweep", "s.toml", "--knob", "a=1", "--out", "no/where"], "there is no folder no"),
        (
            &["sweep", "s.toml", "--knob", "a=1", "--shards", "4"],
            "--shards is given without --engine hq or slurm",
        ),
        (&["sweep", "s.toml", "--knob", "a=1", "--engine", "slurm"], "add --out FILE or --parts DIR"),
    ];
    for (args, part) in cases {
        let said = place.run(args, 2).err;
        assert!(said.contains(part), "{args:?}: {said}");
    }
}

#[test]
fn a_journal_of_another_sweep_is_not_overwritten() {
    let place = Place::with(SCENARIO);
    std::fs::write(place.path("r.journal"), "something of value\n").expect("written");
    let said = place.run(&with(&KNOBS, &["--out", "r"]), 2).err;
    assert!(said.contains("the journal of another sweep"), "{said}");
    assert_eq!(place.text("r.journal"), "something of value\n");
}

#[test]
fn the_cache_only_mode_knows_a_small_trace() {
    let row = |at: u32, ids: &str, tokens: u32| {
        format!(
            "{{\"timestamp\": {at}, \"input_length\": {tokens}, \"output_length\": 5, \"hash_ids\": [{ids}]}}\n"
        )
    };
    // Two prompts of three blocks in turn; three blocks hold one of them.
    let rows = [
        row(0, "0, 1, 2", 1_500),
        row(1, "0, 3, 4", 1_500),
        row(2, "0, 1, 2", 1_500),
        row(3, "0, 3, 4", 1_500),
    ];
    let place = Place::with(&[("t.jsonl", &rows.concat())]);
    let knob = "engine.g1_blocks=2,3,5";
    let json = place.run(&["sweep", "t.jsonl", "--cache-only", "--knob", knob, "--json", "-"], 0).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let of = |key: &str| -> Vec<f64> {
        json["rows"].as_array().expect("rows").iter().map(|row| row[key].as_f64().expect(key)).collect()
    };
    assert_eq!(of("references"), [12.0; 3]);
    assert_eq!(of("distinct_blocks"), [5.0; 3]);
    assert_eq!(of("lru_block_ratio"), [3.0 / 12.0, 3.0 / 12.0, 7.0 / 12.0]);
    assert_eq!(of("optimal_block_ratio"), [4.0 / 12.0, 5.0 / 12.0, 7.0 / 12.0]);
    assert_eq!(of("lru_token_ratio")[2], 5.0 * 512.0 / 6_000.0, "the last block is partial");
    let changed = place.run(&["sweep", "t.jsonl", "--cache-only", "--knob", knob], 0).out;
    assert!(
        changed.contains("12 references, 5 distinct blocks of 512 tokens, 6,000 input tokens"),
        "{changed}"
    );
}

/// The trace is part of the plan: parts of different traces do not go together.
#[test]
fn another_trace_is_another_plan() {
    let row = |tokens: u32| {
        format!("{{\"timestamp\": 0, \"input_length\": {tokens}, \"output_length\": 5, \"hash_ids\": [0]}}\n")
    };
    let place = Place::with(&[("t.jsonl", &row(100))]);
    let share = |shard: &str| {
        place.run(
            &["sweep", "t.jsonl", "--knob", "engine.g1_blocks=8,9", "--shard", shard, "--out", "p", "-q"],
            0,
        );
    };
    share("1/2");
    std::fs::write(place.path("t.jsonl"), row(101)).expect("written");
    share("2/2");
    let said = place.run(&["sweep", "merge", "p", "--out", "m"], 2).err;
    assert!(said.contains("expected plan"), "{said}");
}
