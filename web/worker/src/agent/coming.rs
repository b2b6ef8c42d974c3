//! A file on its way to this worker, slice after slice; no more memory is taken than was announced and is allowed.

use tierscope_scenario::Problem;

use crate::protocol::TRACE_FILE_BYTES;

/// What of it is there.
pub(super) struct Coming {
    /// The number that its slices carry.
    pub(super) number: u32,
    /// Its name, without folders.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    expected: usize,
}

impl Coming {
    /// Makes room for a file of that many bytes.
    pub(super) fn begin(number: u32, name: &str, bytes: f64) -> Result<Self, Box<Problem>> {
        if !(1.0..=TRACE_FILE_BYTES as f64).contains(&bytes) {
            return Err(Box::new(of_file(
                format!("a file of {bytes} bytes"),
                format!("1 to {TRACE_FILE_BYTES} bytes"),
                "cut it into smaller files, or run it with the command",
            )));
        }
        let expected = bytes as usize;
        let mut room = Vec::new();
        if room.try_reserve_exact(expected).is_err() {
            return Err(Box::new(of_file(
                format!("a file of {bytes} bytes"),
                "one for which the tab has memory".to_owned(),
                "close other tabs, or run it with the command",
            )));
        }
        Ok(Self { number, name: base(name).to_owned(), bytes: room, expected })
    }

    /// Takes the next bytes; tells how many are there. More than was announced is cut off: no memory was promised for it.
    pub(super) fn take(&mut self, slice: &[u8]) -> f64 {
        let room = self.expected - self.bytes.len();
        self.bytes.extend_from_slice(&slice[..slice.len().min(room)]);
        self.bytes.len() as f64
    }
}

/// A path without its folders, which a browser does not tell.
pub(super) fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A fault of a file as a whole.
pub(super) fn of_file(found: String, expected: String, mend: &str) -> Problem {
    Problem { file: None, line: 1, column: 1, key: String::new(), found, expected, mend: mend.to_owned() }
}
