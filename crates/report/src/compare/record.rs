//! A fact as a record: its kind, its time, and fields by name. A fact log on disk and a run under way are read as the
//! same records, so that everything behind them is one program.

/// One fact, borrowed from the line that it stands on.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<'a> {
    /// What kind of fact it is: `admitted`.
    pub kind: &'a str,
    /// When, in nanoseconds of its run's clock; of a normalized record, since the first arrival.
    pub at_ns: i128,
    /// The other fields, in the order of the line.
    pub fields: Vec<(&'a str, Value<'a>)>,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A whole number.
    Number(i128),
    /// Any other number.
    Real(f64),
    /// A truth value.
    Flag(bool),
    /// A word.
    Word(&'a str),
    /// Nothing: `null`.
    Nothing,
    /// Blocks: where each lies and what it holds.
    Blocks(Vec<Block>),
    /// Anything else that is a list.
    List(Vec<Value<'a>>),
}

/// A block: its slot and its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its slot in its tier.
    pub slot: u64,
    /// Its sequence hash; zero for a block without one.
    pub hash: u64,
}

impl<'a> Record<'a> {
    /// The field called `key`.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.fields.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// A field that holds a whole number.
    pub fn number(&self, key: &str) -> Option<i128> {
        match self.get(key) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// A field that holds a word.
    pub fn word(&self, key: &str) -> Option<&'a str> {
        match self.get(key) {
            Some(Value::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// The blocks of all its block lists, in order.
    pub fn blocks(&self) -> impl Iterator<Item = Block> {
        self.fields
            .iter()
            .flat_map(|(_, value)| match value {
                Value::Blocks(blocks) => blocks.as_slice(),
                _ => &[],
            })
            .copied()
    }
}
