//! An object store (G4): S3 and what speaks like it, a folder, or memory, named by a URL.
//!
//! - `address` reads the URL, `remote` makes an S3 client, `open` finds what a former life left, `device` copies;
//! - `frame` is the form of a block's object, `name` how objects are called, `index` the object that outlives us;
//! - `table` knows the object of each slot, `attempt` tries again, `failure` says what an error means, `sweep` clears up.
//!
//! What a load serves is right or is not served: each object says whose content it is, and has a checksum. A slot has one
//! object, written over in place. That is safe as long as every request about that name has been answered: one that was
//! given up may still be carried out later, and would then replace what was stored after it. So the name of such a request
//! is never used again, and the slot gets a new one.
//!
//! Retries are ours, not the library's. It does not say which attempts it made and how they failed, and that decides
//! whether a name may be used again.

mod address;
mod attempt;
mod device;
mod error;
mod failure;
mod frame;
mod index;
mod name;
mod open;
mod place;
mod remote;
mod sweep;
mod table;

pub use attempt::Patience;
pub use device::{ObjectDevice, ObjectMedium};
pub use error::ObjectError;
pub use open::ObjectOptions;
