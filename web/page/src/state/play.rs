//! The cursor in time, and how it moves while the run is played.

/// The cursor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    /// Where it stands.
    pub cursor_ns: f64,
    /// Whether it moves by itself.
    pub playing: bool,
    /// How long the whole run takes on the screen.
    pub pace: Pace,
}

impl Default for Playback {
    fn default() -> Self {
        Self { cursor_ns: 0.0, playing: false, pace: Pace::S15 }
    }
}

/// How long the whole run takes on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// 5 seconds.
    S5,
    /// 15 seconds.
    S15,
    /// A minute.
    S60,
    /// Five minutes.
    S300,
}

impl Pace {
    /// All, quickest first.
    pub const ALL: [Self; 4] = [Self::S5, Self::S15, Self::S60, Self::S300];

    /// Seconds for the whole run.
    pub fn seconds(self) -> u32 {
        match self {
            Self::S5 => 5,
            Self::S15 => 15,
            Self::S60 => 60,
            Self::S300 => 300,
        }
    }

    /// The pace of so many seconds.
    pub fn of_seconds(seconds: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pace| pace.seconds().to_string() == seconds)
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
        let share = frame_ms.clamp(0.0, FRAME_MS) / (1e3 * f64::from(self.pace.seconds()));
        let cursor_ns = (self.cursor_ns + share * end_ns).min(end_ns);
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
