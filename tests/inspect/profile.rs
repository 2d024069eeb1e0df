//! Profiles: how often scripts were polled, and for how long; what they say of themselves.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use framestep::Executor;
use framestep::inspect::describe;
use framestep::prelude::*;

use framestep_testkit::result_of;

/// A stopwatch that scripts move on by hand.
#[derive(Clone, Default)]
struct Work(Rc<Cell<Duration>>);

impl Work {
    fn takes(&self, milliseconds: u64) {
        self.0
            .set(self.0.get() + Duration::from_millis(milliseconds));
    }

    fn profiling(&self) -> Executor {
        let passed = self.0.clone();
        let builder = Executor::builder().profile(true);
        builder.stopwatch(move || passed.get()).build()
    }
}

#[test]
fn it_counts_the_polls_of_each_script_and_adds_up_their_times() {
    let work = Work::default();
    let mut executor = work.profiling();
    let (path, door) = (work.clone(), work.clone());
    let path = executor.start(async move {
        for milliseconds in [3, 7, 5] {
            path.takes(milliseconds);
            next_frame().await;
        }
        wait_seconds(60).await;
    });
    let door = executor.start(async move {
        door.takes(1);
        wait_seconds(60).await;
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    let snapshot = executor.snapshot();
    let profile = |id| snapshot.get(id).unwrap().profile().unwrap();
    let ms = Duration::from_millis;
    let path = profile(path.id());
    assert_eq!((path.polls, path.total, path.longest), (3, ms(15), ms(7)));
    let door = profile(door.id());
    assert_eq!((door.polls, door.total, door.longest), (1, ms(1), ms(1)));
}

#[test]
fn the_time_of_a_script_that_is_started_in_a_poll_is_its_own() {
    let work = Work::default();
    let executor = work.profiling();
    let (outer, inner) = (work.clone(), work.clone());
    let outer = executor.start(async move {
        outer.takes(2);
        let inner = start(async move {
            inner.takes(40);
            wait_seconds(60).await;
        });
        inner.await.unwrap();
    });
    let snapshot = executor.snapshot();
    let profile = snapshot.get(outer.id()).unwrap().profile().unwrap();
    assert_eq!(profile.total, Duration::from_millis(2));
}

#[test]
fn without_it_there_is_none() {
    let executor = Executor::builder().inspect(true).build();
    let door = executor.start(wait_seconds(1));
    assert_eq!(executor.snapshot().get(door.id()).unwrap().profile(), None);
}

#[test]
fn a_description_stays_until_the_next_one() {
    let mut executor = Executor::builder().inspect(true).build();
    let boss = executor.start(async {
        describe("asleep");
        wait_frames(2).await;
        describe(format_args!("phase {}", 2));
        wait_seconds(60).await;
    });
    let mut seen = Vec::new();
    for _ in 0..3 {
        let snapshot = executor.snapshot();
        let boss = snapshot.get(boss.id()).unwrap();
        seen.push(boss.description().unwrap().to_owned());
        executor.run_frame(0.25);
    }
    assert_eq!(seen, ["asleep", "asleep", "phase 2"]);
}

/// A text that must not be written.
struct Unwritten;

impl fmt::Display for Unwritten {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("nobody looks");
    }
}

#[test]
fn while_nobody_looks_a_description_is_not_written() {
    let executor = Executor::new();
    let script = executor.start(async { describe(Unwritten) });
    assert!(executor.snapshot().is_empty());
    assert!(result_of(&executor, script).is_ok());
    describe(Unwritten); // outside of a coroutine
}

/// Writing the text is user code: it may do anything.
struct Starts;

impl fmt::Display for Starts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe("inner");
        drop(start(async { next_frame().await }));
        f.write_str("outer")
    }
}

#[test]
fn a_description_may_start_scripts_and_describe() {
    let executor = Executor::builder().inspect(true).build();
    let script = executor.start(async {
        describe(Starts);
        wait_seconds(60).await;
    });
    let snapshot = executor.snapshot();
    let description = snapshot.get(script.id()).unwrap().description();
    assert_eq!((description, snapshot.len()), (Some("outer"), 2));
}
