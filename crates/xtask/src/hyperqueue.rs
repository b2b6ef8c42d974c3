//! HyperQueue's Python package in an environment of its own, for the tests of `tierscope sweep --engine hq`. It lies
//! beside the other tools, a folder per version, where the command itself looks too.

use std::path::PathBuf;

use crate::run::{Cmd, Failure, Result};
use crate::tools;

/// Must be the version in `crates/cli/src/sweep/hq.rs`; a test holds it there.
const VERSION: &str = "0.27.0";

/// Installs it where it is missing. Without Python that is an error in CI, elsewhere one line: the tests then say
/// that they are skipped.
pub(crate) fn ensure() -> Result {
    let folder = folder();
    if is_in(&folder) {
        return Ok(());
    }
    println!("installing HyperQueue {VERSION} into a Python environment of its own (57 MB, some seconds)");
    let installed = install(&folder);
    match installed {
        Ok(()) if is_in(&folder) => Ok(()),
        _ if std::env::var_os("CI").is_some() => Err(Failure::new(
            "HyperQueue could not be installed: it needs python3 with venv and pip (on Debian: apt-get install \
             python3-venv)",
        )),
        _ => {
            println!(
                "HyperQueue is not installed: its tests will be skipped (on Debian: apt-get install python3-venv, then \
                 cargo xtask setup)"
            );
            Ok(())
        }
    }
}

fn install(folder: &std::path::Path) -> Result {
    Cmd::new("python3 -m venv --clear").arg(folder).run()?;
    let pip = folder.join("bin/python");
    Cmd::program(pip)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .arg(format!("hyperqueue=={VERSION}"))
        .run()
}

fn folder() -> PathBuf {
    tools::cache_folder(&format!("hyperqueue-{VERSION}"))
}

/// The proof that it is there: it imports, and says its version.
fn is_in(folder: &std::path::Path) -> bool {
    let version = "import hyperqueue, importlib.metadata as m; print(m.version('hyperqueue'))";
    let said = Cmd::program(folder.join("bin/python")).arg("-c").arg(version).probe();
    said.is_some_and(|said| said.trim() == VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::root;

    #[test]
    fn the_command_looks_where_this_installs() {
        let command = root().join("crates/cli/src/sweep/hq.rs");
        let source = std::fs::read_to_string(command).expect("the command has this file");
        assert!(source.contains(&format!("const VERSION: &str = \"{VERSION}\";")), "the same version");
        assert!(source.contains("tierscope/tools/hyperqueue-"), "the same folder");
    }
}
