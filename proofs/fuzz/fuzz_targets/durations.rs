//! Hostile lengths of time: as waits, as the time a frame took, as scales. What
//! they come to is compared with arithmetic on their decimals.

#![no_main]

use std::time::Duration;

use framestep::prelude::*;
use libfuzzer_sys::fuzz_target;

/// A length of time of one of the types that may be given.
#[derive(Clone, Copy, Debug)]
enum Length {
    F32(f32),
    F64(f64),
    I32(i32),
    I64(i64),
    U32(u32),
    U64(u64),
    Duration(Duration),
}

/// What a length comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Nanos {
    Finite(u64),
    Negative,
    /// Longer than is counted, or infinite.
    Endless,
    NotANumber,
}

/// Calls `$f` with the value in a length.
macro_rules! with_value {
    ($length:expr, $value:ident => $call:expr) => {
        match $length {
            Length::F32($value) => $call,
            Length::F64($value) => $call,
            Length::I32($value) => $call,
            Length::I64($value) => $call,
            Length::U32($value) => $call,
            Length::U64($value) => $call,
            Length::Duration($value) => $call,
        }
    };
}

impl Length {
    fn read(bytes: &mut &[u8]) -> Option<Length> {
        let (&kind, rest) = bytes.split_first()?;
        let (raw, rest) = rest.split_first_chunk::<8>()?;
        *bytes = rest;
        let bits = u64::from_le_bytes(*raw);
        let low = bits as u32;
        Some(match kind % 12 {
            0 => Length::F32(f32::from_bits(low)),
            1 => Length::F64(f64::from_bits(bits)),
            2 => Length::I32(low as i32),
            3 => Length::I64(bits as i64),
            4 => Length::U32(low),
            5 => Length::U64(bits),
            6 => Length::Duration(Duration::new(bits >> 30, low % 1_000_000_000)),
            7 => Length::Duration(Duration::from_nanos(bits >> (bits % 64))),
            // Of a size that a game has, and quotients with many digits.
            8 => Length::F32(low as f32 / 65_536.0),
            9 => Length::F64(bits as f64 / u64::MAX as f64),
            10 => Length::F64(1.0 / f64::from(low)),
            _ => Length::F32((low % 10_000) as f32 / 100.0),
        })
    }

    /// The reference: rounds the shortest decimal that reads back as the value.
    fn nanos(self, up: bool) -> Nanos {
        match self {
            Length::F32(value) if value.is_nan() => Nanos::NotANumber,
            Length::F64(value) if value.is_nan() => Nanos::NotANumber,
            Length::F32(value) => of_decimal(&format!("{value}"), up),
            Length::F64(value) => of_decimal(&format!("{value}"), up),
            Length::I32(value) => of_seconds(i128::from(value)),
            Length::I64(value) => of_seconds(i128::from(value)),
            Length::U32(value) => of_seconds(i128::from(value)),
            Length::U64(value) => of_seconds(i128::from(value)),
            Length::Duration(value) => {
                u64::try_from(value.as_nanos()).map_or(Nanos::Endless, Nanos::Finite)
            }
        }
    }
}

fn of_seconds(seconds: i128) -> Nanos {
    if seconds < 0 {
        return Nanos::Negative;
    }
    u64::try_from(seconds * 1_000_000_000).map_or(Nanos::Endless, Nanos::Finite)
}

/// `text` is an unsigned or negative decimal without an exponent, or `inf`.
fn of_decimal(text: &str, up: bool) -> Nanos {
    if let Some(positive) = text.strip_prefix('-') {
        let is_zero = positive.bytes().all(|digit| matches!(digit, b'0' | b'.'));
        return if is_zero {
            Nanos::Finite(0)
        } else {
            Nanos::Negative
        };
    }
    if text == "inf" {
        return Nanos::Endless;
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    let Ok(floor) = format!("{whole}{digits}").parse::<u128>() else {
        return Nanos::Endless;
    };
    let rest = fraction.get(9..).unwrap_or("");
    let round = if up {
        rest.bytes().any(|digit| digit != b'0')
    } else {
        rest.bytes().next().is_some_and(|digit| digit >= b'5')
    };
    u64::try_from(floor + u128::from(round)).map_or(Nanos::Endless, Nanos::Finite)
}

/// A coroutine that waits for a length, and when it is due.
struct Waiter {
    coroutine: Coroutine<()>,
    frame: u64,
    /// `None`: never.
    deadline_ns: Option<u64>,
    realtime: bool,
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("the clocks count in u64")
}

fn begin(executor: &Executor, length: Length, realtime: bool) -> Option<Waiter> {
    let time = executor.time();
    let now_ns = ns(if realtime {
        time.unscaled_elapsed
    } else {
        time.elapsed
    });
    let deadline_ns = match length.nanos(false) {
        // It panics, as it should, and panics end a fuzzer.
        Nanos::NotANumber => return None,
        Nanos::Finite(length_ns) => now_ns.checked_add(length_ns),
        Nanos::Negative => Some(now_ns),
        Nanos::Endless => None,
    };
    let coroutine = with_value!(length, value => if realtime {
        executor.start(async move { wait_seconds_realtime(value).await })
    } else {
        executor.start(async move { wait_seconds(value).await })
    });
    Some(Waiter {
        coroutine,
        frame: time.frame,
        deadline_ns,
        realtime,
    })
}

/// A frame of hostile length, and what the clocks must say of it. `source_ns` is
/// what the game clock has been given so far: it follows that, and so ends with
/// it, however far a scale has left it behind.
fn frame(executor: &mut Executor, dt: Length, max_delta_ns: u64, source_ns: &mut u64) {
    let before = executor.time();
    with_value!(dt, value => executor.begin_frame(value));
    let after = executor.time();
    let counted_ns = match dt.nanos(true) {
        Nanos::Finite(dt_ns) => dt_ns,
        Nanos::Negative | Nanos::NotANumber => 0,
        Nanos::Endless => u64::MAX,
    };
    assert_eq!(ns(after.unscaled_delta), counted_ns, "{dt:?}");
    let real_ns = ns(before.unscaled_elapsed).saturating_add(counted_ns);
    assert_eq!(ns(after.unscaled_elapsed), real_ns);
    let given_ns = counted_ns.min(max_delta_ns).min(u64::MAX - *source_ns);
    *source_ns += given_ns;
    if after.scale == 1.0 && before.scale == 1.0 {
        let game_ns = ns(before.elapsed).saturating_add(given_ns);
        assert_eq!(ns(after.elapsed), game_ns);
    }
    assert!(after.elapsed >= before.elapsed);
    assert_eq!(after.frame, before.frame + 1);
    executor.run_phase(Phase::Update);
}

fn check(executor: &Executor, waiters: &mut Vec<Waiter>) {
    let time = executor.time();
    waiters.retain(|waiter| {
        let now_ns = ns(if waiter.realtime {
            time.unscaled_elapsed
        } else {
            time.elapsed
        });
        let is_due = waiter.frame < time.frame && waiter.deadline_ns.is_some_and(|at| at <= now_ns);
        assert_eq!(
            waiter.coroutine.is_finished(),
            is_due,
            "at {now_ns}, due {:?}",
            waiter.deadline_ns
        );
        !is_due
    });
    assert_eq!(executor.len(), waiters.len());
}

fuzz_target!(|data: &[u8]| {
    let Some((&options, mut bytes)) = data.split_first() else {
        return;
    };
    let builder = Executor::builder();
    let (builder, max_delta_ns) = if options & 1 == 0 {
        (builder.max_delta(f32::INFINITY), u64::MAX)
    } else {
        (builder.max_delta(1), 1_000_000_000)
    };
    let mut executor = builder.build();
    executor.on_report(|_| ());
    let clock = executor.clock();
    let mut waiters = Vec::new();
    let mut source_ns = 0;
    while let Some((&choice, rest)) = bytes.split_first() {
        bytes = rest;
        let Some(length) = Length::read(&mut bytes) else {
            break;
        };
        match choice % 8 {
            0..=2 => waiters.extend(begin(&executor, length, false)),
            3 => waiters.extend(begin(&executor, length, true)),
            4 if options & 2 != 0 => {
                if let Length::F64(scale) = length {
                    if scale >= 0.0 && scale.is_finite() {
                        clock.set_scale(scale);
                    }
                }
            }
            _ => frame(&mut executor, length, max_delta_ns, &mut source_ns),
        }
        check(&executor, &mut waiters);
        // Asked for, it must not panic; how far it is depends on the scale.
        let _ = executor.next_deadline();
    }
});
