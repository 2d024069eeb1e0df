use super::decimal::{any_f32_nanos, any_f64_nanos};
use super::*;
use crate::random::Random;

/// The nanoseconds of a float, computed from its shortest decimal as the
/// standard library prints it (`1.5e-3`), and rounded in decimal.
fn printed_nanos(printed: &str, rounding: Rounding) -> Nanos {
    match printed {
        "NaN" => return Nanos::NotANumber,
        "inf" => return Nanos::Infinite,
        "0e0" | "-0e0" => return Nanos::Finite(0),
        _ if printed.starts_with('-') => return Nanos::Negative,
        _ => {}
    }
    let (mantissa, exponent) = printed.split_once('e').unwrap();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: u128 = format!("{whole}{fraction}").parse().unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let exponent = exponent + 9 - i32::try_from(fraction.len()).unwrap();
    let power = 10_u128.checked_pow(exponent.unsigned_abs());
    let nanos = match (exponent < 0, rounding) {
        (false, _) => power.and_then(|power| digits.checked_mul(power)),
        // No float has enough digits to reach a half of 10^39.
        (true, Rounding::Nearest) => {
            power.map_or(Some(0), |power| Some((digits + power / 2) / power))
        }
        (true, Rounding::Up) => power.map_or(Some(1), |power| Some(digits.div_ceil(power))),
    };
    finite_or_overflow(nanos.and_then(|nanos| nanos.try_into().ok()))
}

fn check_f32(seconds: f32) {
    let printed = format!("{seconds:e}");
    for rounding in [Rounding::Nearest, Rounding::Up] {
        let expected = printed_nanos(&printed, rounding);
        let found = decimal::f32_nanos(seconds, rounding);
        assert_eq!(found, expected, "{printed}_f32, {rounding:?}");
        let found = any_f32_nanos(seconds, rounding);
        assert_eq!(found, expected, "{printed}_f32, {rounding:?}, searched");
    }
}

fn check_f64(seconds: f64) {
    let printed = format!("{seconds:e}");
    for rounding in [Rounding::Nearest, Rounding::Up] {
        let expected = printed_nanos(&printed, rounding);
        let found = decimal::f64_nanos(seconds, rounding);
        assert_eq!(found, expected, "{printed}_f64, {rounding:?}");
        let found = any_f64_nanos(seconds, rounding);
        assert_eq!(found, expected, "{printed}_f64, {rounding:?}, searched");
    }
}

#[test]
fn integers_count_seconds() {
    assert_eq!(2_i32.length_ns(), Nanos::Finite(2_000_000_000));
    assert_eq!(2_i64.step_ns(), Nanos::Finite(2_000_000_000));
    assert_eq!(2_u32.length_ns(), Nanos::Finite(2_000_000_000));
    assert_eq!(2_u64.step_ns(), Nanos::Finite(2_000_000_000));
    assert_eq!(2_usize.length_ns(), Nanos::Finite(2_000_000_000));
    assert_eq!(0_i32.length_ns(), Nanos::Finite(0));
    assert_eq!(
        u32::MAX.length_ns(),
        Nanos::Finite(4_294_967_295_000_000_000)
    );
}

#[test]
fn integers_below_zero_are_negative() {
    assert_eq!((-1_i32).length_ns(), Nanos::Negative);
    assert_eq!(i32::MIN.step_ns(), Nanos::Negative);
    assert_eq!(i64::MIN.length_ns(), Nanos::Negative);
}

#[test]
fn integers_overflow_past_the_last_whole_second_of_u64_nanoseconds() {
    let last = u64::MAX / 1_000_000_000;
    assert_eq!(last.length_ns(), Nanos::Finite(last * 1_000_000_000));
    assert_eq!((last + 1).length_ns(), Nanos::Overflow);
    assert_eq!(u64::MAX.step_ns(), Nanos::Overflow);
    assert_eq!(i64::MAX.step_ns(), Nanos::Overflow);
}

#[test]
fn durations_are_exact_until_they_overflow() {
    assert_eq!(Duration::ZERO.length_ns(), Nanos::Finite(0));
    assert_eq!(
        Duration::new(1, 1).length_ns(),
        Nanos::Finite(1_000_000_001)
    );
    let longest = Duration::from_nanos(u64::MAX);
    assert_eq!(longest.step_ns(), Nanos::Finite(u64::MAX));
    assert_eq!(
        (longest + Duration::from_nanos(1)).step_ns(),
        Nanos::Overflow
    );
    assert_eq!(Duration::MAX.length_ns(), Nanos::Overflow);
}

#[test]
fn floats_are_the_decimal_that_was_written() {
    assert_eq!(0.1_f32.length_ns(), Nanos::Finite(100_000_000));
    assert_eq!(0.1_f32.step_ns(), Nanos::Finite(100_000_000));
    assert_eq!(0.1_f64.length_ns(), Nanos::Finite(100_000_000));
    assert_eq!(0.1_f64.step_ns(), Nanos::Finite(100_000_000));
    assert_eq!(16.7_f32.step_ns(), Nanos::Finite(16_700_000_000));
    assert_eq!(
        123_456_790_f32.step_ns(),
        Nanos::Finite(123_456_790_000_000_000)
    );
    assert_eq!(
        1.8e10_f32.step_ns(),
        Nanos::Finite(18_000_000_000_000_000_000)
    );
}

#[test]
fn lengths_round_to_the_nearest_nanosecond_and_steps_up() {
    for (seconds, nearest, up) in [
        (1.0 / 144.0, 6_944_444, 6_944_445),
        (1.4e-9, 1, 2),
        (1.5e-9, 2, 2),
        (2.5e-9, 3, 3),
        (1e-10, 0, 1),
        (5e-10, 1, 1),
        (5e-324, 0, 1),
    ] {
        assert_eq!(seconds.length_ns(), Nanos::Finite(nearest), "{seconds}");
        assert_eq!(seconds.step_ns(), Nanos::Finite(up), "{seconds}");
    }
    // As an `f32` it has at most ten places, and is 0.0069444445.
    assert_eq!((1.0_f32 / 144.0).length_ns(), Nanos::Finite(6_944_445));
    assert_eq!((1.0_f32 / 144.0).step_ns(), Nanos::Finite(6_944_445));
}

#[test]
fn a_second_of_frames_at_any_rate_reaches_the_second() {
    for rate in 1..=1000_u32 {
        let Nanos::Finite(step) = (1.0 / f64::from(rate)).step_ns() else {
            panic!("{rate} frames per second");
        };
        let excess = step * u64::from(rate) - 1_000_000_000;
        assert!(
            excess < rate.into(),
            "{rate} frames per second: {excess} ns"
        );
    }
}

#[test]
fn of_two_shortest_decimals_equally_close_the_larger_counts() {
    assert_eq!(
        (1_048_576.0_f32 + 0.25).step_ns(),
        Nanos::Finite(1_048_576_300_000_000)
    );
    // Its neighbours print with nine digits after the point, and this one with ten.
    let tie = 8_388_608.0 + 1.0 / 1024.0;
    assert_eq!(tie.length_ns(), Nanos::Finite(8_388_608_000_976_563));
    assert_eq!(tie.step_ns(), Nanos::Finite(8_388_608_000_976_563));
}

#[test]
fn zero_is_finite_with_either_sign() {
    for zero in [0.0, -0.0] {
        assert_eq!(zero.length_ns(), Nanos::Finite(0));
        assert_eq!(zero.step_ns(), Nanos::Finite(0));
        #[expect(clippy::cast_possible_truncation)]
        let zero = zero as f32;
        assert_eq!(zero.length_ns(), Nanos::Finite(0));
        assert_eq!(zero.step_ns(), Nanos::Finite(0));
    }
}

#[test]
fn floats_that_are_no_length_return_the_reason() {
    for (seconds, expected) in [
        (-5e-324, Nanos::Negative),
        (-1.0, Nanos::Negative),
        (f64::NEG_INFINITY, Nanos::Negative),
        (f64::INFINITY, Nanos::Infinite),
        (f64::NAN, Nanos::NotANumber),
        (-f64::NAN, Nanos::NotANumber),
        (f64::MAX, Nanos::Overflow),
        (18_446_744_073.709_553, Nanos::Overflow),
        (
            18_446_744_073.709_55,
            Nanos::Finite(18_446_744_073_709_550_000),
        ),
    ] {
        assert_eq!(seconds.length_ns(), expected, "{seconds}");
        assert_eq!(seconds.step_ns(), expected, "{seconds}");
    }
    assert_eq!((-f32::MIN_POSITIVE).step_ns(), Nanos::Negative);
    assert_eq!(f32::NEG_INFINITY.step_ns(), Nanos::Negative);
    assert_eq!(f32::INFINITY.step_ns(), Nanos::Infinite);
    assert_eq!(f32::NAN.step_ns(), Nanos::NotANumber);
    assert_eq!(f32::MAX.step_ns(), Nanos::Overflow);
    assert_eq!(f32::MIN_POSITIVE.step_ns(), Nanos::Finite(1));
    assert_eq!(f32::MIN_POSITIVE.length_ns(), Nanos::Finite(0));
}

#[test]
fn f32s_convert_like_their_printed_digits() {
    for bits in (0..=u32::MAX).step_by(10_007) {
        check_f32(f32::from_bits(bits));
    }
}

#[test]
#[ignore = "half a billion floats, for a release build"]
fn every_f32_in_range_converts_like_its_printed_digits() {
    for bits in 1e-10_f32.to_bits()..=4e10_f32.to_bits() {
        check_f32(f32::from_bits(bits));
    }
}

#[test]
fn f64s_in_range_convert_like_their_printed_digits() {
    for bits in (1e-10_f64.to_bits()..4e10_f64.to_bits()).step_by(3_000_000_000_013) {
        check_f64(f64::from_bits(bits));
    }
}

#[test]
fn floats_around_powers_of_two_and_ten_convert_like_their_printed_digits() {
    for exponent in 0..=u8::MAX {
        let bits = u32::from(exponent) << 23;
        for bits in bits.saturating_sub(64)..bits + 64 {
            check_f32(f32::from_bits(bits));
        }
    }
    for exponent in 0..=0x7FF {
        let bits = exponent << 52;
        for bits in u64::saturating_sub(bits, 16)..bits + 16 {
            check_f64(f64::from_bits(bits));
        }
    }
    for exponent in -50..50 {
        let power: f32 = format!("1e{exponent}").parse().unwrap();
        for bits in power.to_bits().saturating_sub(64)..power.to_bits() + 64 {
            check_f32(f32::from_bits(bits));
        }
        let power: f64 = format!("1e{exponent}").parse().unwrap();
        for bits in power.to_bits() - 64..power.to_bits() + 64 {
            check_f64(f64::from_bits(bits));
        }
    }
}

const CASES: u32 = 2_000;

#[test]
fn any_f64_converts_like_its_printed_digits() {
    let mut random = Random(0x5EED_0201);
    for _ in 0..CASES {
        check_f64(f64::from_bits(random.next()));
    }
}

/// A decimal as it is written, with its point anywhere, and an offset from it
/// in floats.
fn any_decimal(random: &mut Random) -> (String, i32) {
    let length = u32::try_from(1 + random.below(17)).unwrap();
    let digits = random.below(10_u64.pow(length));
    let written = format!("{digits}e-{}", random.below(21));
    (written, random.within(-2..3))
}

#[test]
fn written_f64s_convert_like_their_printed_digits() {
    let mut random = Random(0x5EED_0202);
    for _ in 0..CASES {
        let (written, offset) = any_decimal(&mut random);
        let seconds: f64 = written.parse().unwrap();
        check_f64(f64::from_bits(
            seconds.to_bits().saturating_add_signed(offset.into()),
        ));
    }
}

#[test]
fn written_f32s_convert_like_their_printed_digits() {
    let mut random = Random(0x5EED_0203);
    for _ in 0..CASES {
        let (written, offset) = any_decimal(&mut random);
        let seconds: f32 = written.parse().unwrap();
        check_f32(f32::from_bits(
            seconds.to_bits().saturating_add_signed(offset),
        ));
    }
}

#[test]
fn f64s_at_half_a_nanosecond_convert_like_their_printed_digits() {
    let mut random = Random(0x5EED_0204);
    for _ in 0..CASES {
        let nanos = random.below(20_000_000_000_000_000);
        let offset = random.within(-2..3);
        let seconds: f64 = format!("{nanos}.5e-9").parse().unwrap();
        check_f64(f64::from_bits(
            seconds.to_bits().saturating_add_signed(offset.into()),
        ));
    }
}

#[test]
fn f64s_midway_between_decimals_convert_like_their_printed_digits() {
    let mut random = Random(0x5EED_0205);
    for _ in 0..CASES {
        let whole = random.below(18_000_000_000);
        let places = random.below(13);
        let parts = random.within(0..4096);
        #[expect(clippy::cast_precision_loss)] // exact
        let whole = whole as f64;
        check_f64(whole + f64::from(parts) / f64::from(1_u32 << places));
    }
}
