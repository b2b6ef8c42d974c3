//! The colours that charts and the board are drawn with. They come from the style sheet's tokens.

use plotters::style::RGBColor;
use tierscope_worker::protocol::BlockState;

/// A colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// Reads `rgb(1, 2, 3)` or `rgba(1, 2, 3, 0.5)`, the form in which browsers answer.
    pub fn of_css(text: &str) -> Option<Self> {
        let inner = text.trim().strip_prefix("rgba(").or_else(|| text.trim().strip_prefix("rgb("))?;
        let mut parts = inner.trim_end_matches(')').split([',', ' ', '/']).filter(|part| !part.is_empty());
        let mut next = || parts.next()?.parse::<f64>().ok().map(|value| value.clamp(0.0, 255.0) as u8);
        Some(Self(next()?, next()?, next()?))
    }

    /// As a style sheet writes it.
    pub fn css(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// As plotters takes it.
    pub fn rgb(self) -> RGBColor {
        RGBColor(self.0, self.1, self.2)
    }
}

/// All colours of the drawings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Palette {
    /// Behind everything.
    pub surface: Colour,
    /// Labels.
    pub ink: Colour,
    /// Rings around cells.
    pub mark: Colour,
    /// Grid and axes.
    pub line: Colour,
    /// Block states, in the order of [`BlockState::ALL`].
    pub states: [Colour; 6],
    /// Text on active and shared cells.
    pub on_state: Colour,
    /// TTFT, ITL, E2E.
    pub latencies: [Colour; 3],
    /// Requests running, requests waiting.
    pub queues: [Colour; 2],
    /// What stands still: waiting, queued.
    pub still: Colour,
    /// What is in trouble, and what is held up.
    pub trouble: [Colour; 2],
    /// What is picked out.
    pub accent: Colour,
    /// Behind headers and axes.
    pub raised: Colour,
}

impl Palette {
    /// The tokens, in the order in which [`Palette::of`] takes their colours.
    pub const TOKENS: [&'static str; 21] = [
        "--surface",
        "--ink-soft",
        "--ink",
        "--line",
        "--free",
        "--reserved",
        "--active",
        "--shared",
        "--cached",
        "--source-hold",
        "--on-state",
        "--ttft",
        "--itl",
        "--e2e",
        "--running",
        "--waiting",
        "--line-strong",
        "--bad",
        "--warn",
        "--accent",
        "--raised",
    ];

    /// The palette of the tokens' colours.
    pub fn of(colours: [Colour; Self::TOKENS.len()]) -> Self {
        let [
            surface,
            ink,
            mark,
            line,
            free,
            reserved,
            active,
            shared,
            cached,
            source_hold,
            on_state,
            ttft,
            itl,
            e2e,
            running,
            waiting,
            still,
            bad,
            warn,
            accent,
            raised,
        ] = colours;
        Self {
            surface,
            ink,
            mark,
            line,
            states: [free, reserved, active, shared, cached, source_hold],
            on_state,
            latencies: [ttft, itl, e2e],
            queues: [running, waiting],
            still,
            trouble: [bad, warn],
            accent,
            raised,
        }
    }

    /// The colour of a state.
    pub fn state(&self, state: BlockState) -> Colour {
        self.states[state as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browsers_forms_are_read() {
        assert_eq!(Colour::of_css("rgb(1, 2, 255)"), Some(Colour(1, 2, 255)));
        assert_eq!(Colour::of_css(" rgba(1, 2, 3, 0.5)"), Some(Colour(1, 2, 3)));
        assert_eq!(Colour::of_css("rgb(1 2 3 / 0.5)"), Some(Colour(1, 2, 3)));
        assert_eq!(Colour::of_css("light-dark(#fff, #000)"), None);
        assert_eq!(Colour(1, 2, 255).css(), "#0102ff");
    }
}
