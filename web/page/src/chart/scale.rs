//! Between values and pixels.

/// Maps `0..=end` to a stretch of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Pixel of zero.
    pub from_px: f64,
    /// Pixels from zero to the end.
    pub length_px: f64,
    /// The value at the far end.
    pub end: f64,
}

impl Scale {
    /// The pixel of a value.
    pub fn px(self, value: f64) -> f64 {
        if self.end <= 0.0 { self.from_px } else { self.from_px + self.length_px * (value / self.end) }
    }

    /// The value at a pixel, kept within the scale.
    pub fn value(self, px: f64) -> f64 {
        if self.length_px <= 0.0 {
            return 0.0;
        }
        ((px - self.from_px) / self.length_px).clamp(0.0, 1.0) * self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let scale = Scale { from_px: 50.0, length_px: 200.0, end: 1e9 };
        assert_eq!(scale.px(5e8), 150.0);
        assert_eq!(scale.value(150.0), 5e8);
        assert_eq!([scale.value(-10.0), scale.value(900.0)], [0.0, 1e9]);
    }

    #[test]
    fn an_empty_scale_has_one_place() {
        let scale = Scale { from_px: 50.0, length_px: 0.0, end: 0.0 };
        assert_eq!((scale.px(7.0), scale.value(60.0)), (50.0, 0.0));
    }
}
