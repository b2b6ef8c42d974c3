//! The cursor in time, and how it moves while the run is played.

/// The cursor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    /// Where it stands.
    pub cursor_ns: f64,
    /// Whether it moves by itself.
    pub playing: bool,
    /// How fast.
    pub pace: Pace,
}

impl Default for Playback {
    fn default() -> Self {
        Self { cursor_ns: 0.0, playing: false, pace: Pace::Fit }
    }
}

/// How fast the run plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The whole run in [`FIT_S`] seconds.
    Fit,
    /// So many tenths of simulated time in real time.
    Tenths(u16),
}

/// Seconds that a run takes at the pace that fits it.
pub const FIT_S: f64 = 15.0;

impl Pace {
    /// All, the one that fits first, then the slowest first.
    pub const ALL: [Self; 9] = [
        Self::Fit,
        Self::Tenths(1),
        Self::Tenths(5),
        Self::Tenths(10),
        Self::Tenths(20),
        Self::Tenths(50),
        Self::Tenths(100),
        Self::Tenths(1_000),
        Self::Tenths(10_000),
    ];

    /// Its word: `fit`, `0.5×`, `100×`.
    pub fn word(self) -> String {
        match self {
            Self::Fit => "fit".to_owned(),
            Self::Tenths(tenths) => format!("{}×", f64::from(tenths) / 10.0),
        }
    }

    /// The pace of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pace| pace.word() == word)
    }

    /// Simulated time that passes in a stretch of real time, in nanoseconds.
    fn passes_ns(self, real_ms: f64, end_ns: f64) -> f64 {
        match self {
            Self::Fit => real_ms / (1e3 * FIT_S) * end_ns,
            Self::Tenths(tenths) => real_ms * 1e6 * f64::from(tenths) / 10.0,
        }
    }
}

/// Longest step of one frame: a page that was hidden goes on where it stood.
const FRAME_MS: f64 = 100.0;

impl Playback {
    /// The cursor one frame later. A frame that was under way when the user paused moves nothing.
    pub fn ticked(self, frame_ms: f64, end_ns: f64) -> Self {
        if !self.playing {
            return self;
        }
        let passed = self.pace.passes_ns(frame_ms.clamp(0.0, FRAME_MS), end_ns);
        let cursor_ns = (self.cursor_ns + passed).min(end_ns);
        Self { cursor_ns, playing: cursor_ns < end_ns, ..self }
    }

    /// Playing, from the beginning if the cursor stood at the end; or paused.
    pub fn toggled(self, end_ns: f64) -> Self {
        let from = if !self.playing && self.cursor_ns >= end_ns { 0.0 } else { self.cursor_ns };
        Self { cursor_ns: from, playing: !self.playing, ..self }
    }

    /// Paused at a time within the run.
    pub fn paused_at(self, ns: f64, end_ns: f64) -> Self {
        let cursor_ns = if ns.is_finite() { ns.round().clamp(0.0, end_ns.max(0.0)) } else { 0.0 };
        Self { cursor_ns, playing: false, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_plays_once_and_stops_at_its_end() {
        let mut playback = Playback::default().toggled(1e9);
        let mut frames = 0;
        while playback.playing {
            playback = playback.ticked(50.0, 1e9);
            frames += 1;
        }
        assert_eq!(playback.cursor_ns, 1e9);
        assert!((300..=301).contains(&frames), "15 s at 20 frames a second, not {frames}");
        assert_eq!(playback.toggled(1e9).cursor_ns, 0.0);
    }

    #[test]
    fn a_pace_is_simulated_time_in_real_time() {
        let after_a_second = |pace| {
            let mut playback = Playback { pace, ..Playback::default() }.toggled(1e15);
            for _ in 0..20 {
                playback = playback.ticked(50.0, 1e15);
            }
            playback.cursor_ns
        };
        assert_eq!(
            Pace::ALL[1..].iter().map(|&pace| after_a_second(pace) / 1e9).collect::<Vec<_>>(),
            [0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1_000.0]
        );
        assert!(Pace::ALL.into_iter().all(|pace| Pace::of_word(&pace.word()) == Some(pace)));
        assert_eq!([Pace::Tenths(1).word(), Pace::Tenths(10).word()], ["0.1×", "1×"]);
        assert_eq!(Pace::of_word("7×"), None);
    }

    #[test]
    fn a_late_frame_does_not_undo_a_pause() {
        let paused = Playback::default().toggled(1e9).paused_at(5e8, 1e9);
        assert_eq!(paused.ticked(16.0, 1e9), paused);
    }

    #[test]
    fn the_cursor_stays_within_the_run() {
        let paused = |ns| Playback::default().paused_at(ns, 100.0).cursor_ns;
        assert_eq!([paused(-1.0), paused(50.4), paused(1e30), paused(f64::NAN)], [0.0, 50.0, 100.0, 0.0]);
    }
}
