//! Scales, layouts and charts: plain functions of what they show, tested without a browser.

pub mod cells;
pub mod latency;
pub mod occupancy;
pub mod palette;
pub mod resident;
pub mod scale;
