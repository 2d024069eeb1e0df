//! Mistakes are reported at the line that makes them, not inside this crate.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use futures::Stream;

use framestep::Executor;
use framestep::lend::{Lend, with_as};
use framestep::prelude::*;

use framestep_testkit::combinators::{COMBINATORS, Combinator};
use framestep_testkit::timeline::unclamped;
use framestep_testkit::waits::{Given, Row, WAITS};
use framestep_testkit::{forever, panic_of, place_of_panic, poll_once};

/// This file and a line.
fn at(line: u32) -> String {
    format!("{}:{line}", file!())
}

/// Polls at the caller's line.
macro_rules! poll {
    ($wait:expr) => {{
        let mut wait = std::pin::pin!($wait);
        let mut cx = Context::from_waker(Waker::noop());
        let _ = wait.as_mut().poll(&mut cx);
    }};
}

#[test]
fn a_wait_that_is_polled_outside_of_an_executor_panics_at_the_poll() {
    let polls: [(u32, &dyn Fn()); 2] = [
        (line!(), &|| poll!(next_frame())),
        (line!(), &|| poll!(race([next_frame()]))),
    ];
    for (line, poll) in polls {
        assert_eq!(place_of_panic(poll), at(line));
    }
}

#[test]
fn each_wait_that_is_awaited_outside_of_an_executor_panics_at_the_await() {
    let executor = unclamped();
    let given = Given::new(&executor.handle());
    for row in WAITS {
        let Some(line) = row.line else { continue };
        if row.rule.goes_anywhere() {
            continue;
        }
        let place = place_of_panic(|| poll!((row.awaited)(given.clone())));
        assert_eq!(
            place,
            format!("{}:{line}", Row::FILE),
            "{} of {}",
            row.call,
            row.of
        );
    }
}

#[test]
fn so_does_each_combinator_of_the_crate() {
    for row in COMBINATORS {
        let Some(ours) = &row.ours else { continue };
        let place = place_of_panic(|| poll!((ours.frames)()));
        assert_eq!(
            place,
            format!("{}:{}", Combinator::FILE, ours.line),
            "{}",
            row.name
        );
    }
}

#[test]
fn a_coroutine_that_awaits_itself_panics_at_the_await() {
    let mut executor = Executor::builder().strict(true).build();
    let slot = Rc::new(RefCell::new(None::<Coroutine<()>>));
    let own = slot.clone();
    let line = line!() + 3;
    let script = executor.spawn(async move {
        let own = own.take().unwrap();
        drop(own.await);
    });
    slot.replace(Some(script));
    assert_eq!(place_of_panic(|| executor.run_frame(0.25)), at(line));
}

#[test]
fn a_wait_of_another_executor_panics_at_the_await() {
    let (mut executor, other) = (unclamped(), unclamped());
    let clock = other.clock().child();
    let line = line!() + 2;
    let script = async move {
        clock.wait_seconds(1).await;
    };
    assert_eq!(
        place_of_panic(|| executor.run_until(script, 0.25)),
        at(line)
    );

    let begun = Rc::new(RefCell::new(None));
    let give = begun.clone();
    other.start(async move {
        let mut wait = next_frame();
        assert!(poll_once(&mut wait).await.is_pending());
        give.replace(Some(wait));
    });
    let wait = begun.take().unwrap();
    let line = line!() + 2;
    let script = async move {
        wait.await;
        forever().await;
    };
    assert_eq!(
        place_of_panic(|| executor.run_until(script, 0.25)),
        at(line)
    );
}

#[test]
fn a_wait_that_is_polled_after_its_end_panics_at_the_poll() {
    let mut executor = unclamped();
    let line = line!() + 5;
    let script = async {
        let mut wait = next_frame();
        (&mut wait).await;
        let mut cx = Context::from_waker(Waker::noop());
        let _ = Pin::new(&mut wait).poll(&mut cx);
    };
    assert_eq!(
        place_of_panic(|| executor.run_until(script, 0.25)),
        at(line)
    );

    let done = executor.start(async {});
    let line = line!() + 3;
    let script = async move {
        drop(done.take_output());
        drop(done.await);
    };
    assert_eq!(
        place_of_panic(|| executor.run_until(script, 0.25)),
        at(line)
    );
}

#[test]
fn a_tick_outside_of_an_executor_panics_at_the_poll() {
    let line = line!() + 4;
    let poll = || {
        let mut ticks = interval(1);
        let mut cx = Context::from_waker(Waker::noop());
        let _ = Pin::new(&mut ticks).poll_next(&mut cx);
    };
    assert_eq!(place_of_panic(poll), at(line));
}

struct Gold;
struct Map;

/// A context with a lifetime, and its key.
struct Frame<'a>(&'a mut u32);
enum InFrame {}

impl Lend for InFrame {
    type Of<'a> = Frame<'a>;
}

#[test]
fn a_borrow_of_what_is_not_lent_says_what_is() {
    let mut executor = unclamped();
    let nothing = executor.enter(|| panic_of(|| with(|_: &mut Gold| ())));
    assert!(nothing.contains("Gold` is lent"), "{nothing}");
    assert!(nothing.ends_with("(nothing is lent here)"), "{nothing}");

    let text = executor.lend(&mut Map, |executor| {
        let mut number = 5;
        executor.lend_as::<InFrame, _>(&mut Frame(&mut number), |executor| {
            executor.enter(|| with_as::<InFrame, _>(|frame| *frame.0 += 1));
            executor.enter(|| panic_of(|| with_ref(|_: &Gold| ())))
        })
    });
    let lent = format!("(lent here: `{0}::InFrame`, `{0}::Map`)", module_path!());
    assert!(text.ends_with(&lent), "{text}");

    let outside = panic_of(|| with(|_: &mut Gold| ()));
    assert!(!outside.contains("lent here"), "{outside}");
}

#[test]
fn a_nested_borrow_says_where_the_outer_one_began() {
    let mut executor = unclamped();
    executor.lend(&mut Map, |executor| {
        executor.enter(|| {
            let line = line!() + 1;
            let text = with(|_: &mut Map| panic_of(|| with(|_: &mut Map| ())));
            assert!(text.contains(&at(line)), "{text}");

            let line = line!() + 1;
            let text = with_ref(|_: &Map| with_ref(|_: &Map| panic_of(|| with(|_: &mut Map| ()))));
            assert!(text.contains(&at(line)), "{text}");

            let line = line!() + 1;
            let told = with(|_: &mut Map| try_with(|_: &mut Map| ()).unwrap_err().to_string());
            assert!(told.contains(&at(line)), "{told}");

            let line = line!() + 2;
            let text = Rc::new(RefCell::new(String::new()));
            let told = text.clone();
            with_deferred(move |_: &mut Map| {
                *told.borrow_mut() = panic_of(|| with(|_: &mut Map| ()));
            });
            assert!(text.borrow().contains(&at(line + 1)), "{}", text.borrow());
        });
    });
}

#[test]
fn a_nested_borrow_of_a_behaviour_says_where_the_outer_one_began() {
    use framestep::scene::{Behaviour, Scene, SceneContext};
    struct Door(Rc<RefCell<String>>);
    impl Behaviour for Door {
        fn update(&mut self, context: &SceneContext<'_, Self>) {
            let error = context.this().try_with(|_| ()).unwrap_err();
            self.0.replace(error.to_string());
        }
    }
    let told = Rc::new(RefCell::new(String::new()));
    let mut scene = Scene::new();
    let door = scene.add(Door(told.clone()));
    let line = line!() + 1;
    let text = door.with(|_| panic_of(|| door.with(|_| ())));
    assert!(text.contains(&at(line)), "{text}");
    scene.run_frame(0.25);
    assert!(told.borrow().contains("by a callback around this call"));
}
