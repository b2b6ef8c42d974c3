//! The manager under the operations of a scenario, each answered by a line in the form of the golden files.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tierscope_engine::ChunkEviction;
use tierscope_engine::vllm::{
    ChunkOrder, Found, ManagerConfig, ManagerEvent, OffloadManager, Resident, Store,
};
use tierscope_units::{RequestId, SequenceHash, SlotId};

/// A manager, and the scenario's names for its requests and keys.
pub(crate) struct Player {
    pub(crate) manager: OffloadManager,
    requests: BTreeMap<String, RequestId>,
    /// Keys that are no numbers; numbers stand for themselves, below all of these.
    named: Vec<Value>,
}

/// The first key that is no number.
const NAMED: u64 = 1 << 32;

impl Player {
    pub(crate) fn new(config: &Value) -> Self {
        let number = |key: &str| config[key].as_u64().map(|n| u32::try_from(n).expect("a small number"));
        let manager = OffloadManager::new(ManagerConfig {
            chunks: number("num_chunks").expect("a tier has chunks"),
            policy: match config["policy"].as_str() {
                Some("lru") => ChunkEviction::Lru,
                Some("arc") => ChunkEviction::Arc,
                other => panic!("unknown policy {other:?}"),
            },
            store_threshold: number("store_threshold").unwrap_or(1),
            tracker_max: number("max_tracker_size").unwrap_or(ManagerConfig::TRACKER_MAX),
        });
        Self { manager, requests: BTreeMap::new(), named: Vec::new() }
    }

    fn request(&mut self, name: &Value) -> RequestId {
        let next = RequestId(self.requests.len() as u32);
        *self.requests.entry(name.to_string()).or_insert(next)
    }

    fn key(&mut self, key: &Value) -> SequenceHash {
        if let Some(number) = key.as_u64() {
            assert!(number < NAMED, "numbers are small");
            return SequenceHash(number);
        }
        let at = self.named.iter().position(|name| name == key).unwrap_or_else(|| {
            self.named.push(key.clone());
            self.named.len() - 1
        });
        SequenceHash(NAMED + at as u64)
    }

    fn keys(&mut self, list: &Value) -> Vec<SequenceHash> {
        list.as_array().expect("a list of keys").iter().map(|key| self.key(key)).collect()
    }

    fn shown(&self, key: SequenceHash) -> Value {
        key.0.checked_sub(NAMED).map_or(json!(key.0), |at| self.named[at as usize].clone())
    }

    fn shown_all<'k>(&self, keys: impl IntoIterator<Item = &'k SequenceHash>) -> Value {
        keys.into_iter().map(|&key| self.shown(key)).collect()
    }

    /// Applies an operation; the line that tells what came of it.
    pub(crate) fn play(&mut self, number: usize, operation: &Value) -> Value {
        let parts = operation.as_array().expect("an operation is a list");
        let returned = self.apply(parts);
        let mut line = Map::new();
        line.insert("i".to_owned(), json!(number));
        line.insert("op".to_owned(), json!(parts[..parts.len().min(2)]));
        line.extend(returned.map(|returned| ("ret".to_owned(), returned)));
        let events = self.manager.take_events();
        if !events.is_empty() {
            let events: Value = events.iter().map(|event| self.event(event)).collect();
            line.insert("events".to_owned(), events);
        }
        self.snapshot(&mut line);
        Value::Object(line)
    }

    fn apply(&mut self, parts: &[Value]) -> Option<Value> {
        let name = parts[0].as_str().expect("an operation has a name");
        if name == "reset" {
            self.manager.reset();
            return None;
        }
        let request = self.request(&parts[1]);
        match name {
            "new" => {
                let positions = parts[2].as_array().expect("a list of positions").iter();
                let position =
                    |pair: &Value| (self.key(&pair[0]), pair[1].as_u64().expect("a position") as u32);
                let positions: Vec<_> = positions.map(position).collect();
                self.manager.new_request(request, &positions);
            }
            "place" => {
                let key = self.key(&parts[2]);
                self.manager.place(request, key, parts[3].as_u64().expect("a position") as u32);
            }
            "finish" => self.manager.finish(request),
            _ => {
                let keys = self.keys(&parts[2]);
                return self.transfer(name, request, &keys, parts.get(3) == Some(&Value::Bool(true)));
            }
        }
        None
    }

    fn transfer(
        &mut self,
        name: &str,
        request: RequestId,
        keys: &[SequenceHash],
        is_ok: bool,
    ) -> Option<Value> {
        match name {
            "lookup" => {
                let found = |&key: &SequenceHash| match self.manager.lookup(key) {
                    Found::Miss => "MISS",
                    Found::Hit => "HIT",
                    Found::HitPending => "HIT_PENDING",
                };
                Some(keys.iter().map(found).collect())
            }
            "touch" => {
                self.manager.touch(keys);
                None
            }
            "prepare_load" => {
                let slots =
                    self.manager.prepare_load(request, keys).expect("a scenario loads what is readable");
                Some(shown_slots(&slots))
            }
            "complete_load" => {
                self.manager.complete_load(keys);
                None
            }
            "prepare_store" => {
                let store = self.manager.prepare_store(request, keys);
                Some(store.map_or(Value::Null, |store| self.store(&store)))
            }
            "complete_store" => {
                self.manager.complete_store(keys, is_ok);
                None
            }
            other => panic!("unknown operation {other}"),
        }
    }

    fn store(&self, store: &Store) -> Value {
        json!({
            "store": self.shown_all(&store.keys),
            "chunks": shown_slots(&store.chunks),
            "evicted": self.shown_all(&store.evicted),
        })
    }

    fn event(&self, event: &ManagerEvent) -> Value {
        let (name, blocks) = match event {
            ManagerEvent::Stored(blocks) => ("stored", blocks),
            ManagerEvent::Removed(blocks) => ("removed", blocks),
            ManagerEvent::StoreFailed(blocks) => ("removed_meta", blocks),
        };
        json!([name, self.shown_all(blocks.iter().map(|block| &block.hash))])
    }

    /// The tier as it is now.
    fn snapshot(&self, line: &mut Map<String, Value>) {
        let manager = &self.manager;
        let freed: Vec<SlotId> = manager.freed().collect();
        let mut add = |name: &str, value: Value| line.insert(name.to_owned(), value);
        add("free", json!(manager.free()));
        add("free_list", shown_slots(&freed));
        add("fresh", json!(manager.used()));
        add("evictable", json!(manager.evictable()));
        add("writing", json!(manager.writing()));
        match manager.order() {
            ChunkOrder::Lru(order) => {
                let victims = manager.victims();
                let victims =
                    victims.iter().map(|&slot| manager.content(slot).expect("a victim holds content"));
                add("lru", victims.map(|key| self.shown(key)).collect());
                let row = |chunk: &Resident| json!([self.shown(chunk.key), chunk.refs, chunk.slot.0]);
                add("order", order.iter().map(row).collect());
            }
            ChunkOrder::Arc { once, again, once_ghosts, again_ghosts, target } => {
                let row = |chunk: &Resident| json!([self.shown(chunk.key), chunk.refs]);
                add("t1", once.iter().map(row).collect());
                add("t2", again.iter().map(row).collect());
                add("b1", self.shown_all(&once_ghosts));
                add("b2", self.shown_all(&again_ghosts));
                let rounded: f64 = format!("{target:.9}").parse().expect("a number");
                add("target_t1", json!(rounded));
            }
        }
    }
}

fn shown_slots(slots: &[SlotId]) -> Value {
    slots.iter().map(|slot| slot.0).collect()
}

/// The first field in which two lines differ. 0 and 0.0 are one number.
pub(crate) fn difference(got: &Value, want: &Value) -> Option<String> {
    let (got, want) = (got.as_object()?, want.as_object()?);
    let fields = want.keys().chain(got.keys());
    let differs = |field: &&String| {
        let (got, want) = (got.get(*field), want.get(*field));
        let is_number = |value: Option<&Value>| value.and_then(Value::as_f64);
        got != want && (is_number(got).is_none() || is_number(got) != is_number(want))
    };
    fields.into_iter().find(differs).cloned()
}
