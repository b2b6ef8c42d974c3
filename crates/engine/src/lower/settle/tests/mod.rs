//! Settlement at work: one idea a file, in one small world.

mod chains;
mod closing;
mod counts;
mod errors;
mod failures;
mod random;
mod world;
