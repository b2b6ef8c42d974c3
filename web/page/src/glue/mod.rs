//! The browser's services, each behind a few plain functions. Nothing here decides anything.

pub(crate) mod address;
pub(crate) mod dom;
pub(crate) mod files;
pub(crate) mod keys;
pub(crate) mod offline;
pub(crate) mod parcel;
pub(crate) mod perfetto;
pub(crate) mod pool;
pub(crate) mod save;
pub(crate) mod theme;
pub(crate) mod visit;
pub(crate) mod worker;
