//! Refused requests, with the numbers that show why (rule S4).

use serde::Serialize;
use tierscope_engine::Rejection;
use tierscope_units::RequestId;

/// A refused request as the report names it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rejected {
    /// Its number.
    pub request: u32,
    /// The reason's stable name.
    pub reason: &'static str,
    #[serde(flatten)]
    numbers: Numbers,
    /// The reason in words, with its numbers.
    pub explanation: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Numbers {
    Blocks { needed_blocks: u32, capacity_blocks: u32 },
    Length { needed_tokens: u64, max_model_len: u32 },
    Pass { tokens: u32, tokens_per_pass: u32 },
    None {},
}

impl Rejected {
    pub(crate) fn new(request: RequestId, reason: Rejection) -> Self {
        let numbers = match reason {
            Rejection::PromptExceedsG1 { needed_blocks, capacity_blocks }
            | Rejection::OutputExceedsG1 { needed_blocks, capacity_blocks } => {
                Numbers::Blocks { needed_blocks, capacity_blocks }
            }
            Rejection::ExceedsModelLen { needed_tokens, max_model_len } => {
                Numbers::Length { needed_tokens, max_model_len }
            }
            Rejection::ExceedsPass { tokens, tokens_per_pass } => Numbers::Pass { tokens, tokens_per_pass },
            Rejection::Empty => Numbers::None {},
        };
        Self { request: request.0, reason: name(reason), numbers, explanation: explain(reason) }
    }
}

/// The reason's stable name.
pub(crate) fn name(reason: Rejection) -> &'static str {
    match reason {
        Rejection::PromptExceedsG1 { .. } => "prompt_exceeds_g1",
        Rejection::OutputExceedsG1 { .. } => "output_exceeds_g1",
        Rejection::ExceedsModelLen { .. } => "exceeds_model_len",
        Rejection::ExceedsPass { .. } => "exceeds_pass",
        Rejection::Empty => "empty",
    }
}

/// The reason in words, with its numbers.
pub fn explain(reason: Rejection) -> String {
    match reason {
        Rejection::PromptExceedsG1 { needed_blocks, capacity_blocks } => {
            format!("its prompt alone needs {needed_blocks} blocks; G1 has {capacity_blocks}")
        }
        Rejection::OutputExceedsG1 { needed_blocks, capacity_blocks } => {
            format!("prompt and output need {needed_blocks} blocks; G1 has {capacity_blocks}")
        }
        Rejection::ExceedsModelLen { needed_tokens, max_model_len } => {
            format!("prompt and output are {needed_tokens} tokens; max_model_len is {max_model_len}")
        }
        Rejection::ExceedsPass { tokens, tokens_per_pass } => {
            format!("it needs passes of {tokens} tokens; a pass has room for {tokens_per_pass}")
        }
        Rejection::Empty => "its prompt or its output has no tokens".to_owned(),
    }
}
