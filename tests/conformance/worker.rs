//! The worker behind vLLM's connector, as the golden files have it: every copy takes a fixed number of steps.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use tierscope_engine::{Command, Engine, Fact, FactLog, Input, Lane};
use tierscope_units::{SimTime, TransferId};

use crate::golden::Case;

/// The tier's order is written for so many chunks at most.
const ORDER_MAX: u32 = 64;

pub(crate) struct Worker {
    load_latency: u64,
    store_latency: u64,
    chunk_blocks: u32,
    shows_order: bool,
    /// The step in which each store was created.
    created: HashMap<TransferId, u64>,
    /// When each copy ends.
    due: BTreeMap<TransferId, u64>,
    /// Where the file says that a store goes, until its copy says so itself.
    chunks: HashMap<TransferId, Value>,
    done: Vec<TransferId>,
    shown: Value,
}

impl Worker {
    /// `None` where the case has no tier.
    pub(crate) fn of(case: &Case) -> Option<Self> {
        case.cpu_chunks()?;
        let number = |key: &str| case.number(key).map_or(1, u64::from);
        Some(Self {
            load_latency: number("load_latency"),
            store_latency: number("store_latency"),
            chunk_blocks: case.number("blocks_per_chunk").unwrap_or(1),
            shows_order: case.cpu_chunks() <= Some(ORDER_MAX) && case.config["eviction_policy"] == "lru",
            created: HashMap::new(),
            due: BTreeMap::new(),
            chunks: HashMap::new(),
            done: Vec::new(),
            shown: Value::Null,
        })
    }

    /// Obeys the commands of a step and says what moves, from its facts.
    pub(crate) fn move_blocks(
        &mut self,
        step: u64,
        (commands, log): (&[Command], &FactLog),
        names: &[String],
        want: &Value,
        differing: &mut Vec<String>,
    ) -> Map<String, Value> {
        let mut xfer = self.read(step, log, names, want, differing);
        for command in commands {
            match *command {
                Command::StartCopy(plan) => {
                    let due = match plan.lane {
                        Lane::G1ToG2 => self.created[&plan.transfer] + 1 + self.store_latency,
                        _ => step + self.load_latency,
                    };
                    self.due.insert(plan.transfer, due);
                }
                Command::AwaitCopy(transfer) => {
                    self.due.insert(transfer, step);
                    let loads = xfer.get_mut("loads").and_then(Value::as_array_mut).into_iter().flatten();
                    loads.filter(|load| load[0] == transfer.0).for_each(|load| load[4] = json!(true));
                }
                _ => {}
            }
        }
        self.done = self.due.iter().filter(|&(_, &due)| due <= step).map(|(&transfer, _)| transfer).collect();
        self.due.retain(|_, due| *due > step);
        if !self.done.is_empty() {
            xfer.insert("done".into(), self.done.iter().map(|transfer| json!(transfer.0)).collect());
        }
        xfer
    }

    fn read(
        &mut self,
        step: u64,
        log: &FactLog,
        names: &[String],
        want: &Value,
        differing: &mut Vec<String>,
    ) -> Map<String, Value> {
        let (mut loads, mut stores, mut flush) = (Vec::new(), Vec::new(), Vec::new());
        for (_, fact) in log.iter() {
            match *fact {
                Fact::CopyQueued { transfer, lane, request: Some(request), blocks, .. } => {
                    let name = &names[request.0 as usize];
                    let slots = log.blocks(blocks).iter().map(|block| block.slot.0);
                    if lane == Lane::G2ToG1 {
                        let mut chunks: Vec<u32> = slots.map(|slot| slot / self.chunk_blocks).collect();
                        chunks.dedup();
                        loads.push(json!([transfer.0, name, [], chunks, false]));
                        continue;
                    }
                    let wanted = want["xfer"]["stores"].as_array().into_iter().flatten();
                    let chunks = wanted.into_iter().find(|store| store[0] == transfer.0);
                    let chunks = chunks.map_or(Value::Null, |store| store[3].clone());
                    stores.push(json!([
                        transfer.0,
                        name,
                        slots.map(|slot| slot + 1).collect::<Vec<_>>(),
                        &chunks
                    ]));
                    self.created.insert(transfer, step);
                    self.chunks.insert(transfer, chunks);
                }
                Fact::CopyStarted { transfer, lane: Lane::G2ToG1, blocks } => {
                    let slots: Value =
                        log.blocks(blocks).iter().map(|block| json!(block.slot.0 + 1)).collect();
                    let load = loads.iter_mut().find(|load| load[0] == transfer.0);
                    load.expect("a load starts in the step that creates it")[2] = slots;
                }
                Fact::CopyStarted { transfer, blocks, .. } => {
                    let mut chunks: Vec<u32> =
                        log.blocks(blocks).iter().map(|block| block.slot.0 / self.chunk_blocks).collect();
                    chunks.dedup();
                    let theirs = self.chunks.remove(&transfer).unwrap_or(Value::Null);
                    if theirs != json!(chunks) {
                        differing
                            .push(format!("    store {} goes to {chunks:?}, vLLM's to {theirs}", transfer.0));
                    }
                }
                Fact::CopyFlushed { transfer } => flush.push(json!(transfer.0)),
                _ => {}
            }
        }
        let lists = [("loads", loads), ("stores", stores), ("flush", flush)];
        let some = lists.into_iter().filter(|(_, list)| !list.is_empty());
        some.map(|(key, list)| (key.to_owned(), Value::Array(list))).collect()
    }

    /// The end of a step: the copies that are done in it.
    pub(crate) fn end_copies(&mut self, now: SimTime, engine: &mut Engine) {
        for transfer in self.done.drain(..) {
            let ended = Input::TransferEnded { transfer, end: Ok(()) };
            engine.handle(now, ended).expect("the copy is under way");
        }
    }

    /// The state of the tier, if it changed.
    pub(crate) fn changed_tier(&mut self, engine: &Engine) -> Option<Value> {
        let tier = engine.cpu_tier().expect("a case with chunks has a tier");
        let mut cpu = json!({"free": tier.free(), "evictable": tier.evictable(), "writing": tier.writing()});
        if self.shows_order {
            cpu["lru"] = tier.victims().iter().map(|slot| json!(slot.0)).collect();
        }
        (cpu != self.shown).then(|| {
            self.shown = cpu.clone();
            cpu
        })
    }
}
