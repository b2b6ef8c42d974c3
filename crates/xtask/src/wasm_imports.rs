//! What the built wasm asks of its host, read from the modules themselves.
//!
//! The proof of the house's first invariant on the binary: a clock, a file or a random number that slipped into a
//! pure crate would show up as an import. Only wasm-bindgen's own glue may be imported (no `env`, no WASI). The worker,
//! which runs the simulation, may not ask for entropy: page and worker are one module, so that is read off what the worker
//! is built of.

use std::fs;
use std::path::Path;

use crate::run::{Cmd, Failure, Result};

#[derive(Debug, PartialEq, Eq)]
struct Import {
    module: String,
    name: String,
}

/// Checks every module of `dist`.
pub(crate) fn check(dist: &Path) -> Result {
    let entries = fs::read_dir(dist).map_err(|error| {
        Failure::new(format!("{}: {error}; build it by `cargo xtask build-page`", dist.display()))
    })?;
    let modules = entries.flatten().map(|entry| entry.path());
    let mut modules: Vec<_> =
        modules.filter(|path| path.extension().is_some_and(|found| found == "wasm")).collect();
    modules.sort();
    let name_of = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !modules.iter().any(|path| name_of(path).starts_with("page")) {
        return Err(Failure::new(format!("{} holds no page*.wasm", dist.display())));
    }
    for path in &modules {
        let name = name_of(path);
        let bytes = fs::read(path).map_err(|error| Failure::new(format!("{name}: {error}")))?;
        let imports = read(&bytes).ok_or_else(|| Failure::new(format!("{name} is not a wasm module")))?;
        if let Some(import) = imports.iter().find(|import| !allowed(import)) {
            return Err(Failure::new(format!(
                "dist/{name} imports `{}` from `{}`; only wasm-bindgen's glue is allowed: find which crate brings it \
                 in (cargo tree -i …)",
                import.name, import.module
            )));
        }
        println!("dist/{name}: {} bytes, {} imports, all of wasm-bindgen's glue", bytes.len(), imports.len());
    }
    worker_draws_nothing()
}

/// Nothing that the worker is built of knows where entropy, or a clock, is to be had.
fn worker_draws_nothing() -> Result {
    let tree =
        Cmd::new("cargo tree --locked --offline --package tierscope-worker --edges normal --prefix none")
            .args(["--target", "wasm32-unknown-unknown", "--format", "{p}"])
            .capture()?;
    match drawn(&tree) {
        None => Ok(()),
        Some(found) => Err(Failure::new(format!(
            "the worker is built with {found}, which reaches for entropy or a clock: `cargo tree -p tierscope-worker \
             --target wasm32-unknown-unknown -i {found}` says who brings it in"
        ))),
    }
}

/// The first crate in a list of packages that reaches outside.
fn drawn(tree: &str) -> Option<&'static str> {
    const OUTSIDE: [&str; 5] = ["getrandom", "web-time", "instant", "wasm-timer", "chrono"];
    let names = || tree.lines().filter_map(|line| line.split_whitespace().next());
    OUTSIDE.into_iter().find(|outside| names().any(|name| name == *outside))
}

fn allowed(import: &Import) -> bool {
    import.module == "wbg" || (import.module.starts_with("./") && import.module.ends_with("_bg.js"))
}

/// The imports of a module, or nothing if it is not one.
fn read(bytes: &[u8]) -> Option<Vec<Import>> {
    const IMPORT_SECTION: u8 = 2;
    let mut rest = bytes.strip_prefix(b"\0asm\x01\0\0\0")?;
    while let Some((&id, after)) = rest.split_first() {
        rest = after;
        let length = number(&mut rest)?;
        let section = take(&mut rest, length)?;
        if id == IMPORT_SECTION {
            return imports(section);
        }
    }
    Some(Vec::new())
}

fn imports(mut section: &[u8]) -> Option<Vec<Import>> {
    let count = number(&mut section)?;
    let mut found = Vec::new();
    for _ in 0..count {
        found.push(Import { module: text(&mut section)?, name: text(&mut section)? });
        skip_description(&mut section)?;
    }
    Some(found)
}

/// What kind of thing is imported: a function, a table, a memory, a global or a tag.
fn skip_description(section: &mut &[u8]) -> Option<()> {
    match byte(section)? {
        0 => drop(number(section)?),
        1 => {
            byte(section)?;
            skip_limits(section)?;
        }
        2 => skip_limits(section)?,
        3 | 4 => {
            byte(section)?;
            number(section)?;
        }
        _ => return None,
    }
    Some(())
}

fn skip_limits(section: &mut &[u8]) -> Option<()> {
    let has_maximum = byte(section)? & 1 == 1;
    number(section)?;
    if has_maximum {
        number(section)?;
    }
    Some(())
}

fn text(section: &mut &[u8]) -> Option<String> {
    let length = number(section)?;
    String::from_utf8(take(section, length)?.to_vec()).ok()
}

fn byte(section: &mut &[u8]) -> Option<u8> {
    take(section, 1).map(|bytes| bytes[0])
}

fn take<'a>(section: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = section.split_at_checked(length)?;
    *section = rest;
    Some(taken)
}

/// An unsigned LEB128 number of at most 32 bits.
fn number(section: &mut &[u8]) -> Option<usize> {
    let mut value = 0_u64;
    for shift in (0..35).step_by(7) {
        let byte = byte(section)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(value).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with a custom section, then two imports: a function and a memory with a maximum.
    fn module(first: &str, second: &str) -> Vec<u8> {
        let mut section = vec![2];
        for (module, description) in [(first, &[0_u8, 5][..]), (second, &[2, 1, 1, 0x80, 1][..])] {
            section.push(u8::try_from(module.len()).expect("a short name"));
            section.extend(module.bytes());
            section.extend([1, b'f']);
            section.extend(description);
        }
        let mut bytes = b"\0asm\x01\0\0\0\0\x02\x01x\x02".to_vec();
        bytes.push(u8::try_from(section.len()).expect("a short section"));
        bytes.extend(section);
        bytes
    }

    #[test]
    fn imports_are_read_past_other_sections() {
        let imports = read(&module("./page_bg.js", "env")).expect("it is a module");
        let modules: Vec<_> = imports.iter().map(|import| import.module.as_str()).collect();
        assert_eq!(modules, ["./page_bg.js", "env"]);
    }

    #[test]
    fn the_hosts_own_modules_are_refused() {
        let import = |module: &str, name: &str| Import { module: module.into(), name: name.into() };
        assert!(allowed(&import("./page_bg.js", "__wbg_postMessage_1")));
        assert!(allowed(&import("wbg", "__wbg_getRandomValues_1")));
        assert!(!allowed(&import("env", "now")));
        assert!(!allowed(&import("wasi_snapshot_preview1", "fd_write")));
    }

    #[test]
    fn what_reaches_outside_is_found_by_its_name() {
        assert_eq!(drawn("tierscope-worker v0.1.0 (/x)\ngetrandom v0.4.3\nserde v1.0.0"), Some("getrandom"));
        assert_eq!(drawn("tierscope-worker v0.1.0 (/x)\ngetrandom-not v0.4.3"), None);
    }

    #[test]
    fn what_is_cut_off_or_no_module_is_refused() {
        let whole = module("a", "b");
        assert_eq!(read(b"hello"), None);
        for length in [8, whole.len()] {
            assert!(read(&whole[..length]).is_some());
        }
        for length in 13..whole.len() {
            assert_eq!(read(&whole[..length]), None, "cut at {length}");
        }
    }
}
