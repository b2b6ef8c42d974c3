//! `tierscope import`: what people have, as a scenario.

use std::io::Read;
use std::path::Path;

use anyhow::{Result, anyhow};
use tierscope_scenario::import::{self, Imported, Kind, Note, Source};
use tierscope_scenario::limit;

use crate::args::ImportArgs;
use crate::exit::Exit;
use crate::input;
use crate::output::{self, Output};

pub(crate) fn import(args: &ImportArgs) -> Result<Exit> {
    let name = if args.file == "-" { "standard input" } else { &args.file };
    let bytes = match args.file.as_str() {
        "-" => from_stdin()?,
        path => input::read_file(Path::new(path), limit::SCENARIO_TEXT_BYTES as u64)?,
    };
    let text = input::utf8(bytes, name)?;
    let source = source(args, &text, name)?;
    let imported =
        import::import(&text, source).map_err(|problems| input::explain(name, Some(name), problems))?;
    // Opened first: notes on something that cannot be written help nobody.
    let mut out = Output::create(args.out.as_deref().unwrap_or(Path::new("-")))?;
    out.write(&imported.text)?;
    out.commit()?;
    if !args.quiet {
        output::complain(&told(&imported, source, name));
    }
    let faulty = !imported.problems.is_empty();
    if faulty {
        output::complain(&format!(
            "{:#}",
            input::explain("the scenario that was made", None, imported.problems)
        ));
    }
    Ok(if faulty { Exit::BadInput } else { Exit::Done })
}

fn source(args: &ImportArgs, text: &str, name: &str) -> Result<Source> {
    if let Some(word) = &args.from {
        let named = Source::WORDS.iter().find(|(known, _)| known == word);
        return named.map(|(_, source)| *source).ok_or_else(|| anyhow!("error: no source is called {word}"));
    }
    let other = match import::detect(text.as_bytes(), name) {
        Some(Kind::Source(source)) => return Ok(source),
        Some(Kind::Scenario) => "a scenario already\n  mend: tierscope run takes it as it is",
        Some(Kind::Link) => "a link\n  mend: tierscope link --decode LINK prints its scenario",
        Some(Kind::Trace(_)) => "a trace\n  mend: tierscope run takes it as it is",
        Some(Kind::Hardware) => {
            "figures of a machine\n  mend: tierscope run SCENARIO --hardware FILE takes them"
        }
        Some(Kind::Recording) => "a driven run\n  mend: tierscope run replays it",
        None => {
            "not recognized\n  mend: name it with --from vllm, --from dynamo or --from lmcache; docs/IMPORT.md has examples"
        }
    };
    Err(anyhow!("error: {name} is {other}"))
}

fn from_stdin() -> Result<Vec<u8>> {
    let most = limit::SCENARIO_TEXT_BYTES as u64;
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(anyhow!(
            "error: standard input is longer than 1 MiB\n  mend: pipe only the command or the configuration"
        ));
    }
    Ok(bytes)
}

fn told(imported: &Imported, source: Source, name: &str) -> String {
    let mut text = format!("{name}: a {}\n", source.name());
    for note in &imported.notes {
        text.push_str(&format!("{}\n", line(note)));
    }
    text.truncate(text.trim_end().len());
    text
}

/// A note in one line.
pub(crate) fn line(note: &Note) -> String {
    let place = if note.line > 0 { format!("{}:{}", note.line, note.column) } else { String::new() };
    let what = if note.what.is_empty() { String::new() } else { format!("{}  ->  ", note.what) };
    format!("  {:<8} {place:>7}  {what}{}", note.kind.word(), note.words)
}
