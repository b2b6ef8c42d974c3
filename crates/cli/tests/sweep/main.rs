//! `tierscope sweep` as a shell sees it.

#[cfg(unix)]
mod clusters;
mod place;
mod points;
