//! Scales, layouts and charts: plain functions of what they show, tested without a browser.

pub mod cells;
pub mod hits;
pub mod lane;
pub mod latency;
pub mod palette;
pub mod plot;
pub mod resident;
pub mod scale;
pub mod sizing;
pub mod sweep;
pub mod tracks;
