//! The page's files, as they were when this binary was built.

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};
use tierscope_units::Digest;

// Not there? `cargo xtask build-page` makes it.
static BUILT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../dist");

/// A file of the page.
pub(crate) struct File {
    pub(crate) bytes: &'static [u8],
    pub(crate) mime: &'static str,
    /// Changes with the bytes.
    pub(crate) tag: String,
    /// Its name holds the digest of its content: under this name it never changes.
    pub(crate) lasts: bool,
}

/// All files, by the path that a request has. There is nothing else to be had, whatever a path says.
pub(crate) fn files() -> BTreeMap<String, File> {
    let mut files = BTreeMap::new();
    collect(&BUILT, &mut files);
    if let Some(index) = BUILT.get_file("index.html") {
        files.insert("/".to_owned(), file("index.html", index.contents()));
    }
    files
}

fn collect(folder: &'static Dir<'static>, files: &mut BTreeMap<String, File>) {
    for found in folder.files() {
        let path = found.path().to_string_lossy().replace('\\', "/");
        // The stamp of a build is nobody's business.
        if !path.rsplit('/').next().is_some_and(|name| name.starts_with('.')) {
            files.insert(format!("/{path}"), file(&path, found.contents()));
        }
    }
    for folder in folder.dirs() {
        collect(folder, files);
    }
}

fn file(path: &str, bytes: &'static [u8]) -> File {
    File { bytes, mime: mime(path), tag: format!("\"{}\"", Digest::of(bytes)), lasts: holds_digest(path) }
}

/// `page-1f2e…_bg.wasm`: a digest of at least 12 hexadecimal digits behind the last hyphen.
fn holds_digest(path: &str) -> bool {
    let last = path.rsplit_once('-').map_or("", |(_, last)| last);
    last.bytes().take_while(u8::is_ascii_hexdigit).count() >= 12
}

fn mime(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" => "application/json; charset=utf-8",
        "svg" => "image/svg+xml",
        "toml" | "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_in_it_with_its_types() {
        let files = files();
        assert!(files["/"].mime.starts_with("text/html") && files["/"].bytes == files["/index.html"].bytes);
        assert!(files.iter().any(|(path, file)| path.ends_with(".wasm") && file.mime == "application/wasm"));
        assert!(files.contains_key("/worker.js") && files.contains_key("/sw.js"));
        assert!(!files["/"].lasts && !files["/worker.js"].lasts);
        assert!(files.iter().any(|(path, file)| path.starts_with("/page-") && file.lasts));
        assert!(!files.keys().any(|path| path.contains("..") || path.contains("/.")));
    }
}
