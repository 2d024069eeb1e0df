//! Clocks: scales, pauses, children, and the waits that count on them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt, join, select_biased};
use proptest::prelude::*;

use framestep::prelude::*;
use framestep::{Clock, Executor};

use crate::support::timeline::{Log, Timeline, UNLIMITED, unclamped};
use crate::support::{panic_of, panic_text, place_of_panic, poll_once, result_of, swallow, update};

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn nanos(n: u64) -> Duration {
    Duration::from_nanos(n)
}

fn is(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

/// An executor with a child of its game clock.
fn with_child() -> (Executor, Clock) {
    let executor = unclamped();
    let child = executor.clock().child();
    (executor, child)
}

mod points;

mod waits;

mod within_a_frame;

mod table;

mod fixed_steps;

mod pauses_in_steps;

mod stepped;

mod numbers;

mod deadlines;

mod lifetime;

mod guards;

/// What happens to a clock and its child in one frame.
#[derive(Clone, Debug)]
struct Frame {
    dt_ns: u64,
    change: Option<(bool, f64, bool)>,
    look: bool,
}

fn any_scale() -> impl Strategy<Value = f64> {
    prop_oneof![
        0.0..3.0,
        (0_u32..40).prop_map(|tenths| f64::from(tenths) / 10.0),
        Just(1.0),
        Just(0.0),
        Just(1.0 / 3.0),
        1e-12..1e-6,
        1e3..1e5,
    ]
}

fn any_frame() -> impl Strategy<Value = Frame> {
    let dt_ns = prop_oneof![0_u64..100, 1_000_000_u64..40_000_000];
    let change = (any::<bool>(), any_scale(), prop::bool::weighted(0.2));
    let change = prop::option::weighted(0.3, change);
    (dt_ns, change, any::<bool>()).prop_map(|(dt_ns, change, look)| Frame {
        dt_ns,
        change,
        look,
    })
}

/// A clock as its definition has it, with fractions of two integers.
#[derive(Clone, Copy)]
struct Oracle {
    source_anchor: u128,
    anchor: u128,
    factor: f64,
}

impl Oracle {
    fn new() -> Self {
        Oracle {
            source_anchor: 0,
            anchor: 0,
            factor: 1.0,
        }
    }

    fn at(&self, source: u128) -> u128 {
        // The factor as a fraction of a power of two; 1e-12 takes 2^92 at the most.
        let (mut numerator, mut shift) = (self.factor, 0);
        while numerator.fract() != 0.0 {
            numerator *= 2.0;
            shift += 1;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let product = (source - self.source_anchor) * numerator as u128;
        let (whole, rest) = (product >> shift, product & ((1 << shift) - 1));
        let up = shift > 0 && rest >= 1 << (shift - 1);
        self.anchor + whole + u128::from(up)
    }

    fn change(&mut self, source: u128, factor: f64) {
        if factor.to_bits() != self.factor.to_bits() {
            self.anchor = self.at(source);
            self.source_anchor = source;
            self.factor = factor;
        }
    }
}

proptest! {
    #[test]
    fn random_changes_agree_with_the_definition(
        frames in prop::collection::vec(any_frame(), 1..60),
    ) {
        let (mut executor, child) = with_child();
        let game = executor.clock();
        let (mut game_model, mut child_model) = (Oracle::new(), Oracle::new());
        let (mut source, mut before) = (0_u128, (0, 0));
        for frame in &frames {
            executor.begin_frame(nanos(frame.dt_ns));
            source += u128::from(frame.dt_ns);
            let game_now = game_model.at(source);
            let child_now = child_model.at(game_now);
            // Clocks that are not read are computed later, or never.
            if frame.look {
                prop_assert_eq!(game.now().as_nanos(), game_now);
                prop_assert_eq!(child.now().as_nanos(), child_now);
                prop_assert_eq!(game.delta().as_nanos(), game_now - before.0);
                prop_assert_eq!(child.delta().as_nanos(), child_now - before.1);
            }
            before = (game_now, child_now);
            if let Some((of_game, scale, paused)) = frame.change {
                let clock = if of_game { &game } else { &child };
                clock.set_scale(scale);
                if paused { clock.pause() } else { clock.resume() };
                let factor = if paused { 0.0 } else { scale };
                if of_game {
                    game_model.change(source, factor);
                } else {
                    child_model.change(game_now, factor);
                }
            }
        }
        prop_assert_eq!(child.now().as_nanos(), before.1);
    }

    #[test]
    fn next_deadline_is_the_least_dt_that_suffices(
        scales in prop::array::uniform3(any_scale()),
        passed_ns in 0_u64..2_000_000_000,
        length_ns in 1_u64..2_000_000_000,
    ) {
        let product = scales.iter().product::<f64>();
        prop_assume!(product < 1e6); // else the clock may be at its end
        let mut executor = Executor::builder().max_delta(f64::INFINITY).build();
        let clocks = {
            let child = executor.clock().child();
            [executor.clock(), child.clone(), child.child()]
        };
        for (clock, scale) in clocks.iter().zip(scales) {
            clock.set_scale(scale);
        }
        executor.begin_frame(nanos(passed_ns));
        let wait = executor.start(clocks[2].wait_seconds(nanos(length_ns)).map(drop));
        let Some(missing) = executor.next_deadline() else {
            update(&mut executor, nanos(u64::MAX));
            prop_assert!(!wait.is_finished(), "not even at the end of time");
            return Ok(());
        };
        // A wait takes a frame, and this one more than no time.
        prop_assert!(missing > Duration::ZERO);
        update(&mut executor, missing.checked_sub(nanos(1)).unwrap());
        prop_assert!(!wait.is_finished());
        prop_assert_eq!(executor.next_deadline(), Some(nanos(1)));
        update(&mut executor, nanos(1));
        prop_assert!(wait.is_finished());
    }
}
