//! The sheets at the right, of which one is seen.

/// A sheet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sheet {
    /// What happens at the cursor: the transaction, who waits for what, what is selected.
    #[default]
    Inspector,
    /// What came of the run.
    Results,
    /// Two runs beside each other.
    Compare,
    /// Many runs: a knob's curve, the sizing chart.
    Sizing,
}

impl Sheet {
    /// In the order of their tabs.
    pub const ALL: [Self; 4] = [Self::Inspector, Self::Results, Self::Compare, Self::Sizing];

    /// Its word in links and in the page's ids.
    pub fn word(self) -> &'static str {
        match self {
            Self::Inspector => "inspector",
            Self::Results => "results",
            Self::Compare => "compare",
            Self::Sizing => "sizing",
        }
    }

    /// What its tab says.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inspector => "Inspector",
            Self::Results => "Results",
            Self::Compare => "Compare",
            Self::Sizing => "Sizing",
        }
    }

    /// The sheet of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sheet| sheet.word() == word)
    }
}
