//! Router processes side by side, and the news that travels between them.
//!
//! One log of news for all: each replica reads it up to where it is due, skipping its own, which it knew at once. What all
//! have read is dropped. Reading is put off until a replica decides; what it then believes is the same as if it had
//! read each line in its time.

use std::collections::VecDeque;

use tierscope_units::{Idx as _, RequestId, SimTime, Span, WorkerId};

use super::config::RouterConfig;
use super::view::{Key, Order, View};

/// Unread news beyond which all replicas are made to read what is due.
const UNREAD_MAX: usize = 4096;

/// What a replica tells the others.
#[derive(Clone, Copy, Debug)]
pub(super) enum News {
    /// A request was sent to a worker, in the worker's life of this number.
    Booked(Order, u32),
    /// Its first token was seen.
    Prefilled(RequestId),
    /// It is over.
    Ended(RequestId),
}

#[derive(Clone, Copy, Debug)]
struct Line {
    due: SimTime,
    from: u32,
    news: News,
}

/// All replicas.
#[derive(Clone, Debug)]
pub(super) struct Replicas {
    count: u32,
    delay: Span,
    /// One a replica; a single one for all where news takes no time, as all then believe the same.
    views: Vec<View>,
    /// How many lines each view has read.
    read: Vec<u64>,
    log: VecDeque<Line>,
    /// Lines dropped from the log's front.
    dropped: u64,
    /// Length of the log at which reading is next enforced.
    limit: usize,
    /// How often each worker was lost: news of an earlier life books nothing.
    lives: Vec<u32>,
}

impl Replicas {
    pub(super) fn new(config: &RouterConfig, workers: usize) -> Self {
        let count = config.replicas;
        let views = if config.sync_delay == Span::ZERO { 1 } else { count };
        Self {
            count,
            delay: config.sync_delay,
            views: vec![View::new(workers, config.expiry); views as usize],
            read: vec![0; views as usize],
            log: VecDeque::new(),
            dropped: 0,
            limit: UNREAD_MAX,
            lives: vec![0; workers],
        }
    }

    /// The replica that has a request.
    pub(super) fn of(&self, request: RequestId) -> u32 {
        request.0 % self.count
    }

    /// What a replica believes now.
    pub(super) fn view(&mut self, now: SimTime, replica: u32) -> &View {
        let at = self.at(replica);
        self.listen(now, at);
        self.views[at].expire(now);
        &self.views[at]
    }

    /// Bookings that expired so far, as far as replicas have noticed.
    pub(super) fn expired(&self) -> u64 {
        self.views.iter().map(|view| view.expired).sum()
    }

    fn at(&self, replica: u32) -> usize {
        (replica as usize).min(self.views.len() - 1)
    }

    pub(super) fn book(&mut self, now: SimTime, order: Order) {
        let life = self.lives[order.worker.index()];
        self.tell(now, order.request, News::Booked(order, life));
    }

    /// The request's replica acts on news at once, the others hear it later. False if it was news of nothing.
    pub(super) fn tell(&mut self, now: SimTime, request: RequestId, news: News) -> bool {
        let at = self.at(self.of(request));
        self.listen(now, at);
        self.views[at].expire(now);
        let meant = self.act(at, now, news);
        if self.views.len() > 1 {
            let due = now.checked_add(self.delay).unwrap_or(SimTime::from_ns(u64::MAX));
            self.log.push_back(Line { due, from: at as u32, news });
            self.bound(now);
        }
        meant
    }

    /// A worker is lost: no replica has anything booked on it.
    pub(super) fn forget(&mut self, now: SimTime, worker: WorkerId) {
        for at in 0..self.views.len() {
            self.listen(now, at);
            self.views[at].forget(worker);
        }
        self.lives[worker.index()] = self.lives[worker.index()].wrapping_add(1);
    }

    /// Reads what is due.
    fn listen(&mut self, now: SimTime, at: usize) {
        let mut next = (self.read[at] - self.dropped) as usize;
        while let Some(&line) = self.log.get(next).filter(|line| line.due <= now) {
            next += 1;
            if line.from as usize != at {
                self.views[at].expire(line.due);
                self.act(at, line.due, line.news);
            }
        }
        self.read[at] = self.dropped + next as u64;
    }

    fn act(&mut self, at: usize, now: SimTime, news: News) -> bool {
        let view = &mut self.views[at];
        match news {
            News::Booked(order, life) if life == self.lives[order.worker.index()] => view.book(now, order),
            // The request has left its former worker all the same.
            News::Booked(order, _) => return view.unbook(Key::new(order.request, order.stage)),
            News::Prefilled(request) => return view.prefilled(now, request),
            News::Ended(request) => return view.ended(request),
        }
        true
    }

    /// Drops what all have read, and makes all read when the log is long.
    fn bound(&mut self, now: SimTime) {
        if self.log.len() < self.limit {
            return;
        }
        for at in 0..self.views.len() {
            self.listen(now, at);
        }
        let read = self.read.iter().min().copied().unwrap_or(self.dropped);
        self.log.drain(..(read - self.dropped) as usize);
        self.dropped = read;
        self.limit = UNREAD_MAX.max(2 * self.log.len());
    }

    /// Lines in the log, and the bookings and their room of each view.
    #[cfg(test)]
    pub(super) fn room(&self) -> (usize, Vec<(usize, usize)>) {
        (self.log.len(), self.views.iter().map(View::room).collect())
    }
}
