//! Copies between tiers in plain words, with their numbers.

use tierscope_worker::protocol::{Board, CopyCause, CopyOutcome, CopyView, LaneView, TierName};

use super::format::{clock, count, counted, time};

/// A lane: `G1→G2`.
pub fn lane(from: TierName, to: TierName) -> String {
    format!("{}→{}", from.as_str(), to.as_str())
}

/// What a copy carries, for whom, and since when: `32 blocks for request 4, since 12.3 ms`.
pub fn headline(copy: &CopyView, at_ns: f64, end_ns: f64) -> String {
    let whom = copy.request.map_or(String::new(), |request| format!(" for request {request}"));
    let since = match copy.started_ns.filter(|_| copy.is_moving(at_ns)) {
        Some(started) => format!("since {}", clock(started, end_ns)),
        None => format!("queued since {}", clock(copy.queued_ns, end_ns)),
    };
    format!("{}{whom}, {since}", counted(copy.blocks, "block", "blocks"))
}

/// The whole story of a copy: why, when, how it ended, who waited.
pub fn story(copy: &CopyView, end_ns: f64) -> String {
    let mut words = format!(
        "Transfer {} carries {} from {} to {}: {}. {}",
        count(copy.transfer as u64),
        counted(copy.blocks, "block", "blocks"),
        copy.from.as_str(),
        copy.to.as_str(),
        cause(copy),
        when(copy, end_ns)
    );
    if copy.retries > 0 {
        words += &format!(" It was tried again {}.", counted(copy.retries, "time", "times"));
    }
    if !copy.waiting.is_empty() {
        let names: Vec<String> = copy.waiting.iter().map(u32::to_string).collect();
        let noun = if names.len() == 1 { "request" } else { "requests" };
        words += &format!(" Who waits for it: {noun} {}.", names.join(", "));
    }
    words
}

fn when(copy: &CopyView, end_ns: f64) -> String {
    let queued = format!("Queued at {}", clock(copy.queued_ns, end_ns));
    let began = copy.started_ns.map(|started| format!("{queued}, begun at {}", clock(started, end_ns)));
    let end = match (&copy.end, copy.ended_ns) {
        (Some(CopyOutcome::Completed), Some(ended)) => match copy.started_ns {
            Some(started) => {
                format!("done at {}, after {}", clock(ended, end_ns), time(ended - started))
            }
            None => format!("done at {}", clock(ended, end_ns)),
        },
        (Some(CopyOutcome::Failed(why)), Some(ended)) => {
            format!("failed at {} ({})", clock(ended, end_ns), why.replace('_', " "))
        }
        (Some(CopyOutcome::Cancelled), Some(ended)) => {
            format!("given up at {}: nothing was left to copy", clock(ended, end_ns))
        }
        _ if copy.started_ns.is_some() => "still under way when the run stopped".to_owned(),
        _ => "still waiting when the run stopped".to_owned(),
    };
    format!("{}, {end}.", began.unwrap_or(queued))
}

fn cause(copy: &CopyView) -> String {
    match (copy.cause, copy.request) {
        (CopyCause::Evicted, _) => "they were evicted, and their slots are held until it ends".to_owned(),
        (CopyCause::Computed, _) => "they were computed".to_owned(),
        (CopyCause::Hit, _) => "they were found often enough".to_owned(),
        (CopyCause::Boundary, _) => "they are about to be evicted".to_owned(),
        (CopyCause::Chained, _) => {
            format!("they came to {}, which feeds {}", copy.from.as_str(), copy.to.as_str())
        }
        (CopyCause::Wanted, Some(request)) => format!("request {request} wants them"),
        (CopyCause::Wanted, None) => "somebody wants them".to_owned(),
    }
}

/// Why, in a word.
pub fn cause_word(cause: CopyCause) -> &'static str {
    match cause {
        CopyCause::Evicted => "evicted",
        CopyCause::Computed => "computed",
        CopyCause::Hit => "found often",
        CopyCause::Boundary => "soon evicted",
        CopyCause::Chained => "passed on",
        CopyCause::Wanted => "wanted",
    }
}

/// How a request that waits for a transfer is told of it.
pub fn awaited(board: &Board, transfer: f64) -> Option<String> {
    let copy = board.copies.iter().find(|copy| copy.transfer == transfer)?;
    let state = if copy.is_moving(board.at_ns) { "under way" } else { "queued" };
    Some(format!("{}, {}, {state}", lane(copy.from, copy.to), counted(copy.blocks, "block", "blocks")))
}

/// Bytes in the unit that leaves one to three digits before the point; units are powers of 1000.
pub fn bytes(bytes: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let mut value = bytes.max(0.0);
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.5 { 0 } else { 1 };
    format!("{value:.digits$} {}", units[unit])
}

/// How much of a lane's link is in use, and of what: `62 %`, ` of 24.8 GB/s`.
pub fn link_use(lane: &LaneView) -> (String, String) {
    match lane.rate {
        Some(rate) if rate.bytes_per_s > 0.0 => {
            (format!("{:.0} %", rate.share * 100.0), format!(" of {}/s", bytes(lane.limit_bytes_per_s)))
        }
        Some(_) => ("idle".to_owned(), String::new()),
        None => ("busy".to_owned(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use tierscope_worker::protocol::LinkUse;

    use super::*;

    fn copy() -> CopyView {
        CopyView {
            transfer: 7.0,
            from: TierName::G2,
            to: TierName::G1,
            cause: CopyCause::Wanted,
            request: Some(4),
            blocks: 32,
            queued_ns: 12e6,
            started_ns: Some(12.3e6),
            ended_ns: Some(15e6),
            end: Some(CopyOutcome::Completed),
            retries: 0,
            waiting: Vec::new(),
        }
    }

    #[test]
    fn a_move_says_what_for_whom_and_since_when() {
        assert_eq!(headline(&copy(), 13e6, 1e8), "32 blocks for request 4, since 12.30 ms");
        assert_eq!(headline(&copy(), 12.1e6, 1e8), "32 blocks for request 4, queued since 12.00 ms");
        let evicted = CopyView { request: None, blocks: 1, cause: CopyCause::Evicted, ..copy() };
        assert_eq!(headline(&evicted, 13e6, 1e8), "1 block, since 12.30 ms");
    }

    #[test]
    fn a_story_has_a_beginning_and_an_end() {
        assert_eq!(
            story(&copy(), 1e8),
            "Transfer 7 carries 32 blocks from G2 to G1: request 4 wants them. Queued at 12.00 ms, begun at 12.30 ms, \
             done at 15.00 ms, after 2.70 ms."
        );
        let failed = CopyView {
            end: Some(CopyOutcome::Failed("timed_out".to_owned())),
            retries: 2,
            waiting: vec![1, 9],
            ..copy()
        };
        let failed = story(&failed, 1e8);
        assert!(failed.contains("failed at 15.00 ms (timed out). It was tried again 2 times."), "{failed}");
        assert!(failed.ends_with("Who waits for it: requests 1, 9."), "{failed}");
        let stuck = CopyView { started_ns: None, ended_ns: None, end: None, ..copy() };
        assert!(story(&stuck, 1e8).ends_with("Queued at 12.00 ms, still waiting when the run stopped."));
    }

    #[test]
    fn a_wait_names_the_copy_where_it_is_known() {
        let board = Board { at_ns: 13e6, copies: vec![copy()], ..Board::default() };
        assert_eq!(awaited(&board, 7.0).as_deref(), Some("G2→G1, 32 blocks, under way"));
        assert_eq!(awaited(&board, 8.0), None);
    }

    #[test]
    fn bytes_and_shares_are_short() {
        assert_eq!(
            [0.0, 999.0, 1_500.0, 24.8e9, 999.9e6].map(bytes),
            ["0 B", "999 B", "1.5 kB", "24.8 GB", "1.0 GB"]
        );
        let lane = LaneView {
            from: TierName::G1,
            to: TierName::G2,
            queued: 0,
            starting: 0,
            in_flight: 1,
            settling: 0,
            permits: 4,
            completed: 0.0,
            failed: 0.0,
            cancelled: 0.0,
            moving_blocks: 4,
            moved_bytes: 0.0,
            busy_ns: 0.0,
            limit_bytes_per_s: 24.8e9,
            rate: Some(LinkUse { bytes_per_s: 15.4e9, share: 0.62 }),
        };
        assert_eq!(link_use(&lane), ("62 %".to_owned(), " of 24.8 GB/s".to_owned()));
        assert_eq!(link_use(&LaneView { rate: None, ..lane }).0, "busy");
    }
}
