//! The tables of docs/guide/waits.md against the signatures: what a wait returns, which closures it
//! takes, and which waits have `in_phase`.
//!
//! The compiler checks the rows here: each is a function that takes any closure of the kind that
//! the row names, also one that borrows. The tests check that the page has the same rows.

use std::cell::Cell;

use framestep::Time;
use framestep::prelude::*;
use framestep::sync::{Canceled, Permit};
use framestep::task::Outcome;
use framestep::wait::{Elapsed, Tick};

use futures::{Stream, StreamExt};

use framestep_testkit::waits::{Place, WAITS};

/// A row of the page: the call, the closure that it takes, and what it returns.
struct Claim {
    call: &'static str,
    closure: &'static str,
    output: &'static str,
}

fn returns<T>(_: impl Future<Output = T>) {}

macro_rules! claims {
    ($($call:literal: $(($($closure:tt)+))? => $output:ty, fn($($name:ident: $given:ty),*) $wait:expr;)*) => {
        &[$({
            #[allow(
                dead_code,
                clippy::extra_unused_type_parameters,
                reason = "the compiler checks it, and no row has all kinds of futures"
            )]
            fn check<T, E, F, R, S $(, C: $($closure)+)?>($($name: $given),*)
            where
                T: Clone + PartialEq + 'static,
                E: 'static,
                F: Future<Output = T>,
                R: Future<Output = Result<T, E>>,
                S: Stream<Item = T> + Unpin,
            {
                returns::<$output>($wait);
            }
            Claim {
                call: $call,
                closure: concat!("" $(, stringify!($($closure)+))?),
                output: stringify!($output),
            }
        }),*]
    };
}

const CLAIMS: &[Claim] = claims! {
    "next_frame()": => (), fn() next_frame();
    "wait_frames(n)": => (), fn(n: u64) wait_frames(n);
    "wait_steps(n)": => (), fn(n: u64) wait_steps(n);
    "fixed_update()": => (), fn() fixed_update();
    "end_of_frame()": => (), fn() end_of_frame();
    "in_phase(p)": => (), fn(p: Phase) in_phase(p);
    "yield_now()": => (), fn() yield_now();
    "wait_seconds(s)": => (), fn(s: f32) wait_seconds(s);
    "wait_seconds_realtime(s)": => (), fn(s: f32) wait_seconds_realtime(s);
    "clock.wait_seconds(s)": => (), fn(clock: &Clock, s: f32) clock.wait_seconds(s);
    "clock.wait_until(t)": => (), fn(clock: &Clock, t: f32) clock.wait_until(t);
    "wait_until(cond)": (FnMut() -> bool) => (), fn(cond: C) wait_until(cond);
    "wait_while(cond)": (FnMut() -> bool) => (), fn(cond: C) wait_while(cond);
    "animate(s, f)": (FnMut(f32)) => (), fn(s: f32, f: C) animate(s, f);
    "interval(s).tick()": => Tick, fn(s: f32) interval(s).tick();
    "interval(s).ticks()": => u64, fn(s: f32) interval(s).ticks();
    "every_frames(n).next()": => Option<Time>, fn(n: u64) every_frames(n).next();
    "frames().next()": => Option<Time>, fn() frames().next();
    "changes_of(f).next()": (FnMut() -> T) => Option<T>, fn(f: C) changes_of(f).next();
    "debounce(s, stream).next()": => Option<T>, fn(s: f32, stream: S) debounce(s, stream).next();
    "throttle(s, stream).next()": => Option<T>, fn(s: f32, stream: S) throttle(s, stream).next();
    "timeout(s, future)": => Result<T, Elapsed>, fn(s: f32, future: F) timeout(s, future);
    "timeout_at(t, future)": => Result<T, Elapsed>, fn(t: f32, future: F) timeout_at(t, future);
    "budget.checkpoint()": => (), fn(budget: &Budget) budget.checkpoint();
    "budget.checkpoint_cost(n)": => (), fn(budget: &Budget, n: u64) budget.checkpoint_cost(n);
    "join(handle)": => Result<T, JoinError>, fn(handle: Coroutine<T>) join(handle);
    "handle.finished()": => Outcome, fn(handle: &Coroutine<T>) handle.finished();
    "owner.ended()": => (), fn(owner: &Owner) owner.ended();
    "stop_requested()": => (), fn() stop_requested();
    "owner.stop_within(s)": => usize, fn(owner: &Owner, s: f32) owner.stop_within(s);
    "group.join()": => Result<Vec<T>, JoinError>, fn(group: Group<T>) group.join();
    "group.try_join()": => Result<Result<Vec<T>, E>, JoinError>,
        fn(group: Group<Result<T, E>>) group.try_join();
    "signal.wait()": => T, fn(signal: &Signal<T>) signal.wait();
    "signal.wait_for(cond)": (FnMut(&T) -> bool) => T, fn(signal: &Signal<T>, cond: C) signal.wait_for(cond);
    "signal.subscribe().next()": => Option<T>, fn(signal: &Signal<T>) signal.subscribe().next();
    "watch.changed()": => T, fn(watch: &Watch<T>) watch.changed();
    "watch.wait_for(cond)": (FnMut(&T) -> bool) => T, fn(watch: &Watch<T>, cond: C) watch.wait_for(cond);
    "watch.subscribe().next()": => Option<T>, fn(watch: &Watch<T>) watch.subscribe().next();
    "promise()": => Result<T, Canceled>, fn() promise::<T>().1;
    "permits.acquire()": => Permit, fn(permits: &Semaphore) permits.acquire();
    "permits.acquire_many(n)": => Permit, fn(permits: &Semaphore, n: usize) permits.acquire_many(n);
    "race(futures)": => (usize, T), fn(futures: Vec<F>) race(futures);
    "join_all(futures)": => Vec<T>, fn(futures: Vec<F>) join_all(futures);
    "try_join_all(futures)": => Result<Vec<T>, E>, fn(futures: Vec<R>) try_join_all(futures);
    "when_each(futures).next()": => Option<(usize, T)>, fn(futures: Vec<F>) when_each(futures).next();
    "on_error(future, handler)": (FnOnce(E) -> T) => T, fn(future: R, handler: C) on_error(future, handler);
    "on_clock(&clock, future)": => T, fn(clock: &Clock, future: F) on_clock(clock, future);
};

const PAGE: &str = include_str!("../../docs/guide/waits.md");

/// The cells of the rows under a heading, without the head of the table.
fn rows_under(heading: &str) -> Vec<Vec<&'static str>> {
    let (_, part) = PAGE.split_once(heading).expect("the page has the heading");
    let part = part.split("\n## ").next().unwrap_or(part);
    let rows = part.lines().filter(|line| line.starts_with("| "));
    let cells = rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect());
    cells.skip(1).collect()
}

fn without_spaces(text: &str) -> String {
    text.replace([' ', '\n', '`'], "")
}

#[test]
fn the_page_says_what_each_wait_takes_and_returns() {
    let rows = rows_under("## Closures and outputs");
    let said: Vec<_> = rows
        .iter()
        .map(|row| [row[0], row[1], row[2]].map(without_spaces))
        .collect();
    let claimed: Vec<_> = CLAIMS
        .iter()
        .map(|claim| [claim.call, claim.closure, claim.output].map(without_spaces))
        .collect();
    for (said, claimed) in said.iter().zip(&claimed) {
        assert_eq!(said, claimed);
    }
    assert_eq!(said.len(), claimed.len());
}

/// The calls in a cell: `a(..)`, `b(..)`.
fn calls_in(cell: &'static str) -> impl Iterator<Item = &'static str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn each_wait_of_the_first_tables_has_a_row_with_its_output() {
    // `interval(s).tick()` is the `tick` of an `interval`, whatever the arguments are.
    let key = |call: &'static str| {
        let of = call
            .split('(')
            .next()
            .map(|of| of.trim_start_matches("budget."));
        (of, call.split_once(").").map(|(_, method)| method))
    };
    let has_row = |call| CLAIMS.iter().any(|claim| key(claim.call) == key(call));
    for heading in [
        "## Time, frames and conditions",
        "## Scripts, events and values",
        "## Several futures",
    ] {
        for row in rows_under(heading) {
            // Macros return what their branches do, and the handle of a `start` is a `join`.
            for call in
                calls_in(row[0]).filter(|call| !call.contains('!') && !call.starts_with("start"))
            {
                assert!(
                    has_row(call),
                    "`{call}` has no row that says what it returns"
                );
            }
        }
    }
}

#[test]
fn the_waits_that_name_a_phase_are_marked() {
    let mut marked = 0;
    for row in rows_under("## Time, frames and conditions") {
        let has_mark = row[0].contains('¹');
        marked += usize::from(has_mark);
        for call in calls_in(row[0]) {
            // `clock.wait_until(t)` is a method, `interval(s).tick()` a wait of a stream.
            let name = call
                .trim_start_matches("clock.")
                .trim_start_matches("budget.");
            let name = name.split('(').next().expect("there is one");
            let rows: Vec<_> = WAITS.iter().filter(|row| row.call == name).collect();
            assert!(
                !rows.is_empty(),
                "{name} is no wait of the table of the tests"
            );
            assert!(
                rows.iter().any(|row| row.place == Place::InPhase) == has_mark,
                "`{call}`: the mark says that it has `in_phase`"
            );
        }
    }
    assert!(marked > 10);
}

/// What the types above say, done: closures that borrow and change what they borrow.
#[test]
fn closures_may_borrow_and_change_what_they_borrow() {
    let mut executor = framestep_testkit::timeline::unclamped();
    let keys = Signal::new();
    let emit = keys.clone();
    let gold = Watch::new(0);
    let pays = gold.clone();
    let script = executor.start(async move {
        let (mut checks, reads) = (0, Cell::new(0));
        wait_until(|| {
            checks += 1;
            checks == 2
        })
        .await;
        let mut shares = Vec::new();
        animate(1, |share| shares.push(share)).await;
        let mut read = 0;
        changes_of(|| {
            read += 1;
            reads.set(read);
            read / 2
        })
        .next()
        .await;
        let mut seen = 0;
        keys.wait_for(|&key| {
            seen += key;
            seen > 2
        })
        .await;
        gold.wait_for(|&gold| {
            seen += gold;
            gold > 0
        })
        .await;
        on_error(async { Err("no") }, |error| {
            shares.push(f32::from(u8::from(error == "no")));
        })
        .await;
        (checks, shares.len(), reads.get(), seen)
    });
    while !script.is_finished() {
        emit.emit(1);
        pays.update(|gold| *gold += 1);
        executor.run_frame(1);
    }
    let (checks, shares, reads, seen) = script.take_output().unwrap().unwrap();
    assert_eq!((checks, shares, reads), (2, 3, 2));
    assert!(seen > 3);
}
