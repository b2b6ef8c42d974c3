//! One case through the engine, each step as the golden file writes it.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use tierscope_engine::{Admission, Arrival, Command, Engine, EngineConfig, Fact, Fidelity, Input};
use tierscope_units::{PassId, RequestId, SimTime, SlotId, TokenRun};

use crate::golden::Case;

/// Token ids of outputs: `(1 << 20) + out_seed * 4096 + k` (README of the golden files).
const OUTPUT_BASE: u64 = 1 << 20;
const OUTPUT_STRIDE: u64 = 4096;

/// Compares every step; the number of steps, or the first difference, both sides.
pub(crate) fn compare(case: &Case) -> Result<usize, String> {
    let mut replay = Replay::new(case);
    for (index, want) in case.steps.iter().enumerate() {
        let got = replay.step(index as u64);
        let differing: Vec<String> = got
            .iter()
            .filter(|(key, value)| want.get(key.as_str()) != Some(value))
            .map(|(key, value)| {
                format!("    {key}\n      vLLM   {}\n      engine {value}", want.get(key).unwrap_or(&Value::Null))
            })
            .chain(missing(want, &got))
            .collect();
        if !differing.is_empty() {
            return Err(format!("{} differs first at step {index}:\n{}", case.name, differing.join("\n")));
        }
    }
    Ok(case.steps.len())
}

/// Keys of the golden step that the engine's step lacks.
fn missing(want: &Value, got: &Map<String, Value>) -> Vec<String> {
    let want = want.as_object().expect("a step is an object");
    let lacking = want.iter().filter(|(key, _)| !got.contains_key(*key) && compared(key));
    lacking.map(|(key, value)| format!("    {key}\n      vLLM   {value}\n      engine says nothing")).collect()
}

fn compared(key: &str) -> bool {
    !matches!(key, "ops" | "ops_upd" | "sched_fnv" | "nstore" | "nevict" | "running" | "spec" | "spec_padded")
}

struct Replay<'a> {
    case: &'a Case,
    engine: Engine,
    names: Vec<String>,
    ids: HashMap<String, RequestId>,
    eos: Vec<Option<u32>>,
}

impl<'a> Replay<'a> {
    fn new(case: &'a Case) -> Self {
        let requests = case.scenario["requests"].as_array().expect("a scenario has requests");
        let names: Vec<String> = requests.iter().map(|r| r["id"].as_str().expect("an id").to_owned()).collect();
        let ids = (0..).map(RequestId).zip(&names).map(|(id, name)| (name.clone(), id)).collect();
        let eos = requests.iter().map(|r| r["eos_at"].as_u64().map(|at| at as u32)).collect();
        Self { case, engine: Engine::new(config(case)), names, ids, eos }
    }

    fn step(&mut self, step: u64) -> Map<String, Value> {
        let now = SimTime::from_ns(step);
        let mut got = Map::new();
        got.insert("step".into(), json!(step));
        let added = self.arrive(now, step);
        put(&mut got, "added", added);
        let aborted = self.abort(now, step, "before");
        put(&mut got, "aborted", aborted);
        self.engine.clear_facts();
        let command = self.engine.poll_command(now);
        self.scheduled(&mut got);
        let aborted = self.abort(now, step, "mid");
        put(&mut got, "aborted_mid", aborted);
        self.engine.clear_facts();
        if let Some(Command::StartPass(plan)) = command {
            self.update(now, plan.pass, &mut got);
        }
        let order = self.engine.g1().take_order();
        got.insert("free".into(), json!(order.len()));
        if !self.case.compact && order.len() <= 128 {
            got.insert("free_q".into(), blocks(&order));
        }
        got.insert("free_q_fnv".into(), json!(format!("{:016x}", fnv(&order))));
        got
    }

    fn arrive(&mut self, now: SimTime, step: u64) -> Vec<Value> {
        let requests = self.case.scenario["requests"].as_array().expect("a scenario has requests");
        let mut added = Vec::new();
        for (index, r) in requests.iter().enumerate() {
            if r["arrival_step"].as_u64().unwrap_or(0) != step {
                continue;
            }
            let prompt = prompt(r);
            let seed = r["out_seed"].as_u64().unwrap_or(index as u64);
            let salt = r["cache_salt"].as_str().map_or(0, |salt| u64::from(salt.as_bytes()[0]));
            let max_tokens = r["max_tokens"].as_u64().expect("a number") as u32;
            let arrival = Arrival {
                request: RequestId(index as u32),
                prompt: &prompt,
                output_start: OUTPUT_BASE + seed * OUTPUT_STRIDE,
                output_tokens: self.eos[index].map_or(max_tokens, |at| max_tokens.min(at + 1)),
                salt,
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
            if abort["step"].as_u64() == Some(step) && (at == "mid") == (when == "mid") {
                let id = self.ids[abort["id"].as_str().expect("an id")];
                // Aborting a request that has not arrived is nothing to vLLM.
                let _ = self.engine.handle(now, Input::Cancel(id));
                aborted.push(abort["id"].clone());
            }
        }
        aborted
    }

    /// What was scheduled, from the facts and the rows.
    fn scheduled(&mut self, got: &mut Map<String, Value>) {
        let engine = &self.engine;
        let (mut new, mut resumed, mut running, mut preempted) = (vec![], vec![], vec![], vec![]);
        let mut admitted = HashMap::new();
        let mut grown: HashMap<RequestId, Vec<SlotId>> = HashMap::new();
        for (_, fact) in engine.facts().iter() {
            match fact {
                Fact::Admitted { request, readmission, .. } => {
                    admitted.insert(*request, *readmission);
                }
                Fact::Acquired { request, missing, .. } => {
                    let slots = engine.facts().blocks(*missing).iter().map(|block| block.slot);
                    grown.entry(*request).or_default().extend(slots);
                }
                Fact::Preempted { request, .. } => preempted.push(self.name(*request)),
                _ => {}
            }
        }
        let mut total = 0;
        for row in engine.rows() {
            total += row.tokens;
            let head = (self.name(row.request), row.tokens, row.computed_before);
            match admitted.get(&row.request) {
                Some(readmission) => {
                    let list = if *readmission { &mut resumed } else { &mut new };
                    list.push(json!([head.0, head.1, head.2, blocks(engine.blocks_of(row.request))]));
                }
                None => {
                    let grown = grown.get(&row.request).map_or(&[][..], |slots| slots);
                    running.push(json!([head.0, head.1, head.2, blocks(grown)]));
                }
            }
        }
        put(got, "new", new);
        put(got, "resumed", resumed);
        if self.case.compact {
            if !running.is_empty() {
                got.insert("nrun".into(), json!(running.len()));
            }
            got.insert("run_len".into(), json!(engine.queue_lengths().0));
            got.insert("wait_len".into(), json!(engine.queue_lengths().1));
        } else {
            put(got, "running", running);
            got.insert("run_q".into(), engine.running().map(|id| self.name(id)).collect());
            got.insert("wait_q".into(), engine.waiting().map(|id| self.name(id)).collect());
        }
        put(got, "preempted", preempted);
        got.insert("total".into(), json!(total));
        got.insert("free_sched".into(), json!(engine.g1().available()));
    }

    /// The end of the pass: who sampled, who finished.
    fn update(&mut self, now: SimTime, pass: PassId, got: &mut Map<String, Value>) {
        let rows = self.engine.rows().to_vec();
        let before: Vec<Option<usize>> = rows.iter().map(|row| self.outputs(row.request)).collect();
        self.engine.handle(now, Input::PassEnded(pass)).expect("the pass is under way");
        let mut finished = Vec::new();
        let mut ended = HashMap::new();
        for (_, fact) in self.engine.facts().iter() {
            if let Fact::Finished { request, output_tokens } = fact {
                let stop = self.eos[request.0 as usize].is_some_and(|at| at + 1 == *output_tokens);
                finished.push(json!([self.name(*request), if stop { "stop" } else { "length" }]));
                ended.insert(*request, *output_tokens as usize);
            }
        }
        let mut sampled = Map::new();
        for (row, before) in rows.iter().zip(before) {
            let after = ended.get(&row.request).copied().or_else(|| self.outputs(row.request));
            if let (Some(before), Some(after)) = (before, after)
                && after > before
            {
                sampled.insert(self.names[row.request.0 as usize].clone(), json!(after - before));
            }
        }
        if self.case.compact {
            if !sampled.is_empty() {
                got.insert("nsampled".into(), json!(sampled.len()));
            }
        } else if !sampled.is_empty() {
            got.insert("sampled".into(), Value::Object(sampled));
        }
        put(got, "finished", finished);
    }

    fn outputs(&self, request: RequestId) -> Option<usize> {
        self.engine.output_tokens(request).map(|tokens| tokens as usize)
    }

    fn name(&self, request: RequestId) -> Value {
        json!(self.names[request.0 as usize])
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

fn fnv(slots: &[SlotId]) -> u64 {
    slots.iter().flat_map(|slot| (slot.0 + 1).to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn prompt(request: &Value) -> Vec<TokenRun> {
    if let Some(tokens) = request["prompt"].as_array() {
        return tokens.iter().map(|t| TokenRun { start: t.as_u64().expect("a token"), len: 1 }).collect();
    }
    let run = |run: &Value| TokenRun {
        start: run[0].as_u64().expect("a token"),
        len: run[1].as_u64().expect("a length") as u32,
    };
    request["runs"].as_array().expect("a prompt has runs").iter().map(run).collect()
}

fn config(case: &Case) -> EngineConfig {
    let number = |key: &str| case.number(key).unwrap_or_else(|| panic!("{}: no {key}", case.name));
    let on = |key: &str| case.config[key].as_bool().expect("a switch");
    EngineConfig {
        block_size_tokens: number("block_size"),
        g1_blocks: number("num_gpu_blocks") - 1,
        max_num_seqs: number("max_num_seqs"),
        max_num_batched_tokens: number("max_num_batched_tokens"),
        max_model_len: number("max_model_len"),
        prefix_caching: on("enable_prefix_caching"),
        chunked_prefill: on("enable_chunked_prefill"),
        long_prefill_token_threshold: number("long_prefill_token_threshold"),
        admission: match on("scheduler_reserve_full_isl") {
            true => Admission::FullPrompt,
            false => Admission::NextChunk,
        },
        fidelity: Fidelity::Exact,
        // vLLM takes the share of all blocks, its null block included.
        watermark: case.config["watermark"].as_f64().expect("a share") * f64::from(number("num_gpu_blocks"))
            / f64::from(number("num_gpu_blocks") - 1),
    }
}
