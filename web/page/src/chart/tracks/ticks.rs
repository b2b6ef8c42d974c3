//! The marks of the time axis: round times, as many as there is room for.

use super::view::View;

/// Room for one label.
const LABEL_PX: f64 = 82.0;

/// A mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// When.
    pub ns: f64,
    /// Where.
    pub px: f64,
    /// What is written there.
    pub label: String,
}

/// The marks of a view, the first at or after its beginning.
pub fn ticks(view: View, width: f64) -> Vec<Tick> {
    let most = (width / LABEL_PX).floor().max(1.0);
    let step = round_up(view.length_ns() / most).max(1.0);
    let mut number = (view.from_ns / step).ceil();
    let mut out = Vec::new();
    while number * step <= view.to_ns && out.len() < 100 {
        let ns = number * step;
        out.push(Tick { ns, px: view.px(ns, width), label: label(ns, step, view.to_ns) });
        number += 1.0;
    }
    out
}

/// The next of 1, 2, 5, 10, 20, …
fn round_up(ns: f64) -> f64 {
    let power = 10f64.powf(ns.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|&step| step >= ns).unwrap_or(ns)
}

/// In the unit of the view's end, with the digits that tell neighbours apart.
fn label(ns: f64, step: f64, to_ns: f64) -> String {
    let (unit, name) = match to_ns {
        _ if to_ns >= 1e9 => (1e9, "s"),
        _ if to_ns >= 1e6 => (1e6, "ms"),
        _ if to_ns >= 1e3 => (1e3, "µs"),
        _ => (1.0, "ns"),
    };
    let digits = (unit / step).log10().ceil().clamp(0.0, 9.0) as usize;
    format!("{:.digits$} {name}", ns / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from_ns: f64, to_ns: f64, width: f64) -> Vec<String> {
        ticks(View { from_ns, to_ns }, width).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn marks_are_round_and_have_room() {
        assert_eq!(labels(0.0, 1e9, 440.0), ["0.0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s", "1.0 s"]);
        assert_eq!(labels(3e6, 4e6, 300.0), ["3.0 ms", "3.5 ms", "4.0 ms"]);
        assert_eq!(labels(12_345_000.0, 12_345_040.0, 200.0), ["12.34500 ms", "12.34502 ms", "12.34504 ms"]);
        for width in [10.0, 300.0, 2_000.0] {
            for length in [40.0, 1e3, 7.7e5, 3.6e12] {
                let marks = ticks(View { from_ns: length / 3.0, to_ns: length * 4.0 / 3.0 }, width);
                assert!(marks.windows(2).all(|pair| pair[1].px - pair[0].px > LABEL_PX * 0.7), "{marks:?}");
                assert!(marks.windows(2).all(|pair| pair[0].label != pair[1].label), "{marks:?}");
            }
        }
    }
}
