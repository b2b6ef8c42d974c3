//! Where output goes: standard output that may close early, and files that are whole or absent.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use tempfile::NamedTempFile;

/// Writes text to standard output. A reader that has gone (`| head`) is not an error.
pub(crate) fn say(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    forgive(out.write_all(text.as_bytes()).and_then(|()| out.flush())).map_err(|error| {
        anyhow!(
            "error: cannot write to standard output: {error}
  mend: check where it leads"
        )
    })
}

/// Writes a line to standard error. If nobody can read it, nothing can be done.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A closed pipe counts as written.
fn forgive(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Whether `-` was given for a file.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether one of the outputs is standard output. Two cannot be, nor can two be the same file.
pub(crate) fn one_each<'a>(given: impl Iterator<Item = (&'static str, &'a Path)>) -> Result<bool> {
    let given: Vec<(&str, &Path)> = given.collect();
    for (at, (flag, path)) in given.iter().enumerate() {
        let Some((other, _)) = given[..at].iter().find(|(_, earlier)| earlier == path) else { continue };
        return Err(match is_stdout(path) {
            true => anyhow!(
                "error: {other} - and {flag} - both want standard output\n  mend: give one of them a file"
            ),
            false => {
                anyhow!("error: {other} and {flag} name the same file\n  mend: give each a file of its own")
            }
        });
    }
    Ok(given.iter().any(|(_, path)| is_stdout(path)))
}

/// A sink for one output: standard output, a device, or a file that gets its name when it is whole.
pub(crate) struct Output {
    sink: Sink,
    path: PathBuf,
}

enum Sink {
    Stdout(BufWriter<io::Stdout>),
    /// A pipe or device: it exists already and cannot be replaced.
    Device(BufWriter<File>),
    Whole(BufWriter<NamedTempFile>),
}

impl Output {
    /// Opens an output; a regular file at `path` stays as it is until [`Output::commit`].
    pub(crate) fn create(path: &Path) -> Result<Self> {
        // A link stays a link: what it points to is replaced.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let sink = match target.metadata() {
            _ if is_stdout(path) => Sink::Stdout(BufWriter::new(io::stdout())),
            Ok(found) if found.is_dir() => {
                let shown = path.display();
                return Err(anyhow!("error: {shown} is a folder\n  mend: name a file in it"));
            }
            Ok(found) if !found.is_file() => {
                Sink::Device(BufWriter::new(File::options().write(true).open(&target).map_err(cannot(path))?))
            }
            _ => Sink::Whole(BufWriter::new(temporary(&target).map_err(cannot(path))?)),
        };
        Ok(Self { sink, path: target })
    }

    /// Appends text. A reader that has gone is not an error.
    pub(crate) fn write(&mut self, text: &str) -> Result<()> {
        self.write_bytes(text.as_bytes())
    }

    /// Appends bytes. A reader that has gone is not an error.
    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.sink {
            Sink::Stdout(out) => forgive(out.write_all(bytes)),
            Sink::Device(out) => forgive(out.write_all(bytes)),
            Sink::Whole(out) => out.write_all(bytes),
        };
        written.map_err(cannot(&self.path))
    }

    /// Makes the output whole: only now a file has its name.
    pub(crate) fn commit(self) -> Result<()> {
        let Self { sink, path } = self;
        let committed = match sink {
            Sink::Stdout(mut out) => forgive(out.flush()),
            Sink::Device(mut out) => forgive(out.flush()),
            Sink::Whole(out) => persist(out, &path),
        };
        committed.map_err(cannot(&path))
    }
}

/// Writes a whole file at once.
pub(crate) fn write_file(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    let mut output = Output::create(path)?;
    output.write_bytes(bytes.as_ref())?;
    output.commit()
}

/// The refusal of a file.
pub(crate) fn cannot(path: &Path) -> impl FnOnce(io::Error) -> anyhow::Error {
    move |error| {
        let path = path.display();
        anyhow!(
            "error: cannot write {path}: {error}\n  mend: name a file in a folder that exists and may be written to"
        )
    }
}

/// A file without a lasting name, in the folder of `target` so that renaming is atomic.
fn temporary(target: &Path) -> io::Result<NamedTempFile> {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tierscope-").suffix(".part");
    if let Some(permissions) = permissions(target) {
        builder.permissions(permissions);
    }
    builder.tempfile_in(folder)
}

/// Those of the file that is replaced, else what the umask leaves.
fn permissions(target: &Path) -> Option<Permissions> {
    let present = target.metadata().ok().map(|found| found.permissions());
    #[cfg(unix)]
    let present = present.or_else(|| {
        use std::os::unix::fs::PermissionsExt;
        Some(Permissions::from_mode(0o666))
    });
    present
}

fn persist(out: BufWriter<NamedTempFile>, path: &Path) -> io::Result<()> {
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.persist(path).map(drop).map_err(|failed| failed.error)
}
