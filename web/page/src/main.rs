//! The entry of the one module: in a window it is the page, elsewhere a worker.

fn main() {
    if tierscope_page::is_page() {
        tierscope_page::start();
    } else {
        #[cfg(target_arch = "wasm32")]
        tierscope_worker::wasm::start();
    }
}
