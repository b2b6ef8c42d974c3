//! `tierscope serve`: the page, from inside this binary, for this machine only.

#[cfg(feature = "page")]
mod page;
#[cfg(feature = "page")]
mod site;

use anyhow::Result;

use crate::args::ServeArgs;
use crate::exit::Exit;

/// Serves the page until the process is ended.
#[cfg(feature = "page")]
pub(crate) fn serve(args: &ServeArgs) -> Result<Exit> {
    site::serve(args.port).map(|()| Exit::Done)
}

/// This build has no page to serve.
#[cfg(not(feature = "page"))]
pub(crate) fn serve(_: &ServeArgs) -> Result<Exit> {
    Err(anyhow::anyhow!(
        "error: this tierscope was built without the page\n  mend: in its source folder, `cargo xtask build-page`, then \
         `cargo build --release -p tierscope --features page`; or serve the folder dist/ with any web server"
    ))
}
