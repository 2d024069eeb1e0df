//! A factor of time, exact: a float as the integers that it consists of.

/// `mantissa * 2^exponent`, finite and not negative.
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

    /// The exact rate of `factor`.
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

    /// `ns` times the rate, rounded to the nearest, halves upwards. `u64::MAX` if
    /// the product does not fit.
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
            // The product has at most 117 bits.
            (product + (1 << (shift - 1))) >> shift
        };
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// The smallest `ns` that [`apply`](Self::apply) maps to `target_ns` or more.
    /// `None` if there is none.
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
            // With a factor of 2^64 or more, a product of 1 is enough.
            u128::from(target_ns).div_ceil(1 << shift.min(64))
        } else {
            // Half a nanosecond less than the target is rounded up to it.
            let halves = u128::from(target_ns) * 2 - 1;
            if shift - 1 > halves.leading_zeros() {
                return None;
            }
            halves << (shift - 1)
        };
        u64::try_from(least_product.div_ceil(mantissa)).ok()
    }

    /// The quotient of `target_ns` and the rate, rounded to the nearest; one more where
    /// [`apply`](Self::apply) would map that to less than `target_ns`. `None` if there is no
    /// such `ns`.
    ///
    /// [`invert`](Self::invert) may be up to `0.5 / rate` less, because a product is rounded
    /// up, too: 1.999999999 s at half speed.
    pub(super) fn divide(self, target_ns: u64) -> Option<u64> {
        let least = self.invert(target_ns)?;
        if least == 0 {
            return Some(0);
        }
        let (target, mantissa) = (u128::from(target_ns), u128::from(self.mantissa));
        let shift = self.exponent.unsigned_abs();
        let (dividend, divisor) = match self.exponent {
            // Of such a product, one nanosecond is enough.
            64.. => return Some(least),
            0.. => (target, mantissa << shift),
            // The quotient does not fit.
            _ if shift > target.leading_zeros() => return Some(least),
            _ => (target << shift, mantissa),
        };
        let quotient = dividend / divisor + u128::from(dividend % divisor >= divisor.div_ceil(2));
        Some(u64::try_from(quotient).map_or(least, |nearest| nearest.max(least)))
    }
}

#[cfg(test)]
mod tests {
    use super::Rate;
    use crate::random::Random;

    #[test]
    fn halves_are_rounded_upwards() {
        let half = Rate::new(0.5);
        assert_eq!([0, 1, 2, 3].map(|ns| half.apply(ns)), [0, 1, 1, 2]);
        let quarter = Rate::new(0.25);
        assert_eq!([1, 2, 3, 5, 6].map(|ns| quarter.apply(ns)), [0, 1, 1, 1, 2]);
    }

    #[test]
    fn products_that_do_not_fit_are_the_maximum() {
        for factor in [2.0, 3.5, 1e19, 1e300, f64::MAX] {
            assert_eq!(Rate::new(factor).apply(u64::MAX), u64::MAX, "{factor}");
            assert_eq!(Rate::new(factor).apply(0), 0, "{factor}");
        }
        assert_eq!(Rate::new(f64::MAX).apply(1), u64::MAX);
        assert_eq!(Rate::ONE.apply(u64::MAX), u64::MAX);
    }

    #[test]
    fn the_tiniest_rates_round_to_zero() {
        for factor in [0.0, f64::from_bits(1), f64::MIN_POSITIVE, 2e-20] {
            assert_eq!(Rate::new(factor).apply(u64::MAX), 0, "{factor}");
            assert_eq!(Rate::new(factor).invert(1), None, "{factor}");
        }
        // 2^-65 of 2^64 - 1 is just less than a half, 2^-64 of it just less than
        // one.
        assert_eq!(Rate::new(0.5_f64.powi(65)).apply(u64::MAX), 0);
        assert_eq!(Rate::new(0.5_f64.powi(64)).apply(u64::MAX), 1);
    }

    #[test]
    fn one_is_one() {
        assert_eq!(Rate::new(1.0), Rate::ONE);
        assert_eq!(Rate::new(0.0), Rate::ZERO);
        assert_eq!(Rate::ONE.invert(7), Some(7));
    }

    const CASES: u32 = 1_000;

    fn any_factor(random: &mut Random) -> f64 {
        match random.below(4) {
            0 => f64::from_bits(random.next() >> 1).min(f64::MAX),
            1 => f64::from_bits(random.below(4_f64.to_bits())),
            2 => f64::from(random.within(0..2_000)) / 100.0,
            _ => 2.0_f64.powi(random.within(-70..70)),
        }
    }

    fn any_ns(random: &mut Random) -> u64 {
        match random.below(3) {
            0 => random.wide(),
            1 => random.below(100),
            _ => u64::MAX - random.below(101),
        }
    }

    #[test]
    fn the_inverse_is_the_least_that_suffices() {
        let mut random = Random(0x5EED_0101);
        for _ in 0..CASES {
            let (factor, target) = (any_factor(&mut random), any_ns(&mut random));
            let rate = Rate::new(factor);
            let suffices = match rate.invert(target) {
                Some(ns) => rate.apply(ns) >= target && (ns == 0 || rate.apply(ns - 1) < target),
                None => rate.apply(u64::MAX) < target,
            };
            assert!(suffices, "{factor:e}, {target}");
        }
    }

    #[test]
    fn a_quotient_suffices_and_is_the_nearest_that_does() {
        let mut random = Random(0x5EED_0104);
        for _ in 0..CASES {
            let (factor, target) = (any_factor(&mut random), any_ns(&mut random));
            let rate = Rate::new(factor);
            let (least, quotient) = (rate.invert(target), rate.divide(target));
            assert_eq!(least.is_some(), quotient.is_some(), "{factor:e}, {target}");
            if let (Some(least), Some(quotient)) = (least, quotient) {
                assert!(quotient >= least && rate.apply(quotient) >= target);
                // Half a nanosecond of the clock, and as much of its source.
                let most = 0.5 / factor + 1.0;
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "what is lost is far below a half"
                )]
                let apart = (quotient - least) as f64;
                assert!(apart <= most, "{factor:e}, {target}");
            }
        }
        for (factor, target, quotient) in [
            (0.5, 1_000_000_000, 2_000_000_000),
            (0.3, 300_000_000, 1_000_000_000),
            (0.1, 1_000_000_000, 10_000_000_000),
            (0.25, 1, 4),
            (3.0, 1_000_000_000, 333_333_334),
            (4.0, 1, 1),
        ] {
            assert_eq!(Rate::new(factor).divide(target), Some(quotient), "{factor}");
        }
    }

    #[test]
    fn whole_factors_multiply() {
        let mut random = Random(0x5EED_0102);
        for _ in 0..CASES {
            let factor = u32::try_from(random.wide() >> 32).unwrap();
            let ns = any_ns(&mut random);
            let product = ns.saturating_mul(u64::from(factor));
            assert_eq!(Rate::new(f64::from(factor)).apply(ns), product);
        }
    }

    #[test]
    fn more_time_is_never_less() {
        let mut random = Random(0x5EED_0103);
        for _ in 0..CASES {
            let factor = any_factor(&mut random);
            let (a, b) = (any_ns(&mut random), any_ns(&mut random));
            let rate = Rate::new(factor);
            let in_order = rate.apply(a.min(b)) <= rate.apply(a.max(b));
            assert!(in_order, "{factor:e}, {a}, {b}");
        }
    }
}
