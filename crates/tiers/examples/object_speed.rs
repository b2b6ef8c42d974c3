//! How fast the object tier is beside the library's own client, used plainly: the same store, sizes and number of requests
//! at once, one after the other in the same run. The plain client puts bytes that it has already, takes what it is given, and
//! checks nothing.
//!
//! `cargo run --release -p tierscope-tiers --features s3 --example object_speed`

#[path = "../tests/seaweed/mod.rs"]
#[allow(dead_code, reason = "tests do more with it")]
mod seaweed;

use std::sync::Arc;
use std::time::{Duration, Instant};

use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use seaweed::Seaweed;
use tierscope_tiers::object::{ObjectMedium, ObjectOptions};
use tierscope_tiers::{Arena, Batch, BatchId, Key, Medium, Move, Slot, Way, content};

const AT_ONCE: u32 = 8;
const ROUNDS: usize = 9;

fn main() {
    println!("{AT_ONCE} requests at once; GB/s, median of {ROUNDS} rounds in which both take turns");
    println!("{:>6} {:>10} {:>5}  {:>7} {:>7} {:>7}", "store", "block", "", "plain", "tier", "ratio");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Seaweed::start();
    for block_bytes in [64 << 10, 256 << 10, 1 << 20, 4 << 20] {
        let own = folder.path().join(format!("{block_bytes}"));
        std::fs::create_dir(&own).expect("a folder");
        let plain = LocalFileSystem::new_with_prefix(&own).expect("it is there");
        let url = format!("file://{}/tier", own.display());
        compare("file", Arc::new(plain), &url, Vec::new(), block_bytes, 128 << 20);
        if let Some(server) = &server {
            let variables = Seaweed::variables(server.port());
            let mut plain = AmazonS3Builder::new().with_bucket_name("kvblocks");
            for (name, value) in &variables {
                plain = plain.with_config(name.to_lowercase().parse().expect("a key"), value);
            }
            let plain = Arc::new(plain.build().expect("a client"));
            let url = server.url(&format!("tier-{block_bytes}"));
            compare("weed", plain, &url, variables, block_bytes, 24 << 20);
        }
    }
}

fn compare(
    store: &str,
    plain: Arc<dyn ObjectStore>,
    url: &str,
    variables: Vec<(String, String)>,
    block_bytes: usize,
    total: usize,
) {
    let blocks = (total / block_bytes) as u32;
    let arena = Arc::new(Arena::new(blocks, block_bytes, false).expect("some memory"));
    for at in 0..blocks {
        content::fill(Key(u64::from(at)), &mut arena.write(Slot(at)).expect("nobody has it"));
    }
    let options = ObjectOptions { variables, ..ObjectOptions::of_environment(blocks, AT_ONCE) };
    let mut tier =
        ObjectMedium::open(url, Arc::clone(&arena), &options).unwrap_or_else(|error| panic!("{error}"));
    let payloads: Arc<Vec<PutPayload>> = Arc::new(
        (0..blocks)
            .map(|at| PutPayload::from(arena.read(Slot(at)).expect("nobody writes").to_vec()))
            .collect(),
    );
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("two threads");
    for way in [Way::Store, Way::Load] {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..=ROUNDS {
            let plainly = || runtime.block_on(plain_round(&plain, &payloads, way));
            // Whoever is first in a round is so in every other one.
            let (one, other) = if round % 2 == 0 {
                let one = plainly();
                (one, tier_round(&mut tier, blocks, way))
            } else {
                let other = tier_round(&mut tier, blocks, way);
                (plainly(), other)
            };
            // The first round makes what the others write over.
            if round > 0 {
                times[0].push(one);
                times[1].push(other);
            }
        }
        let rate = |times: &mut Vec<Duration>| {
            times.sort_unstable();
            (blocks as usize * block_bytes) as f64 / times[times.len() / 2].as_secs_f64() / 1e9
        };
        let [plain, own] = times.each_mut().map(rate);
        let way = if way == Way::Store { "put" } else { "get" };
        println!(
            "{store:>6} {block_bytes:>10} {way:>5}  {plain:>7.3} {own:>7.3} {:>6.0}%",
            100.0 * own / plain
        );
    }
}

fn tier_round(tier: &mut ObjectMedium, blocks: u32, way: Way) -> Duration {
    let moves =
        (0..blocks).map(|at| Move { key: Key(u64::from(at)), there: Slot(at), here: Slot(at) }).collect();
    let begun = Instant::now();
    tier.submit(Batch { id: BatchId(0), way, moves, look: false });
    let ended = tier.next_ended(Duration::from_secs(600)).expect("it ends");
    let took = begun.elapsed();
    assert!(ended.results.iter().all(Result::is_ok), "{:?}", ended.results);
    took
}

async fn plain_round(store: &Arc<dyn ObjectStore>, payloads: &Arc<Vec<PutPayload>>, way: Way) -> Duration {
    let begun = Instant::now();
    let mut tasks = Vec::new();
    for first in 0..AT_ONCE as usize {
        let (store, payloads) = (Arc::clone(store), Arc::clone(payloads));
        tasks.push(tokio::spawn(async move {
            for at in (first..payloads.len()).step_by(AT_ONCE as usize) {
                let path = Path::from(format!("plain/{at:08}"));
                match way {
                    Way::Store => store.put(&path, payloads[at].clone()).await.map(|_| ()).expect("it puts"),
                    Way::Load => {
                        let got = store.get(&path).await.expect("it gets").bytes().await.expect("it reads");
                        assert_eq!(got.len(), payloads[at].content_length());
                    }
                }
            }
        }));
    }
    for task in tasks {
        task.await.expect("it does not panic");
    }
    begun.elapsed()
}
