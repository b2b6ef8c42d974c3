//! The page in headless Chromium: the browser and what drives it, the tests, the pictures.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{Cmd, Failure, Result, root, target_dir};
use crate::{apt, check, page, tools};

/// Names the browser to use, for xtask and for the tests alike.
const VARIABLE: &str = "TIERSCOPE_CHROMIUM";
/// Where distributions put it.
const PLACES: [&str; 4] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];

/// Runs the browser tests against dist/, comparing digests with those that the native command computes.
pub(crate) fn test() -> Result {
    let chromium = ensure()?;
    let digests = write_native_digests()?;
    Cmd::new("node tests/browser/run.mjs")
        .env(VARIABLE, chromium)
        .env("TIERSCOPE_DIGESTS", digests)
        // What the page downloads is compared with what the command writes.
        .env("TIERSCOPE_BINARY", check::release_binary())
        .run()
}

/// `cargo xtask screenshots [CASE [AT]]`: pictures of the whole set of scenes, or of a case of the gallery at a position of
/// its time slider.
pub(crate) fn screenshots(choice: &[&str]) -> Result {
    page::build_if_stale()?;
    let chromium = ensure()?;
    Cmd::new("node tests/browser/screenshots.mjs").args(choice).env(VARIABLE, chromium).run()
}

/// Chromium, after installing it and the node packages if need be.
pub(crate) fn ensure() -> Result<PathBuf> {
    tools::ensure_node_packages()?;
    if let Some(found) = find() {
        return Ok(found);
    }
    let packages = "chromium chromium-driver fonts-dejavu-core";
    if !apt::is_here() {
        return Err(Failure::new(format!(
            "the browser tests need Chromium: install it (on Debian: sudo apt-get install {packages}) or name it by \
             {VARIABLE}=/path/to/chromium"
        )));
    }
    println!("installing Chromium (about 90 s)");
    apt::install(packages)?;
    find().ok_or_else(|| Failure::new("Chromium was installed but is in none of the known places"))
}

fn find() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    named.into_iter().chain(PLACES.map(PathBuf::from)).find(|path| path.is_file())
}

/// Digests of the gallery's scenarios as the native command finds them, by file name, as JSON for the browser tests.
fn write_native_digests() -> Result<PathBuf> {
    let mut entries = Vec::new();
    for scenario in gallery()? {
        let run = Cmd::program(check::release_binary()).args(["run", "--digest", "--quiet"]).arg(&scenario);
        // A case may end in a dead end on purpose: its exit code says so, and it has a digest all the same.
        let printed = run.output()?;
        let digest = printed.split_whitespace().find(|word| is_digest(word)).ok_or_else(|| {
            Failure::new(format!("no digest of {}", scenario.display())).repeated_by(run.to_string())
        })?;
        let name = scenario.file_name().unwrap_or_default().to_string_lossy();
        entries.push(format!("  \"{name}\": \"{digest}\""));
    }
    let path = target_dir().join("gallery-digests.json");
    let json = format!("{{\n{}\n}}\n", entries.join(",\n"));
    fs::write(&path, json)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))?;
    Ok(path)
}

fn gallery() -> Result<Vec<PathBuf>> {
    let folder = root().join("web/gallery");
    let entries =
        fs::read_dir(&folder).map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    let is_scenario = |path: &Path| path.extension().is_some_and(|extension| extension == "toml");
    let mut found: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_scenario(path)).collect();
    found.sort();
    Ok(found)
}

fn is_digest(word: &str) -> bool {
    word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_told_from_other_words() {
        assert!(is_digest("0123456789abcdef0123456789abcdef"));
        assert!(!is_digest("0123456789abcdef") && !is_digest("0123456789abcdef0123456789abcdeg"));
    }
}
