//! The clients: when each request of a workload arrives.
//!
//! Requests with a time arrive at it; those that follow others wait for the end of them all, however they end; those
//! of a closed loop start in order, as soon as fewer than the stated number are unfinished.

use std::sync::Arc;

use tierscope_scenario::{Start, Workload};
use tierscope_units::{Idx, RequestId, SimTime, Span};

/// What is fixed for a workload, shared by all forks of a simulation.
#[derive(Debug)]
struct Order {
    /// Requests with a time, by time and number.
    timed: Vec<RequestId>,
    /// Requests of the closed loop, in order.
    looped: Vec<RequestId>,
    /// Followers of request r: `followers[first_follower[r]..first_follower[r + 1]]`.
    first_follower: Vec<u32>,
    followers: Vec<RequestId>,
    /// Requests that wait for several ends, in order.
    joining: Vec<RequestId>,
}

/// The clients' state.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    workload: Arc<Workload>,
    order: Arc<Order>,
    next_timed: usize,
    next_looped: usize,
    /// Requests of the closed loop that have started and not ended.
    loop_open: u32,
    /// For each of [`Order::joining`], how many ends are still to come.
    ends_to_come: Vec<u32>,
}

impl Source {
    pub(crate) fn new(workload: Arc<Workload>) -> Self {
        let order = Arc::new(Order::of(&workload));
        let mut ends_to_come = vec![1; order.joining.len()];
        for (waiting, _) in &workload.joins {
            if let Ok(at) = order.joining.binary_search(waiting) {
                ends_to_come[at] += 1;
            }
        }
        Self { workload, order, next_timed: 0, next_looped: 0, loop_open: 0, ends_to_come }
    }

    /// When the next request with a time arrives.
    pub(crate) fn next_time(&self) -> Option<SimTime> {
        let request = *self.order.timed.get(self.next_timed)?;
        Some(self.time_of(request))
    }

    /// The next request that arrives at `now` by its own time.
    pub(crate) fn pop_at(&mut self, now: SimTime) -> Option<RequestId> {
        let request = *self.order.timed.get(self.next_timed)?;
        if self.time_of(request) > now {
            return None;
        }
        self.next_timed += 1;
        Some(request)
    }

    fn time_of(&self, request: RequestId) -> SimTime {
        match self.workload.requests[request.index()].start {
            Start::At(at) => at,
            Start::After { .. } | Start::WhenFree { .. } => SimTime::ZERO,
        }
    }

    /// The requests that start because the closed loop has room, each with its delay.
    pub(crate) fn fill_loop(&mut self) -> impl Iterator<Item = (RequestId, Span)> {
        let room = self.workload.concurrency.unwrap_or(0).saturating_sub(self.loop_open) as usize;
        let first = self.next_looped;
        let last = (first + room).min(self.order.looped.len());
        self.next_looped = last;
        self.loop_open += (last - first) as u32;
        let (order, workload) = (self.order.clone(), self.workload.clone());
        (first..last).map(move |at| {
            let request = order.looped[at];
            (request, delay_of(&workload, request))
        })
    }

    /// `request` ended: the requests that follow it and wait for nothing else, each with its delay.
    pub(crate) fn ended(&mut self, request: RequestId) -> impl Iterator<Item = (RequestId, Span)> {
        if let Start::WhenFree { .. } = self.workload.requests[request.index()].start {
            self.loop_open -= 1;
        }
        let (order, workload) = (self.order.clone(), self.workload.clone());
        let range = order.first_follower[request.index()]..order.first_follower[request.index() + 1];
        let ends_to_come = &mut self.ends_to_come;
        range.filter_map(move |at| {
            let follower = order.followers[at as usize];
            if let Ok(at) = order.joining.binary_search(&follower) {
                ends_to_come[at] -= 1;
                if ends_to_come[at] > 0 {
                    return None;
                }
            }
            Some((follower, delay_of(&workload, follower)))
        })
    }
}

fn delay_of(workload: &Workload, request: RequestId) -> Span {
    match workload.requests[request.index()].start {
        Start::At(_) => Span::ZERO,
        Start::After { delay, .. } | Start::WhenFree { delay } => delay,
    }
}

impl Order {
    fn of(workload: &Workload) -> Self {
        let count = workload.requests.len();
        let mut order = Self {
            timed: Vec::new(),
            looped: Vec::new(),
            first_follower: vec![0; count + 1],
            followers: Vec::new(),
            joining: workload.joins.iter().map(|&(waiting, _)| waiting).collect(),
        };
        order.joining.dedup();
        for (id, plan) in (0..).map(RequestId).zip(&workload.requests) {
            match plan.start {
                Start::At(_) => order.timed.push(id),
                Start::WhenFree { .. } => order.looped.push(id),
                Start::After { request, .. } => order.first_follower[request.index() + 1] += 1,
            }
        }
        for (_, ended) in &workload.joins {
            order.first_follower[ended.index() + 1] += 1;
        }
        order.timed.sort_by_key(|id| match workload.requests[id.index()].start {
            Start::At(at) => at,
            Start::After { .. } | Start::WhenFree { .. } => SimTime::ZERO,
        });
        for at in 0..count {
            order.first_follower[at + 1] += order.first_follower[at];
        }
        let mut place = order.first_follower.clone();
        order.followers = vec![RequestId(0); order.first_follower[count] as usize];
        let after = (0..).map(RequestId).zip(&workload.requests).filter_map(|(id, plan)| match plan.start {
            Start::After { request, .. } => Some((id, request)),
            Start::At(_) | Start::WhenFree { .. } => None,
        });
        for (id, request) in after.chain(workload.joins.iter().copied()) {
            order.followers[place[request.index()] as usize] = id;
            place[request.index()] += 1;
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tierscope_scenario::RequestPlan;

    fn plan(start: Start) -> RequestPlan {
        RequestPlan {
            start,
            runs: 0..0,
            prompt_tokens: 0,
            output_tokens: 1,
            output_start: 0,
            salt: 0,
            priority: 0,
            cancel_after: None,
        }
    }

    /// Request 3 waits for 0, 1 and 2, request 4 for 1 alone.
    #[test]
    fn a_request_that_waits_for_several_comes_after_the_last_of_them() {
        let at = Start::At(SimTime::ZERO);
        let after = |request, ns| Start::After { request: RequestId(request), delay: Span::from_ns(ns) };
        let workload = Workload {
            requests: [at, at, at, after(1, 7), after(1, 9)].map(plan).to_vec(),
            joins: vec![(RequestId(3), RequestId(0)), (RequestId(3), RequestId(2))],
            ..Workload::default()
        };
        let mut source = Source::new(Arc::new(workload));
        assert_eq!(source.ended(RequestId(2)).count(), 0);
        assert_eq!(source.ended(RequestId(1)).collect::<Vec<_>>(), [(RequestId(4), Span::from_ns(9))]);
        let mut fork = source.clone();
        assert_eq!(fork.ended(RequestId(0)).count(), 1, "a fork counts on its own");
        assert_eq!(source.ended(RequestId(0)).collect::<Vec<_>>(), [(RequestId(3), Span::from_ns(7))]);
    }
}
