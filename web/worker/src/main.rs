//! The worker's entry.

fn main() {
    #[cfg(target_arch = "wasm32")]
    tierscope_worker::wasm::start();
}
