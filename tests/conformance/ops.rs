//! What the block pool did, in order: allocations, evictions, registrations, preemptions. Hashes differ by
//! design (vLLM hashes tokens with SHA-256, we hash runs); they must correspond one to one.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use tierscope_engine::{Fact, FactLog};
use tierscope_units::SequenceHash;

#[derive(Default)]
pub(crate) struct Ops {
    ours: HashMap<String, SequenceHash>,
    theirs: HashMap<SequenceHash, String>,
    stored: u64,
    evicted: u64,
    by_reset: Vec<String>,
}

impl Ops {
    /// Requests that a reset preempted before this step was scheduled.
    pub(crate) fn preempted_by_reset(&mut self, names: Vec<String>) {
        self.by_reset = names;
    }

    /// Counts begin anew.
    pub(crate) fn begin_step(&mut self) {
        (self.stored, self.evicted) = (0, 0);
    }

    /// Compares the operations that both sides tell of.
    pub(crate) fn compare(
        &mut self,
        key: &str,
        log: &FactLog,
        names: &[String],
        want: &Value,
        differing: &mut Vec<String>,
    ) {
        let got = self.read(log, names);
        let want: Vec<&Value> = want.as_array().into_iter().flatten().filter(|op| told(op)).collect();
        let same = got.len() == want.len() && got.iter().zip(&want).all(|(got, want)| self.equal(got, want));
        if !same {
            let shown = |ops: &mut dyn Iterator<Item = String>| ops.collect::<Vec<_>>().join(" ");
            differing.push(format!(
                "    {key}\n      vLLM   {}\n      engine {}",
                shown(&mut want.iter().map(|op| op.to_string())),
                shown(&mut got.iter().map(|op| format!("{op:?}"))),
            ));
        }
    }

    fn equal(&mut self, got: &Op, want: &Value) -> bool {
        let block = |value: &Value| value.as_u64().map(|n| n as u32);
        match (got, want[0].as_str()) {
            (Op::Alloc(slots), Some("alloc")) => json!(slots) == want[1],
            (Op::Preempt(name), Some("preempt")) => want[1] == json!(name),
            (Op::Store(slot, hash), Some("store")) | (Op::Evict(slot, hash), Some("evict")) => {
                block(&want[1]) == Some(*slot) && self.correspond(*hash, &want[2])
            }
            _ => false,
        }
    }

    fn correspond(&mut self, hash: SequenceHash, theirs: &Value) -> bool {
        let theirs = theirs.as_str().unwrap_or_default().to_owned();
        let ours = *self.ours.entry(theirs.clone()).or_insert(hash);
        ours == hash && *self.theirs.entry(hash).or_insert(theirs.clone()) == theirs
    }

    fn read(&mut self, log: &FactLog, names: &[String]) -> Vec<Op> {
        let mut ops: Vec<Op> = std::mem::take(&mut self.by_reset).into_iter().map(Op::Preempt).collect();
        for (_, fact) in log.iter() {
            match fact {
                Fact::Acquired { missing, .. } if !missing.is_empty() => {
                    ops.push(Op::Alloc(log.blocks(*missing).iter().map(|block| block.slot.0 + 1).collect()));
                }
                Fact::Removed { blocks } => {
                    ops.extend(
                        log.blocks(*blocks).iter().map(|block| Op::Evict(block.slot.0 + 1, block.hash)),
                    );
                }
                Fact::Stored { blocks, .. } => {
                    ops.extend(
                        log.blocks(*blocks).iter().map(|block| Op::Store(block.slot.0 + 1, block.hash)),
                    );
                }
                Fact::Preempted { request, .. } => ops.push(Op::Preempt(names[request.0 as usize].clone())),
                _ => {}
            }
        }
        ops
    }

    /// Compact steps only count.
    pub(crate) fn count_events(&mut self, got: &mut Map<String, Value>) {
        if self.stored + self.evicted > 0 {
            got.insert("nstore".into(), json!(self.stored));
            got.insert("nevict".into(), json!(self.evicted));
        }
    }

    /// Counts the events of a compact step's part.
    pub(crate) fn tally(&mut self, log: &FactLog) {
        for (_, fact) in log.iter() {
            match fact {
                Fact::Stored { blocks, .. } => self.stored += u64::from(blocks.len()),
                Fact::Removed { blocks } => self.evicted += u64::from(blocks.len()),
                _ => {}
            }
        }
    }
}

/// Releases and touches are seen in the free queue.
fn told(op: &Value) -> bool {
    matches!(op[0].as_str(), Some("alloc" | "evict" | "store" | "preempt"))
}

#[derive(Debug)]
enum Op {
    Alloc(Vec<u32>),
    Evict(u32, SequenceHash),
    Store(u32, SequenceHash),
    Preempt(String),
}
