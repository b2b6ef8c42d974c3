//! JSON values of one line, byte by byte, with faults at their byte.

use super::line::{Fault, quote_bytes};
use crate::limit;

/// A place in a line. Every reader leaves it behind what it read.
pub(super) struct Cursor<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) at: usize,
}

impl<'b> Cursor<'b> {
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    pub(super) fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// A fault at this place, quoting what stands there.
    #[cold]
    pub(super) fn fault(
        &self,
        key: &'static str,
        expected: impl Into<String>,
        mend: impl Into<String>,
    ) -> Fault {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let end = match rest.first() {
            None => return Fault::new(self.at, key, "the end of the line", expected, mend),
            Some(b'"') => {
                rest.iter().skip(1).position(|&byte| byte == b'"').map_or(rest.len(), |end| end + 2)
            }
            Some(_) => rest
                .iter()
                .skip(1)
                .position(|byte| b",]}: \t".contains(byte))
                .map_or(rest.len(), |end| end + 1),
        };
        let token = &rest[..end];
        let found = match token {
            [b'"', inner @ .., b'"'] => format!("the text {}", quote_bytes(inner)),
            _ => quote_bytes(token),
        };
        Fault::new(self.at, key, found, expected, mend)
    }

    pub(super) fn expect(&mut self, byte: u8, expected: &str) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            return Err(self.fault("", expected, "write one JSON object per line"));
        }
        self.at += 1;
        Ok(())
    }

    /// After an item: true at a comma, false at `end`.
    #[inline]
    pub(super) fn comma_or(&mut self, end: u8) -> Result<bool, Fault> {
        self.space();
        let more = match self.peek() {
            Some(b',') => true,
            Some(byte) if byte == end => false,
            _ => {
                return Err(self.fault(
                    "",
                    format!("a comma or {}", end as char),
                    "write one JSON object per line",
                ));
            }
        };
        self.at += 1;
        Ok(more)
    }

    /// The inside of a string, escapes as they stand.
    pub(super) fn string(&mut self) -> Result<&'b [u8], Fault> {
        self.expect(b'"', "a key in quotation marks")?;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(byte) if byte >= 0x20 => self.at += 1,
                _ => {
                    return Err(self.fault(
                        "",
                        "a closing quotation mark",
                        "close the text, without line breaks in it",
                    ));
                }
            }
        }
        self.at += 1;
        Ok(&self.bytes[start..self.at - 1])
    }

    #[inline]
    fn digits(&mut self) -> Option<u64> {
        let start = self.at;
        let mut value: u64 = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            self.at += 1;
        }
        let padded = self.at - start > 1 && self.bytes[start] == b'0';
        let ends = !matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        (self.at > start && !padded && ends).then_some(value)
    }

    /// A whole number from 0 to `high`.
    #[inline]
    pub(super) fn whole(&mut self, key: &'static str, high: u64) -> Result<u64, Fault> {
        let start = self.at;
        match self.digits() {
            Some(value) if value <= high => Ok(value),
            _ => {
                self.at = start;
                Err(self.fault(
                    key,
                    format!("a whole number from 0 to {high}"),
                    self.mend_of_number(high as f64),
                ))
            }
        }
    }

    fn mend_of_number(&self, high: f64) -> String {
        let token = self.number_token();
        match std::str::from_utf8(token).ok().and_then(|text| text.parse::<f64>().ok()) {
            _ if self.peek() == Some(b'"') => "remove the quotation marks".into(),
            _ if token.iter().all(u8::is_ascii_digit)
                && token.first().is_some_and(|&digit| digit != b'0') =>
            {
                "correct or remove the row: it is too large".into()
            }
            Some(number) if number < 0.0 => "correct or remove the row: it is negative".into(),
            Some(number) if number > high => "correct or remove the row: it is too large".into(),
            Some(number) if number.is_finite() => "write it with digits only".into(),
            _ => "write a number".into(),
        }
    }

    fn number_token(&self) -> &'b [u8] {
        let rest = &self.bytes[self.at..];
        let end =
            rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        &rest[..end.unwrap_or(rest.len())]
    }

    /// A time without a sign, as nanoseconds.
    #[inline]
    pub(super) fn decimal(&mut self, key: &'static str, unit: Unit) -> Result<u64, Fault> {
        let start = self.at;
        let most = limit::TIME_NS / unit.ns;
        if let Some(whole) = self.digits().filter(|&whole| whole <= most) {
            return Ok(whole * unit.ns);
        }
        self.at = start;
        let token = self.number_token();
        match nanoseconds(token, unit) {
            Some(ns) => {
                self.at += token.len();
                Ok(ns)
            }
            None => {
                let expected = format!("{} from 0 to {most} (ten years)", unit.name);
                Err(self.fault(key, expected, self.mend_of_number(most as f64)))
            }
        }
    }

    /// A whole number of 32 bits with a sign, as a number of 64.
    pub(super) fn signed(&mut self, key: &'static str) -> Result<i64, Fault> {
        let token = self.number_token();
        let number = std::str::from_utf8(token).ok().and_then(|text| text.parse::<i32>().ok());
        let padded = matches!(token, [b'+', ..] | [b'0', _, ..] | [b'-', b'0', ..]);
        let Some(number) = number.filter(|_| !padded) else {
            let expected = format!("a whole number from {} to {}", i32::MIN, i32::MAX);
            return Err(self.fault(key, expected, "correct or remove it"));
        };
        self.at += token.len();
        Ok(i64::from(number))
    }

    /// A name: a text, or a whole number; what stands between the quotation marks, escapes as they stand.
    pub(super) fn label(&mut self, key: &'static str) -> Result<&'b [u8], Fault> {
        if self.peek() == Some(b'"') {
            return self.string();
        }
        let token = self.number_token();
        if token.is_empty() || !token.iter().all(u8::is_ascii_digit) {
            return Err(self.fault(key, "a text or a whole number", "put it in quotation marks"));
        }
        self.at += token.len();
        Ok(token)
    }

    /// Enters an array: false when it is empty, which leaves it.
    pub(super) fn open_array(
        &mut self,
        key: &'static str,
        expected: &str,
        mend: &str,
    ) -> Result<bool, Fault> {
        if self.peek() != Some(b'[') {
            return Err(self.fault(key, expected, mend));
        }
        self.at += 1;
        self.space();
        let empty = self.peek() == Some(b']');
        self.at += usize::from(empty);
        Ok(!empty)
    }

    /// Passes over a value of any kind.
    pub(super) fn skip(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > limit::TRACE_ROW_DEPTH {
            let expected = format!("at most {} levels of nesting", limit::TRACE_ROW_DEPTH);
            return Err(self.fault("", expected, "remove the fields that no reader needs"));
        }
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(open @ (b'{' | b'[')) => self.skip_all(open, depth),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => {
                let token = self.number_token();
                if !token.iter().any(u8::is_ascii_digit) {
                    return Err(self.fault("", "a value", "write one JSON object per line"));
                }
                self.at += token.len();
                Ok(())
            }
        }
    }

    fn skip_all(&mut self, open: u8, depth: usize) -> Result<(), Fault> {
        let close = if open == b'{' { b'}' } else { b']' };
        self.at += 1;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.space();
            if open == b'{' {
                self.string()?;
                self.space();
                self.expect(b':', "a colon after the key")?;
                self.space();
            }
            self.skip(depth + 1)?;
            if !self.comma_or(close)? {
                return Ok(());
            }
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Fault> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.fault("", "a value", "write true, false, null, a number or a text"));
        }
        self.at += word.len();
        Ok(())
    }
}

/// A unit of time in a trace.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub(super) name: &'static str,
    pub(super) ns: u64,
    /// Decimal places of one unit in nanoseconds.
    places: usize,
}

pub(super) const MILLISECONDS: Unit = Unit { name: "milliseconds", ns: 1_000_000, places: 6 };
pub(super) const SECONDS: Unit = Unit { name: "seconds", ns: 1_000_000_000, places: 9 };

/// Nanoseconds of a number without a sign; `None` beyond ten years, or when it is none. What is written with no more places than
/// a nanosecond has is read exactly, so that a time that was written from nanoseconds comes back as it was.
pub(super) fn nanoseconds(token: &[u8], unit: Unit) -> Option<u64> {
    let valid = token.first().is_some_and(u8::is_ascii_digit) && token.last().is_some_and(u8::is_ascii_digit);
    if !valid {
        return None;
    }
    if let Some(exact) = exactly(token, unit) {
        return (exact <= limit::TIME_NS).then_some(exact);
    }
    let number = std::str::from_utf8(token).ok()?.parse::<f64>().ok()?;
    let most = (limit::TIME_NS / unit.ns) as f64;
    (number <= most).then(|| libm::round(number * unit.ns as f64) as u64)
}

fn exactly(token: &[u8], unit: Unit) -> Option<u64> {
    let point = token.iter().position(|&byte| byte == b'.')?;
    let (whole, fraction) = (&token[..point], &token[point + 1..]);
    if whole.len() > 12 || fraction.len() > unit.places {
        return None;
    }
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0_u64, |value, digit| {
            digit.is_ascii_digit().then(|| value * 10 + u64::from(digit - b'0'))
        })
    };
    let scaled = (fraction.len()..unit.places).fold(number(fraction)?, |value, _| value * 10);
    number(whole)?.checked_mul(unit.ns)?.checked_add(scaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_nanosecond() {
        let ms = |text: &str| nanoseconds(text.as_bytes(), MILLISECONDS);
        assert_eq!(ms("315359999999.999999"), Some(315_359_999_999_999_999), "more digits than a float has");
        assert_eq!(ms("27.5"), Some(27_500_000));
        assert_eq!(ms("0.1234567"), Some(123_457), "rounded");
        assert_eq!(ms("1e3"), Some(1_000_000_000));
        assert_eq!(nanoseconds(b"103.60000000000001", SECONDS), Some(103_600_000_000));
        for bad in ["", "-1", "1.", ".5", "1e300", "nan", "315360000000.1", "1.5.5", "1 5"] {
            assert_eq!(ms(bad), None, "{bad}");
        }
    }
}
