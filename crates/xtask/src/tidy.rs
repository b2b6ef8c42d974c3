//! What no compiler checks: sizes, words that must not be committed, documents that must follow the files.
//!
//! Every finding names its place and a mend. The checks are functions of text, tested on small strings; only
//! [`run`] and what it calls at the end read files.

mod sizes;

use std::fmt;
use std::fs;
use std::path::Path;

use crate::run::{Cmd, Failure, Result, root};
use crate::source::{code_only, functions};

/// The crates that are functions of their arguments.
pub(crate) const PURE: [&str; 6] = ["units", "engine", "scenario", "sim", "report", "sweep"];

/// What a `cfg` asks to tell one platform from another; none of these words has another use in Rust.
const PLATFORM_SWITCHES: [&str; 5] =
    ["target_arch", "target_os", "target_family", "target_env", "target_pointer_width"];
const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 500;
/// A tracked file larger than this is data, and data is not committed. Pictures may be larger.
const FILE_BYTES_MAX: u64 = 512 * 1024;
const PICTURE_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// A rule that a file breaks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    file: String,
    line: usize,
    what: String,
    mend: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, what, mend } = self;
        write!(f, "{file}:{line}: {what}\n    mend: {mend}")
    }
}

fn finding(file: &str, line: usize, what: impl Into<String>, mend: impl Into<String>) -> Finding {
    Finding { file: file.to_owned(), line, what: what.into(), mend: mend.into() }
}

/// `cargo xtask tidy`.
pub(crate) fn run() -> Result {
    let files = tracked_files()?;
    let mut findings = Vec::new();
    for file in &files {
        findings.extend(check_file(file));
    }
    findings.extend(check_size_list(&files));
    findings.extend(check_documents());
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        return Err(
            Failure::new(format!("tidy found {} faults", findings.len())).repeated_by("cargo xtask tidy")
        );
    }
    println!("tidy: {} files, nothing to mend", files.len());
    Ok(())
}

fn is_pure(file: &str) -> bool {
    PURE.iter()
        .any(|name| file.strip_prefix("crates/").is_some_and(|rest| rest.starts_with(&format!("{name}/"))))
}

/// Words that are left over from work in progress, and tests that are switched off.
fn check_words(file: &str, code: &str) -> Vec<Finding> {
    const UNFINISHED: &str = "finish it, or return an error that says what is missing";
    let words = [
        ("todo!", UNFINISHED),
        ("unimplemented!", UNFINISHED),
        ("dbg!", "remove it"),
        ("#[ignore", "let the test run; if the result is wrong today, assert the wrong result and say so"),
    ];
    let mut findings = Vec::new();
    for (number, line) in code.lines().enumerate() {
        for (word, mend) in words.iter().filter(|(word, _)| line.contains(word)) {
            findings.push(finding(file, number + 1, format!("`{word}` in committed code"), *mend));
        }
    }
    findings
}

/// Rules of pure crates that clippy cannot hold: platform switches and sizes.
fn check_pure(file: &str, code: &str, exceptions: &[(&str, usize)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in code.lines().enumerate() {
        if PLATFORM_SWITCHES.iter().any(|word| line.contains(word)) {
            let mend = "pure crates are the same everywhere: move what differs into a shell";
            findings.push(finding(file, number + 1, "a platform switch in a pure crate", mend));
        }
    }
    let limit_of = |key: &str, usual: usize| {
        exceptions.iter().find(|(listed, _)| *listed == key).map_or(usual, |(_, limit)| *limit)
    };
    let lines = code.lines().count();
    let limit = limit_of(file, FILE_LINES_MAX);
    if lines > limit {
        let mend =
            "split it by what its parts answer; a list may be entered in crates/xtask/src/tidy/sizes.rs";
        findings.push(finding(file, 1, format!("{lines} lines, at most {limit}"), mend));
    }
    for function in functions(code) {
        let limit = limit_of(&format!("{file}::{}", function.name), FUNCTION_LINES_MAX);
        if function.code_lines > limit {
            let what =
                format!("fn {} has {} code lines, at most {limit}", function.name, function.code_lines);
            let mend = "split it; a flat match may be entered in crates/xtask/src/tidy/sizes.rs";
            findings.push(finding(file, function.line, what, mend));
        }
    }
    findings
}

/// Names of package registries' hosts, put together here so that this file does not hold them.
fn registry_hosts() -> Vec<String> {
    let parts = [
        ("crates", ".io"),
        ("registry.npmjs", ".org"),
        ("npmjs", ".com"),
        ("pypi", ".org"),
        ("files.pythonhosted", ".org"),
        ("deb.debian", ".org"),
        ("proxy.golang", ".org"),
    ];
    parts.iter().map(|(name, end)| format!("{name}{end}")).collect()
}

fn check_hosts(file: &str, text: &str) -> Vec<Finding> {
    let hosts = registry_hosts();
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(host) = hosts.iter().find(|host| line.contains(host.as_str())) {
            let what = format!("names a package registry's host, {host}");
            let mend = if file.ends_with("package-lock.json") {
                "remove the \"resolved\" lines: npm ci finds packages by its own settings"
            } else {
                "name the package, not where it is fetched from"
            };
            findings.push(finding(file, number + 1, what, mend));
        }
    }
    findings
}

/// `folders` are those of crates/, web/ (with a manifest) and tests.
fn check_architecture(text: &str, folders: &[String]) -> Vec<Finding> {
    let missing = folders.iter().filter(|folder| !text.contains(folder.as_str()));
    let mend = "say in a paragraph what it answers and what it must not know";
    missing.map(|folder| finding("ARCHITECTURE.md", 1, format!("does not mention {folder}"), mend)).collect()
}

fn check_changelog(text: &str, version: &str) -> Vec<Finding> {
    let heads = |line: &str, word: &str| line.starts_with("## ") && line.contains(word);
    if text.lines().any(|line| heads(line, "Unreleased") || heads(line, version)) {
        return Vec::new();
    }
    let what = format!("has no section `## Unreleased` or `## {version}`");
    vec![finding("CHANGELOG.md", 1, what, "add the section and say what changed")]
}

/// An exception is for something that is there and needs it; one that is not is taken off the list.
fn check_exception(key: &str, limit: usize, code: Option<&str>) -> Option<Finding> {
    let function = key.split_once("::").map(|(_, name)| name);
    let usual = if function.is_some() { FUNCTION_LINES_MAX } else { FILE_LINES_MAX };
    let size = code.and_then(|code| match function {
        None => Some(code.lines().count()),
        Some(name) => functions(code).into_iter().find(|f| f.name == name).map(|f| f.code_lines),
    });
    let what = match size {
        None => format!("lists {key}, which is not there"),
        Some(size) if size <= usual => format!("lists {key}, which no longer needs it ({size} lines)"),
        Some(size) if size < limit => format!("lets {key} have {limit} lines; it has {size}"),
        Some(_) => return None,
    };
    Some(finding("crates/xtask/src/tidy/sizes.rs", 1, what, "bring the list down to what is so"))
}

fn check_size_list(files: &[String]) -> Vec<Finding> {
    let code_of = |key: &str| {
        let file = key.split("::").next().unwrap_or(key);
        files.iter().any(|known| known == file).then(|| read(file).map(|text| code_only(&text))).flatten()
    };
    let listed = sizes::EXCEPTIONS.iter();
    listed.filter_map(|(key, limit)| check_exception(key, *limit, code_of(key).as_deref())).collect()
}

fn check_file(file: &str) -> Vec<Finding> {
    let path = root().join(file);
    let Ok(status) = fs::symlink_metadata(&path) else { return Vec::new() };
    let mut findings = check_is_no_data(file, &path, status.len());
    if !status.is_file() {
        return findings;
    }
    // Text is what is UTF-8; the rest is pictures.
    let Some(text) = read(file) else { return findings };
    if file != "Cargo.lock" {
        findings.extend(check_hosts(file, &text));
    }
    if file.ends_with(".rs") {
        let code = code_only(&text);
        findings.extend(check_words(file, &code));
        if is_pure(file) {
            findings.extend(check_pure(file, &code, sizes::EXCEPTIONS));
        }
    }
    findings
}

/// The reference data beside the project (../shared) is read by tests and never committed.
fn check_is_no_data(file: &str, path: &Path, bytes: u64) -> Vec<Finding> {
    let mend = "name its public source in the docs and read it from where it lies";
    let inside = file.starts_with("shared/") || file.contains("/shared/data/");
    let linked = fs::read_link(path).is_ok_and(|to| to.to_string_lossy().contains("shared"));
    if inside || linked {
        return vec![finding(file, 1, "reference data in the project", mend)];
    }
    let picture = [".png", ".svg", ".webp"].iter().any(|end| file.ends_with(end));
    let limit = if picture { PICTURE_BYTES_MAX } else { FILE_BYTES_MAX };
    if bytes > limit {
        return vec![finding(file, 1, format!("{bytes} bytes, at most {limit}"), mend)];
    }
    Vec::new()
}

fn check_documents() -> Vec<Finding> {
    let folders = ["crates", "web"].into_iter().flat_map(packages_in).chain(["tests".to_owned()]);
    let version = workspace_version(&read("Cargo.toml").unwrap_or_default());
    let mut findings =
        check_architecture(&read("ARCHITECTURE.md").unwrap_or_default(), &folders.collect::<Vec<_>>());
    findings.extend(check_changelog(&read("CHANGELOG.md").unwrap_or_default(), &version));
    findings
}

fn packages_in(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
    let packages = entries.filter(|entry| entry.path().join("Cargo.toml").is_file());
    let mut names: Vec<String> =
        packages.map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy())).collect();
    names.sort();
    names
}

fn workspace_version(manifest: &str) -> String {
    let section = manifest.split("[workspace.package]").nth(1).unwrap_or("");
    let line = section.lines().find(|line| line.starts_with("version")).unwrap_or("");
    line.split('"').nth(1).unwrap_or("").to_owned()
}

fn read(file: &str) -> Option<String> {
    fs::read_to_string(root().join(file)).ok()
}

/// What git tracks or would, were everything added.
fn tracked_files() -> Result<Vec<String>> {
    let listed = Cmd::new("git ls-files --cached --others --exclude-standard").capture()?;
    let mut files: Vec<String> = listed.lines().map(str::to_owned).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

#[cfg(test)]
mod tests;
