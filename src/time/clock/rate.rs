//! A factor of time, exactly: the float as the integers it is made of.

#![forbid(unsafe_code)]

/// `mantissa * 2^exponent`, finite and not below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    /// Odd, or 0.
    mantissa: u64,
    exponent: i32,
}

/// The bits of an `f64` below its exponent.
const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;

impl Rate {
    pub(super) const ZERO: Rate = Rate {
        mantissa: 0,
        exponent: 0,
    };
    pub(super) const ONE: Rate = Rate {
        mantissa: 1,
        exponent: 0,
    };

    /// The rate that `factor` is, without any rounding.
    pub(super) fn new(factor: f64) -> Self {
        debug_assert!(factor.is_finite() && factor >= 0.0);
        let bits = factor.to_bits();
        let fraction = bits & ((1 << FRACTION_BITS) - 1);
        let biased = i32::try_from(bits >> FRACTION_BITS).expect("eleven bits, and no sign");
        // Subnormal numbers lack the leading one.
        let mantissa = if biased == 0 {
            fraction
        } else {
            fraction | 1 << FRACTION_BITS
        };
        if mantissa == 0 {
            return Rate::ZERO;
        }
        let zeros = mantissa.trailing_zeros();
        let shifted = i32::try_from(zeros).expect("at most 52");
        Rate {
            mantissa: mantissa >> zeros,
            exponent: biased.max(1) - 1075 + shifted,
        }
    }

    /// `ns` times the rate, to the nearest, halves upwards; `u64::MAX` for
    /// whatever does not fit.
    pub(super) fn apply(self, ns: u64) -> u64 {
        let product = u128::from(ns) * u128::from(self.mantissa);
        if product == 0 {
            return 0;
        }
        let shift = self.exponent.unsigned_abs();
        let scaled = if self.exponent >= 0 {
            if shift > product.leading_zeros() {
                return u64::MAX;
            }
            product << shift
        } else if shift > product.ilog2() + 1 {
            0 // less than half a nanosecond
        } else {
            // The product has 117 bits at the most.
            (product + (1 << (shift - 1))) >> shift
        };
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// The least `ns` of which [`apply`](Self::apply) makes `target_ns` or
    /// more. `None`: none does.
    pub(super) fn invert(self, target_ns: u64) -> Option<u64> {
        if target_ns == 0 {
            return Some(0);
        }
        if self.mantissa == 0 {
            return None;
        }
        let mantissa = u128::from(self.mantissa);
        let shift = self.exponent.unsigned_abs();
        let least_product = if self.exponent >= 0 {
            // Beyond 2^63 one of anything is more than enough.
            u128::from(target_ns).div_ceil(1 << shift.min(64))
        } else {
            // Half a nanosecond less is rounded up to it.
            let halves = u128::from(target_ns) * 2 - 1;
            if shift - 1 > halves.leading_zeros() {
                return None;
            }
            halves << (shift - 1)
        };
        u64::try_from(least_product.div_ceil(mantissa)).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Rate;

    #[test]
    fn halves_are_rounded_upwards() {
        let half = Rate::new(0.5);
        assert_eq!([0, 1, 2, 3].map(|ns| half.apply(ns)), [0, 1, 1, 2]);
        let quarter = Rate::new(0.25);
        assert_eq!([1, 2, 3, 5, 6].map(|ns| quarter.apply(ns)), [0, 1, 1, 1, 2]);
    }

    #[test]
    fn what_does_not_fit_is_the_largest_there_is() {
        for factor in [2.0, 3.5, 1e19, 1e300, f64::MAX] {
            assert_eq!(Rate::new(factor).apply(u64::MAX), u64::MAX, "{factor}");
            assert_eq!(Rate::new(factor).apply(0), 0, "{factor}");
        }
        assert_eq!(Rate::new(f64::MAX).apply(1), u64::MAX);
        assert_eq!(Rate::ONE.apply(u64::MAX), u64::MAX);
    }

    #[test]
    fn the_tiniest_rates_come_to_nothing() {
        for factor in [0.0, f64::from_bits(1), f64::MIN_POSITIVE, 2e-20] {
            assert_eq!(Rate::new(factor).apply(u64::MAX), 0, "{factor}");
            assert_eq!(Rate::new(factor).invert(1), None, "{factor}");
        }
        // 2^-65 of 2^64 - 1 is just short of a half, 2^-64 just short of one.
        assert_eq!(Rate::new(0.5_f64.powi(65)).apply(u64::MAX), 0);
        assert_eq!(Rate::new(0.5_f64.powi(64)).apply(u64::MAX), 1);
    }

    #[test]
    fn one_is_one() {
        assert_eq!(Rate::new(1.0), Rate::ONE);
        assert_eq!(Rate::new(0.0), Rate::ZERO);
        assert_eq!(Rate::ONE.invert(7), Some(7));
    }

    fn any_factor() -> impl Strategy<Value = f64> {
        let bits = any::<u64>().prop_map(|bits| f64::from_bits(bits >> 1));
        prop_oneof![
            bits.prop_filter("finite", |factor| factor.is_finite()),
            0.0..4.0,
            (0_u32..2_000).prop_map(|percent| f64::from(percent) / 100.0),
            (-70_i32..70).prop_map(|exponent| 2.0_f64.powi(exponent)),
        ]
    }

    fn any_ns() -> impl Strategy<Value = u64> {
        let wide = (any::<u64>(), 0_u32..64).prop_map(|(ns, shift)| ns >> shift);
        prop_oneof![wide, 0_u64..100, (u64::MAX - 100)..=u64::MAX]
    }

    proptest! {
        #[test]
        fn the_inverse_is_the_least_that_suffices(factor in any_factor(), target in any_ns()) {
            let rate = Rate::new(factor);
            match rate.invert(target) {
                Some(ns) => {
                    prop_assert!(rate.apply(ns) >= target);
                    prop_assert!(ns == 0 || rate.apply(ns - 1) < target);
                }
                None => prop_assert!(rate.apply(u64::MAX) < target),
            }
        }

        #[test]
        fn whole_factors_multiply(factor in 0_u32.., ns in any_ns()) {
            let product = ns.saturating_mul(u64::from(factor));
            prop_assert_eq!(Rate::new(f64::from(factor)).apply(ns), product);
        }

        #[test]
        fn more_time_is_never_less(factor in any_factor(), a in any_ns(), b in any_ns()) {
            let rate = Rate::new(factor);
            prop_assert!(rate.apply(a.min(b)) <= rate.apply(a.max(b)));
        }
    }
}
