//! State that the host lends, and coroutines borrow for the length of a closure.

use std::cell::{Cell, RefCell};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use framestep::Executor;
use framestep::lend::LendError;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{forever, panic_of, panic_text, result_of};

#[derive(Debug, Default, PartialEq)]
struct Gold(u32);

#[derive(Debug, Default, PartialEq)]
struct Doors(Vec<&'static str>);

fn ask() -> Result<u32, LendError> {
    try_with(|gold: &mut Gold| gold.0)
}

fn is_lent() -> bool {
    !matches!(ask(), Err(LendError::NotLent { .. }))
}

fn is_borrowed() -> bool {
    matches!(ask(), Err(LendError::Borrowed { .. }))
}

/// Borrows the gold when it is dropped.
struct Asks(Log);

impl Drop for Asks {
    fn drop(&mut self) {
        self.0.note(match ask() {
            Ok(gold) => format!("there are {gold}"),
            Err(LendError::NotLent { .. }) => "not lent".to_string(),
            Err(_) => "borrowed".to_string(),
        });
    }
}

/// A coroutine that sleeps from frame 0 on, and borrows the gold when it is
/// dropped.
fn asks_when_it_goes(executor: &Executor, log: &Log) -> Coroutine<()> {
    let asks = Asks(log.clone());
    executor.start(async move {
        let _asks = asks;
        forever().await;
    })
}

/// One frame with `gold` lent.
fn lend_frame(executor: &mut Executor, gold: &mut Gold) {
    executor.lend(gold, |executor| executor.run_frame(0.25));
}

mod finding;

mod lend_errors;

mod panicking;

mod destructors;

mod acting_inside;

mod other_executors;

mod sharing;

mod contexts;

mod handles;

#[test]
fn a_forgotten_future_that_has_borrowed_leaves_nothing_behind() {
    let mut executor = unclamped();
    let coroutine = executor.spawn(async { with(|gold: &mut Gold| gold.0 += 1) });
    mem::forget(coroutine);
    let caught = catch_unwind(AssertUnwindSafe(|| {
        lend_frame(&mut executor, &mut Gold(0));
    }));
    assert!(caught.is_ok());
    assert!(!executor.enter(is_lent));
}
