//! Where in the text the command is, and what it says.

use crate::import::shell::{Piece, Word};
use crate::problem::Problems;

/// A command line.
pub(super) struct Command {
    /// Variables set before it: `NAME=value`.
    variables: Vec<Word>,
    /// The model, where it stands for itself.
    positional: Option<Word>,
    pub(super) flags: Vec<Flag>,
}

/// A flag, with its value if it has one.
#[derive(Clone, Debug)]
pub(super) struct Flag {
    /// Place of the flag.
    pub(super) at: usize,
    /// Without dashes before it, and with dashes for underscores.
    pub(super) name: String,
    /// As written, for messages.
    pub(super) written: String,
    pub(super) value: Option<Word>,
}

impl Flag {
    /// The flag with its value, as a note shows it.
    pub(super) fn shown(&self) -> String {
        match &self.value {
            Some(value) => format!("--{} {}", self.name, value.text),
            None => format!("--{}", self.name),
        }
    }

    pub(super) fn value(&self) -> &str {
        self.value.as_ref().map_or("", |value| &value.text)
    }

    pub(super) fn value_at(&self) -> usize {
        self.value.as_ref().map_or(self.at, |value| value.at)
    }
}

/// Flags without a value.
const SWITCHES: [&str; 34] = [
    "enable-prefix-caching",
    "enable-chunked-prefill",
    "async-scheduling",
    "trust-remote-code",
    "enforce-eager",
    "disable-log-requests",
    "disable-log-stats",
    "enable-log-requests",
    "enable-auto-tool-choice",
    "enable-lora",
    "enable-expert-parallel",
    "enable-eplb",
    "enable-sleep-mode",
    "disable-custom-all-reduce",
    "skip-tokenizer-init",
    "disable-hybrid-kv-cache-manager",
    "disable-cascade-attn",
    "disable-sliding-window",
    "enable-reasoning",
    "disable-frontend-multiprocessing",
    "calculate-kv-scales",
    "language-model-only",
    "headless",
    "enable-dbo",
    "enable-prompt-tokens-details",
    "enable-server-load-tracking",
    "enable-prompt-embeds",
    "use-v2-block-manager",
    "data-parallel-hybrid-lb",
    "data-parallel-external-lb",
    "long-prefill-token-threshold-adaptive",
    "disable-fastapi-docs",
    "enable-request-id-headers",
    "kv-sharing-fast-prefill",
];

/// Short names.
const SHORT: [(&str, &str); 9] = [
    ("tp", "tensor-parallel-size"),
    ("pp", "pipeline-parallel-size"),
    ("dp", "data-parallel-size"),
    ("dcp", "decode-context-parallel-size"),
    ("ep", "enable-expert-parallel"),
    ("q", "quantization"),
    ("O", "compilation-config"),
    ("cc", "compilation-config"),
    ("sc", "speculative-config"),
];

impl Command {
    /// The command among the pieces; nothing, reported, when there is none.
    pub(super) fn find(pieces: Vec<Piece>, problems: &Problems<'_>) -> Option<Self> {
        let words = |piece: &Piece| match piece {
            Piece::Word(word) => Some(word.clone()),
            Piece::End => None,
        };
        let begin = pieces.iter().enumerate().find_map(|(at, piece)| {
            let next = pieces.get(at + 1).and_then(words);
            begins(&words(piece)?.text, next.as_ref()).map(|skip| at + skip)
        });
        let Some(begin) = begin else {
            let mend = "paste the whole command, from `vllm serve` on";
            problems.report(
                0,
                "",
                "no vllm serve",
                "a command such as vllm serve MODEL --max-num-seqs 64",
                mend,
            );
            return None;
        };
        let variables =
            pieces[..begin].iter().filter_map(words).filter(|word| is_variable(&word.text)).collect();
        let after: Vec<Word> = pieces[begin..].iter().map_while(words).collect();
        let mut command = Self { variables, positional: None, flags: Vec::new() };
        command.read(after, problems);
        Some(command)
    }

    fn read(&mut self, words: Vec<Word>, problems: &Problems<'_>) {
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            let Some(name) = flag_name(&word.text) else {
                self.loose(word, problems);
                continue;
            };
            let (name, inline) = match name.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (name, None),
            };
            let name = long(&name);
            let switch =
                SWITCHES.contains(&name.strip_prefix("no-").unwrap_or(&name)) || name.starts_with("no-");
            let at = word.at + word.text.find('=').map_or(0, |at| at + 1);
            let mut value = inline.map(|text| Word { at, text });
            if value.is_none() && !switch {
                value = words.next_if(|next| flag_name(&next.text).is_none());
            }
            // Flags that take several values.
            while !switch && value.is_some() && words.next_if(|next| several(&name, &next.text)).is_some() {}
            self.flags.push(Flag { at: word.at, name, written: word.text, value });
        }
    }

    /// A word without a flag: the first is the model.
    fn loose(&mut self, word: Word, problems: &Problems<'_>) {
        if self.positional.is_none() && self.flags.is_empty() {
            self.positional = Some(word);
            return;
        }
        let found = crate::problem::quote(&word.text);
        let mend = "quote values with spaces, or remove the word";
        problems.report(word.at, "", found, "a flag, or the value of the flag before it", mend);
    }

    pub(super) fn model(&self) -> Option<&Word> {
        let flag = self.flags.iter().rev().find(|flag| flag.name == "model");
        flag.and_then(|flag| flag.value.as_ref()).or(self.positional.as_ref())
    }

    pub(super) fn flag(&self, name: &str) -> Option<&Flag> {
        self.flags.iter().rev().find(|flag| flag.name == name)
    }

    /// Place, name and value of the variables.
    pub(super) fn environment(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        self.variables.iter().filter_map(|word| {
            let (name, value) = word.text.split_once('=')?;
            Some((word.at, name, value))
        })
    }

    /// Whether LMCache is asked for.
    pub(super) fn has_lmcache(&self) -> bool {
        let named = self.flag("kv-transfer-config").is_some_and(|flag| flag.value().contains("LMCache"));
        named || self.flag("kv-offloading-backend").is_some_and(|flag| flag.value() == "lmcache")
    }
}

/// How many words the beginning of a command takes, if these are one.
fn begins(word: &str, next: Option<&Word>) -> Option<usize> {
    let next = next.map(|next| next.text.as_str());
    let program = word.rsplit('/').next().unwrap_or_default();
    if program == "vllm" {
        return (next == Some("serve")).then_some(2);
    }
    let image = word.contains("vllm-openai") || word.contains("/vllm:");
    let module = word == "vllm.entrypoints.openai.api_server";
    (image || module).then_some(1)
}

fn is_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    })
}

/// The name of a flag; a negative number and a dash alone are none.
fn flag_name(word: &str) -> Option<String> {
    let bare = word.trim_start_matches(['-', '–', '—']);
    let named = bare.len() < word.len() && bare.starts_with(|first: char| first.is_ascii_alphabetic());
    named.then(|| bare.to_owned())
}

fn long(name: &str) -> String {
    if let Some((_, long)) = SHORT.iter().find(|(short, _)| *short == name) {
        return (*long).to_owned();
    }
    let (base, path) = name.split_once('.').map_or((name, None), |(base, path)| (base, Some(path)));
    let base = base.replace('_', "-");
    path.map_or(base.clone(), |path| format!("{base}.{path}"))
}

fn several(name: &str, next: &str) -> bool {
    const LISTS: [&str; 9] = [
        "served-model-name",
        "lora-modules",
        "allowed-origins",
        "middleware",
        "api-key",
        "cuda-graph-sizes",
        "kv-cache-dtype-skip-layers",
        "allowed-methods",
        "allowed-headers",
    ];
    LISTS.contains(&name) && flag_name(next).is_none()
}
