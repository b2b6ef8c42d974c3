//! Tells about one thing: a slot, a request, a block's content, a copy, a worker.

use tierscope_engine::{Engine, Fleet, SlotState, Tier};
use tierscope_report::Census;
use tierscope_sim::{Simulation, census};
use tierscope_units::{Idx, RequestId, SequenceHash, SimTime, SlotId, TransferId, WorkerId};

use super::{Job, ns};
use crate::copies::tier;
use crate::lives::What;
use crate::protocol::{
    BlockState, BlockTold, COPIES_TOLD, CensusRow, HASHES_SHOWN, REQUESTS_SHOWN, RequestTold, Resident,
    SLOTS_TOLD, SPANS_SHOWN, SlotView, Subject, TXNS_SHOWN, TierName, Told, Transaction, TransferTold,
    TxnOutcome, Why, WorkerTold,
};
use crate::{between, board, tiers};

/// Slots that are looked through for one with content.
const AMONG_MAX: u32 = 4_096;

impl Job {
    /// A worker's slot at a time: the first of some neighbours that holds content, else the first.
    pub(super) fn slot(
        &mut self,
        at_ns: f64,
        worker: WorkerId,
        tier: TierName,
        first: u32,
        among: u32,
    ) -> Option<SlotView> {
        let fleet = self.seek(at_ns).fleet();
        let view = |slot: u32| match tier {
            TierName::G1 => board::slot(fleet, worker, SlotId(slot)),
            TierName::G2 => tiers::slot(fleet, worker, Tier::G2, slot),
            TierName::G3 => tiers::slot(fleet, worker, Tier::G3, slot),
            TierName::G4 => tiers::slot(fleet, worker, Tier::G4, slot),
        };
        let neighbours = (1..among.min(AMONG_MAX)).map_while(|step| first.checked_add(step)).filter_map(view);
        let own = view(first)?;
        let has_content = |slot: &SlotView| slot.hash.is_some() || !slot.owners.is_empty();
        let mut found =
            if has_content(&own) { own } else { neighbours.into_iter().find(has_content).unwrap_or(own) };
        let at = SimTime::from_ns(ns(at_ns));
        let last = hash_of(found.hash.as_deref()).and_then(|hash| self.read.story.last_before(hash, at));
        found.last_ns = last.map(|at| at.as_ns() as f64);
        Some(found)
    }

    /// All about one thing as it is at a time.
    pub(super) fn tell(&mut self, at_ns: f64, about: &Subject) -> Told {
        self.seek(at_ns);
        let at = SimTime::from_ns(ns(at_ns));
        let told = match about {
            Subject::Request(request) => {
                self.request(RequestId(*request), at).map(|told| Told::Request(Box::new(told)))
            }
            Subject::Block(hash) => {
                hash_of(Some(hash)).and_then(|hash| self.block(hash, at)).map(Told::Block)
            }
            Subject::Transfer(transfer) => self.transfer(TransferId(ns(*transfer))).map(Told::Transfer),
            Subject::Worker(worker) => self.told_worker(*worker, at).map(|told| Told::Worker(Box::new(told))),
        };
        told.unwrap_or(Told::Unknown)
    }

    fn here(&self) -> &Simulation {
        self.shown.as_ref().unwrap_or(self.run.simulation())
    }

    fn request(&self, request: RequestId, at: SimTime) -> Option<RequestTold> {
        let here = self.here();
        let plan = here.workload().requests.get(request.index())?;
        let lives = &self.read.lives;
        let time =
            |what: What| lives.of(request).find(|event| event.what == what).map(|event| event.at as f64);
        let end = |what: &What| matches!(what, What::Finished | What::Cancelled | What::Rejected);
        let until_now = || lives.of(request).filter(|event| event.at <= at.as_ns());
        let mut spans = lives.spans(request);
        let spans_more = spans.len().saturating_sub(SPANS_SHOWN) as u32;
        spans.truncate(SPANS_SHOWN);
        let Census { rows, wait_cycle } = census(here);
        let rows = rows.into_iter().filter(|row| row.request == request.0).collect();
        let rows = board::census_rows(here, rows);
        let (transactions, transactions_total) = self.transactions_of(request, at);
        let why = self.why(request, at, (&rows, wait_cycle), &transactions);
        let engine = here.fleet().workers().find(|engine| engine.is_live(request));
        // At two workers for a while, it is where its blocks are.
        let holds = |engine: &Engine| engine.is_live(request) && !engine.blocks_of(request).is_empty();
        let holder = here.fleet().workers().position(holds);
        Some(RequestTold {
            request: request.0,
            prompt_tokens: plan.prompt_tokens,
            output_tokens: plan.output_tokens,
            made_tokens: engine.and_then(|engine| engine.output_tokens(request)),
            arrived_ns: time(What::Arrived),
            first_token_ns: time(What::FirstToken),
            ended_ns: lives.of(request).find(|event| end(&event.what)).map(|event| event.at as f64),
            cached_tokens: lives
                .of(request)
                .find(|event| event.what == What::Admitted)
                .map(|event| event.tokens()),
            preemptions: until_now().filter(|event| event.what == What::Preempted).count() as u32,
            worker: holder.map(|worker| worker as u32),
            slots: holder.map_or(Vec::new(), |worker| {
                let engine = here.fleet().worker(WorkerId(worker as u16));
                engine.blocks_of(request).iter().take(SLOTS_TOLD).map(|slot| slot.0).collect()
            }),
            spans,
            spans_more,
            rows,
            why,
            transactions,
            transactions_total,
            copies: self
                .read
                .copies
                .of_request(request)
                .take(COPIES_TOLD)
                .map(|copy| self.read.copies.view(copy))
                .collect(),
        })
    }

    /// The newest transactions of a request at all workers, the newest first.
    fn transactions_of(&self, request: RequestId, at: SimTime) -> (Vec<Transaction>, u32) {
        let (mut newest, mut total) = (Vec::new(), 0);
        for worker in 0..self.start.fleet().workers().len() {
            let ledger = self.read.ledger(WorkerId(worker as u16));
            let (own, count) = ledger.newest_of(request, at, TXNS_SHOWN);
            newest.extend(own);
            total += count;
        }
        newest.sort_by(|a, b| b.at_ns.total_cmp(&a.at_ns));
        newest.truncate(TXNS_SHOWN);
        (newest, total)
    }

    /// What keeps a request waiting; nothing for one that runs, and for one that has not arrived.
    fn why(
        &self,
        request: RequestId,
        at: SimTime,
        (rows, wait_cycle): (&[CensusRow], Vec<String>),
        newest: &[Transaction],
    ) -> Option<Why> {
        let here = self.here();
        let engine = here.fleet().workers().find(|engine| engine.is_live(request))?;
        let waits = rows.iter().any(|row| !matches!(row.phase.as_str(), "prefill" | "decode"));
        let until = rows
            .iter()
            .find_map(|row| row.transfer)
            .map(|transfer| (transfer, deadline(engine, transfer).unwrap_or(0.0)));
        if !waits && until.is_none() {
            return None;
        }
        let refused = |newest: &[Transaction]| {
            newest.first().filter(|txn| !matches!(txn.outcome, TxnOutcome::Ready { .. })).cloned()
        };
        let line: Vec<RequestId> = engine.holding().chain(engine.waiting()).collect();
        let ahead = line.iter().position(|&other| other == request).unwrap_or(0);
        let head = line.first().copied().filter(|&head| head != request);
        let copy = until.and_then(|(transfer, _)| self.read.copies.find(TransferId(ns(transfer))));
        Some(Why {
            refused: refused(newest),
            copy: copy.map(|copy| self.read.copies.view(copy)),
            until,
            ahead: ahead as u32,
            head: head.map(|head| head.0),
            cycle: wait_cycle.into_iter().find(|line| line.starts_with(&format!("request {request} "))),
            head_refused: head.and_then(|head| refused(&self.transactions_of(head, at).0)),
            running: engine.queue_lengths().0 as u32,
            running_max: engine.config().max_num_seqs,
        })
    }

    fn block(&self, hash: SequenceHash, at: SimTime) -> Option<BlockTold> {
        let here = self.here();
        let block_tokens = here.fleet().config().engine.block_size_tokens;
        let residents = residents(here.fleet(), hash);
        let told = self.read.story.tell(hash, &self.read, here.workload(), block_tokens, at);
        // One whose events are all dropped, and that is still there, is known all the same.
        let known = told.or_else(|| {
            (!residents.is_empty()).then(|| BlockTold {
                hash: hash.to_string(),
                cut: true,
                ..BlockTold::default()
            })
        })?;
        Some(BlockTold { here: residents, ..known })
    }

    fn transfer(&self, transfer: TransferId) -> Option<TransferTold> {
        let copy = self.read.copies.find(transfer)?;
        let hashes = self.read.story.carried_by(transfer);
        Some(TransferTold {
            copy: self.read.copies.view(copy),
            worker: copy.worker().0.into(),
            hashes: hashes.iter().take(HASHES_SHOWN).map(SequenceHash::to_string).collect(),
        })
    }

    fn told_worker(&self, number: u32, at: SimTime) -> Option<WorkerTold> {
        let here = self.here();
        if number as usize >= here.fleet().workers().len() {
            return None;
        }
        let worker = WorkerId(number as u16);
        let engine = here.fleet().worker(worker);
        let pool = engine.g1();
        let matchable = |&slot: &u32| {
            let full = !matches!(pool.slot_state(SlotId(slot)), SlotState::SourceHold | SlotState::Reserved);
            full && pool.slot_hash(SlotId(slot)).is_some()
        };
        let names =
            |ids: &mut dyn Iterator<Item = RequestId>| ids.take(REQUESTS_SHOWN).map(|id| id.0).collect();
        let own = |handoff: &crate::protocol::HandoffView| {
            handoff.source == number || handoff.destination == number
        };
        Some(WorkerTold {
            worker: number,
            view: between::worker(here.fleet(), worker),
            totals: board::totals(engine),
            indexed: (0..pool.capacity()).filter(matchable).count() as u32,
            running_max: engine.config().max_num_seqs,
            running: names(&mut engine.running()),
            waiting: names(&mut engine.holding().chain(engine.waiting())),
            lanes: tiers::lanes(here, worker, &self.read.copies, &self.world),
            handoffs: self.read.between.moving_at(at).into_iter().filter(own).collect(),
        })
    }
}

/// When a transfer that somebody waits for is believed to end.
fn deadline(engine: &Engine, transfer: f64) -> Option<f64> {
    let waits = engine.census().into_iter().filter_map(|row| match row.wakeup? {
        tierscope_engine::Wakeup::Transfer(dependency) => Some(dependency),
        _ => None,
    });
    let found = waits.into_iter().find(|dependency| dependency.transfer.0 == ns(transfer))?;
    Some(found.deadline.as_ns() as f64)
}

/// The slots of all workers that hold a content; one that workers share is told once.
fn residents(fleet: &Fleet, hash: SequenceHash) -> Vec<Resident> {
    let mut found: Vec<Resident> = Vec::new();
    for number in 0..fleet.workers().len() {
        let worker = WorkerId(number as u16);
        let engine = fleet.worker(worker);
        if let Some(slot) = engine.g1().lookup(hash) {
            let view = board::slot(fleet, worker, slot);
            found.extend(view.map(|view| Resident {
                tier: TierName::G1,
                worker: Some(number as u32),
                slot: slot.0,
                state: view.state,
                owners: view.owners,
            }));
        }
        for name in tiers::resident_in(fleet, worker, hash) {
            let (place, state) = below(fleet, worker, name, hash);
            let shared = found
                .iter_mut()
                .find(|other| (other.tier, other.slot) == (name, place) && name > TierName::G2);
            match shared {
                Some(known) => known.worker = None,
                None => found.push(Resident {
                    tier: name,
                    worker: Some(number as u32),
                    slot: place,
                    state,
                    owners: Vec::new(),
                }),
            }
        }
    }
    found
}

/// The slot and the state of a content that is resident in a tier below G1.
fn below(fleet: &Fleet, worker: WorkerId, name: TierName, hash: SequenceHash) -> (u32, BlockState) {
    let pool =
        Tier::ALL.into_iter().find(|&other| tier(other) == name).and_then(|name| fleet.tier_of(worker, name));
    let slot = pool.and_then(|pool| Some((pool, pool.lookup(hash)?)));
    match slot {
        Some((pool, slot)) if matches!(pool.slot_state(slot), SlotState::Active { .. }) => {
            (slot.0, BlockState::Active)
        }
        Some((_, slot)) => (slot.0, BlockState::Cached),
        None => (0, BlockState::Cached),
    }
}

fn hash_of(text: Option<&str>) -> Option<SequenceHash> {
    u64::from_str_radix(text?, 16).ok().filter(|&hash| hash != 0).map(SequenceHash)
}
