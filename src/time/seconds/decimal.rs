//! Floats as the decimals that they were written as, in whole nanoseconds.
//!
//! The *shortest decimal* of a float is the one with the fewest digits among
//! the decimals that read back as the float. Of several, it is the one closest
//! to the float; of two equally close ones, the larger. Formatting the float
//! would find it, but takes longer than many a coroutine runs. It would also
//! leave ties such as `1048576.25_f32` (...6.2 or ...6.3?) to the release of
//! the standard library.
//!
//! So this module searches for it, exactly and in integers. The decimals with a
//! given number of digits after the point are a grid, and few grids must be
//! searched:
//!
//! - Of a grid coarser than the floats around, at most one decimal reads back.
//!   If one does, it is the shortest, perhaps with trailing zeros. So the
//!   finest of these grids stands for all the coarser ones.
//! - Of the grids finer than the floats, the first or the second has a decimal
//!   that reads back.
//! - No grid after the tenth matters. If no whole number of nanoseconds reads
//!   back, the shortest decimal lies between the same two as the float. If no
//!   tenth does either, it lies on the same side of the half between them.

use super::{NANOS_PER_SECOND, Nanos, finite_or_overflow};

/// How fractions of a nanosecond are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// To the nearest nanosecond, halves upwards.
    Nearest,
    /// Up to the next whole nanosecond.
    Up,
}

#[inline]
pub(super) fn f32_nanos(seconds: f32, rounding: Rounding) -> Nanos {
    match f32_literal_nanos(seconds) {
        Some(nanos) => Nanos::Finite(nanos),
        None => any_f32_nanos(seconds, rounding),
    }
}

#[inline]
pub(super) fn f64_nanos(seconds: f64, rounding: Rounding) -> Nanos {
    match f64_literal_nanos(seconds) {
        Some(nanos) => Nanos::Finite(nanos),
        None => any_f64_nanos(seconds, rounding),
    }
}

/// The shortest decimal of most lengths that sources contain, found cheaply. If
/// a whole number of milliseconds reads back, it is that number, since `f32`s
/// are less than a millisecond apart here. The division tells whether it reads
/// back: its operands are exact, and it is correctly rounded.
#[inline]
fn f32_literal_nanos(seconds: f32) -> Option<u64> {
    if !(0.0..8192.0).contains(&seconds) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 8,192,000
    let millis = (seconds * 1e3 + 0.5) as u32;
    #[expect(clippy::cast_precision_loss, clippy::float_cmp)] // exact up to 2^24
    let reads_back = millis as f32 / 1e3 == seconds;
    reads_back.then_some(u64::from(millis) * 1_000_000)
}

/// The same for `f64`, with whole nanoseconds.
#[inline]
fn f64_literal_nanos(seconds: f64) -> Option<u64> {
    if !(0.0..1e6).contains(&seconds) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 10^15
    let nanos = (seconds * 1e9 + 0.5) as u64;
    #[expect(clippy::cast_precision_loss, clippy::float_cmp)] // exact up to 2^53
    let reads_back = nanos as f64 / 1e9 == seconds;
    reads_back.then_some(nanos)
}

/// No float from here on fits into `u64` nanoseconds: 2^35 s, about 1,089
/// years.
const TOO_LONG: f64 = 34_359_738_368.0;

/// All floats below this, 2^-33 s, are less than an eighth of a nanosecond.
const TINY: f64 = 1.0 / 8_589_934_592.0;

pub(super) fn any_f32_nanos(seconds: f32, rounding: Rounding) -> Nanos {
    if !(TINY..TOO_LONG).contains(&f64::from(seconds)) {
        return out_of_range(seconds.into(), rounding);
    }
    let bits = seconds.to_bits();
    let fraction = bits & ((1 << 23) - 1);
    let exponent = bits >> 23;
    let float = Float {
        mantissa: u64::from(fraction | 1 << 23),
        places: (127_u32 + 23).saturating_sub(exponent),
        zeros: exponent.saturating_sub(127 + 23),
        power_of_two: fraction == 0,
    };
    float.nanos(rounding)
}

pub(super) fn any_f64_nanos(seconds: f64, rounding: Rounding) -> Nanos {
    if !(TINY..TOO_LONG).contains(&seconds) {
        return out_of_range(seconds, rounding);
    }
    let bits = seconds.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let float = Float {
        mantissa: fraction | 1 << 52,
        places: 1023 + 52 - (bits >> 52) as u32,
        zeros: 0,
        power_of_two: fraction == 0,
    };
    float.nanos(rounding)
}

fn out_of_range(seconds: f64, rounding: Rounding) -> Nanos {
    if seconds.is_nan() {
        Nanos::NotANumber
    } else if seconds < 0.0 {
        Nanos::Negative
    } else if seconds == f64::INFINITY {
        Nanos::Infinite
    } else if seconds >= TOO_LONG {
        Nanos::Overflow
    } else {
        Nanos::Finite(u64::from(seconds > 0.0 && rounding == Rounding::Up))
    }
}

/// A float from `TINY` to `TOO_LONG`, in binary. The mantissa has its point
/// `places` digits before its end, or `zeros` digits after it.
struct Float {
    mantissa: u64,
    places: u32,
    zeros: u32,
    /// The floats below a power of two are twice as dense as those above it.
    power_of_two: bool,
}

/// The decimals of a grid on either side of a float.
enum Neighbour {
    Below,
    Above,
}

impl Float {
    #[inline]
    fn nanos(&self, rounding: Rounding) -> Nanos {
        if self.zeros > 0 {
            return self.large_nanos();
        }
        // The finest grid that is not finer than the floats: log10(2) is 0.30103.
        let first = (self.places * 30_103 / 100_000).min(9);
        for digits in first..=9 {
            if let Ok(decimal) = self.on_grid(digits) {
                return finite_or_overflow(decimal.checked_mul(power_of_ten(9 - digits)));
            }
        }
        Nanos::Finite(match rounding {
            Rounding::Nearest => {
                let (Ok(tenths) | Err(tenths)) = self.on_grid(10);
                (tenths + 5) / 10
            }
            Rounding::Up => {
                let (Ok(below) | Err(below)) = self.on_grid(9);
                below + 1
            }
        })
    }

    /// The closest decimal with `digits` digits after the point that reads back, as
    /// a multiple of the last digit's value. If none does, the one below the float,
    /// as an error.
    #[inline]
    fn on_grid(&self, digits: u32) -> Result<u64, u64> {
        let gap = u128::from(power_of_ten(digits));
        let one = 1 << self.places;
        let scaled = u128::from(self.mantissa) * gap;
        let below = scaled & (one - 1);
        // Floats that need ten digits to read back are below 2^30. Those above have
        // at most eight digits. Both fit.
        #[expect(clippy::cast_possible_truncation)]
        let decimal = (scaled >> self.places) as u64;
        match self.neighbour(below, one - below, gap) {
            Some(Neighbour::Below) => Ok(decimal),
            Some(Neighbour::Above) => Ok(decimal + 1),
            None => Err(decimal),
        }
    }

    /// An `f32` so large that the digits of its shortest decimal may end before the
    /// point: 123,456,790 is stored as 123,456,792.
    #[cold]
    fn large_nanos(&self) -> Nanos {
        let float = self.mantissa << self.zeros;
        let shortest = [10_000, 1_000, 100, 10].into_iter().find_map(|grid| {
            let below = float % grid;
            match self.neighbour(below.into(), (grid - below).into(), 1 << self.zeros)? {
                Neighbour::Below => Some(float - below),
                Neighbour::Above => Some(float - below + grid),
            }
        });
        let seconds = shortest.unwrap_or(float);
        finite_or_overflow(seconds.checked_mul(NANOS_PER_SECOND))
    }

    /// Which of two decimals reads back; the closer one if both do. They are
    /// `below` and `above` the float by these distances, and the next float is a
    /// `gap` away.
    ///
    /// A decimal reads back if it is less than half a gap away, or exactly half a
    /// gap away from an even mantissa.
    #[inline]
    fn neighbour(&self, below: u128, above: u128, gap: u128) -> Option<Neighbour> {
        let odd = u128::from(self.mantissa & 1);
        let below_reads_back = (below << (1 + u32::from(self.power_of_two))) + odd <= gap;
        let above_reads_back = (above << 1) + odd <= gap;
        match (below_reads_back, above_reads_back) {
            (false, false) => None,
            (true, false) => Some(Neighbour::Below),
            (true, true) if below < above => Some(Neighbour::Below),
            (_, true) => Some(Neighbour::Above),
        }
    }
}

#[inline]
fn power_of_ten(exponent: u32) -> u64 {
    const POWERS: [u64; 11] = {
        let mut powers = [1; 11];
        let mut exponent = 1;
        while exponent < powers.len() {
            powers[exponent] = 10 * powers[exponent - 1];
            exponent += 1;
        }
        powers
    };
    POWERS[exponent as usize]
}
