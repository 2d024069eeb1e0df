//! Lengths of time as callers write them, and in whole nanoseconds as the crate
//! counts them.

mod decimal;
#[cfg(test)]
mod tests;

use std::time::Duration;

use decimal::Rounding;
use sealed::Sealed;

pub(crate) use sealed::Nanos;

/// A length of time in seconds: a number, or a [`Duration`].
///
/// A wait takes one as its length, and an executor takes one as the time of a
/// frame. Numbers of all types are in seconds: `wait_seconds(2)`,
/// `wait_seconds(0.5)`. A `Duration` is used as it is:
/// `wait_seconds(Duration::from_millis(1500))`.
///
/// # Precision
///
/// Time is counted in whole nanoseconds. Integers and [`Duration`]s are exact. A
/// float stands for the shortest decimal that parses to it, as in the source or the
/// config file: `0.1_f32` and `0.1_f64` are both exactly 100 ms, although neither
/// float equals 0.1. Everything else is rounded:
///
/// - The length of a wait, to the nearest nanosecond, halves upwards.
/// - The time of a frame, *up* to a whole nanosecond. So 144 frames of `1.0 /
///   144.0` reach one second, and do not fall just short of it. (An `f32` has
///   too few digits for this at every rate: `1.0_f32 / 70.0` is 0.014285714, so
///   70 frames are 20 ns short of a second.)
///
/// # Unusual values
///
/// |                                          | as a wait                        | as the time a frame took                  |
/// |------------------------------------------|----------------------------------|-------------------------------------------|
/// | zero, also `-0.0`                        | one frame                        | no time                                   |
/// | negative, also `-inf`                    | one frame                        | no time, reported                         |
/// | `inf`                                    | never ends, but can be stopped   | the largest representable step, reported  |
/// | NaN                                      | panics in the awaiting coroutine | no time, reported                         |
/// | more than 2<sup>64</sup> ns (584 years)  | never ends, but can be stopped   | the largest representable step            |
///
/// The trait is sealed: other crates cannot implement it.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use framestep::prelude::*;
///
/// let mut executor = Executor::builder().max_delta(1).build();
/// let whole = executor.start(async { wait_seconds(1).await });
/// let tenths = executor.start(async { wait_seconds(0.3_f32).await });
/// let precise = executor.start(async { wait_seconds(Duration::from_millis(500)).await });
/// let past = executor.start(async { wait_seconds(-1.0).await });
///
/// executor.run_frame(0.25);
/// assert!(past.is_finished());
/// assert!(!tenths.is_finished());
///
/// executor.run_frame(Duration::from_millis(50));
/// assert!(tenths.is_finished());
/// assert!(!precise.is_finished());
///
/// executor.run_frame(0.2);
/// assert!(precise.is_finished());
/// assert!(!whole.is_finished());
///
/// executor.run_frame(1);
/// assert!(whole.is_finished());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a length of time",
    label = "expected a number of seconds or a `Duration`",
    note = "write `2`, `0.5` or `Duration::from_millis(250)`",
    note = "convert other types of numbers, for example with `u32::from` or `as f64`"
)]
pub trait Seconds: Sealed + Copy {}

mod sealed {
    /// A length of time in whole nanoseconds, or why it has none.
    ///
    /// The meaning of the exceptions depends on the use: infinity is a wait without
    /// end, or a step that is too long.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Nanos {
        /// Zero or more nanoseconds; zero for `-0.0` too.
        Finite(u64),
        /// Below zero, minus infinity included.
        Negative,
        /// Finite, but longer than `u64` nanoseconds.
        Overflow,
        /// Plus infinity.
        Infinite,
        /// A float that is not a number.
        NotANumber,
    }

    /// The conversions, which other crates cannot call.
    pub trait Sealed {
        /// Converts the length of a wait: rounded to the nearest, halves upwards.
        fn length_ns(self) -> Nanos;

        /// Converts the time of a step: rounded up.
        fn step_ns(self) -> Nanos;
    }
}

impl Seconds for f32 {}

impl Sealed for f32 {
    #[inline]
    fn length_ns(self) -> Nanos {
        decimal::f32_nanos(self, Rounding::Nearest)
    }

    #[inline]
    fn step_ns(self) -> Nanos {
        decimal::f32_nanos(self, Rounding::Up)
    }
}

impl Seconds for f64 {}

impl Sealed for f64 {
    #[inline]
    fn length_ns(self) -> Nanos {
        decimal::f64_nanos(self, Rounding::Nearest)
    }

    #[inline]
    fn step_ns(self) -> Nanos {
        decimal::f64_nanos(self, Rounding::Up)
    }
}

/// Types with whole numbers of nanoseconds, which need no rounding.
macro_rules! exact_seconds {
    ($($type:ty => $nanos:expr;)*) => {$(
        impl Seconds for $type {}

        impl Sealed for $type {
            #[inline]
            fn length_ns(self) -> Nanos {
                let nanos: fn($type) -> Nanos = $nanos;
                nanos(self)
            }

            #[inline]
            fn step_ns(self) -> Nanos {
                self.length_ns()
            }
        }
    )*};
}

exact_seconds! {
    i32 => |seconds| i64::from(seconds).length_ns();
    i64 => |seconds| u64::try_from(seconds).map_or(Nanos::Negative, Sealed::length_ns);
    u32 => |seconds| u64::from(seconds).length_ns();
    u64 => |seconds| finite_or_overflow(seconds.checked_mul(NANOS_PER_SECOND));
    usize => |seconds| u64::try_from(seconds).map_or(Nanos::Overflow, Sealed::length_ns);
    Duration => |duration| finite_or_overflow(u64::try_from(duration.as_nanos()).ok());
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;

#[inline]
fn finite_or_overflow(nanos: Option<u64>) -> Nanos {
    nanos.map_or(Nanos::Overflow, Nanos::Finite)
}
