//! What a run writes while it goes on: facts as lines, and the trace for Perfetto. Nothing of it is kept in memory.

use anyhow::Result;
use tierscope_engine::FactLog;
use tierscope_report::{Perfetto, jsonl};
use tierscope_units::SimTime;

use crate::args::LogOutputs;
use crate::output::Output;

/// Most bytes that are kept before they are written: an instant can hold many facts.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Text on its way to an output.
struct Stream {
    output: Output,
    text: String,
}

impl Stream {
    fn write(&mut self) -> Result<()> {
        let written = self.output.write(&self.text);
        self.text.clear();
        written
    }
}

/// All that was asked for.
#[derive(Default)]
pub(crate) struct Sinks {
    facts: Option<Stream>,
    trace: Option<(Stream, Perfetto)>,
    /// The first thing that could not be written.
    failed: Option<anyhow::Error>,
}

impl Sinks {
    /// Opens the outputs.
    pub(crate) fn open(outputs: &LogOutputs, title: &str, workers: usize) -> Result<Self> {
        let open = |path: &Option<std::path::PathBuf>| -> Result<Option<Stream>> {
            let output = path.as_deref().map(Output::create).transpose()?;
            Ok(output.map(|output| Stream { output, text: String::new() }))
        };
        let trace = open(&outputs.perfetto)?.map(|mut stream| {
            let perfetto = Perfetto::new(title, workers, &mut stream.text);
            (stream, perfetto)
        });
        Ok(Self { facts: open(&outputs.events)?, trace, failed: None })
    }

    /// Whether anything was asked for.
    pub(crate) fn is_idle(&self) -> bool {
        self.facts.is_none() && self.trace.is_none()
    }

    /// Takes the facts of a log.
    pub(crate) fn take(&mut self, log: &FactLog) {
        if let Some(Stream { text, .. }) = &mut self.facts {
            for (at, fact) in log.iter() {
                jsonl::write_fact(text, at, fact, log);
            }
        }
        if let Some((Stream { text, .. }, perfetto)) = &mut self.trace {
            perfetto.take(log, text);
        }
        self.write(KEPT_BYTES_MAX);
    }

    /// Writes what has come together; the first failure since is told.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.write(0);
        self.failed.take().map_or(Ok(()), Err)
    }

    fn write(&mut self, more_than: usize) {
        let streams = self.facts.iter_mut().chain(self.trace.iter_mut().map(|(stream, _)| stream));
        for stream in streams.filter(|stream| stream.text.len() > more_than) {
            if self.failed.is_none() {
                self.failed = stream.write().err();
            }
            stream.text.clear();
        }
    }

    /// Gives the outputs their names.
    pub(crate) fn commit(mut self, end: SimTime) -> Result<()> {
        self.flush()?;
        if let Some(Stream { output, .. }) = self.facts {
            output.commit()?;
        }
        if let Some((mut stream, perfetto)) = self.trace {
            perfetto.finish(end, &mut stream.text);
            stream.write()?;
            stream.output.commit()?;
        }
        Ok(())
    }
}
