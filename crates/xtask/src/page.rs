//! Building the page into dist/.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::run::{Cmd, Failure, Result, root};
use crate::{tools, wasm_imports};

/// What the page is made of. Anything newer than the last build makes dist/ stale.
const SOURCES: [&str; 7] =
    ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "Trunk.toml", "index.html", "crates", "web"];

pub(crate) fn dist() -> PathBuf {
    root().join("dist")
}

/// Builds dist/, optimized, and checks what its wasm asks of the browser.
pub(crate) fn build() -> Result {
    let path = tools::for_page()?;
    // Trunk works offline; what cargo needs is fetched before.
    Cmd::new("cargo fetch --locked").run()?;
    let started = SystemTime::now();
    // A backtrace of trunk's own would bury the compiler's message.
    let trunk = Cmd::new("trunk build --release").env("PATH", path).env("RUST_BACKTRACE", "0");
    // By hand it would need xtask's PATH.
    trunk.run().map_err(|failure| failure.repeated_by("cargo xtask build-page"))?;
    wasm_imports::check(&dist())?;
    check_weight()?;
    let stamped = fs::File::create(stamp()).and_then(|file| file.set_modified(started));
    stamped.map_err(|error| Failure::new(format!("cannot write {}: {error}", stamp().display())))
}

/// Holds what a visitor loads to its limit. Node compresses, since it is there for wasm-opt already.
fn check_weight() -> Result {
    const BROTLI_BYTES_MAX: u64 = 1_200_000;
    const SCRIPT: &str = "const fs=require('fs'),z=require('zlib');let n=0;\
        for(const f of fs.readdirSync('dist'))if(/\\.(wasm|js|html)$/.test(f))n+=z.brotliCompressSync(fs.readFileSync('dist/'+f)).length;\
        console.log(n)";
    let printed = Cmd::new("node -e").arg(SCRIPT).capture()?;
    let bytes: u64 = printed.trim().parse().map_err(|_| Failure::new(format!("node printed {printed}")))?;
    if bytes > BROTLI_BYTES_MAX {
        return Err(Failure::new(format!(
            "page and worker are {bytes} bytes by brotli, at most {BROTLI_BYTES_MAX}"
        )));
    }
    println!("page and worker together: {bytes} bytes by brotli, of {BROTLI_BYTES_MAX} allowed");
    Ok(())
}

/// Builds dist/ unless nothing has changed since it was built.
pub(crate) fn build_if_stale() -> Result {
    let newest = SOURCES.iter().filter_map(|source| newest(&root().join(source))).max();
    let built = modified(&stamp());
    if dist().join("index.html").is_file() && built.is_some() && built > newest {
        println!("dist/ is up to date");
        return Ok(());
    }
    println!("building the page (about four minutes the first time)");
    build()
}

/// Its time of change says when the last good build of dist/ *began*: what changed meanwhile is stale. It lies in
/// dist/, so that any other build, which empties the folder first, takes it away.
fn stamp() -> PathBuf {
    dist().join(".built")
}

/// The latest change below `path`, folders included, so that a removed file counts.
fn newest(path: &Path) -> Option<SystemTime> {
    let own = modified(path);
    let Ok(entries) = fs::read_dir(path) else { return own };
    let below = entries.flatten().filter_map(|entry| newest(&entry.path()));
    below.chain(own).max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_newer_than_what_was_there() {
        let folder = std::env::temp_dir().join(format!("xtask-page-{}", std::process::id()));
        fs::create_dir_all(folder.join("deep/er")).expect("a temporary folder can be made");
        let before = newest(&folder);
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(folder.join("deep/er/file"), "x").expect("a temporary file can be written");
        assert!(newest(&folder) > before);
        fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
    }
}
