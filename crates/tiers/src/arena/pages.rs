//! Which pages host memory is made of: large ones that the system keeps in store, else large ones that it makes, else
//! small ones. What was got is looked up, not assumed.

use std::fmt;
use std::fs;
use std::io;

use memmap2::{MmapMut, MmapOptions};

/// The usual size of a large page; memory smaller than one has no use for them.
pub(super) const HUGE_BYTES: usize = 2 << 20;

/// What pages were got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Large ones, of those that `vm.nr_hugepages` keeps in store.
    Reserved,
    /// Made large where the system could: so many bytes of the memory when it was looked at.
    Transparent {
        /// Bytes in large pages.
        huge_bytes: u64,
    },
    /// Small ones, or none yet: pages come when they are touched.
    Plain,
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reserved => f.write_str("reserved huge pages"),
            Self::Transparent { huge_bytes } => write!(f, "{} MiB in huge pages", huge_bytes >> 20),
            Self::Plain => f.write_str("small pages"),
        }
    }
}

/// Memory and what it is made of.
pub(super) struct Mapped {
    pub(super) map: MmapMut,
    pub(super) pages: Pages,
    pub(super) shortfalls: Vec<String>,
}

/// So many bytes, all of them zero; with `present`, the pages are there at once.
pub(super) fn map(bytes: usize, present: bool) -> io::Result<Mapped> {
    if present
        && bytes >= HUGE_BYTES
        && let Some(map) = reserved(bytes)
    {
        return Ok(Mapped { map, pages: Pages::Reserved, shortfalls: Vec::new() });
    }
    let map = MmapOptions::new().len(bytes).map_anon()?;
    let mut shortfalls = Vec::new();
    if bytes >= HUGE_BYTES {
        shortfalls.extend(ask_for_huge(&map));
    }
    if present && let Some(words) = populate(&map) {
        shortfalls.push(words);
    }
    let pages = match huge_bytes(&map) {
        0 => Pages::Plain,
        huge_bytes => Pages::Transparent { huge_bytes },
    };
    if present && bytes >= HUGE_BYTES && pages == Pages::Plain && shortfalls.is_empty() {
        shortfalls.push("no huge pages: the system had none, or is set not to make them".to_owned());
    }
    Ok(Mapped { map, pages, shortfalls })
}

/// Of the pages in store; most machines keep none, which is no fault.
#[cfg(target_os = "linux")]
fn reserved(bytes: usize) -> Option<MmapMut> {
    let whole = bytes.checked_next_multiple_of(HUGE_BYTES)?;
    let map = MmapOptions::new().len(whole).huge(Some(HUGE_BYTES.trailing_zeros() as u8)).map_anon().ok()?;
    // A group may be allowed fewer than are in store: told here, where a touch would end the process.
    map.advise(memmap2::Advice::PopulateWrite).ok()?;
    Some(map)
}

#[cfg(not(target_os = "linux"))]
fn reserved(_: usize) -> Option<MmapMut> {
    None
}

#[cfg(target_os = "linux")]
fn ask_for_huge(map: &MmapMut) -> Option<String> {
    map.advise(memmap2::Advice::HugePage).err().map(|error| format!("no huge pages: {error}"))
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge(_: &MmapMut) -> Option<String> {
    Some("no huge pages: this system is not asked for them".to_owned())
}

#[cfg(target_os = "linux")]
fn populate(map: &MmapMut) -> Option<String> {
    let failed = map.advise(memmap2::Advice::PopulateWrite).err()?;
    Some(format!("pages are not there from the beginning ({failed}): the first copy into each is slower"))
}

#[cfg(not(target_os = "linux"))]
fn populate(_: &MmapMut) -> Option<String> {
    Some("pages are not there from the beginning: the first copy into each is slower".to_owned())
}

/// Bytes of a mapping that are in large pages; 0 where the system does not tell.
fn huge_bytes(map: &MmapMut) -> u64 {
    let from = map.as_ptr() as usize;
    let span = from..from.saturating_add(map.len());
    let told = fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    huge_bytes_of(&told, span).min(map.len() as u64)
}

fn huge_bytes_of(smaps: &str, span: std::ops::Range<usize>) -> u64 {
    let (mut inside, mut kib) = (false, 0_u64);
    for line in smaps.lines() {
        if let Some(range) = range_of(line) {
            inside = range.start < span.end && span.start < range.end;
        } else if inside && let Some(rest) = line.strip_prefix("AnonHugePages:") {
            kib += rest.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        }
    }
    kib << 10
}

/// The first line of a mapping: `7f00-7f10 rw-p …`.
fn range_of(line: &str) -> Option<std::ops::Range<usize>> {
    let (from, to) = line.split_whitespace().next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(address(from)?..address(to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_are_counted_where_they_lie() {
        let smaps = "1000-2000 rw-p 00000000 00:00 0\nSize: 4 kB\nAnonHugePages:      2048 kB\n\
                     2000-4000 rw-p 00000000 00:00 0\nAnonHugePages:      4096 kB\nVmFlags: rd wr\n";
        assert_eq!(huge_bytes_of(smaps, 0x1000..0x2000), 2 << 20);
        assert_eq!(huge_bytes_of(smaps, 0x2000..0x3000), 4 << 20);
        assert_eq!(huge_bytes_of(smaps, 0x4000..0x5000), 0);
        assert_eq!(huge_bytes_of("no such table", 0..1), 0);
    }

    #[test]
    fn memory_is_there_and_zero_however_it_was_got() {
        for (bytes, present) in [(64, false), (64, true), (HUGE_BYTES, true), (3 * HUGE_BYTES + 8, true)] {
            let mapped = map(bytes, present).expect("some megabytes");
            assert!(mapped.map.len() >= bytes && mapped.map.iter().all(|&byte| byte == 0));
            assert!(bytes >= HUGE_BYTES || mapped.pages == Pages::Plain);
            let told = !mapped.shortfalls.is_empty();
            let got = mapped.pages != Pages::Plain;
            assert!(bytes < HUGE_BYTES || got || told, "either they were got or it is said");
        }
    }
}
