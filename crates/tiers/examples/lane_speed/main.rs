//! How fast are lanes, beside the plainest loop that moves the same blocks?
//!
//! `cargo run --release -p tierscope-tiers --features wgpu --example lane_speed -- [KEY=VALUE …]`, with the keys `lanes`
//! (host,disk,wgpu,pool), `block_bytes`, `blocks`, `batch`, `threads`, `rounds`, `folder`, `gpu`.
//!
//! Ours and the plain loop take turns, who is first changes with every round, and medians are told. Blocks are in scattered
//! slots on both sides, and the arena is larger than any cache.

mod disk;
#[cfg(feature = "wgpu")]
mod gpu;
mod host;
mod pool;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tierscope_tiers::{Arena, Batch, BatchId, Key, Medium, Move, Slot, Way, content};

type Outcome<T = ()> = Result<T, String>;

/// What is measured.
#[derive(Clone, Debug)]
struct Plan {
    lanes: String,
    block_bytes: usize,
    blocks: u32,
    batch: usize,
    threads: u32,
    rounds: usize,
    folder: String,
    gpu: Option<String>,
}

fn main() -> std::process::ExitCode {
    match measure() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(words) => {
            eprintln!("error: {words}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn measure() -> Outcome {
    let plan = plan()?;
    println!(
        "{} blocks of {} bytes in batches of {}, {} threads, {} rounds; GB/s, medians",
        plan.blocks, plan.block_bytes, plan.batch, plan.threads, plan.rounds
    );
    for lane in plan.lanes.split(',') {
        match lane {
            "host" => host::measure(&plan)?,
            "disk" => disk::measure(&plan)?,
            "pool" => pool::measure(&plan)?,
            #[cfg(feature = "wgpu")]
            "wgpu" => gpu::measure(&plan)?,
            other => return Err(format!("no lane `{other}` in this build")),
        }
    }
    Ok(())
}

fn plan() -> Outcome<Plan> {
    let mut plan = Plan {
        lanes: "host,disk,pool".to_owned(),
        block_bytes: 65_536,
        blocks: 4_096,
        batch: 64,
        threads: 2,
        rounds: 9,
        folder: std::env::temp_dir().display().to_string(),
        gpu: None,
    };
    for word in std::env::args().skip(1) {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is no KEY=VALUE"))?;
        let number = || value.parse::<u32>().ok().filter(|&n| n > 0).ok_or(format!("`{word}`: no number"));
        match key {
            "lanes" => value.clone_into(&mut plan.lanes),
            "folder" => value.clone_into(&mut plan.folder),
            "gpu" => plan.gpu = Some(value.to_owned()),
            "block_bytes" => plan.block_bytes = number()? as usize,
            "blocks" => plan.blocks = number()?,
            "batch" => plan.batch = number()? as usize,
            "threads" => plan.threads = number()?,
            "rounds" => plan.rounds = number()? as usize,
            _ => return Err(format!("no key `{key}`")),
        }
    }
    Ok(plan)
}

impl Plan {
    fn arena(&self) -> Outcome<Arc<Arena>> {
        let arena = Arena::new(self.blocks, self.block_bytes, false).map_err(|error| error.to_string())?;
        for slot in 0..self.blocks {
            let mut bytes = arena.write(Slot(slot)).ok_or("a slot is in use")?;
            content::fill(Key(u64::from(slot)), &mut bytes);
        }
        Ok(Arc::new(arena))
    }

    /// Where the block of each number is on the other side: neighbours do not stay neighbours.
    fn scattered(&self) -> Vec<u32> {
        // A step near the golden section of all of them.
        let start = (f64::from(self.blocks) * 0.618) as u32;
        let step = (start..).find(|&step| gcd(step, self.blocks) == 1).unwrap_or(1);
        let at = |number: u32| (u64::from(number) * u64::from(step) % u64::from(self.blocks)) as u32;
        (0..self.blocks).map(at).collect()
    }

    fn moves(&self) -> Vec<Move> {
        let pairs = self.scattered().into_iter().zip(0..);
        pairs
            .map(|(there, here)| Move { key: Key(u64::from(here)), there: Slot(there), here: Slot(here) })
            .collect()
    }

    fn rate(&self, took: Duration) -> f64 {
        (f64::from(self.blocks) * self.block_bytes as f64) / took.as_secs_f64() / 1e9
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Submits all batches and collects their ends.
fn ours(medium: &mut dyn Medium, moves: &[Move], batch: usize, way: Way) -> Outcome<Duration> {
    let batches: Vec<Batch> = moves
        .chunks(batch)
        .zip(0..)
        .map(|(moves, id)| Batch { id: BatchId(id), way, moves: moves.to_vec(), look: false })
        .collect();
    let count = batches.len();
    let begun = Instant::now();
    for batch in batches {
        medium.submit(batch);
    }
    for _ in 0..count {
        let ended = medium.next_ended(Duration::from_secs(120)).ok_or("a batch did not end")?;
        if let Some(fault) = ended.results.into_iter().find_map(Result::err) {
            return Err(format!("{way:?}: {fault}"));
        }
    }
    Ok(begun.elapsed())
}

/// Times both, in turns; then says the medians and their ratio.
fn compare(
    plan: &Plan,
    what: &str,
    mut ours: impl FnMut() -> Outcome<Duration>,
    mut plain: impl FnMut() -> Outcome<Duration>,
) -> Outcome {
    // The first of each touches what the others find touched.
    ours()?;
    plain()?;
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..plan.rounds {
        if round % 2 == 0 {
            mine.push(ours()?);
            theirs.push(plain()?);
        } else {
            theirs.push(plain()?);
            mine.push(ours()?);
        }
    }
    let [mine, theirs] = [mine, theirs].map(|mut times| {
        times.sort_unstable();
        plan.rate(times[times.len() / 2])
    });
    println!("{what:28} ours {mine:7.3}   plain {theirs:7.3}   {:5.1} %", 100.0 * mine / theirs);
    Ok(())
}

/// Does pieces of work, of which each thread takes the next when it is free, and says how long all of them took. Threads that
/// were given equal shares would wait for the one that the machine favours least.
fn on_threads(
    threads: u32,
    pieces: usize,
    work: impl Fn(usize, usize) -> Outcome + Sync,
) -> Outcome<Duration> {
    let next = AtomicUsize::new(0);
    let begun = Instant::now();
    let take = |thread: usize| -> Outcome {
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return Ok(());
            }
            work(thread, piece)?;
        }
    };
    let ended: Vec<Outcome> = std::thread::scope(|scope| {
        let take = &take;
        let running: Vec<_> = (0..threads as usize).map(|number| scope.spawn(move || take(number))).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or(Err("a thread panicked".to_owned())))
            .collect()
    });
    ended.into_iter().collect::<Outcome<Vec<()>>>()?;
    Ok(begun.elapsed())
}
