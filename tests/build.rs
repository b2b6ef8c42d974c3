//! Lists the scenarios of the repository with their texts, so that the same tests run natively and in wasm,
//! where no file can be read.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets the folder"));
    let mut list = String::from("pub const SCENARIOS: &[(&str, &str)] = &[\n");
    for folder in ["scenarios", "../web/gallery"] {
        let folder = root.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        for path in scenarios(&folder) {
            let shown =
                path.strip_prefix(root.parent().expect("tests lie in the repository")).unwrap_or(&path);
            let name = shown.display().to_string().replace("tests/../", "");
            writeln!(list, "    ({name:?}, include_str!({:?})),", path.display().to_string())
                .expect("a string takes all text");
        }
    }
    list.push_str("];\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets the folder")).join("scenarios.rs");
    std::fs::write(out, list).expect("the list can be written");
}

fn scenarios(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            found.extend(scenarios(&path));
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    found.sort();
    found
}
