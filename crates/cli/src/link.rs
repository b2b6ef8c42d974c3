//! `tierscope link`: a scenario in one line, and back.

use anyhow::Result;
use tierscope_scenario::link;

use crate::args::LinkArgs;
use crate::exit::Exit;
use crate::input::{self, Changes};
use crate::output;

pub(crate) fn link(args: &LinkArgs) -> Result<Exit> {
    if let Some(link) = &args.decode {
        output::say(&input::decode(link)?)?;
        return Ok(Exit::Done);
    }
    let scenario = args.scenario.as_deref().unwrap_or("-");
    let input = input::read(scenario, &Changes::default())?;
    if let Some(trace) = input.scenario.trace_path() {
        output::complain(&format!(
            "note: the link names the trace {trace} but does not hold it; who opens it needs the file (--trace)"
        ));
    }
    output::say(&format!("#{}\n", link::encode(&input.text).trim_start_matches('#')))?;
    Ok(Exit::Done)
}
