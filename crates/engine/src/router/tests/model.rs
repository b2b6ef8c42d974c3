//! A dumber router: it keeps all that ever happened, and works everything out again at each question.

use std::collections::{BTreeMap, BTreeSet};

use tierscope_units::{RequestId, SequenceHash, SimTime, Span, WorkerId};

use crate::lower::Tier;
use crate::router::{Ask, Overlap, RouterConfig, RouterKind, Stage};

/// A tier and the number of its owner.
type Place = (Tier, u32);

#[derive(Clone, Debug)]
pub(super) enum Happening {
    Stored(u16, Tier, Vec<SequenceHash>),
    Removed(u16, Tier, Vec<SequenceHash>),
    Cleared(u16),
    Lost(u16),
    Booked { request: u32, stage: Stage, worker: u16, prefill: u64, blocks: u64 },
    Prefilled(u32),
    Ended(u32),
}

#[derive(Clone, Debug)]
struct Entry {
    time: SimTime,
    what: Happening,
    /// The worker was lost before this arrived anywhere but at its own replica.
    void: bool,
}

#[derive(Clone, Copy, Debug)]
struct Booking {
    stage: Stage,
    worker: u16,
    prefill: u64,
    blocks: u64,
    heard: SimTime,
}

pub(super) struct Model {
    pub(super) config: RouterConfig,
    pub(super) hosts: Vec<u32>,
    pub(super) serves: BTreeMap<u16, Stage>,
    entries: Vec<Entry>,
    turns: BTreeMap<(u32, Stage), u16>,
}

fn later(time: SimTime, by: Span) -> SimTime {
    time.checked_add(by).expect("tests are short")
}

impl Model {
    pub(super) fn new(config: RouterConfig, hosts: Vec<u32>) -> Self {
        Self { config, hosts, serves: BTreeMap::new(), entries: Vec::new(), turns: BTreeMap::new() }
    }

    pub(super) fn happen(&mut self, time: SimTime, what: Happening) {
        if let Happening::Lost(worker) = what {
            self.serves.remove(&worker);
            for entry in &mut self.entries {
                let (delay, own) = match &entry.what {
                    Happening::Stored(by, tier, _) | Happening::Removed(by, tier, _) => {
                        (self.config.event_delay, *by == worker && *tier <= Tier::G2)
                    }
                    Happening::Cleared(by) => (self.config.event_delay, *by == worker),
                    Happening::Booked { worker: on, .. } => (self.config.sync_delay, *on == worker),
                    _ => continue,
                };
                entry.void |= own && later(entry.time, delay) > time;
            }
        }
        self.entries.push(Entry { time, what, void: false });
    }

    fn place(&self, worker: u16, tier: Tier) -> Place {
        let owner = match tier {
            Tier::G1 | Tier::G2 => u32::from(worker),
            Tier::G3 => self.hosts[usize::from(worker)],
            Tier::G4 => 0,
        };
        (tier, owner)
    }

    /// What the index should hold.
    pub(super) fn held(&self, now: SimTime) -> BTreeSet<(Place, SequenceHash)> {
        let mut arrived: Vec<(SimTime, usize)> = Vec::new();
        for (seq, entry) in self.entries.iter().enumerate() {
            let delay = match entry.what {
                Happening::Lost(_) => Span::ZERO,
                _ => self.config.event_delay,
            };
            arrived.push((later(entry.time, delay), seq));
        }
        arrived.retain(|(due, _)| *due <= now);
        arrived.sort_unstable();
        let mut held = BTreeSet::new();
        for (_, seq) in arrived {
            let entry = &self.entries[seq];
            match &entry.what {
                Happening::Stored(by, tier, hashes) if !entry.void => {
                    held.extend(hashes.iter().map(|hash| (self.place(*by, *tier), *hash)));
                }
                Happening::Removed(by, tier, hashes) if !entry.void => {
                    held.retain(|(place, hash)| *place != self.place(*by, *tier) || !hashes.contains(hash));
                }
                Happening::Cleared(by) if entry.void => _ = by,
                Happening::Cleared(by) | Happening::Lost(by) => {
                    held.retain(|((tier, owner), _)| *tier > Tier::G2 || *owner != u32::from(*by));
                }
                _ => {}
            }
        }
        held
    }

    pub(super) fn overlap(&self, now: SimTime, worker: u16, hashes: &[SequenceHash]) -> Overlap {
        let held = self.held(now);
        let mut counts = [0; Tier::COUNT];
        for hash in hashes {
            let tier = Tier::ALL.into_iter().find(|tier| held.contains(&(self.place(worker, *tier), *hash)));
            let Some(tier) = tier else { break };
            counts[tier.index()] += 1;
        }
        let [g1_blocks, g2_blocks, g3_blocks, g4_blocks] = counts;
        Overlap { g1_blocks, g2_blocks, g3_blocks, g4_blocks }
    }

    fn booked(&self, now: SimTime, replica: u32) -> Vec<Booking> {
        let mut heard: Vec<(SimTime, usize)> = Vec::new();
        for (seq, entry) in self.entries.iter().enumerate() {
            let of = match entry.what {
                Happening::Booked { request, .. } => Some(request),
                Happening::Prefilled(request) | Happening::Ended(request) => Some(request),
                _ => None,
            };
            let own = of.is_none_or(|request| request % self.config.replicas == replica);
            let delay = if own { Span::ZERO } else { self.config.sync_delay };
            heard.push((later(entry.time, delay), seq));
        }
        heard.retain(|(due, _)| *due <= now);
        heard.sort_unstable();
        let mut booked: BTreeMap<(u32, bool), Booking> = BTreeMap::new();
        for (time, seq) in heard {
            self.expire(&mut booked, time);
            self.hear(&mut booked, time, (&self.entries[seq], replica));
        }
        self.expire(&mut booked, now);
        booked.into_values().collect()
    }

    fn expire(&self, booked: &mut BTreeMap<(u32, bool), Booking>, now: SimTime) {
        if let Some(after) = self.config.expiry.after {
            booked.retain(|_, booking| later(booking.heard, after) > now);
        }
    }

    fn hear(
        &self,
        booked: &mut BTreeMap<(u32, bool), Booking>,
        time: SimTime,
        (entry, replica): (&Entry, u32),
    ) {
        match entry.what {
            Happening::Booked { request, stage, worker, prefill, blocks } => {
                let key = (request, stage == Stage::Decode);
                booked.remove(&key);
                if !entry.void || request % self.config.replicas == replica {
                    booked.insert(key, Booking { stage, worker, prefill, blocks, heard: time });
                }
            }
            Happening::Prefilled(request) => {
                let done = booked.get_mut(&(request, false)).map(|booking| {
                    booking.prefill = 0;
                    booking.heard = time;
                    booking.stage == Stage::Prefill
                });
                if done == Some(true) {
                    booked.remove(&(request, false));
                }
            }
            Happening::Ended(request) => booked.retain(|(other, _), _| *other != request),
            Happening::Lost(worker) => booked.retain(|_, booking| booking.worker != worker),
            _ => {}
        }
    }

    /// Worker, cost in blocks, overlap; and it is booked.
    pub(super) fn route(&mut self, now: SimTime, ask: &Ask<'_>) -> Option<(u16, f64, Overlap)> {
        let replica = ask.request.0 % self.config.replicas;
        let serving = self.serves.iter().filter(|(_, stage)| **stage == ask.stage);
        let candidates: Vec<u16> = serving.map(|(worker, _)| *worker).collect();
        let booked = self.booked(now, replica);
        let on = |worker| booked.iter().filter(move |booking| booking.worker == worker);
        let blocks = |worker| on(worker).map(|booking| booking.blocks).sum::<u64>();
        let costs = self.costs(now, ask, (&candidates, &booked));
        let worker = match self.config.kind {
            RouterKind::RoundRobin => {
                let last = self.turns.get(&(replica, ask.stage)).copied();
                let behind = candidates.iter().find(|worker| last.is_some_and(|last| **worker > last));
                *behind.or(candidates.first())?
            }
            RouterKind::LeastLoaded => {
                *candidates.iter().min_by_key(|worker| (on(**worker).count(), blocks(**worker)))?
            }
            RouterKind::KvAware => {
                let least = costs.values().copied().fold(f64::INFINITY, f64::min);
                let cheapest = candidates.iter().filter(|worker| costs[*worker] == least);
                *cheapest.min_by_key(|worker| on(**worker).count())?
            }
        };
        self.turns.insert((replica, ask.stage), worker);
        let overlap = self.overlap(now, worker, ask.hashes);
        self.book(now, ask, (worker, overlap));
        Some((worker, costs[&worker], overlap))
    }

    fn costs(
        &self,
        now: SimTime,
        ask: &Ask<'_>,
        (candidates, booked): (&[u16], &[Booking]),
    ) -> BTreeMap<u16, f64> {
        let terms = self.config.cost;
        let sum = |worker: u16, part: fn(&Booking) -> u64| {
            booked.iter().filter(|booking| booking.worker == worker).map(part).sum::<u64>() as f64
        };
        let prefill = |worker| sum(worker, |booking| booking.prefill);
        let least = candidates.iter().map(|worker| prefill(*worker)).fold(f64::INFINITY, f64::min);
        let output = if ask.stage == Stage::Prefill { 0 } else { ask.output_blocks_hint };
        let cost = |worker: u16| {
            let overlap = self.overlap(now, worker, ask.hashes);
            let backlog = (prefill(worker) - least) / f64::from(ask.prompt_blocks).max(1.0);
            let decay = 1.0 / (1.0 + terms.overlap_score_credit_decay * backlog);
            let below = terms.host_cache_hit_weight * f64::from(overlap.g2_blocks)
                + terms.disk_cache_hit_weight * f64::from(overlap.g3_blocks)
                + terms.shared_cache_multiplier * f64::from(overlap.g4_blocks);
            let credit = terms.overlap_score_credit * decay * f64::from(overlap.g1_blocks) + below;
            let prefill = (prefill(worker) + f64::from(ask.prompt_blocks) - credit).max(0.0);
            let scale = if ask.stage == Stage::Decode { 0.0 } else { terms.prefill_load_scale };
            let blocks = sum(worker, |booking| booking.blocks) + f64::from(ask.prompt_blocks + output);
            scale * prefill + blocks + terms.decode_active_request_weight * sum(worker, |_| 1)
        };
        candidates.iter().map(|worker| (*worker, cost(*worker))).collect()
    }

    fn book(&mut self, now: SimTime, ask: &Ask<'_>, (worker, overlap): (u16, Overlap)) {
        let terms = self.config.cost;
        let reached = f64::from(overlap.g1_blocks)
            + terms.host_cache_hit_weight * f64::from(overlap.g2_blocks)
            + terms.disk_cache_hit_weight * f64::from(overlap.g3_blocks)
            + terms.shared_cache_multiplier * f64::from(overlap.g4_blocks);
        let prefill = u64::from(ask.prompt_blocks).saturating_sub((reached + 0.5) as u64);
        let output = if ask.stage == Stage::Prefill { 0 } else { ask.output_blocks_hint };
        let RequestId(request) = ask.request;
        let booked = Happening::Booked {
            request,
            stage: ask.stage,
            worker,
            prefill: if ask.stage == Stage::Decode { 0 } else { prefill },
            blocks: u64::from(ask.prompt_blocks + output),
        };
        self.happen(now, booked);
    }

    /// What `held` says, as a worker tells it.
    pub(super) fn told(&self, held: &BTreeSet<(Place, SequenceHash)>) -> Vec<(WorkerId, Tier, SequenceHash)> {
        let teller = |(tier, owner): Place| match tier {
            Tier::G1 | Tier::G2 => owner as u16,
            Tier::G3 => self.hosts.iter().rposition(|host| *host == owner).unwrap_or(0) as u16,
            Tier::G4 => 0,
        };
        held.iter().map(|(place, hash)| (WorkerId(teller(*place)), place.0, *hash)).collect()
    }
}
