//! What a link holds besides the scenario: where the reader stands, what is picked out, and what the run came to for
//! who made it. It follows the scenario's own part of the address, as `&key=word`.
//!
//! All of it comes from outside: a word that cannot be read counts as absent, an unknown key is passed over, and what
//! the run does not have (a time behind its end, a worker of few) ends at the nearest that it has.

use std::fmt;

use super::driven;
use super::fork::Fork;
use super::selection::Selection;
use super::sheet::Sheet;
use super::{AppState, Notice};

/// The version of this page, and so of its worker.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Longest view that is read, in bytes; what lies behind it counts as absent.
const VIEW_BYTES_MAX: usize = 4_096;
/// Characters of the digest in a link.
const DIGEST_CHARS: usize = 8;

/// What a link says besides the scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The cursor, paused.
    pub at_ns: Option<f64>,
    /// The worker that is looked at.
    pub worker: Option<u32>,
    /// What is picked out.
    pub selection: Option<Selection>,
    /// The sheet at the right.
    pub sheet: Option<Sheet>,
    /// The run that it is compared with.
    pub fork: Option<Fork>,
    /// The version that made the link.
    pub version: Option<String>,
    /// The beginning of the digest that the run had there.
    pub digest: Option<String>,
}

impl View {
    /// What stands behind the scenario in an address.
    pub fn of_hash(hash: &str) -> Self {
        let mut view = Self::default();
        let Some((_, words)) = hash.split_once('&') else { return view };
        let mut end = words.len().min(VIEW_BYTES_MAX);
        while !words.is_char_boundary(end) {
            end -= 1;
        }
        for (key, word) in words[..end].split('&').filter_map(|pair| pair.split_once('=')) {
            view.enter(key, word);
        }
        view
    }

    fn enter(&mut self, key: &str, word: &str) {
        match key {
            // Whole nanoseconds; behind 2⁵³ an f64 holds the nearest that it can, and so did the page that wrote it.
            "t" if word.len() <= 20 && word.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.at_ns = word.parse().ok();
            }
            "w" => self.worker = word.parse().ok(),
            "s" => self.selection = word.parse().ok(),
            "p" => self.sheet = Sheet::of_word(word),
            "f" => self.fork = decoded(word).and_then(|word| word.parse().ok()),
            "v" => self.version = Some(word.to_owned()).filter(|word| is_version(word)),
            "d" => self.digest = Some(word.to_owned()).filter(|word| is_digest(word)),
            _ => {}
        }
    }

    /// Whether it says anything that the page shows.
    fn shows(&self) -> bool {
        *self != Self { version: self.version.clone(), digest: self.digest.clone(), ..Self::default() }
    }
}

impl fmt::Display for View {
    /// The words, each behind an `&`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at_ns) = self.at_ns {
            write!(f, "&t={at_ns:.0}")?;
        }
        if let Some(worker) = self.worker {
            write!(f, "&w={worker}")?;
        }
        if let Some(selection) = &self.selection {
            write!(f, "&s={selection}")?;
        }
        if let Some(sheet) = self.sheet {
            write!(f, "&p={}", sheet.word())?;
        }
        if let Some(fork) = &self.fork {
            write!(f, "&f={}", encoded(&fork.to_string()))?;
        }
        if let Some(version) = &self.version {
            write!(f, "&v={version}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "&d={digest}")?;
        }
        Ok(())
    }
}

fn is_version(word: &str) -> bool {
    (1..=24).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
}

fn is_digest(word: &str) -> bool {
    word.len() == DIGEST_CHARS && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// All but letters, digits and a few harmless marks as `%xx`: chats cut addresses at much else.
fn encoded(word: &str) -> String {
    word.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~=;:,".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02x}"));
        }
        out
    })
}

fn decoded(word: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).ok()
}

impl AppState {
    /// What the address says besides the scenario. While the run plays, the cursor is left out: it is nowhere yet.
    pub fn view(&self) -> View {
        // What a link says stays in the address until there is a run to show it on.
        if let (Some(opened), None) = (&self.opened, self.ended()) {
            return View {
                sheet: Some(self.sheet).filter(|&sheet| sheet != Sheet::default()),
                ..View::clone(opened)
            };
        }
        let own = *self.run_text == *self.draft.text;
        let ended = self.ended().filter(|_| own);
        let paused = ended.filter(|_| !self.playback.playing);
        View {
            at_ns: paused.map(|_| self.playback.cursor_ns),
            worker: Some(self.opened.as_ref().and_then(|view| view.worker).unwrap_or(self.worker()))
                .filter(|&worker| worker > 0),
            selection: self.selection.clone(),
            sheet: Some(self.sheet).filter(|&sheet| sheet != Sheet::default()),
            // A link cannot hold a recording: what it opens is the simulation, of which neither this digest nor this is one.
            fork: self.fork.clone().filter(|fork| !driven::is_simulation(fork)),
            version: Some(VERSION.to_owned()),
            digest: ended
                .filter(|ended| ended.report.is_whole() && self.driven.is_none())
                .and_then(|ended| beginning(&ended.report.digest)),
        }
    }

    /// What a link says is shown once the run is there to show it on.
    pub(super) fn opened_view(self, view: View) -> Self {
        let sheet = view.sheet.unwrap_or(self.sheet);
        let opened = Self { fork: None, sheet, opened: Some(Box::new(view)), ..self };
        if opened.ended().is_some() { opened.arrived() } else { opened }
    }

    /// The run has ended: what the link says about it is shown.
    pub(super) fn arrived(self) -> Self {
        let Some(view) = self.opened.clone() else { return self };
        let Some(end_ns) = self.ended().map(|ended| ended.result.end_ns) else { return self };
        let mut next = self;
        next.notice = next.compared(&view).or(next.notice);
        // Asked for only where it says something: a plain link leaves everything as it is.
        if view.shows() {
            next.selection = view.selection;
            next.fork = view.fork;
            if let Some(at_ns) = view.at_ns {
                next.playback = next.playback.paused_at(at_ns, end_ns);
            }
        }
        // Which workers there are is known with the first board.
        next.opened = view.worker.map(|worker| Box::new(View { worker: Some(worker), ..View::default() }));
        next.with_opened_worker()
    }

    /// The worker that the link names is looked at, as soon as it is known that it exists.
    pub(super) fn with_opened_worker(mut self) -> Self {
        if self.ended().is_none() || self.workers().is_empty() {
            return self;
        }
        match self.opened.take().and_then(|view| view.worker) {
            Some(worker) => self.with_worker(worker),
            None => self,
        }
    }

    /// Whether the run is the one that the link was made of, in words; nothing where that goes without saying.
    fn compared(&self, view: &View) -> Option<Notice> {
        let report = &self.ended()?.report;
        let there = view.digest.as_deref().filter(|_| report.is_whole())?;
        let here = beginning(&report.digest)?;
        let version = view.version.as_deref().filter(|&version| version != VERSION);
        let (same, trouble) = (there.eq_ignore_ascii_case(&here), !there.eq_ignore_ascii_case(&here));
        let text = match version {
            None if same => return None,
            None => format!(
                "The run here is not the one that this link was made of: its digest begins {here}, there it began \
                 {there}. The link was changed on its way, or made by another build of Tierscope {VERSION}."
            ),
            Some(version) if same => format!(
                "This link was made by Tierscope {version}; this is {VERSION}. The run has the same digest: what you \
                 see is what was sent."
            ),
            Some(version) => format!(
                "This link was made by Tierscope {version}; this is {VERSION}, and the run here differs: its digest \
                 begins {here}, there it began {there}. What you see may not be what was sent."
            ),
        };
        Some(Notice { text, trouble })
    }
}

fn beginning(digest: &str) -> Option<String> {
    digest.get(..DIGEST_CHARS).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_read_as_it_was_written() {
        let changes = vec!["title=\"a & b = ü#%\"".to_owned(), "g2.blocks=4096".to_owned()];
        let view = View {
            at_ns: Some(84_000_000.0),
            worker: Some(3),
            selection: Some(Selection::Request(17)),
            sheet: Some(Sheet::Compare),
            fork: Some(Fork { at_ns: Some(5e8), changes }),
            version: Some("0.1.0".to_owned()),
            digest: Some("00ffa1b2".to_owned()),
        };
        let words = view.to_string();
        assert_eq!(View::of_hash(&format!("#v2.abc{words}")), view);
        assert!(words.is_ascii() && !words.contains([' ', '"', '#']), "{words}");
        assert_eq!(View::default().to_string(), "");
    }

    #[test]
    fn what_cannot_be_read_counts_as_absent() {
        let hostile = [
            "#v2.abc",
            "#v2.abc&",
            "#v2.abc&t=-1&w=99999999999&s=thing.1&p=nothing&f=%zz&v=<script>&d=12",
            "#v2.abc&t=1e9&t=NaN&w=&s=&p=&f=&v=&d=zzzzzzzz&unknown=1&=&==&&&",
            "#v2.abc&t=999999999999999999999&f=a%ff%fe",
            &format!("#v2.abc{}", "&x=y".repeat(100_000)),
            &format!("#v2.abc&f={}", "ü".repeat(5_000)),
        ];
        for hash in hostile {
            let view = View::of_hash(hash);
            assert!(!view.shows() && view == View::default(), "{hash:.80}: {view:?}");
        }
    }
}
