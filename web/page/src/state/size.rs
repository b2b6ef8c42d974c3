//! How large a scenario is, before it runs: a link opens without running anything heavy unasked.

use tierscope_scenario::{InlinePrompt, Lengths, Scenario, Synthetic, WorkloadSpec};

use super::format;

/// What a run has to do, as far as the scenario tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Requests, every turn of every session counted.
    pub requests: u64,
    /// Tokens of their prompts.
    pub prompt_tokens: u64,
    /// Tokens of their answers.
    pub output_tokens: u64,
    /// Tokens per block.
    pub block_tokens: u64,
    /// The trace that it replays: how large that is, only the file tells.
    pub trace: Option<String>,
}

/// Nanoseconds that the simulator takes in a browser for a token of an answer, for a block of a prompt, and for a
/// request, on the machine of docs/PERFORMANCE.md; rounded up.
const COST_NS: [u64; 3] = [100, 300, 10_000];
/// Work of more than this is not begun unasked.
const HEAVY_MS: u64 = 500;

impl Size {
    /// Of a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        let mut size =
            Self { block_tokens: u64::from(scenario.engine.block_size_tokens).max(1), ..Self::default() };
        match &scenario.workload {
            WorkloadSpec::Requests(requests) => {
                for request in requests {
                    let prompt = match &request.prompt {
                        InlinePrompt::Tokens { tokens, .. } => u64::from(*tokens),
                        InlinePrompt::Runs(runs) => runs.iter().map(|run| u64::from(run.len)).sum(),
                    };
                    size.add(1, prompt, u64::from(request.output_tokens));
                }
            }
            WorkloadSpec::Synthetic(synthetic) => size.add_sessions(synthetic),
            WorkloadSpec::Trace(trace) => size.trace = Some(trace.file.clone()),
        }
        size
    }

    fn add(&mut self, requests: u64, prompt: u64, output: u64) {
        self.requests = self.requests.saturating_add(requests);
        self.prompt_tokens = self.prompt_tokens.saturating_add(prompt);
        self.output_tokens = self.output_tokens.saturating_add(output);
    }

    /// Each turn's prompt holds all turns before it.
    fn add_sessions(&mut self, synthetic: &Synthetic) {
        let (sessions, turns) = (u64::from(synthetic.requests), u64::from(synthetic.turns.max(1)));
        let (prompt, output) = (mean(&synthetic.prompt_tokens), mean(&synthetic.output_tokens));
        let shared = synthetic.shared_prefix.as_ref().map_or(0, |prefix| u64::from(prefix.tokens));
        let before = turns * (turns - 1) / 2;
        let tokens = turns
            .saturating_mul(shared.saturating_add(prompt))
            .saturating_add(before.saturating_mul(prompt.saturating_add(output)));
        let requests = sessions.saturating_mul(turns);
        self.add(requests, sessions.saturating_mul(tokens), requests.saturating_mul(output));
    }

    /// How long a run of it takes, about.
    pub fn estimate_ms(&self) -> u64 {
        let work = [self.output_tokens, self.prompt_tokens / self.block_tokens.max(1), self.requests];
        let ns = work
            .iter()
            .zip(COST_NS)
            .fold(0u64, |sum, (&count, cost)| sum.saturating_add(count.saturating_mul(cost)));
        ns / 1_000_000
    }

    /// Whether it is begun only when somebody asks for it.
    pub fn is_heavy(&self) -> bool {
        self.trace.is_some() || self.estimate_ms() > HEAVY_MS
    }

    /// What there is to do, in words.
    pub fn words(&self) -> String {
        if let Some(trace) = &self.trace {
            return format!("It replays the trace {trace}, which a link names but does not hold.");
        }
        let seconds = self.estimate_ms().div_ceil(1_000);
        let long = match seconds {
            0..=1 => "about a second".to_owned(),
            2..=119 => format!("about {seconds} seconds"),
            _ => format!("about {} minutes", format::count(seconds.div_ceil(60))),
        };
        format!(
            "{} requests with {} prompt tokens and {} output tokens: {long} of computing, here in your browser.",
            format::count(self.requests),
            format::count(self.prompt_tokens),
            format::count(self.output_tokens)
        )
    }
}

fn mean(lengths: &Lengths) -> u64 {
    match *lengths {
        Lengths::Fixed(tokens) => u64::from(tokens),
        Lengths::Uniform { min, max } => (u64::from(min) + u64::from(max)) / 2,
        Lengths::Normal { mean, .. } | Lengths::LogNormal { mean, .. } => mean.max(1.0) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::gallery;

    fn size(text: &str) -> Size {
        Size::of(&tierscope_scenario::parse_any(text).expect("a scenario"))
    }

    fn synthetic(requests: u32, rest: &str) -> Size {
        size(&format!(
            "tierscope = 1\n[workload]\nkind = \"synthetic\"\nrequests = {requests}\narrival = \"poisson\"\nrate_per_s = 3.4\n\
             prompt_tokens = 1000\noutput_tokens = 100\n{rest}"
        ))
    }

    #[test]
    fn every_gallery_case_runs_unasked() {
        for case in gallery::CASES {
            let size = size(case.text);
            assert!(size.requests > 0 && !size.is_heavy(), "{}: {size:?}", case.name);
        }
    }

    #[test]
    fn sessions_are_counted_with_all_that_they_repeat() {
        let turns =
            synthetic(10, "turns = 3\nturn_delay_ms = 1000\nshared_prefix = { tokens = 50, groups = 1 }\n");
        assert_eq!(turns.requests, 30);
        assert_eq!(turns.prompt_tokens, 10 * (1_050 + (1_050 + 1_100) + (1_050 + 2_200)));
        assert_eq!(turns.output_tokens, 3_000);
    }

    #[test]
    fn what_is_heavy_says_how_large_it_is() {
        let light = synthetic(600, "");
        assert!(!light.is_heavy(), "{light:?}");
        let heavy = synthetic(1_000_000, "");
        assert!(heavy.is_heavy());
        let count = format::count(1_000_000);
        assert!(heavy.words().starts_with(&format!("{count} requests with")), "{}", heavy.words());
        assert!(heavy.words().contains("about 39 seconds"), "{}", heavy.words());
        let most = synthetic(10_000_000, "");
        assert!(most.is_heavy() && most.words().contains("minutes"), "{}", most.words());
        let trace =
            size("tierscope = 1\n[workload]\nkind = \"trace\"\nfile = \"conversation_trace.jsonl\"\n");
        assert!(trace.is_heavy() && trace.words().contains("conversation_trace.jsonl"));
    }
}
