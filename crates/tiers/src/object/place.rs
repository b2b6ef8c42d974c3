//! One place in a store: what can be done with the objects there.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use object_store::aws::AmazonS3;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Error, GetResult, ObjectStore, ObjectStoreExt, PutMode, PutPayload};

use super::address::Address;
use super::error::ObjectError;
use super::failure::{self, Failure};
use super::name::Name;
use super::remote;
use crate::device::Outcome;
use crate::fault::Fault;

/// A place.
pub(super) struct Place {
    objects: Arc<dyn ObjectStore>,
    listing: Listing,
    /// What all names stand behind.
    prefix: Path,
}

/// How the names of a place are found, page by page, so that no store makes us take memory without bound.
enum Listing {
    /// It begins empty.
    Empty,
    Folder(PathBuf),
    Pages(Arc<AmazonS3>),
}

/// Names of a place.
pub(super) struct Listed {
    pub(super) names: Vec<Name>,
    /// Whether there are more than were asked for.
    pub(super) more: bool,
}

/// Names asked for at once; no server gives more.
const PAGE: usize = 1_000;

impl Place {
    /// The place of a URL. Nothing is asked of it yet, but a folder is made.
    pub(super) fn of(url: &str, variables: &[(String, String)]) -> Result<Self, ObjectError> {
        match Address::of(url)? {
            Address::Memory => Ok(Self {
                objects: Arc::new(InMemory::new()),
                listing: Listing::Empty,
                prefix: Path::default(),
            }),
            Address::File(folder) => {
                let failed = |error| ObjectError::Io { doing: "make the folder", url: url.to_owned(), error };
                std::fs::create_dir_all(&folder).map_err(failed)?;
                let local =
                    LocalFileSystem::new_with_prefix(&folder).map_err(|error| failed(error.into()))?;
                // Where the whole file system cannot be synced at once, each object is.
                let local = local.with_fsync(!cfg!(target_os = "linux"));
                Ok(Self {
                    objects: Arc::new(local),
                    listing: Listing::Folder(folder),
                    prefix: Path::default(),
                })
            }
            Address::S3 { bucket, prefix } => {
                let client = remote::client(url, &bucket, variables)?;
                let objects = Arc::clone(&client) as Arc<dyn ObjectStore>;
                Ok(Self { objects, listing: Listing::Pages(client), prefix })
            }
        }
    }

    /// Whether anything of it is left when this process ends.
    pub(super) fn outlives_process(&self) -> bool {
        !matches!(self.listing, Listing::Empty)
    }

    fn path(&self, name: Name) -> Path {
        self.prefix.clone().join(name.to_string())
    }

    /// Puts an object, in place of an older one of this name.
    pub(super) async fn put(&self, name: Name, payload: PutPayload) -> Result<(), Failure> {
        let put = self.objects.put(&self.path(name), payload).await;
        put.map(|_| ()).map_err(|error| match failure::of(&error) {
            // Nothing can be missing but the bucket.
            Failure { fault: Fault::Missing, .. } => Failure::settled(Fault::Device),
            failure => failure,
        })
    }

    /// Puts an object unless there is one of this name.
    pub(super) async fn create(&self, name: Name, payload: PutPayload) -> Result<(), Error> {
        let put = self.objects.put_opts(&self.path(name), payload, PutMode::Create.into()).await;
        put.map(|_| ())
    }

    /// Begins to read an object.
    pub(super) async fn get(&self, name: Name) -> Result<GetResult, Failure> {
        self.objects.get(&self.path(name)).await.map_err(|error| failure::of(&error))
    }

    /// Removes an object, if it is there.
    pub(super) async fn delete(&self, name: Name) -> Result<(), Failure> {
        match self.objects.delete(&self.path(name)).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failure::of(&error)),
        }
    }

    /// The names of ours that begin so, up to a bound on all names looked at.
    pub(super) async fn list(&self, kind: &str, bound: usize) -> Result<Listed, Error> {
        match &self.listing {
            Listing::Empty => Ok(Listed { names: Vec::new(), more: false }),
            Listing::Folder(folder) => list_folder(folder, kind, bound).map_err(of_folder),
            Listing::Pages(client) => self.list_pages(client, kind, bound).await,
        }
    }

    async fn list_pages(&self, client: &AmazonS3, kind: &str, bound: usize) -> Result<Listed, Error> {
        let mut prefix = self.prefix.to_string();
        if !prefix.is_empty() {
            prefix.push('/');
        }
        prefix.push_str(kind);
        let (mut names, mut seen, mut page_token) = (Vec::new(), 0, None);
        loop {
            let options = PaginatedListOptions {
                delimiter: Some("/".into()),
                max_keys: Some(PAGE),
                page_token,
                ..PaginatedListOptions::default()
            };
            let page = client.list_paginated(Some(&prefix), options).await?;
            seen += page.result.objects.len().max(1);
            let found = page.result.objects.iter().filter_map(|it| Name::of(it.location.filename()?));
            names.extend(found);
            page_token = page.page_token;
            if page_token.is_none() || seen >= bound {
                return Ok(Listed { names, more: page_token.is_some() });
            }
        }
    }

    /// What was put is on the disk once this returns. A server has it there, or says something else than it did.
    pub(super) fn sync(&self) -> Outcome {
        match &self.listing {
            #[cfg(target_os = "linux")]
            Listing::Folder(folder) => {
                let file = std::fs::File::open(folder).map_err(|error| Fault::of_io(&error))?;
                rustix::fs::syncfs(file).map_err(|error| Fault::of_io(&error.into()))
            }
            _ => Ok(()),
        }
    }
}

fn list_folder(folder: &PathBuf, kind: &str, bound: usize) -> io::Result<Listed> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.file_name();
        let Some(name) = file.to_str().filter(|text| text.starts_with(kind)).and_then(Name::of) else {
            continue;
        };
        if names.len() >= bound {
            return Ok(Listed { names, more: true });
        }
        names.push(name);
    }
    Ok(Listed { names, more: false })
}

fn of_folder(error: io::Error) -> Error {
    Error::Generic { store: "folder", source: Box::new(error) }
}
