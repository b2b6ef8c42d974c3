//! One case through the engine, each step as the golden file writes it.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value, json};
use tierscope_engine::{Arrival, Command, Engine, Entry, Fact, Input, InputError, Leg, Rank, Row, Sampled};
use tierscope_units::{PassId, RequestId, SimTime, SlotId, TokenRun};

use crate::config;
use crate::golden::{Case, is_past_an_assertion};
use crate::model::Model;
use crate::ops::Ops;
use crate::worker::Worker;

/// Token ids of outputs: `(1 << 20) + out_seed * 4096 + k` (README of the golden files).
const OUTPUT_BASE: u64 = 1 << 20;
const OUTPUT_STRIDE: u64 = 4096;

/// Compares every step; the number of steps, or the first difference, both sides.
pub(crate) fn compare(case: &Case) -> Result<usize, String> {
    let mut replay = Replay::new(case);
    for (index, want) in case.steps.iter().enumerate() {
        if is_past_an_assertion(want) || case.loads_for_ever(want) {
            return Ok(index);
        }
        let mut differing = Vec::new();
        let got = replay.step(index as u64, want, &mut differing);
        for (key, value) in &got {
            if want.get(key) != Some(value) {
                differing.push(both(key, want.get(key), value));
            }
        }
        let want = want.as_object().expect("a step is an object");
        let lacking = want.iter().filter(|(key, _)| !got.contains_key(*key) && !compared_apart(key));
        differing.extend(lacking.map(|(key, value)| both(key, Some(value), &Value::Null)));
        if !differing.is_empty() {
            return Err(format!("{} differs first at step {index}:\n{}", case.name, differing.join("\n")));
        }
    }
    Ok(case.steps.len())
}

fn both(key: &str, want: Option<&Value>, got: &Value) -> String {
    format!("    {key}\n      vLLM   {}\n      engine {got}", want.unwrap_or(&Value::Null))
}

/// Keys that are compared by meaning ([`Ops`]), not as written.
fn compared_apart(key: &str) -> bool {
    matches!(key, "ops" | "ops_upd")
}

struct Replay<'a> {
    case: &'a Case,
    engine: Engine,
    names: Vec<String>,
    ids: HashMap<String, RequestId>,
    model: Model,
    ops: Ops,
    /// Where the case has a CPU tier.
    worker: Option<Worker>,
    is_async: bool,
    /// Asynchronous scheduling: steps whose output is not applied; an empty step has no pass.
    pipe: VecDeque<(u64, Option<PassId>)>,
    /// Requests ended since the last scheduling: vLLM schedules once more for them.
    flush: bool,
}

impl<'a> Replay<'a> {
    fn new(case: &'a Case) -> Self {
        let requests = case.scenario["requests"].as_array().expect("a scenario has requests");
        let names: Vec<String> =
            requests.iter().map(|r| r["id"].as_str().expect("an id").to_owned()).collect();
        Self {
            case,
            engine: Engine::new(config::of(case)),
            ids: (0..).map(RequestId).zip(&names).map(|(id, name)| (name.clone(), id)).collect(),
            names,
            model: Model::of(case),
            ops: Ops::default(),
            worker: Worker::of(case),
            is_async: case.on("async_scheduling"),
            pipe: VecDeque::new(),
            flush: false,
        }
    }

    fn step(&mut self, step: u64, want: &Value, differing: &mut Vec<String>) -> Map<String, Value> {
        let now = SimTime::from_ns(step);
        let mut got = Map::new();
        got.insert("step".into(), json!(step));
        let added = self.arrive(now, step);
        put(&mut got, "added", added);
        let aborted = self.abort(now, step, "before");
        put(&mut got, "aborted", aborted);
        self.engine.clear_facts();
        self.ops.begin_step();
        // The golden files tell the preemptions of a reset with the step, and the contents it drops not at all.
        self.reset(now, step, &mut got);
        let reset = Changes::of(self.engine.facts()).preempted;
        self.engine.clear_facts();
        let (running, waiting) = self.engine.queue_lengths();
        let schedules = !self.is_async || running + waiting > 0 || self.flush;
        let commands = if schedules { self.poll(now) } else { Vec::new() };
        let pass = commands.last().copied().and_then(pass_of);
        self.flush &= !schedules;
        self.scheduled(pass, &reset, &mut got);
        if let Some(worker) = &mut self.worker {
            let moved = (&commands[..], self.engine.facts());
            let xfer = worker.move_blocks(step, moved, &self.names, want, differing);
            if !xfer.is_empty() {
                got.insert("xfer".into(), Value::Object(xfer));
            }
        }
        self.ops.preempted_by_reset(reset.iter().map(|&id| self.text(id)).collect());
        self.compare_ops("ops", want, differing);
        self.engine.clear_facts();
        let due = self.due(step, schedules, pass);
        if self.is_async {
            got.insert("applied".into(), due.map_or(Value::Null, |(step, _)| json!(step)));
        }
        if let Some((_, pass)) = due {
            self.update(now, step, pass, &mut got);
        }
        if let Some(worker) = &mut self.worker {
            worker.end_copies(now, &mut self.engine);
            if let Some(cpu) = worker.changed_tier(&self.engine) {
                got.insert("cpu".into(), cpu);
            }
        }
        self.compare_ops("ops_upd", want, differing);
        self.engine.clear_facts();
        let order = self.engine.g1().take_order();
        got.insert("free".into(), json!(order.len()));
        if !self.case.compact && order.len() <= 128 {
            got.insert("free_q".into(), blocks(&order));
        }
        got.insert("free_q_fnv".into(), json!(hex(order.iter().map(|slot| slot.0 + 1))));
        if self.case.compact {
            self.ops.count_events(&mut got);
        }
        got
    }

    /// What one attempt to schedule asks for.
    fn poll(&mut self, now: SimTime) -> Vec<Command> {
        let mut commands = Vec::new();
        while let Some(command) = self.engine.poll_command(now) {
            commands.push(command);
            if matches!(command, Command::StartPass(_) | Command::PollAgain) {
                break;
            }
        }
        commands
    }

    fn compare_ops(&mut self, key: &str, want: &Value, differing: &mut Vec<String>) {
        match self.case.compact {
            true => self.ops.tally(self.engine.facts()),
            false => self.ops.compare(key, self.engine.facts(), &self.names, &want[key], differing),
        }
    }

    /// The step whose output is applied now, with its pass unless it scheduled nothing.
    fn due(&mut self, step: u64, schedules: bool, pass: Option<PassId>) -> Option<(u64, Option<PassId>)> {
        if !self.is_async {
            return Some((step, pass));
        }
        let (running, waiting) = self.engine.queue_lengths();
        let more = pass.is_some() || running + waiting > 0 || self.flush;
        if schedules {
            self.pipe.push_back((step, pass));
        }
        if schedules && self.pipe.len() < 2 && more { None } else { self.pipe.pop_front() }
    }

    fn arrive(&mut self, now: SimTime, step: u64) -> Vec<Value> {
        let requests = self.case.scenario["requests"].as_array().expect("a scenario has requests");
        let ties = config::ties(&self.names);
        let mut added = Vec::new();
        for (index, r) in requests.iter().enumerate() {
            if r["arrival_step"].as_u64().unwrap_or(0) != step {
                continue;
            }
            let prompt = prompt(r);
            let seed = r["out_seed"].as_u64().unwrap_or(index as u64);
            let sent = r["arrival_time"].as_f64().unwrap_or(step as f64);
            let arrival = Arrival {
                request: RequestId(index as u32),
                prompt: &prompt,
                output_start: OUTPUT_BASE + seed * OUTPUT_STRIDE,
                output_tokens: r["max_tokens"].as_u64().expect("a number") as u32,
                salt: r["cache_salt"].as_str().map_or(0, |salt| u64::from(salt.as_bytes()[0])),
                rank: Rank {
                    priority: r["priority"].as_i64().unwrap_or(0) as i32,
                    sent: SimTime::from_ns((sent * 1e6) as u64),
                    tie: ties[index],
                },
                leg: Leg::Whole,
                entry: Entry::New,
            };
            self.engine.handle(now, Input::Arrive(arrival)).expect("each request arrives once");
            added.push(r["id"].clone());
        }
        added
    }

    fn abort(&mut self, now: SimTime, step: u64, when: &str) -> Vec<Value> {
        let mut aborted = Vec::new();
        for abort in self.case.scenario["aborts"].as_array().into_iter().flatten() {
            let at = abort["when"].as_str().unwrap_or("before");
            if abort["step"].as_u64() != Some(step) || (at == "mid") != (when == "mid") {
                continue;
            }
            let id = self.ids[abort["id"].as_str().expect("an id")];
            self.flush |= self.engine.is_live(id);
            match self.engine.handle(now, Input::Cancel(id)) {
                // Aborting a request that has not arrived is nothing to vLLM.
                Ok(()) | Err(InputError::UnknownRequest(_)) => {}
                Err(error) => panic!("{}: {error}", self.case.name),
            }
            aborted.push(abort["id"].clone());
        }
        aborted
    }

    fn reset(&mut self, now: SimTime, step: u64, got: &mut Map<String, Value>) {
        for reset in self.case.scenario["resets"].as_array().into_iter().flatten() {
            if reset["step"].as_u64() == Some(step) {
                let preempt_running = reset["reset_running"].as_bool().unwrap_or(false);
                let done = self.engine.handle(now, Input::ResetPrefixCache { preempt_running });
                got.insert("reset".into(), json!({"ok": done.is_ok(), "reset_running": preempt_running}));
            }
        }
    }

    /// What was scheduled, from the facts and the rows.
    fn scheduled(&mut self, pass: Option<PassId>, reset: &[RequestId], got: &mut Map<String, Value>) {
        let engine = &self.engine;
        let rows: &[Row] = pass.map_or(&[], |pass| engine.rows_of(pass));
        let mut lists: [Vec<(&Row, Vec<SlotId>)>; 3] = Default::default();
        let changes = Changes::of(engine.facts());
        for row in rows {
            match changes.admitted.get(&row.request) {
                Some(readmission) => {
                    let all = engine.blocks_of(row.request).to_vec();
                    lists[usize::from(*readmission)].push((row, all));
                }
                None => {
                    let grown = changes.grown.get(&row.request).cloned().unwrap_or_default();
                    lists[2].push((row, grown));
                }
            }
        }
        let show = |list: &[(&Row, Vec<SlotId>)]| -> Vec<Value> {
            list.iter()
                .map(|(row, slots)| {
                    json!([self.name(row.request), row.tokens, row.computed_before, blocks(slots)])
                })
                .collect()
        };
        put(got, "new", show(&lists[0]));
        put(got, "resumed", show(&lists[1]));
        if self.case.compact {
            let plain = |(row, grown): &&(&Row, Vec<SlotId>)| row.tokens != 1 || !grown.is_empty();
            let special: Vec<_> = lists[2].iter().filter(plain).cloned().collect();
            put(got, "running", show(&special));
            if !lists[2].is_empty() {
                got.insert("nrun".into(), json!(lists[2].len()));
            }
            got.insert("run_len".into(), json!(engine.queue_lengths().0));
            got.insert("wait_len".into(), json!(engine.queue_lengths().1));
            got.insert("sched_fnv".into(), json!(config::schedule_digest(&lists)));
        } else {
            put(got, "running", show(&lists[2]));
            got.insert("run_q".into(), engine.running().map(|id| self.name(id)).collect());
            got.insert("wait_q".into(), engine.waiting().map(|id| self.name(id)).collect());
            put(got, "kv_wait_q", engine.holding().map(|id| self.name(id)).collect());
        }
        let drafts: Map<String, Value> = rows
            .iter()
            .filter(|row| row.drafts > 0)
            .map(|row| (self.text(row.request), json!(row.drafts)))
            .collect();
        if !drafts.is_empty() {
            got.insert("spec".into(), Value::Object(drafts));
        }
        if !self.is_async {
            put(
                got,
                "spec_padded",
                rows.iter().filter(|row| row.padded).map(|row| self.name(row.request)).collect(),
            );
        }
        let preempted = reset.iter().chain(&changes.preempted);
        put(got, "preempted", preempted.map(|&id| self.name(id)).collect());
        got.insert("total".into(), json!(rows.iter().map(|row| row.tokens).sum::<u32>()));
        got.insert("free_sched".into(), json!(engine.g1().available()));
    }

    /// The end of a pass: who sampled, who finished.
    fn update(&mut self, now: SimTime, step: u64, pass: Option<PassId>, got: &mut Map<String, Value>) {
        let rows = pass.map_or(Vec::new(), |pass| self.engine.rows_of(pass).to_vec());
        let outputs =
            |engine: &Engine| rows.iter().map(|row| engine.output_tokens(row.request)).collect::<Vec<_>>();
        let sampled: Vec<Sampled> = rows
            .iter()
            .zip(outputs(&self.engine))
            .map(|(row, outputs)| self.model.sample(row, outputs.unwrap_or(0), self.is_async))
            .collect();
        let aborted = self.abort(now, step, "mid");
        put(got, "aborted_mid", aborted);
        let before = outputs(&self.engine);
        let Some(pass) = pass else { return };
        self.engine.handle(now, Input::PassEnded { pass, sampled: &sampled }).expect("the pass is under way");
        let mut finished = Vec::new();
        let mut ended = HashMap::new();
        for (_, fact) in self.engine.facts().iter() {
            if let Fact::Finished { request, output_tokens } = fact {
                finished.push(json!([self.name(*request), self.model.reason(*request, *output_tokens)]));
                ended.insert(*request, *output_tokens);
            }
        }
        self.flush |= !finished.is_empty();
        let mut kept = Map::new();
        for (row, before) in rows.iter().zip(before) {
            let after = ended.get(&row.request).copied().or_else(|| self.engine.output_tokens(row.request));
            if let (Some(before), Some(after)) = (before, after)
                && after > before
            {
                kept.insert(self.text(row.request), json!(after - before));
            }
        }
        if !kept.is_empty() && self.case.compact && self.case.number("num_spec_tokens") == Some(0) {
            got.insert("nsampled".into(), json!(kept.values().filter_map(Value::as_u64).sum::<u64>()));
        } else if !kept.is_empty() {
            got.insert("sampled".into(), Value::Object(kept));
        }
        put(got, "finished", finished);
    }

    fn text(&self, request: RequestId) -> String {
        self.names[request.0 as usize].clone()
    }

    fn name(&self, request: RequestId) -> Value {
        json!(self.names[request.0 as usize])
    }
}

/// What the facts of a scheduling say.
#[derive(Default)]
struct Changes {
    /// By request: whether it was a readmission.
    admitted: HashMap<RequestId, bool>,
    grown: HashMap<RequestId, Vec<SlotId>>,
    preempted: Vec<RequestId>,
}

impl Changes {
    fn of(facts: &tierscope_engine::FactLog) -> Self {
        let mut changes = Self::default();
        for (_, fact) in facts.iter() {
            match fact {
                Fact::Admitted { request, readmission, .. } => {
                    changes.admitted.insert(*request, *readmission);
                }
                Fact::Acquired { request, missing, .. } => {
                    let slots = facts.blocks(*missing).iter().map(|block| block.slot);
                    changes.grown.entry(*request).or_default().extend(slots);
                }
                Fact::Preempted { request, .. } => changes.preempted.push(*request),
                _ => {}
            }
        }
        changes
    }
}

/// A step of vLLM is one attempt to schedule, with or without rows.
fn pass_of(command: Command) -> Option<PassId> {
    match command {
        Command::StartPass(plan) => Some(plan.pass),
        Command::PollAgain
        | Command::StartCopy(_)
        | Command::CancelCopy(_)
        | Command::AwaitCopy(_)
        | Command::FetchContext(_) => None,
    }
}

fn put(step: &mut Map<String, Value>, key: &str, list: Vec<Value>) {
    if !list.is_empty() {
        step.insert(key.into(), Value::Array(list));
    }
}

/// vLLM's block 0 is its null block: ours are numbered one lower.
fn blocks(slots: &[SlotId]) -> Value {
    slots.iter().map(|slot| json!(slot.0 + 1)).collect()
}

/// FNV-1a 64 over numbers as little-endian words of 32 bits, as the golden files have it.
pub(crate) fn hex(numbers: impl IntoIterator<Item = u32>) -> String {
    let hash =
        numbers.into_iter().flat_map(u32::to_le_bytes).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{hash:016x}")
}

pub(crate) fn prompt(request: &Value) -> Vec<TokenRun> {
    if let Some(tokens) = request["prompt"].as_array() {
        return tokens.iter().map(|t| TokenRun { start: t.as_u64().expect("a token"), len: 1 }).collect();
    }
    let run = |run: &Value| TokenRun {
        start: run[0].as_u64().expect("a token"),
        len: run[1].as_u64().expect("a length") as u32,
    };
    request["runs"].as_array().expect("a prompt has runs").iter().map(run).collect()
}
