//! The tools that build the page, in the versions that work together (docs/TOOLCHAIN.md has the reasons).
//!
//! A tool is looked for in three places, in this order: installed already in the pinned version; a prebuilt
//! release, where the network has one; a compile with everything switched off that costs time and is not needed
//! here. What xtask installs goes to a cache folder of its own, a folder per version, so that nobody's own trunk or
//! wasm-bindgen is replaced and a second clone finds it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::run::{Cmd, Failure, Result, root};

/// A Rust tool in one version.
#[derive(Debug)]
pub(crate) struct Tool {
    /// What is typed.
    command: &'static str,
    /// Other programs that come with it and are used.
    companions: &'static [&'static str],
    /// What `cargo install` calls it.
    package: &'static str,
    version: &'static str,
    /// Enough for a tool that runs for a second; the compile is what costs.
    opt_level: &'static str,
    /// CPU seconds of the light compile, for the message.
    cpu_seconds: u32,
    /// Where its releases lie, and the archive's name for this machine.
    release: fn(version: &str) -> Option<String>,
}

/// Newer trunks want a newer Rust than 1.95.
pub(crate) const TRUNK: Tool = Tool {
    command: "trunk",
    companions: &[],
    package: "trunk",
    version: "0.21.14",
    opt_level: "0",
    cpu_seconds: 490,
    release: trunk_release,
};

/// Must be the version of the `wasm-bindgen` crate in Cargo.toml, to the last digit; a test holds it there.
pub(crate) const WASM_BINDGEN: Tool = Tool {
    command: "wasm-bindgen",
    companions: &["wasm-bindgen-test-runner"],
    package: "wasm-bindgen-cli",
    version: "0.2.129",
    opt_level: "1",
    cpu_seconds: 340,
    release: wasm_bindgen_release,
};

fn trunk_release(version: &str) -> Option<String> {
    let machine = match (std::env::consts::ARCH, std::env::consts::OS) {
        ("x86_64", "linux") => "x86_64-unknown-linux-gnu",
        ("aarch64", "linux") => "aarch64-unknown-linux-gnu",
        ("x86_64", "macos") => "x86_64-apple-darwin",
        ("aarch64", "macos") => "aarch64-apple-darwin",
        _ => return None,
    };
    let base = "https://github.com/trunk-rs/trunk/releases/download";
    Some(format!("{base}/v{version}/trunk-{machine}.tar.gz"))
}

fn wasm_bindgen_release(version: &str) -> Option<String> {
    let machine = match (std::env::consts::ARCH, std::env::consts::OS) {
        ("x86_64", "linux") => "x86_64-unknown-linux-musl",
        ("aarch64", "linux") => "aarch64-unknown-linux-gnu",
        ("x86_64", "macos") => "x86_64-apple-darwin",
        ("aarch64", "macos") => "aarch64-apple-darwin",
        _ => return None,
    };
    let base = "https://github.com/wasm-bindgen/wasm-bindgen/releases/download";
    Some(format!("{base}/{version}/wasm-bindgen-{version}-{machine}.tar.gz"))
}

/// Installs what building the page needs and returns the PATH to build it with.
pub(crate) fn for_page() -> Result<OsString> {
    ensure_wasm_target()?;
    ensure_node_packages()?;
    let trunk = TRUNK.ensure()?;
    let wasm_bindgen = WASM_BINDGEN.ensure()?;
    let own = std::env::var_os("PATH").unwrap_or_default();
    // wasm-opt comes from npm's binaryen: Debian's breaks the output, so npm's stands first.
    let front = [trunk, wasm_bindgen, root().join("tests/browser/node_modules/.bin")];
    std::env::join_paths(front.into_iter().chain(std::env::split_paths(&own)))
        .map_err(|error| Failure::new(format!("a tool lies in a folder that PATH cannot name: {error}")))
}

/// What runs Rust tests that are compiled to wasm: wasm-bindgen's runner, in Node.
pub(crate) fn wasm_test_runner() -> Result<PathBuf> {
    ensure_wasm_target()?;
    Ok(WASM_BINDGEN.ensure()?.join("wasm-bindgen-test-runner"))
}

/// The Rust target of the page.
pub(crate) fn ensure_wasm_target() -> Result {
    let sysroot = Cmd::new("rustc --print sysroot").capture()?;
    if Path::new(sysroot.trim()).join("lib/rustlib/wasm32-unknown-unknown/lib").is_dir() {
        return Ok(());
    }
    println!("installing the Rust target wasm32-unknown-unknown (21 MB)");
    Cmd::new("rustup target add wasm32-unknown-unknown").run()
}

/// Playwright (without a browser) and binaryen, as `tests/browser/package-lock.json` pins them.
pub(crate) fn ensure_node_packages() -> Result {
    let folder = root().join("tests/browser");
    let installed = modified(&folder.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= modified(&folder.join("package-lock.json")) {
        return Ok(());
    }
    if Cmd::new("npm --version").probe().is_none() {
        return Err(Failure::new(
            "npm is missing: install Node.js 20 or newer (on Debian: apt-get install nodejs npm)",
        ));
    }
    println!("installing the node packages of tests/browser (about 20 s)");
    Cmd::new("npm ci --prefix tests/browser --no-audit --no-fund --loglevel=error").run()
}

fn modified(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

impl Tool {
    /// The folder that holds the tool in its pinned version, after installing it if need be.
    fn ensure(&self) -> Result<PathBuf> {
        let found = self.candidates().into_iter().find(|folder| self.is_in(folder));
        if let Some(folder) = found.or_else(|| self.download()) {
            return Ok(folder);
        }
        self.compile()?;
        let folder = self.own_folder();
        if self.is_in(&folder) {
            return Ok(folder);
        }
        Err(Failure::new(format!("{} {} was built but does not run", self.command, self.version)))
    }

    /// Where it may lie already: xtask's cache, PATH, cargo's bin folder.
    fn candidates(&self) -> Vec<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo_home = cargo_home.or_else(|| home().map(|home| home.join(".cargo")));
        let mut folders = vec![self.own_folder()];
        folders.extend(std::env::split_paths(&path));
        folders.extend(cargo_home.map(|folder| folder.join("bin")));
        folders
    }

    fn is_in(&self, folder: &Path) -> bool {
        let program = folder.join(self.command);
        let complete = self.companions.iter().all(|name| folder.join(name).is_file());
        complete && program.is_file() && self.answers(&program)
    }

    /// The proof that a file is this tool in this version: it says so.
    fn answers(&self, program: &Path) -> bool {
        let said = Cmd::program(program).arg("--version").probe();
        said.is_some_and(|said| said.trim() == format!("{} {}", self.command, self.version))
    }

    fn own_folder(&self) -> PathBuf {
        self.cache().join("bin")
    }

    fn cache(&self) -> PathBuf {
        cache_folder(&format!("{}-{}", self.command, self.version))
    }

    /// A prebuilt release, if this network has one. Says nothing when there is none: the compile does as well.
    fn download(&self) -> Option<PathBuf> {
        let url = (self.release)(self.version)?;
        let scratch = self.cache().join("download");
        let folder = self.own_folder();
        fs::create_dir_all(&scratch).ok()?;
        fs::create_dir_all(&folder).ok()?;
        let archive = scratch.join("release.tar.gz");
        let fetched =
            Cmd::new("curl --max-time 20 --connect-timeout 3 -fsSL -o").arg(&archive).arg(url).probe();
        let unpacked =
            fetched.and_then(|_| Cmd::new("tar -xzf").arg(&archive).arg("-C").arg(&scratch).probe());
        let program = unpacked.and_then(|_| find_file(&scratch, self.command, 2));
        let source = program.filter(|program| self.answers(program));
        let source = source.and_then(|program| program.parent().map(Path::to_path_buf));
        let place = |name: &&str| fs::rename(source.as_ref()?.join(name), folder.join(name)).ok();
        let placed = [self.command].iter().chain(self.companions).all(|name| place(name).is_some());
        // What is left there is of no use to anybody; failing to remove it does no harm.
        drop(fs::remove_dir_all(&scratch));
        if !placed {
            return None;
        }
        println!("installed the prebuilt {} {}", self.command, self.version);
        Some(folder)
    }

    /// The light compile: no link-time optimization, no debug information, no default features (they are TLS, for
    /// downloads that Trunk is told not to make).
    fn compile(&self) -> Result {
        println!(
            "compiling {} {} once for this machine: about {} s of CPU time, a little more than half of that on \
             two idle cores",
            self.command, self.version, self.cpu_seconds
        );
        let started = Instant::now();
        Cmd::new("cargo install --locked --no-default-features --quiet --root")
            .arg(self.cache())
            .arg(format!("{}@{}", self.package, self.version))
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", self.opt_level)
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .env_remove("CARGO_TARGET_DIR")
            .run()?;
        println!("compiled {} in {:.0} s", self.command, started.elapsed().as_secs_f64());
        Ok(())
    }
}

/// The folder of one tool in one version.
pub(crate) fn cache_folder(name: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = cache.or_else(|| home().map(|home| home.join(".cache")));
    let cache = cache.unwrap_or_else(std::env::temp_dir);
    cache.join("tierscope/tools").join(name)
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from)
}

fn find_file(folder: &Path, name: &str, depth: u32) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let here =
        entries.iter().find(|path| path.is_file() && path.file_name().is_some_and(|found| found == name));
    let below = || entries.iter().filter(|path| depth > 0 && path.is_dir());
    here.cloned().or_else(|| below().find_map(|path| find_file(path, name, depth - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_and_the_crate_of_wasm_bindgen_have_one_version() {
        let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace has a manifest");
        let pinned = format!("wasm-bindgen = \"={}\"", WASM_BINDGEN.version);
        assert!(
            manifest.contains(&pinned),
            "Cargo.toml should hold `{pinned}`, as crates/xtask/src/tools.rs does"
        );
    }

    #[test]
    fn another_version_is_not_the_pinned_one() {
        let other = Tool { version: "0.0.0", ..TRUNK };
        assert!(!other.candidates().iter().any(|folder| other.is_in(folder)));
    }

    #[test]
    fn a_release_is_named_by_version() {
        if let Some(url) = (WASM_BINDGEN.release)(WASM_BINDGEN.version) {
            assert!(url.contains("/0.2.129/wasm-bindgen-0.2.129-"), "{url}");
        }
    }
}
