//! Sizes, counts and formats in words.

use tierscope_scenario::TraceFormat;
use tierscope_worker::protocol::TRACE_FILE_BYTES;

/// Why a file of this size cannot be a trace in a tab.
pub fn unfit_size(bytes: f64) -> Option<String> {
    if bytes == 0.0 {
        return Some("It is empty.".to_owned());
    }
    let most = TRACE_FILE_BYTES as f64;
    (bytes > most).then(|| {
        format!(
            "It has {}; a tab takes at most {}. Cut it, or run it with the command: tierscope run FILE.",
            size(bytes),
            size(most)
        )
    })
}

/// A size in words.
pub fn size(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        bytes if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        bytes if bytes >= 1e3 => format!("{:.1} kB", bytes / 1e3),
        bytes => format!("{bytes} bytes"),
    }
}

/// A whole number with commas.
pub fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What a format is called.
pub(super) fn format(format: TraceFormat) -> &'static str {
    match format {
        TraceFormat::Mooncake => "Mooncake",
        TraceFormat::MooncakeDelta => "Mooncake delta",
        TraceFormat::Weka => "Weka",
        TraceFormat::Dynamo => "Dynamo",
        TraceFormat::QwenBailian => "Qwen-Bailian",
        TraceFormat::LmCache => "LMCache",
        TraceFormat::AzureCsv => "Azure",
        TraceFormat::BurstGpt => "BurstGPT",
    }
}
