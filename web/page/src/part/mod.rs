//! The parts of the page: each draws what it is given and says what the user did. The style of each lies in
//! `web/styles` under the same name.

pub(crate) mod board;
pub(crate) mod census;
pub(crate) mod compare;
pub(crate) mod editor;
pub(crate) mod flow;
pub(crate) mod header;
pub(crate) mod help;
pub(crate) mod highlight;
pub(crate) mod inspector;
pub(crate) mod lanes;
pub(crate) mod latency;
pub(crate) mod legend;
pub(crate) mod moves;
pub(crate) mod notice;
pub(crate) mod paint;
pub(crate) mod problems;
pub(crate) mod resident;
pub(crate) mod results;
pub(crate) mod shelf;
pub(crate) mod sizing;
pub(crate) mod tabs;
pub(crate) mod timeline;
pub(crate) mod title;
pub(crate) mod workers;
