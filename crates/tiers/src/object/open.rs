//! Opening: what a former life left is taken over, and a new life begins.

use std::collections::BTreeSet;
use std::sync::Arc;

use object_store::{Error, PutPayload};
use tokio::runtime::Runtime;

use super::attempt::Patience;
use super::error::ObjectError;
use super::failure::{self, Failure};
use super::frame::HEADER_BYTES;
use super::index::{self, Entry};
use super::name::{self, BlockName, IndexName, Name};
use super::place::{Listed, Place};
use super::remote;
use super::table::Table;
use crate::fault::Fault;

/// How a store is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectOptions {
    /// Slots.
    pub slots: u32,
    /// Blocks that are copied at once, each by a request of its own.
    pub threads: u32,
    /// How long a block may take.
    pub patience: Patience,
    /// The `AWS_*` variables: endpoint, region, keys. Only `s3://` looks at them.
    pub variables: Vec<(String, String)>,
}

impl ObjectOptions {
    /// So many slots and threads, with the patience that is usual, and the variables of this process.
    pub fn of_environment(slots: u32, threads: u32) -> Self {
        Self { slots, threads, patience: Patience::default(), variables: remote::variables() }
    }
}

/// A store that is open.
pub(super) struct Opened {
    pub(super) runtime: Runtime,
    pub(super) place: Arc<Place>,
    pub(super) table: Table,
    /// The index that says what is there now.
    pub(super) index: IndexName,
    /// What is of no use any more.
    pub(super) useless: Vec<Name>,
    pub(super) shortfalls: Vec<String>,
}

/// A block and its header are one request, which no store takes beyond 5 GiB.
const BLOCK_BYTES_MAX: u64 = 4 << 30;

/// More indexes than that were not left by us.
const INDEXES_MAX: usize = 1 << 16;

/// Who waits at the command line is told sooner.
const PATIENCE_MAX: std::time::Duration = std::time::Duration::from_secs(5);

/// Opens a store. One that cannot be read and written says so now.
pub(super) fn open(url: &str, block_bytes: usize, options: &ObjectOptions) -> Result<Opened, ObjectError> {
    let slots = options.slots;
    if slots == 0 || block_bytes == 0 || (block_bytes + HEADER_BYTES) as u64 > BLOCK_BYTES_MAX {
        return Err(ObjectError::BadSizes { slots, block_bytes });
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // They only pass messages on: who copies waits in a thread of the pool, and works there.
    let runtime = runtime.worker_threads(options.threads.clamp(1, 2) as usize).thread_name("tier-object-io");
    let runtime = runtime.enable_all().build();
    let runtime =
        runtime.map_err(|error| ObjectError::Io { doing: "start threads", url: url.to_owned(), error })?;
    let place = Arc::new(Place::of(url, &options.variables)?);
    let patience = Patience { budget: options.patience.budget.min(PATIENCE_MAX), ..options.patience };
    let opening = Opening { url, place: &place, patience, slots, block_bytes: block_bytes as u64 };
    let found = runtime.block_on(opening.find())?;
    let life = found.last_life.checked_add(1);
    let life = life.ok_or_else(|| ObjectError::Unreachable {
        url: url.to_owned(),
        said: "its names have no more lives".to_owned(),
    })?;
    let table = Table::new(life, slots, &found.entries);
    let mut said = String::new();
    let written = write_index(&place, &patience, &table, opening.block_bytes, slots, &mut said);
    let index = runtime.block_on(written).map_err(|fault| opening.refusal(fault, said))?;
    // Not before it is safe may the old ones go.
    place.sync().map_err(|fault| opening.refusal(fault, fault.to_string()))?;
    Ok(Opened { runtime, place, table, index, useless: found.useless, shortfalls: found.shortfalls })
}

/// Writes down what is in the slots now, under a name that was never used. Every attempt has one of its own: what was given
/// up may still arrive, and says nothing wrong.
pub(super) async fn write_index(
    place: &Place,
    patience: &Patience,
    table: &Table,
    block_bytes: u64,
    slots: u32,
    said: &mut String,
) -> Result<IndexName, Fault> {
    let payload = PutPayload::from(index::encode(&table.entries()));
    let write = async || {
        let name = IndexName { life: table.life(), usage: table.fresh(), block_bytes, slots };
        let created = place.create(Name::Index(name), payload.clone()).await;
        created.map(|()| name).map_err(|error| noted(&error, said))
    };
    patience.attempts(table.life(), write).await
}

fn noted(error: &Error, said: &mut String) -> Failure {
    *said = error.to_string();
    failure::of(error)
}

struct Opening<'a> {
    url: &'a str,
    place: &'a Place,
    patience: Patience,
    slots: u32,
    block_bytes: u64,
}

/// What a former life left.
struct Found {
    entries: Vec<Entry>,
    last_life: u64,
    useless: Vec<Name>,
    shortfalls: Vec<String>,
}

impl Opening<'_> {
    fn refusal(&self, fault: Fault, said: String) -> ObjectError {
        let url = self.url.to_owned();
        match fault {
            Fault::Missing => ObjectError::NoBucket { url, said },
            Fault::ReadOnly => ObjectError::Refused { url, said },
            Fault::Busy => ObjectError::InUse { url },
            _ => {
                let said = if said.is_empty() { fault.to_string() } else { said };
                ObjectError::Unreachable { url, said }
            }
        }
    }

    async fn list(&self, kind: &str, bound: usize) -> Result<Listed, ObjectError> {
        let mut said = String::new();
        let list = async || self.place.list(kind, bound).await.map_err(|error| noted(&error, &mut said));
        let listed = self.patience.attempts(0, list).await;
        listed.map_err(|fault| self.refusal(fault, said))
    }

    async fn find(&self) -> Result<Found, ObjectError> {
        let indexes = self.list(name::INDEX, INDEXES_MAX).await?;
        if indexes.more {
            let said = format!("it has more than {INDEXES_MAX} names that begin with `{}`", name::INDEX);
            return Err(ObjectError::Unreachable { url: self.url.to_owned(), said });
        }
        let mut indexes: Vec<IndexName> = indexes
            .names
            .into_iter()
            .filter_map(|name| match name {
                Name::Index(index) => Some(index),
                Name::Block(_) => None,
            })
            .collect();
        indexes.sort_unstable();
        let other = |it: &&IndexName| (it.block_bytes, it.slots) != (self.block_bytes, self.slots);
        if let Some(&IndexName { block_bytes, slots, .. }) = indexes.last().filter(other) {
            return Err(ObjectError::OtherSizes { url: self.url.to_owned(), block_bytes, slots });
        }
        let entries = self.newest(&indexes).await?;
        let blocks = self.list(name::BLOCK, 4 * self.slots as usize + 4_096).await?;
        let used: BTreeSet<BlockName> = entries.iter().map(|entry| entry.name).collect();
        let is_useless = |name: &Name| matches!(name, Name::Block(block) if !used.contains(block));
        let mut useless: Vec<Name> = indexes.iter().map(|&index| Name::Index(index)).collect();
        let mut last_life = indexes.last().map_or(0, |index| index.life);
        for name in blocks.names {
            if let Name::Block(block) = name {
                last_life = last_life.max(block.life);
            }
            if is_useless(&name) {
                useless.push(name);
            }
        }
        let mut shortfalls = Vec::new();
        if blocks.more {
            shortfalls.push(format!(
                "it has more than {} blocks that are of no use: some of them are left there",
                useless.len()
            ));
        }
        Ok(Found { entries, last_life, useless, shortfalls })
    }

    /// What the newest index says that is whole.
    async fn newest(&self, indexes: &[IndexName]) -> Result<Vec<Entry>, ObjectError> {
        for &name in indexes.iter().rev() {
            let mut said = String::new();
            let read = async || {
                let got = self.place.get(Name::Index(name)).await?;
                if got.meta.size > index::bytes_max(self.slots) {
                    return Ok(None);
                }
                let bytes = got.bytes().await.map_err(|error| noted(&error, &mut said))?;
                Ok(index::decode(&bytes, self.slots))
            };
            match self.patience.attempts(0, read).await {
                Ok(Some(entries)) => return Ok(entries),
                Ok(None) | Err(Fault::Missing) => {}
                Err(fault) => return Err(self.refusal(fault, said)),
            }
        }
        Ok(Vec::new())
    }
}
