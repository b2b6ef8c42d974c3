//! The store as a medium.

use std::future::Future;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use object_store::{GetResult, GetResultPayload, PutPayload};
use tokio::runtime::Runtime;

use super::attempt::{Patience, while_wanted};
use super::error::ObjectError;
use super::failure::{self, Failure};
use super::frame::{self, HEADER_BYTES};
use super::name::{BlockName, IndexName, Name};
use super::open::{self, ObjectOptions, Opened};
use super::place::Place;
use super::sweep::Sweep;
use super::table::Table;
use crate::arena::Arena;
use crate::capability::{Capability, Kind};
use crate::device::{Device, Loaded, Outcome, Stored, Wanted};
use crate::fault::Fault;
use crate::medium::{Key, Slot};
use crate::pool::Pooled;

/// A place in an object store.
pub type ObjectMedium = Pooled<ObjectDevice>;

/// A place in an object store, as a thread sees it.
pub struct ObjectDevice {
    place: Arc<Place>,
    table: Table,
    patience: Patience,
    sweep: Arc<Sweep>,
    /// The index that says what was persisted; held by whoever persists.
    index: Mutex<IndexName>,
    /// Ended, not waited for, when we are dropped.
    runtime: Option<Runtime>,
}

/// How long it may take to remove everything.
const EMPTYING: Duration = Duration::from_secs(60);

/// How long clearing up may take at the end.
const FAREWELL: Duration = Duration::from_secs(1);

impl ObjectDevice {
    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is taken when this is dropped")
    }

    fn wait<T>(&self, wanted: &Wanted, what: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        self.runtime().block_on(while_wanted(wanted, what))
    }

    fn throw(&self, names: impl IntoIterator<Item = Name>) {
        self.sweep.throw(self.runtime().handle(), names);
    }

    async fn put(&self, slot: Slot, payload: &PutPayload) -> Result<(), Failure> {
        let (name, old) = self.table.name_to_write(slot).map_err(Failure::settled)?;
        self.throw(old.map(Name::Block));
        let put = self.place.put(Name::Block(name), payload.clone()).await;
        if put.as_ref().map_or_else(|failure| failure.over, |()| true) {
            self.table.answered(name);
        }
        put
    }

    async fn get(&self, name: BlockName, key: Key, into: &mut [u8]) -> Result<(), Failure> {
        let got = self.place.get(Name::Block(name)).await?;
        if got.meta.size != (HEADER_BYTES + into.len()) as u64 {
            return Err(Failure::settled(Fault::Corrupt));
        }
        let header = read(got, into).await?;
        frame::check(&header, key, into).map_err(Failure::settled)
    }
}

/// Reads an object into a header and a block.
async fn read(got: GetResult, into: &mut [u8]) -> Result<[u8; HEADER_BYTES], Failure> {
    let mut header = [0; HEADER_BYTES];
    if let GetResultPayload::File(file, _) = &got.payload {
        let mut file: &std::fs::File = file;
        let read = file.read_exact(&mut header).and_then(|()| file.read_exact(into));
        read.map_err(|error: io::Error| Failure::settled(Fault::of_io(&error)))?;
        return Ok(header);
    }
    let bytes = got.bytes().await.map_err(|error| failure::of(&error))?;
    let cut = Failure::settled(Fault::Corrupt);
    let (head, block) = bytes.split_at_checked(HEADER_BYTES).ok_or(cut)?;
    if block.len() != into.len() {
        return Err(cut);
    }
    header.copy_from_slice(head);
    into.copy_from_slice(block);
    Ok(header)
}

impl Device for ObjectDevice {
    fn store(&self, block: Stored<'_>, wanted: &Wanted) -> Outcome {
        let Stored { key, there, from } = block;
        let turn = self.table.begin(there)?;
        let mut bytes = Vec::with_capacity(HEADER_BYTES + from.len());
        bytes.extend_from_slice(&frame::header_of(key, from));
        bytes.extend_from_slice(from);
        let payload = PutPayload::from(bytes);
        let put = self.patience.attempts(key.0, async || self.put(there, &payload).await);
        self.wait(wanted, put)?;
        self.table.end(there, turn, key)
    }

    fn load(&self, block: Loaded<'_>, wanted: &Wanted) -> Outcome {
        let Loaded { key, there, into } = block;
        let name = self.table.find(there, key)?;
        let get = self.patience.attempts(key.0, async || self.get(name, key, into).await);
        self.wait(wanted, get)
    }

    fn forget(&self, slot: Slot) {
        self.table.forget(slot);
    }

    fn persist(&self) -> Outcome {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let IndexName { block_bytes, slots, .. } = *index;
        let mut said = String::new();
        let write =
            open::write_index(&self.place, &self.patience, &self.table, block_bytes, slots, &mut said);
        let new = self.runtime().block_on(write)?;
        self.place.sync()?;
        let old = std::mem::replace(&mut *index, new);
        self.throw([Name::Index(old)]);
        Ok(())
    }

    fn empty(&self) -> Outcome {
        let index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let names = self.table.give_up_all().into_iter().map(Name::Block);
        let all: Vec<Name> = names.chain([Name::Index(*index)]).collect();
        let remove = async {
            for name in all {
                let removed = tokio::time::timeout(self.patience.attempt, self.place.delete(name)).await;
                removed.map_err(|_| Fault::TimedOut)?.map_err(|failure| failure.fault)?;
            }
            Ok(())
        };
        let removed = self.runtime().block_on(async { tokio::time::timeout(EMPTYING, remove).await });
        removed.unwrap_or(Err(Fault::TimedOut))
    }

    fn survivors(&self) -> Vec<(Key, Slot)> {
        self.table.entries().into_iter().map(|entry| (entry.key, entry.name.slot)).collect()
    }
}

impl Drop for ObjectDevice {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // What is not removed by then is found at the next opening.
            let _ = runtime.block_on(async { tokio::time::timeout(FAREWELL, self.sweep.run()).await });
            // A request that hangs is not waited for: nothing of it can touch the arena.
            runtime.shutdown_background();
        }
    }
}

impl ObjectMedium {
    /// Opens a place as a tier beside an arena, with what a former life persisted there: `s3://bucket/prefix` (endpoint
    /// and keys from the `AWS_*` variables), `file:///folder`, `memory:///`.
    ///
    /// # Errors
    ///
    /// See [`ObjectError`]; its text has what was found and a mend.
    pub fn open(url: &str, arena: Arc<Arena>, options: &ObjectOptions) -> Result<Self, ObjectError> {
        let block_bytes = arena.block_bytes();
        let Opened { runtime, place, table, index, useless, shortfalls } =
            open::open(url, block_bytes, options)?;
        let capability = Capability {
            kind: Kind::Object,
            name: url.to_owned(),
            slots: options.slots,
            block_bytes,
            concurrency: options.threads.max(1),
            outlives_process: place.outlives_process(),
            // What lies in this process's own memory crosses no network.
            stand_in: !place.outlives_process(),
            shortfalls,
        };
        let sweep = Sweep::new(Arc::clone(&place), options.patience.attempt);
        let (patience, runtime) = (options.patience, Some(runtime));
        let device = ObjectDevice { place, table, patience, sweep, index: Mutex::new(index), runtime };
        device.throw(useless);
        Self::new(device, arena, capability).map_err(|error| ObjectError::Io {
            doing: "start threads",
            url: url.to_owned(),
            error,
        })
    }
}
