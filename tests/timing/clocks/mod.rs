//! Clocks: scales, pauses, children, and the waits that count on them.

mod at_random;
mod deadlines;
mod fixed_steps;
mod guards;
mod lifetime;
mod numbers;
mod pauses_in_steps;
mod points;
mod stepped;
mod table;
mod waits;
mod within_a_frame;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt, join, select_biased};

use framestep::Executor;
use framestep::prelude::*;
use framestep::time::Clock;

use framestep_testkit::timeline::{Log, Timeline, UNLIMITED, unclamped};
use framestep_testkit::{
    panic_of, panic_text, place_of_panic, poll_once, result_of, swallow, update,
};

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

/// A clock by its definition, with fractions of two integers.
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
