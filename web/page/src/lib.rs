//! The page: a scenario as text, a run in a worker, a board with a cursor in time, and what came of it.
//!
//! Data flow: a part emits an [`Action`](state::Action), [`state`] reduces it to the next
//! [`AppState`](state::AppState), [`app`] hands each part what it shows. Parts draw and decide nothing; scales
//! and layouts in [`chart`] are plain functions, tested without a browser. Only `glue` touches the browser's
//! own services (worker, address, clipboard, clock), and only [`app`] calls it.
//!
//! Deliberately absent: a second copy of anything the state holds, and any request to a server.

pub mod app;
pub mod chart;
mod effects;
mod glue;
mod part;
pub mod state;

/// Whether there is a window: a worker has none.
pub fn is_page() -> bool {
    web_sys::window().is_some()
}

/// Mounts the page.
pub fn start() {
    console_error_panic_hook::set_once();
    let root = glue::dom::by_id("app").expect("index.html has the element that the page lives in");
    yew::Renderer::<app::App>::with_root(root).render();
}
