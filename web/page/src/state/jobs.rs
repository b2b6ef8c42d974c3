//! Work that a pool of web workers does: what is under way, how far it is, and what came of it.
//!
//! A job is a list of chores that depend on nothing but themselves; its answers are put in the order of its chores,
//! whoever gave them and when.

use std::rc::Rc;

use tierscope_worker::protocol::{
    Answer, Chore, Difference, PairView, PlanText, ProblemView, RowView, RowsForm, SizingView, SpreadView,
};

use super::AppState;
use super::sweep::Sweep;

/// What jobs are for; at most one of each is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Where two runs part.
    Meeting,
    /// Both sides over several seeds.
    Seeds,
    /// A knob's values, or two knobs'.
    Sweep,
    /// Caches of every size.
    Sizing,
    /// Rows as a file.
    Export,
}

impl Slot {
    /// All.
    pub const ALL: [Self; 5] = [Self::Meeting, Self::Seeds, Self::Sweep, Self::Sizing, Self::Export];
}

/// Chores under way, or over.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its number, unlike any other's.
    pub id: u32,
    /// What is to be done.
    pub chores: Rc<[Chore]>,
    /// What came of each so far.
    answers: Rc<Vec<Option<Answer>>>,
    /// How far the chores under way are, all together.
    partial: f64,
    /// Whether it goes on.
    pub standing: Standing,
}

/// Whether a job goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// It does.
    UnderWay,
    /// Everything is answered.
    Ended,
    /// The user stopped it.
    Cancelled,
    /// Something could not be done.
    Failed(Rc<[ProblemView]>),
}

impl Job {
    fn new(id: u32, chores: Vec<Chore>) -> Self {
        let answers = Rc::new(vec![None; chores.len()]);
        Self { id, chores: chores.into(), answers, partial: 0.0, standing: Standing::UnderWay }
    }

    /// Chores that are answered, and all of them.
    pub fn progress(&self) -> (usize, usize) {
        (self.answers.iter().flatten().count(), self.chores.len())
    }

    /// The share that is done.
    pub fn share(&self) -> f64 {
        let (done, all) = self.progress();
        ((done as f64 + self.partial) / all.max(1) as f64).min(1.0)
    }

    /// Whether it goes on.
    pub fn is_under_way(&self) -> bool {
        self.standing == Standing::UnderWay
    }

    /// What stood in its way.
    pub fn problems(&self) -> &[ProblemView] {
        match &self.standing {
            Standing::Failed(problems) => problems,
            _ => &[],
        }
    }
}

/// All jobs, and what came of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jobs {
    last: u32,
    slots: [Option<Job>; Slot::ALL.len()],
    /// The run of B whose difference was asked for.
    met: u32,
    /// Where A and B part.
    pub difference: Option<Rc<Difference>>,
    /// How sure their differences are.
    pub spread: Option<Rc<SpreadView>>,
    /// The plan whose points are computed.
    asked: Option<PlanText>,
    /// Points of a plan.
    pub sweep: Option<Rc<Sweep>>,
    /// A text, and what caches of every size would hit of it.
    pub sizing: Option<(Rc<str>, Rc<SizingView>)>,
    sized: Option<Rc<str>>,
    /// Rows as a file, and the number of the job that wrote it.
    pub export: Option<(u32, RowsForm, Rc<str>)>,
    form: Option<RowsForm>,
}

/// Something that happened to jobs.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEvent {
    /// Compare both sides over so many seeds.
    Seeds(u32),
    /// Compute a plan.
    Sweep(PlanText),
    /// Compute a sizing chart.
    Size,
    /// Write the rows down.
    Export(RowsForm),
    /// Stop a job.
    Cancel(Slot),
    /// A chore was answered.
    Answered {
        /// The job.
        job: u32,
        /// Which of its chores.
        task: u32,
        /// What came of it.
        answer: Answer,
    },
}

/// Equal shares of a sizing chart.
const SHARES: u32 = 8;

impl Jobs {
    /// The newest job for something.
    pub fn of(&self, slot: Slot) -> Option<&Job> {
        self.slots[slot as usize].as_ref()
    }

    /// Whether one is under way.
    pub fn is_under_way(&self, slot: Slot) -> bool {
        self.of(slot).is_some_and(Job::is_under_way)
    }

    fn start(&mut self, slot: Slot, chores: Vec<Chore>) {
        self.last += 1;
        self.slots[slot as usize] = Some(Job::new(self.last, chores));
    }

    fn forget(&mut self, slot: Slot) {
        self.slots[slot as usize] = None;
    }

    fn answered(&mut self, id: u32, task: u32, answer: Answer) {
        let own = |slot: &Slot| self.of(*slot).is_some_and(|job| job.id == id && job.is_under_way());
        let Some(slot) = Slot::ALL.into_iter().find(own) else { return };
        let Some(job) = &mut self.slots[slot as usize] else { return };
        let (task, tasks) = (task as usize, job.chores.len());
        match answer {
            Answer::Progress { share } => job.partial = share.clamp(0.0, 1.0),
            Answer::Refused { problems } if !matches!(job.chores.get(task), Some(Chore::Point { .. })) => {
                job.standing = Standing::Failed(problems.into());
            }
            answer if task < tasks => {
                Rc::make_mut(&mut job.answers)[task] = Some(answer);
                job.partial = 0.0;
                if job.progress().0 == tasks {
                    job.standing = Standing::Ended;
                    self.finish(slot);
                }
            }
            _ => {}
        }
    }

    /// What a job came to; another may follow from it.
    fn finish(&mut self, slot: Slot) {
        let Some(job) = self.of(slot) else { return };
        let (id, answers) = (job.id, Rc::clone(&job.answers));
        let answers = || answers.iter().flatten();
        match (slot, answers().next()) {
            (Slot::Meeting, Some(Answer::Compare { difference })) => {
                self.difference = Some(Rc::new((**difference).clone()));
            }
            (Slot::Seeds, Some(Answer::Pair { .. })) => {
                let pair = |answer: &Answer| match answer {
                    Answer::Pair { pair } => Some(pair.clone()),
                    _ => None,
                };
                let pairs: Vec<PairView> = answers().filter_map(pair).collect();
                self.start(slot, vec![Chore::Spread { pairs }]);
            }
            (Slot::Seeds, Some(Answer::Spread { spread })) => self.spread = Some(Rc::new(spread.clone())),
            (Slot::Sweep, Some(Answer::Plan { plan })) => {
                let Some(asked) = self.asked.clone() else { return };
                let point = |index| Chore::Point { plan: asked.clone(), index };
                let chores = (0..plan.points).map(point).collect();
                self.sweep = Some(Rc::new(Sweep { plan: plan.clone(), asked, rows: Vec::new() }));
                self.start(slot, chores);
            }
            (Slot::Sweep, Some(_)) => self.gather(),
            (Slot::Sizing, Some(Answer::Size { .. })) => {
                let text = self.sized.clone().unwrap_or_default();
                self.sizing = merged(answers()).map(|sizing| (text, Rc::new(sizing)));
            }
            (Slot::Export, Some(Answer::Rows { text })) => {
                self.export = self.form.map(|form| (id, form, Rc::from(text.as_str())));
            }
            _ => {}
        }
    }

    /// Takes the rows that are there into the sweep, in the order of their points.
    fn gather(&mut self) {
        let (Some(job), Some(sweep)) = (self.of(Slot::Sweep), &self.sweep) else { return };
        let row = |(index, answer): (usize, &Option<Answer>)| match answer {
            Some(Answer::Point { row }) => Some(row.clone()),
            Some(Answer::Refused { problems }) => Some(RowView {
                index: index as u32,
                state: "broken".to_owned(),
                detail: problems.first().map_or_else(String::new, |problem| problem.found.clone()),
                ..RowView::default()
            }),
            _ => None,
        };
        let rows = job.answers.iter().enumerate().filter_map(row).collect();
        self.sweep = Some(Rc::new(Sweep { rows, ..(**sweep).clone() }));
    }
}

/// The whole chart of its shares.
fn merged<'a>(answers: impl Iterator<Item = &'a Answer>) -> Option<SizingView> {
    let share = |answer: &'a Answer| match answer {
        Answer::Size { sizing } => Some(&**sizing),
        _ => None,
    };
    let mut shares = answers.filter_map(share);
    let mut whole = shares.next()?.clone();
    for other in shares {
        whole.points.extend(&other.points);
        whole.tiers.extend(other.tiers.iter().cloned());
    }
    whole.points.sort_by(|a, b| a.blocks.total_cmp(&b.blocks));
    Some(whole)
}

impl AppState {
    pub(super) fn job_event(mut self, event: JobEvent) -> Self {
        let jobs = &mut self.jobs;
        match event {
            JobEvent::Answered { job, task, answer } => jobs.answered(job, task, answer),
            JobEvent::Seeds(count) => {
                let Some(duel) = self.duel() else { return self };
                let pair = |seed| Chore::Pair { duel: duel.clone(), seed };
                self.jobs.spread = None;
                self.jobs.start(Slot::Seeds, (1..=count).map(pair).collect());
            }
            JobEvent::Sweep(plan) => {
                jobs.asked = Some(plan.clone());
                jobs.sweep = None;
                jobs.start(Slot::Sweep, vec![Chore::Plan { plan }]);
            }
            JobEvent::Size => {
                let text = Rc::clone(&self.draft.text);
                let share = |share| Chore::Size { text: text.to_string(), share, of: SHARES };
                jobs.sizing = None;
                jobs.start(Slot::Sizing, (0..SHARES).map(share).collect());
                jobs.sized = Some(text);
            }
            JobEvent::Export(form) => {
                let Some(sweep) = jobs.sweep.clone() else { return self };
                let rows = sweep.rows.iter().map(|row| row.line.clone()).collect();
                jobs.form = Some(form);
                jobs.start(Slot::Export, vec![Chore::Rows { plan: sweep.asked.clone(), rows, form }]);
            }
            JobEvent::Cancel(slot) => {
                if let Some(job) = &mut jobs.slots[slot as usize] {
                    job.standing = Standing::Cancelled;
                }
                if slot == Slot::Sweep && jobs.sweep.is_some() {
                    jobs.gather();
                }
            }
        }
        self
    }

    /// What was found of a comparison goes with it, and what is not known of a new one is asked for.
    pub(super) fn met(mut self) -> Self {
        let run = if self.fork.is_some() { self.rival.run } else { 0 };
        let stale = self.jobs.met != run && self.jobs.met != 0;
        if stale {
            for slot in [Slot::Meeting, Slot::Seeds] {
                self.jobs.forget(slot);
            }
            (self.jobs.difference, self.jobs.spread, self.jobs.met) = (None, None, 0);
        }
        let both = self.ended().is_some() && self.rival.ended().is_some();
        if both
            && run != 0
            && self.jobs.met != run
            && let Some(duel) = self.duel()
        {
            self.jobs.met = run;
            self.jobs.start(Slot::Meeting, vec![Chore::Compare { duel }]);
        }
        self
    }
}

#[cfg(test)]
mod tests;
