//! Jobs: what the state wants done is given to the pool, and what it gave up is taken back.

use std::rc::Rc;

use tierscope_worker::protocol::{Answer, RowsForm};
use yew::prelude::*;

use super::share::{CSV, JSON};
use super::{Shared, State};
use crate::glue::pool::{Pool, Task};
use crate::glue::save;
use crate::state::Action;
use crate::state::jobs::{Job, JobEvent, Slot};

/// Keeps the pool at what the state wants, and offers what was written down.
#[hook]
pub(crate) fn use_jobs(state: &State, seeker: &Shared) {
    let dispatcher = state.dispatcher();
    let pool = use_memo((), |()| {
        let answered = move |(job, task, answer): (u32, u32, Answer)| {
            dispatcher.dispatch(Action::Job(JobEvent::Answered { job, task, answer }));
        };
        Pool::new(Callback::from(answered))
    });
    // Before the jobs: their chores may need it.
    use_effect_with(state.kept_trace(), {
        let (pool, seeker) = (Rc::clone(&pool), Rc::clone(seeker));
        move |kept| pool.set_parcel(kept.and_then(|number| super::parcel(&seeker, number)))
    });
    use_effect_with(state.intake.driven.as_ref().map(|driven| driven.number), {
        let (pool, seeker) = (Rc::clone(&pool), Rc::clone(seeker));
        move |number| pool.set_recording(number.and_then(|number| super::parcel(&seeker, number)))
    });
    use_slot(state, &pool, Slot::Meeting);
    use_slot(state, &pool, Slot::Seeds);
    use_slot(state, &pool, Slot::Sweep);
    use_slot(state, &pool, Slot::Sizing);
    use_slot(state, &pool, Slot::Export);
    let export = state.jobs.export.clone();
    use_effect_with(export.as_ref().map(|(job, _, _)| *job), move |_| {
        if let Some((_, form, text)) = export {
            let (name, media) = match form {
                RowsForm::Csv => ("sweep.csv", CSV),
                RowsForm::Json => ("sweep.json", JSON),
            };
            save::text(name, media, &text);
        }
    });
}

#[hook]
fn use_slot(state: &State, pool: &Pool, slot: Slot) {
    let job = state.jobs.of(slot).filter(|job| job.is_under_way());
    let chores = job.map(|job| job.chores.clone());
    let pool = pool.clone();
    use_effect_with(job.map(|job: &Job| job.id), move |&job| {
        if let (Some(job), Some(chores)) = (job, chores) {
            let task = |(task, chore)| Task { job, task: task as u32, chore };
            pool.give(chores.iter().cloned().enumerate().map(task));
        }
        // The job ended, was given up, or another one took its place.
        move || {
            if let Some(job) = job {
                pool.cancel(job);
            }
        }
    });
}
