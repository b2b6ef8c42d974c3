//! The browser's services, each behind a few plain functions. Nothing here decides anything.

pub(crate) mod address;
pub(crate) mod dom;
pub(crate) mod keys;
pub(crate) mod theme;
pub(crate) mod worker;
