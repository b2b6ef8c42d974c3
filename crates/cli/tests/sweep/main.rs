//! `tierscope sweep` as a shell sees it.

#[cfg(unix)]
mod clusters;
mod here;
#[path = "../place/mod.rs"]
mod place;
mod points;
