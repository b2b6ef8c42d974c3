//! The timeline's drawing, worked out without a browser: which time is where, which rows there are, and what is seen of
//! a million spans in some hundred pixels.

pub mod counter;
pub mod layout;
pub mod lod;
pub mod model;
pub mod pick;
pub mod pyramid;
pub mod summary;
pub mod ticks;
pub mod view;
