//! The stand-in driver in a folder of its own, and processes that find it there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::roles::ROLE;

/// A folder with a `libcuda.so`, or an empty one.
pub(crate) struct Double {
    folder: TempDir,
}

/// What a child said.
pub(crate) struct Heard {
    pub(crate) worked: bool,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Cargo puts libraries that tests need beside the tests.
fn library() -> Option<PathBuf> {
    let this = std::env::current_exe().expect("this test has a path");
    let library = this.parent().expect("it lies in a folder").join("libstandin_cuda.so");
    if library.is_file() {
        return Some(library);
    }
    let required = std::env::var("TIERSCOPE_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == "cuda-stand-in"), "{} is not there", library.display());
    eprintln!("skipped: {} is not there", library.display());
    None
}

impl Double {
    /// The stand-in, as if it lacked these functions; `None` where it has not been built.
    pub(crate) fn new(without: &[&str]) -> Option<Self> {
        let mut bytes = fs::read(library()?).expect("the library can be read");
        for name in without {
            rename(&mut bytes, name);
        }
        let double = Self::nothing();
        let path = double.folder.path().join("libcuda.so.1");
        fs::write(&path, bytes).expect("the library can be copied");
        std::os::unix::fs::symlink("libcuda.so.1", double.folder.path().join("libcuda.so")).expect("a link");
        Some(double)
    }

    /// No library.
    pub(crate) fn nothing() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// This test again, in a role, with orders for the stand-in.
    pub(crate) fn child(&self, role: &str, orders: &str) -> Heard {
        let output = Command::new(std::env::current_exe().expect("this test has a path"))
            .args(["child", "--exact", "--nocapture"])
            .env(ROLE, role)
            .env("TIERSCOPE_STANDIN_CUDA", orders)
            .env("LD_LIBRARY_PATH", self.folder.path())
            .output()
            .expect("this test runs once more");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Heard { worked: output.status.success(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// The functions that the medium asks for, as its source names them.
    pub(crate) fn functions(&self) -> Vec<String> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gpu/cuda/abi.rs");
        let source = fs::read_to_string(source).expect("the source is there");
        let named = source.split("c\"").skip(1).filter_map(|rest| rest.split('"').next());
        named.filter(|name| name.starts_with("cu")).map(str::to_owned).collect()
    }
}

/// Names a function otherwise wherever its name stands, so that nobody finds it.
fn rename(library: &mut [u8], name: &str) {
    let mut wanted = vec![0];
    wanted.extend(name.as_bytes());
    wanted.push(0);
    let mut found = 0;
    for at in 0..=library.len() - wanted.len() {
        if library[at..].starts_with(&wanted) {
            library[at + 1] = b'x';
            found += 1;
        }
    }
    assert!(found > 0, "the stand-in has no {name}");
}
