//! A logarithmic axis, from one power of ten to another.

use crate::table::figure;

/// Where values are on a drawing.
pub(crate) struct Axis {
    low: i32,
    high: i32,
    from: f64,
    to: f64,
}

impl Axis {
    /// For values from `least` to `most`.
    pub(crate) fn over((least, most): (f64, f64), from: f64, to: f64) -> Self {
        // The logarithm of a power of ten may be off by a hair.
        let low = (least.log10() + 1e-9).floor() as i32;
        let high = (most.log10() - 1e-9).ceil() as i32;
        Self {
            low,
            high: high.max(low + 1),
            from,
            to,
        }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// Where it begins and where it ends.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// The powers of ten: what they are called and where they are.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = (String, f64)> {
        (self.low..=self.high).map(|power| (decade(power), self.at(10_f64.powi(power))))
    }
}

/// The least and the most of the values.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let wider = |(least, most): (f64, f64), value| (least.min(value), most.max(value));
    values.fold((f64::INFINITY, f64::NEG_INFINITY), wider)
}

/// A power of ten, short.
fn decade(power: i32) -> String {
    match power {
        ..0 => figure(10_f64.powi(power)).trim_end_matches('0').to_owned(),
        0..3 => format!("{}", 10_u64.pow(power as u32)),
        3..6 => format!("{}k", 10_u64.pow(power as u32 - 3)),
        6..9 => format!("{}M", 10_u64.pow(power as u32 - 6)),
        _ => format!("1e{power}"),
    }
}
