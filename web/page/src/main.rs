//! The page's entry.

fn main() {
    tierscope_page::start();
}
