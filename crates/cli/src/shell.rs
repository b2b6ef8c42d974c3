//! What is generated from the command line's own description: completions and the manual page.

use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs};
use crate::exit::Exit;
use crate::output;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "tierscope", &mut script);
    output::say(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

pub(crate) fn man() -> Result<Exit> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Args::command()).render(&mut page)?;
    output::say(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Done)
}
