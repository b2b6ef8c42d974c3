//! Mesa's software Vulkan, for the tests of tiers in the memory of a GPU: the calls of a real one, done by the CPU.

use std::fs;
use std::path::Path;

use crate::apt;
use crate::run::{Failure, Result};

const PACKAGES: &str = "mesa-vulkan-drivers libvulkan1";

/// Where drivers say that they are there.
const DRIVERS: [&str; 3] = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];

/// Where libraries lie.
const LIBRARIES: [&str; 5] =
    ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"];

/// Installs it where it is missing. Where that cannot be done it is an error in CI, elsewhere one line: the tests then say that
/// they are skipped.
pub(crate) fn ensure() -> Result {
    if is_there() {
        return Ok(());
    }
    if apt::is_here() {
        println!("installing Mesa's software Vulkan ({PACKAGES}; some seconds)");
        apt::install(PACKAGES)?;
        if is_there() {
            return Ok(());
        }
    }
    let missing = format!(
        "Mesa's software Vulkan is not installed: on Debian, sudo apt-get install {PACKAGES}; elsewhere Mesa's package with \
         the driver lvp (lavapipe), and the Vulkan loader"
    );
    if std::env::var_os("CI").is_some() {
        return Err(Failure::new(missing));
    }
    println!("{missing}. The tests of GPU memory will be skipped");
    Ok(())
}

fn is_there() -> bool {
    let holds = |folder: &str, start: &str| has(Path::new(folder), start);
    let driver = DRIVERS.iter().any(|folder| holds(folder, "lvp_icd."));
    driver && LIBRARIES.iter().any(|folder| holds(folder, "libvulkan.so.1"))
}

/// Whether a folder has a file whose name starts so.
fn has(folder: &Path, start: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::root;

    #[test]
    fn a_file_is_found_by_how_its_name_starts() {
        assert!(has(&root(), "Cargo.t") && !has(&root(), "lvp_icd."));
        assert!(!has(&root().join("no such folder"), ""));
    }
}
