//! Packages of the distribution, where that is Debian or one like it and this is root.

use crate::run::{Cmd, Result};

/// Whether [`install`] can work here.
pub(crate) fn is_here() -> bool {
    let is_root = Cmd::new("id -u").probe().is_some_and(|id| id.trim() == "0");
    is_root && Cmd::new("apt-get --version").probe().is_some()
}

/// Installs packages, named as one would type them.
pub(crate) fn install(packages: &str) -> Result {
    Cmd::new("apt-get update -qq").run()?;
    Cmd::new(&format!("apt-get install -y -qq --no-install-recommends {packages}"))
        .env("DEBIAN_FRONTEND", "noninteractive")
        .run()
}
