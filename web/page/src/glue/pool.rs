//! A pool of web workers for chores: made when there is work, used again, ended when there has been none for a while.
//!
//! What a chore comes to does not depend on who does it or when, so that the number of workers is nobody's concern.
//! To cancel a job is to end the workers that are busy with it: they hear nothing until their chore is done.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use tierscope_worker::protocol::{Answer, Chore, FromWorker, ProblemView, ToWorker};
use yew::Callback;

use super::dom::{self, Timer};
use super::parcel::Parcel;
use super::worker::{self, Line};

/// Most workers.
const MOST: usize = 8;
/// Workers without work are ended after this.
const IDLE_MS: i32 = 20_000;

/// A chore of a job.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) job: u32,
    pub(crate) task: u32,
    pub(crate) chore: Chore,
}

/// The pool; clones are the same one.
#[derive(Clone)]
pub(crate) struct Pool {
    inner: Rc<RefCell<Inner>>,
}

struct Inner {
    members: Vec<Member>,
    queue: VecDeque<Task>,
    said: Callback<(u32, u32, Answer)>,
    /// The trace that scenarios replay: each worker gets it before any work.
    parcel: Option<Parcel>,
    /// The driven run: a worker gets it before the first chore that needs it.
    recording: Option<Parcel>,
    /// The number of the last worker that was started.
    last: u32,
    idle: Option<Timer>,
}

struct Member {
    number: u32,
    line: Line,
    /// Whether it hears messages.
    ready: bool,
    /// The recording that it has.
    recording: Option<u32>,
    doing: Option<Task>,
}

impl Member {
    /// Begins a task, or the handing over of the recording that it needs first.
    fn begin(&mut self, task: Task, recording: Option<&Parcel>) {
        let lacks = |parcel: &&Parcel| {
            task.chore.recording() == Some(parcel.trace) && self.recording != Some(parcel.trace)
        };
        match recording.filter(lacks) {
            Some(parcel) => parcel.begin(&self.line),
            None => {
                let Task { job, task: number, chore } = task.clone();
                self.line.send(&ToWorker::Chore { job, task: number, chore });
            }
        }
        self.doing = Some(task);
    }
}

impl Pool {
    /// A pool without workers; `said` hears all answers.
    pub(crate) fn new(said: Callback<(u32, u32, Answer)>) -> Self {
        let inner = Inner {
            members: Vec::new(),
            queue: VecDeque::new(),
            said,
            parcel: None,
            recording: None,
            last: 0,
            idle: None,
        };
        Self { inner: Rc::new(RefCell::new(inner)) }
    }

    /// Takes tasks, which are done in about their order.
    pub(crate) fn give(&self, tasks: impl IntoIterator<Item = Task>) {
        self.inner.borrow_mut().queue.extend(tasks);
        self.pump();
    }

    /// Forgets a job: what of it waits, and what is under way.
    pub(crate) fn cancel(&self, job: u32) {
        {
            let mut inner = self.inner.borrow_mut();
            inner.queue.retain(|task| task.job != job);
            inner.members.retain(|member| member.doing.as_ref().is_none_or(|task| task.job != job));
        }
        self.pump();
    }

    /// Another trace, or none: workers that have the old one are ended, and what they did is done again.
    pub(crate) fn set_parcel(&self, parcel: Option<Parcel>) {
        {
            let mut inner = self.inner.borrow_mut();
            if inner.parcel == parcel {
                return;
            }
            let Inner { members, queue, .. } = &mut *inner;
            members.drain(..).filter_map(|member| member.doing).for_each(|task| queue.push_front(task));
            inner.parcel = parcel;
        }
        self.pump();
    }

    /// Another recording, or none. Workers that have the old one drop it for the new one, or when they are ended.
    pub(crate) fn set_recording(&self, recording: Option<Parcel>) {
        self.inner.borrow_mut().recording = recording;
    }

    /// Gives work to who has none, and starts workers where work waits.
    fn pump(&self) {
        let most = dom::window().navigator().hardware_concurrency() as usize;
        let most = most.saturating_sub(1).clamp(1, MOST);
        let mut inner = self.inner.borrow_mut();
        inner.idle = None;
        let Inner { members, queue, recording, .. } = &mut *inner;
        for member in members.iter_mut().filter(|member| member.ready && member.doing.is_none()) {
            let Some(task) = queue.pop_front() else { break };
            member.begin(task, recording.as_ref());
        }
        let starting = members.iter().filter(|member| !member.ready).count();
        let wanted = queue.len().saturating_sub(starting).min(most.saturating_sub(members.len()));
        for _ in 0..wanted {
            inner.last += 1;
            let number = inner.last;
            match self.start(number) {
                Some(line) => {
                    inner.members.push(Member { number, line, ready: false, recording: None, doing: None })
                }
                None => break,
            }
        }
        if inner.members.iter().all(|member| member.doing.is_none()) && inner.queue.is_empty() {
            let inner_again = Rc::downgrade(&self.inner);
            inner.idle = Some(dom::after(IDLE_MS, move || {
                if let Some(inner) = inner_again.upgrade() {
                    inner.borrow_mut().members.clear();
                }
            }));
        }
    }

    fn start(&self, number: u32) -> Option<Line> {
        let heard = {
            let pool = Rc::downgrade(&self.inner);
            Callback::from(move |message: FromWorker| {
                if let Some(inner) = pool.upgrade() {
                    Self { inner }.heard(number, message);
                }
            })
        };
        let died = {
            let pool = Rc::downgrade(&self.inner);
            Callback::from(move |reason: String| {
                if let Some(inner) = pool.upgrade() {
                    Self { inner }.died(number, &reason);
                }
            })
        };
        worker::start(heard, died)
    }

    fn heard(&self, number: u32, message: FromWorker) {
        let mut answered = None;
        {
            let mut inner = self.inner.borrow_mut();
            let Inner { members, parcel, recording, .. } = &mut *inner;
            let Some(member) = members.iter_mut().find(|member| member.number == number) else { return };
            match message {
                FromWorker::Ready => match parcel {
                    Some(parcel) => parcel.begin(&member.line),
                    None => member.ready = true,
                },
                FromWorker::Trace { trace, said } if member.doing.is_some() => {
                    let own = recording.as_ref().filter(|parcel| parcel.trace == trace);
                    // What was refused, or is wanted no more, is said by the chore.
                    if own.is_none_or(|parcel| parcel.go_on(&said, self.with_line(number))) {
                        member.recording = Some(trace);
                        member.doing.take().into_iter().for_each(|task| member.begin(task, None));
                    }
                }
                FromWorker::Trace { said, .. } => {
                    let with_line = self.with_line(number);
                    member.ready = parcel.as_ref().is_none_or(|parcel| parcel.go_on(&said, with_line));
                }
                FromWorker::Chore { job, task, answer } => {
                    if !matches!(answer, Answer::Progress { .. }) {
                        member.doing = None;
                    }
                    answered = Some((job, task, answer));
                }
                // Such as an answer that this page does not expect: the worker is of another version.
                FromWorker::Refused { problems, .. } => {
                    let task = member.doing.take();
                    answered = task.map(|task| (task.job, task.task, Answer::Refused { problems }));
                }
                _ => {}
            }
        }
        // Work first: what the answer sets off may take a while.
        self.pump();
        self.tell(answered);
    }

    /// Does something with a worker's line, if it still has one.
    fn with_line(&self, number: u32) -> impl FnOnce(&dyn Fn(&Line)) + 'static {
        let pool = Rc::downgrade(&self.inner);
        move |say| {
            let Some(inner) = pool.upgrade() else { return };
            let inner = inner.borrow();
            if let Some(member) = inner.members.iter().find(|member| member.number == number) {
                say(&member.line);
            }
        }
    }

    fn died(&self, number: u32, reason: &str) {
        let mut lost = Vec::new();
        {
            let mut inner = self.inner.borrow_mut();
            let Some(at) = inner.members.iter().position(|member| member.number == number) else { return };
            let member = inner.members.remove(at);
            lost.extend(member.doing);
            // What cannot even be started would be started for ever.
            if !member.ready {
                lost.extend(inner.queue.drain(..));
            }
        }
        self.pump();
        let problem = ProblemView {
            found: format!("the simulator stopped unexpectedly ({reason})"),
            expected: "a run that stays within time and memory".to_owned(),
            mend: "smaller numbers; and please report the scenario's link".to_owned(),
            ..ProblemView::default()
        };
        for Task { job, task, .. } in lost {
            self.tell(Some((job, task, Answer::Refused { problems: vec![problem.clone()] })));
        }
    }

    fn tell(&self, answered: Option<(u32, u32, Answer)>) {
        if let Some(answered) = answered {
            let said = self.inner.borrow().said.clone();
            said.emit(answered);
        }
    }
}
