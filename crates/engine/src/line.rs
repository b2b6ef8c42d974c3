//! The line of waiting requests, in the order of the policy.

use std::collections::{BTreeMap, VecDeque};

use crate::config::SchedulingPolicy;
use crate::input::Rank;
use crate::request::Live;

/// The waiting requests.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// First come, first served; whoever comes back goes to the head.
    Fcfs(VecDeque<Live>),
    /// By rank; the entry number keeps equal ranks apart.
    Priority(BTreeMap<(Rank, Live), Live>),
}

impl Line {
    pub(crate) fn new(policy: SchedulingPolicy) -> Self {
        match policy {
            SchedulingPolicy::Fcfs => Self::Fcfs(VecDeque::new()),
            SchedulingPolicy::Priority => Self::Priority(BTreeMap::new()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Fcfs(queue) => queue.len(),
            Self::Priority(queue) => queue.len(),
        }
    }

    pub(crate) fn head(&self) -> Option<Live> {
        match self {
            Self::Fcfs(queue) => queue.front().copied(),
            Self::Priority(queue) => queue.first_key_value().map(|(_, &live)| live),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Live> {
        match self {
            Self::Fcfs(queue) => queue.pop_front(),
            Self::Priority(queue) => queue.pop_first().map(|(_, live)| live),
        }
    }

    /// A new request.
    pub(crate) fn join(&mut self, live: Live, rank: Rank) {
        match self {
            Self::Fcfs(queue) => queue.push_back(live),
            Self::Priority(queue) => {
                queue.insert((rank, live), live);
            }
        }
    }

    /// A request that comes back.
    pub(crate) fn rejoin(&mut self, live: Live, rank: Rank) {
        match self {
            Self::Fcfs(queue) => queue.push_front(live),
            Self::Priority(_) => self.join(live, rank),
        }
    }

    pub(crate) fn leave(&mut self, live: Live, rank: Rank) {
        match self {
            Self::Fcfs(queue) => queue.retain(|&other| other != live),
            Self::Priority(queue) => {
                queue.remove(&(rank, live));
            }
        }
    }

    /// Head first.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = Live> + '_> {
        match self {
            Self::Fcfs(queue) => Box::new(queue.iter().copied()),
            Self::Priority(queue) => Box::new(queue.values().copied()),
        }
    }
}
