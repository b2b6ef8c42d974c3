//! From the plan to what came of it: every size with its media, the fit, what was held out, a few points again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tierscope_engine::Tier;
use tierscope_tiers::{Arena, Capability, Kind as MediumKind, Medium};

use super::error::CalibrateError;
use super::fit::LinkFit;
use super::held_out::{self, Prediction};
use super::measure::{Time, measure};
use super::mixed;
use super::plan::{Kind, Plan, Shape};
use super::point::{Calibration, Missed, Repeated, Sample, Subject, quantile};
use super::rig::{Rig, Trouble};
use crate::media::{LINKS, TIERS};

/// What is said of a disk without direct I/O.
pub(super) const CACHED: &str = "page cache, not the disk";

/// Of the whole time, what has passed when all is measured that is fitted, and what is held out.
const FITTED: f64 = 0.72;
const HELD_OUT: f64 = 0.92;
/// The first shapes of a size are measured whatever the time is, up to those both ways: without them there is no fit.
const ESSENTIAL: usize = 7;
/// The part of the whole time that one of them may take, and another shape, even where that is more than its share.
const NEEDED_PARTS: u32 = 8;
const SHAPE_PARTS: u32 = 200;
/// Sizes that are measured whatever it takes.
const SIZES_MIN: usize = 2;
/// Of a medium's time at a size, what may go into preparing its slots.
const PREPARING: f64 = 0.3;
/// Of the time for what is held out, what the mixed load has.
const MIXED: f64 = 0.5;
/// Batches of sizes that are held out: no shape that is fitted.
const HELD_OUT_SHAPES: [(u32, u32); 3] = [(12, 1), (3, 1), (6, 2)];

/// What is to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Slots of host memory, and of each medium.
    pub slots: u32,
}

/// Media that are open.
pub struct Opened {
    /// Host memory.
    pub arena: Arc<Arena>,
    /// G1, G3, G4, where they are given.
    pub media: [Option<Box<dyn Medium>>; 3],
}

/// What does not lie in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Of all draws.
    pub seed: u64,
}

/// Measures, fits and predicts. `open` opens empty media of a size, whose former ones are closed by then; `watch` is told
/// what is being done, and says whether to go on.
///
/// # Errors
///
/// See [`CalibrateError`]. What concerns one lane only is in [`Calibration::missed`].
pub fn calibrate(
    plan: &Plan,
    options: Options,
    open: &mut dyn FnMut(Sizes) -> Result<Opened, String>,
    watch: &mut dyn FnMut(&str) -> bool,
) -> Result<Calibration, CalibrateError> {
    let begun = Instant::now();
    let mut campaign = Campaign {
        plan,
        options,
        open,
        watch,
        begun,
        noticed: Vec::new(),
        openings: Vec::new(),
        found: Calibration::default(),
    };
    campaign.found.working_set_bytes = plan.working_set_bytes;
    campaign.measure_all()?;
    campaign.fit()?;
    campaign.predict()?;
    campaign.repeat()?;
    let Campaign { mut found, mut noticed, .. } = campaign;
    noticed.sort_by(f64::total_cmp);
    found.noticed_ns = quantile(&noticed, 0.5).unwrap_or(0.0);
    found.took_s = begun.elapsed().as_secs_f64();
    Ok(found)
}

struct Campaign<'a> {
    plan: &'a Plan,
    options: Options,
    open: &'a mut dyn FnMut(Sizes) -> Result<Opened, String>,
    watch: &'a mut dyn FnMut(&str) -> bool,
    begun: Instant,
    noticed: Vec<f64>,
    /// How long it took to open media.
    openings: Vec<Duration>,
    found: Calibration,
}

/// Of the whole time, what anything has that was begun late: opening media took longer than was thought.
const AT_LEAST: f64 = 0.03;

/// An even share of the time that is left for this and what comes after it.
fn share(until: Instant, left: usize) -> Instant {
    let now = Instant::now();
    now + until.saturating_duration_since(now) / (left.max(1) as u32)
}

impl Campaign<'_> {
    fn at(&self, share: f64) -> Instant {
        self.begun + self.plan.time.mul_f64(share)
    }

    /// That instant, or a little later than now.
    fn at_least(&self, until: Instant) -> Instant {
        until.max(Instant::now() + self.plan.time.mul_f64(AT_LEAST))
    }

    /// How many of so many sizes there is time for, if opening their media is to take less than half of it.
    fn affordable(&self, left: usize) -> usize {
        let opening = self.openings.iter().sum::<Duration>() / self.openings.len().max(1) as u32;
        let remaining = self.at(FITTED).saturating_duration_since(Instant::now());
        let each = opening.mul_f64(2.0).max(Duration::from_millis(1));
        left.min((remaining.as_secs_f64() / each.as_secs_f64()) as usize)
    }

    fn slow_to_open(&self) -> String {
        let opening =
            self.openings.iter().sum::<Duration>().as_secs_f64() / self.openings.len().max(1) as f64;
        format!("no time: opening media takes {opening:.1} s")
    }

    fn measure_all(&mut self) -> Result<(), CalibrateError> {
        let sizes = &self.plan.sizes;
        for (nth, &block_bytes) in sizes.iter().enumerate() {
            let left = sizes.len() - nth;
            let affordable = self.affordable(left);
            if affordable == 0 && nth >= SIZES_MIN {
                self.miss("all lanes", Some(block_bytes), &self.slow_to_open());
                continue;
            }
            let until = share(self.at(FITTED), affordable.max(1));
            let planned = until.saturating_duration_since(Instant::now());
            let mut rig = self.rig(block_bytes)?;
            // Whose media open slowly is measured for a while all the same; later sizes are fewer then.
            let until = self.at_least(until.max(Instant::now() + planned / 2));
            let samples = self.measure_size(&mut rig, &self.plan.shapes, until)?;
            self.found.samples.extend(samples);
        }
        for &block_bytes in &self.plan.left_out {
            self.miss("all lanes", Some(block_bytes), "no time or memory for blocks of this size");
        }
        Ok(())
    }

    /// Opens the media of a size.
    fn rig(&mut self, block_bytes: u64) -> Result<Rig, CalibrateError> {
        self.go_on(&format!("blocks of {} KiB: opening", block_bytes / 1024))?;
        let begun = Instant::now();
        let slots = 2 * self.plan.blocks(block_bytes);
        let opened = (self.open)(Sizes { block_bytes, slots });
        let Opened { arena, media } = opened.map_err(|why| CalibrateError::Open { block_bytes, why })?;
        for (tier, medium) in TIERS.iter().zip(&media) {
            if let Some(medium) = medium {
                let measurable = medium.capability().is_measurable();
                measurable.map_err(|why| CalibrateError::Unmeasurable { tier: tier.name(), why })?;
            }
        }
        self.openings.push(begun.elapsed());
        self.describe(&arena, &media);
        Ok(Rig::new(arena, media, self.options.seed))
    }

    fn describe(&mut self, arena: &Arena, media: &[Option<Box<dyn Medium>>; 3]) {
        if !self.found.subjects.is_empty() {
            return;
        }
        let remarks = arena.shortfalls().to_vec();
        self.found.subjects.push(Subject { tier: Tier::G2, name: "host memory".to_owned(), remarks });
        for ((tier, medium), lanes) in TIERS.into_iter().zip(media).zip(LINKS) {
            match medium {
                Some(medium) => self.found.subjects.push(subject(tier, medium.capability())),
                None => {
                    let lanes = lanes.map(|lane| lane.name()).join(", ");
                    self.miss(&lanes, None, &format!("nothing was given for {}", tier.name()));
                }
            }
        }
    }

    fn measure_size(
        &mut self,
        rig: &mut Rig,
        shapes: &[Shape],
        until: Instant,
    ) -> Result<Vec<Sample>, CalibrateError> {
        let present: Vec<usize> = (0..TIERS.len()).filter(|&nth| rig.stands[nth].is_some()).collect();
        let mut samples = Vec::new();
        for (done, &nth) in present.iter().enumerate() {
            let until = share(until, present.len() - done);
            self.measure_medium(rig, nth, shapes, until, &mut samples)?;
        }
        Ok(samples)
    }

    fn measure_medium(
        &mut self,
        rig: &mut Rig,
        nth: usize,
        shapes: &[Shape],
        until: Instant,
        samples: &mut Vec<Sample>,
    ) -> Result<(), CalibrateError> {
        let block_bytes = rig.arena.block_bytes() as u64;
        let tier = TIERS[nth].name();
        self.go_on(&format!("{tier}, blocks of {} KiB", block_bytes / 1024))?;
        let now = Instant::now();
        let prepared = now + until.saturating_duration_since(now).mul_f64(PREPARING);
        if let Err(trouble) = rig.prepare(nth, prepared, self.watch) {
            let why = trouble.words()?;
            self.miss(tier, Some(block_bytes), &why);
            rig.stands[nth] = None;
            return Ok(());
        }
        for (done, &shape) in shapes.iter().enumerate() {
            // Shapes that take long have used up the time of those behind them.
            let needed = done < ESSENTIAL;
            if !needed && Instant::now() >= until {
                let why = format!("no time left for {} of {} shapes", shapes.len() - done, shapes.len());
                self.miss(tier, Some(block_bytes), &why);
                break;
            }
            let what = format!("{tier}, {}", words(shape));
            let part = if needed { NEEDED_PARTS } else { SHAPE_PARTS };
            let time = Time { until: share(until, shapes.len() - done), at_least: self.plan.time / part };
            match measure(rig, nth, shape, time, &mut self.noticed, self.watch) {
                Ok(found) => samples.extend(found),
                Err(trouble) => {
                    let usable = matches!(trouble, Trouble::Room(_));
                    let why = trouble.words()?;
                    self.miss(&what, Some(block_bytes), &why);
                    if !usable {
                        rig.stands[nth] = None;
                        return Ok(());
                    }
                }
            }
        }
        if let Err(trouble) = rig.look(nth, self.watch) {
            // Whatever was measured, it was not what was stored.
            samples.retain(|sample| !LINKS[nth].contains(&sample.point.lane));
            let why = trouble.words()?;
            self.miss(tier, Some(block_bytes), &format!("looked at afterwards: {why}"));
            rig.stands[nth] = None;
        }
        Ok(())
    }

    fn fit(&mut self) -> Result<(), CalibrateError> {
        for (nth, lanes) in LINKS.into_iter().enumerate() {
            self.found.links[nth] = LinkFit::of(lanes, &self.found.samples);
            for lane in lanes {
                let fitted = self.found.links[nth].as_ref().is_some_and(|link| link.lane(lane).is_some());
                let tried = self.found.subjects.iter().any(|it| it.tier == TIERS[nth]);
                if tried && !fitted {
                    self.miss(lane.name(), None, "too few points, or times that do not grow with the bytes");
                }
            }
        }
        if self.found.links.iter().any(Option::is_some) {
            return Ok(());
        }
        let whys = self.found.missed.iter().map(|it| format!("{}: {}", it.what, it.why));
        let mut whys: Vec<String> = whys.collect();
        whys.sort();
        whys.dedup();
        whys.truncate(6);
        Err(CalibrateError::Nothing { why: whys.join("; ") })
    }

    fn predict(&mut self) -> Result<(), CalibrateError> {
        let shapes: Vec<Shape> = HELD_OUT_SHAPES
            .into_iter()
            .flat_map(|(blocks, in_flight)| {
                [Kind::Store, Kind::Load].map(|kind| Shape { kind, blocks, in_flight })
            })
            .collect();
        let sizes = self.plan.held_out.clone();
        let alone = FITTED + (HELD_OUT - FITTED) * (1.0 - MIXED);
        for (nth, &block_bytes) in sizes.iter().enumerate() {
            // The first has the mixed load after it, which is told to end when what is held out has its time.
            let until = share(self.at(alone), sizes.len() - nth);
            let mut rig = self.rig(block_bytes)?;
            let samples = self.measure_size(&mut rig, &shapes, self.at_least(until))?;
            self.predicted(block_bytes, held_out::of_samples(&self.found.links, block_bytes, &samples));
            if nth == 0 {
                self.mixed(&mut rig, block_bytes)?;
            }
        }
        Ok(())
    }

    fn mixed(&mut self, rig: &mut Rig, block_bytes: u64) -> Result<(), CalibrateError> {
        self.go_on("mixed load")?;
        let until = Instant::now() + self.plan.time.mul_f64((HELD_OUT - FITTED) * MIXED);
        match mixed::play(rig, &self.found.links, self.options.seed, until, self.watch) {
            Ok(flown) => {
                self.predicted(block_bytes, held_out::of_load(&self.found.links, block_bytes, &flown));
            }
            Err(trouble) => {
                let why = trouble.words()?;
                self.miss("mixed load", Some(block_bytes), &why);
            }
        }
        Ok(())
    }

    fn predicted(&mut self, block_bytes: u64, predicted: Result<Vec<Prediction>, String>) {
        match predicted {
            Ok(predicted) => self.found.predictions.extend(predicted),
            Err(why) => self.miss("what is predicted", Some(block_bytes), &why),
        }
    }

    /// The first size again, when everything else is done.
    fn repeat(&mut self) -> Result<(), CalibrateError> {
        let Some(&block_bytes) = self.plan.sizes.first() else { return Ok(()) };
        let before: Vec<Sample> =
            self.found.samples.iter().filter(|it| it.point.block_bytes == block_bytes).copied().collect();
        let alone =
            |it: &&Sample| it.point.in_flight == 1 && !it.point.with_opposite && it.point.blocks <= 16;
        let Some(blocks) = before.iter().filter(alone).map(|it| it.point.blocks).max() else { return Ok(()) };
        let shapes = [Kind::Store, Kind::Load].map(|kind| Shape { kind, blocks, in_flight: 1 });
        let mut rig = self.rig(block_bytes)?;
        let until = self.at_least(self.at(1.0));
        let after = self.measure_size(&mut rig, &shapes, until)?;
        for after in after {
            if let Some(&before) = before.iter().find(|before| before.point == after.point) {
                self.found.repeated.push(Repeated { before, after });
            }
        }
        Ok(())
    }

    fn go_on(&mut self, doing: &str) -> Result<(), CalibrateError> {
        if (self.watch)(doing) { Ok(()) } else { Err(CalibrateError::Stopped) }
    }

    fn miss(&mut self, what: &str, block_bytes: Option<u64>, why: &str) {
        let missed = Missed { what: what.to_owned(), block_bytes, why: why.to_owned() };
        if !self.found.missed.contains(&missed) {
            self.found.missed.push(missed);
        }
    }
}

fn words(shape: Shape) -> String {
    let Shape { kind, blocks, in_flight } = shape;
    match kind {
        Kind::Store => format!("{in_flight} x {blocks} blocks stored"),
        Kind::Load => format!("{in_flight} x {blocks} blocks loaded"),
        Kind::Both => format!("{blocks} blocks both ways"),
    }
}

fn subject(tier: Tier, capability: &Capability) -> Subject {
    let mut remarks = Vec::new();
    if tier == Tier::G1 && capability.kind == MediumKind::Host {
        remarks.push("host memory stands in for a GPU".to_owned());
    }
    if capability.is_cached() {
        remarks.push(CACHED.to_owned());
    }
    remarks.extend(capability.shortfalls.iter().cloned());
    remarks.push(format!("{} threads", capability.concurrency));
    Subject { tier, name: format!("{} {}", capability.kind.name(), capability.name), remarks }
}
