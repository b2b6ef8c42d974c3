//! Random sequences of operations that a connector could make: what is loaded is readable, and what is completed was
//! prepared.

use serde_json::{Value, json};
use tierscope_units::RandomStream;

use crate::play::Player;

struct Request {
    name: String,
    keys: Vec<u64>,
    /// Keys whose position is known.
    placed: usize,
}

struct Draw {
    stream: RandomStream,
    player: Player,
    operations: Vec<Value>,
    requests: Vec<Request>,
    /// Prepared and not completed: the request, and the keys.
    stores: Vec<(String, Vec<u64>)>,
    loads: Vec<(String, Vec<u64>)>,
    started: usize,
}

/// A scenario with its configuration.
pub(crate) fn sequence(mut stream: RandomStream) -> Value {
    let mut one_of = |choices: &[u64]| choices[stream.between(0, choices.len() as u64 - 1) as usize];
    let chunks = one_of(&[1, 2, 3, 4, 6, 8, 12, 16, 24, 48]);
    let threshold = one_of(&[0, 1, 1, 1, 2, 3]);
    let tracker_max = one_of(&[0, 2, 5, 20, 64_000]);
    let config = json!({
        "policy": if stream.between(0, 1) == 0 { "lru" } else { "arc" },
        "num_chunks": chunks,
        "store_threshold": threshold,
        "max_tracker_size": tracker_max,
    });
    let player = Player::new(&config);
    let count = stream.between(40, 200);
    let has_positions = stream.between(0, 3) > 0;
    let mut draw = Draw {
        stream,
        player,
        operations: Vec::new(),
        requests: Vec::new(),
        stores: Vec::new(),
        loads: Vec::new(),
        started: 0,
    };
    for _ in 0..count {
        draw.step(chunks, has_positions);
    }
    json!({ "config": config, "ops": draw.operations })
}

impl Draw {
    fn apply(&mut self, operation: Value) -> Value {
        let line = self.player.play(self.operations.len(), &operation);
        self.operations.push(operation);
        line["ret"].clone()
    }

    fn step(&mut self, chunks: u64, has_positions: bool) {
        let choice = self.stream.between(0, 99);
        if self.requests.is_empty() || choice < 10 {
            return self.begin(chunks, has_positions);
        }
        let at = self.stream.between(0, self.requests.len() as u64 - 1) as usize;
        let name = self.requests[at].name.clone();
        match choice {
            10..15 => {
                let keys = self.part(at);
                self.apply(json!(["lookup", name, keys]));
            }
            15..22 => {
                let keys = self.part(at);
                self.apply(json!(["touch", name, keys]));
            }
            22..27 => self.place(at, has_positions),
            27..55 => self.store(at),
            55..65 => self.load(at),
            65..82 => self.complete(true),
            82..90 => self.complete(false),
            90..98 => {
                self.apply(json!(["finish", name]));
                if self.stream.between(0, 3) > 0 {
                    self.requests.swap_remove(at);
                }
            }
            98 => {
                self.stores.clear();
                self.loads.clear();
                self.apply(json!(["reset"]));
            }
            _ => self.begin(chunks, has_positions),
        }
    }

    /// A new request: some keys of a shared prefix, then some of its own.
    fn begin(&mut self, chunks: u64, has_positions: bool) {
        let name = format!("r{}", self.started);
        self.started += 1;
        let family = self.stream.between(1, 4) * 1000;
        let shared = self.stream.between(0, chunks.min(12));
        let own = self.stream.between(0, chunks.min(8));
        let branch = family + self.stream.between(1, 3) * 100;
        let keys: Vec<u64> = (family..family + shared).chain(branch..branch + own).collect();
        let placed = if has_positions { self.stream.between(0, keys.len() as u64) as usize } else { 0 };
        let positions: Vec<Value> =
            keys[..placed].iter().zip(1..).map(|(key, nth)| json!([key, nth * 16])).collect();
        self.apply(json!(["new", name, positions]));
        self.requests.push(Request { name, keys, placed });
    }

    /// One more position becomes known, as when a request decodes.
    fn place(&mut self, at: usize, has_positions: bool) {
        let request = &mut self.requests[at];
        if has_positions && request.placed < request.keys.len() {
            let key = request.keys[request.placed];
            request.placed += 1;
            let operation = json!(["place", request.name, key, request.placed * 16]);
            self.apply(operation);
        }
    }

    /// Some of a request's keys, in order or now and then not.
    fn part(&mut self, at: usize) -> Vec<u64> {
        let keys = self.requests[at].keys.clone();
        let length = keys.len() as u64;
        let from = self.stream.between(0, length) as usize;
        let to = self.stream.between(from as u64, length) as usize;
        let (from, to) = if self.stream.between(0, 2) == 0 { (0, keys.len()) } else { (from, to) };
        let mut keys = keys[from..to].to_vec();
        match self.stream.between(0, 9) {
            0 => keys.reverse(),
            1 => keys.retain(|_| self.stream.between(0, 1) == 0),
            _ => {}
        }
        keys
    }

    fn store(&mut self, at: usize) {
        let (name, keys) = (self.requests[at].name.clone(), self.part(at));
        let store = self.apply(json!(["prepare_store", name, keys]));
        let written: Vec<u64> =
            store["store"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        if !written.is_empty() {
            self.stores.push((name, written));
        }
    }

    fn load(&mut self, at: usize) {
        let (name, keys) = (self.requests[at].name.clone(), self.part(at));
        let found = self.apply(json!(["lookup", name, keys]));
        let readable = keys.iter().zip(found.as_array().into_iter().flatten());
        let keys: Vec<u64> = readable.filter(|(_, found)| *found == "HIT").map(|(&key, _)| key).collect();
        if !keys.is_empty() {
            self.apply(json!(["prepare_load", name, keys]));
            self.loads.push((name, keys));
        }
    }

    /// Ends a store or a load, whole or in part.
    fn complete(&mut self, is_store: bool) {
        let open = if is_store { &mut self.stores } else { &mut self.loads };
        if open.is_empty() {
            return;
        }
        let at = self.stream.between(0, open.len() as u64 - 1) as usize;
        let (name, mut keys) = open.swap_remove(at);
        let now = self.stream.between(1, keys.len() as u64) as usize;
        let later = keys.split_off(if self.stream.between(0, 3) == 0 { now } else { keys.len() });
        if !later.is_empty() {
            open.push((name.clone(), later));
        }
        if is_store {
            let is_ok = self.stream.between(0, 7) > 0;
            self.apply(json!(["complete_store", name, keys, is_ok]));
        } else {
            self.apply(json!(["complete_load", name, keys]));
        }
    }
}
