//! Drawn workloads. Each use draws from a stream of its own: `arrivals`, `prefix`, `prompt_tokens`,
//! `output_tokens`; so that a change of one distribution moves no draw of another.
//!
//! A session's runs are one list: prefix, text, output, text, output … and the prompt of each turn is a prefix of
//! it, so that a session of many turns takes memory in proportion to its turns.

use tierscope_units::time::NS_PER_S;
use tierscope_units::{RandomStream, RequestId, SimTime, TokenRun};

use super::{RequestPlan, Start, Workload, output_start, prefix_run, spec_problem, text_run};
use crate::limit;
use crate::problem::Problem;
use crate::scenario::{ArrivalProcess, Lengths, Scenario, Synthetic};

pub(super) fn expand(synthetic: &Synthetic, scenario: &Scenario) -> Result<Workload, Vec<Problem>> {
    let all = u64::from(synthetic.requests) * u64::from(synthetic.turns);
    if all > limit::REQUESTS {
        let expected = format!("at most {} requests in all", limit::REQUESTS);
        return Err(vec![spec_problem(
            "workload.turns",
            all.to_string(),
            expected,
            "lower requests or turns",
        )]);
    }
    let mut workload = Workload {
        requests: Vec::with_capacity(all as usize),
        content_block_tokens: scenario.engine.block_size_tokens,
        ..Workload::default()
    };
    if let ArrivalProcess::ClosedLoop { concurrency, .. } = synthetic.arrival {
        workload.concurrency = Some(concurrency);
    }
    let mut streams = Streams::of(scenario.seed);
    let mut clock = 0.0;
    for session in 0..synthetic.requests {
        let start = streams.start(&synthetic.arrival, session, &mut clock).ok_or_else(too_late)?;
        push_session(&mut workload, synthetic, start, &mut streams)?;
    }
    Ok(workload)
}

fn too_late() -> Vec<Problem> {
    vec![spec_problem(
        "workload.rate_per_s",
        "arrivals more than ten years after the beginning",
        "all requests within ten years",
        "raise rate_per_s or lower requests",
    )]
}

struct Streams {
    arrivals: RandomStream,
    prefix: RandomStream,
    prompt_tokens: RandomStream,
    output_tokens: RandomStream,
}

impl Streams {
    fn of(seed: u64) -> Self {
        Self {
            arrivals: RandomStream::named(seed, "arrivals"),
            prefix: RandomStream::named(seed, "prefix"),
            prompt_tokens: RandomStream::named(seed, "prompt_tokens"),
            output_tokens: RandomStream::named(seed, "output_tokens"),
        }
    }

    /// The start of a session. `clock` is the time of the last arrival in seconds; the first Poisson arrival comes
    /// after a gap too, the first of a fixed rate at zero.
    fn start(&mut self, arrival: &ArrivalProcess, session: u32, clock: &mut f64) -> Option<Start> {
        match *arrival {
            ArrivalProcess::ClosedLoop { think_time, .. } => {
                return Some(Start::WhenFree { delay: think_time });
            }
            ArrivalProcess::FixedRate { rate_per_s } => *clock = f64::from(session) / rate_per_s,
            ArrivalProcess::Poisson { rate_per_s } => *clock += self.arrivals.exponential(1.0 / rate_per_s),
        }
        let ns = libm::round(*clock * NS_PER_S as f64);
        (ns <= limit::TIME_NS as f64).then(|| Start::At(SimTime::from_ns(ns as u64)))
    }
}

fn push_session(
    workload: &mut Workload,
    synthetic: &Synthetic,
    start: Start,
    streams: &mut Streams,
) -> Result<(), Vec<Problem>> {
    let first = workload.runs.len();
    let mut prompt_tokens: u64 = 0;
    if let Some(shared) = synthetic.shared_prefix {
        let group = streams.prefix.between(0, u64::from(shared.groups) - 1);
        workload.push_run(first, prefix_run(group, shared.tokens));
        prompt_tokens = u64::from(shared.tokens);
    }
    for turn in 0..synthetic.turns {
        let index = workload.requests.len();
        if let (true, Some(previous)) = (turn > 0, workload.requests.last()) {
            let answer = TokenRun { start: previous.output_start, len: previous.output_tokens };
            prompt_tokens += u64::from(answer.len);
            workload.push_run(first, answer);
        }
        let text = draw(&synthetic.prompt_tokens, &mut streams.prompt_tokens);
        prompt_tokens += u64::from(text);
        if prompt_tokens > limit::TOKENS_PER_REQUEST {
            return Err(vec![too_long(turn, prompt_tokens)]);
        }
        workload.push_run(first, text_run(index, text));
        let earlier = RequestId(index.saturating_sub(1) as u32);
        workload.requests.push(RequestPlan {
            start: if turn == 0 {
                start
            } else {
                Start::After { request: earlier, delay: synthetic.turn_delay }
            },
            runs: first as u32..workload.runs.len() as u32,
            prompt_tokens: prompt_tokens as u32,
            output_tokens: draw(&synthetic.output_tokens, &mut streams.output_tokens),
            output_start: output_start(index),
            salt: 0,
            priority: 0,
            cancel_after: None,
        });
    }
    Ok(())
}

fn too_long(turn: u32, tokens: u64) -> Problem {
    let expected = format!("at most {} tokens in a prompt", limit::TOKENS_PER_REQUEST);
    spec_problem(
        "workload.turns",
        format!("{tokens} tokens of prompt in turn {turn}"),
        expected,
        "lower turns, prompt_tokens or output_tokens",
    )
}

fn draw(lengths: &Lengths, stream: &mut RandomStream) -> u32 {
    match *lengths {
        Lengths::Fixed(tokens) => tokens,
        Lengths::Uniform { min, max } => stream.between(u64::from(min), u64::from(max)) as u32,
        Lengths::Normal { mean, stddev } => bounded(mean + stddev * stream.normal()),
        Lengths::LogNormal { mean, stddev } => {
            // The logarithm's variance and mean that give the counts this mean and deviation.
            let ratio = stddev / mean;
            let variance = libm::log1p(ratio * ratio);
            let center = libm::log(mean) - variance / 2.0;
            bounded(libm::exp(center + libm::sqrt(variance) * stream.normal()))
        }
    }
}

fn bounded(tokens: f64) -> u32 {
    libm::round(tokens).max(1.0).min(limit::TOKENS_PER_REQUEST as f64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_any;
    use tierscope_units::Span;

    fn workload(text: &str) -> Workload {
        let scenario = parse_any(&format!("tierscope = 1\n{text}")).expect("the scenario is valid");
        super::super::expand(&scenario, None).expect("the workload is within its limits")
    }

    fn mean(values: impl Iterator<Item = u32>) -> f64 {
        let values: Vec<f64> = values.map(f64::from).collect();
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn turns_are_prefixes_of_their_session() {
        let workload = workload(
            "[workload]\nkind = 'synthetic'\nrequests = 2\narrival = 'fixed_rate'\nrate_per_s = 2\nprompt_tokens = 10\n\
             output_tokens = 3\nturns = 3\nturn_delay_ms = 5\nshared_prefix = { tokens = 7 }",
        );
        let sizes: Vec<_> = workload.requests.iter().map(|plan| plan.prompt_tokens).collect();
        assert_eq!(sizes, [17, 30, 43, 17, 30, 43]);
        let last = workload.prompt(&workload.requests[2]);
        assert_eq!(last[0], prefix_run(0, 7));
        assert_eq!(last[2], TokenRun { start: output_start(0), len: 3 });
        assert_eq!(workload.prompt(&workload.requests[1]), &last[..4]);
        assert_eq!(
            workload.requests[1].start,
            Start::After { request: RequestId(0), delay: Span::from_ns(5_000_000) }
        );
        assert_eq!(workload.requests[3].start, Start::At(SimTime::from_ns(500_000_000)));
        assert_eq!(workload.runs.len(), 12);
    }

    #[test]
    fn distributions_have_the_mean_that_they_name() {
        let text = "[workload]\nkind = 'synthetic'\nrequests = 4000\narrival = 'poisson'\nrate_per_s = 10\n\
             prompt_tokens = { mean = 800, stddev = 400, distribution = 'lognormal' }\noutput_tokens = { mean = 200, stddev = 20 }";
        let drawn = workload(text);
        let prompts = mean(drawn.requests.iter().map(|plan| plan.prompt_tokens));
        let outputs = mean(drawn.requests.iter().map(|plan| plan.output_tokens));
        assert!(
            (780.0..820.0).contains(&prompts) && (199.0..201.0).contains(&outputs),
            "{prompts} {outputs}"
        );
        let Start::At(last) = drawn.requests[3999].start else { panic!("not a time") };
        assert!((380.0..420.0).contains(&last.as_secs_f64()), "{last:?}");
        assert_eq!(drawn, workload(text), "a seed draws the same twice");
    }

    #[test]
    fn one_distribution_moves_no_draw_of_another() {
        let with = |prompt: &str| {
            workload(&format!(
                "[workload]\nkind = 'synthetic'\nrequests = 50\narrival = 'poisson'\nrate_per_s = 10\n\
                 prompt_tokens = {prompt}\noutput_tokens = {{ min = 1, max = 900 }}"
            ))
        };
        let outputs =
            |w: &Workload| w.requests.iter().map(|plan| (plan.start, plan.output_tokens)).collect::<Vec<_>>();
        assert_eq!(outputs(&with("5")), outputs(&with("{ min = 5, max = 50 }")));
    }

    #[test]
    fn sizes_that_only_show_when_drawn_are_refused() {
        let text = "tierscope = 1\n[workload]\nkind = 'synthetic'\nrequests = 1\narrival = 'closed_loop'\nconcurrency = 1\n\
             prompt_tokens = 9000000\noutput_tokens = 1\nturns = 2";
        let problems = super::super::expand(&parse_any(text).expect("valid"), None).expect_err("too long");
        assert_eq!(problems[0].found, "18000001 tokens of prompt in turn 1");
        let late = "tierscope = 1\n[workload]\nkind = 'synthetic'\nrequests = 1000\narrival = 'fixed_rate'\nrate_per_s = 1e-6\n\
             prompt_tokens = 9\noutput_tokens = 1";
        let problems = super::super::expand(&parse_any(late).expect("valid"), None).expect_err("too late");
        assert_eq!(problems[0].key, "workload.rate_per_s");
    }
}
