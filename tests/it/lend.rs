//! State that the host lends, and coroutines borrow for the length of a closure.

use std::cell::{Cell, RefCell};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use framestep::prelude::*;
use framestep::{Executor, WithError};

use crate::support::{forever, panic_of, panic_text, result_of};
use crate::timeline::{Log, Timeline, unclamped};

#[derive(Debug, Default, PartialEq)]
struct Gold(u32);

#[derive(Debug, Default, PartialEq)]
struct Doors(Vec<&'static str>);

fn ask() -> Result<u32, WithError> {
    try_with(|gold: &mut Gold| gold.0)
}

fn is_lent() -> bool {
    !matches!(ask(), Err(WithError::NotLent { .. }))
}

fn is_borrowed() -> bool {
    matches!(ask(), Err(WithError::Borrowed { .. }))
}

/// Asks for the gold whenever it is dropped.
struct Asks(Log);

impl Drop for Asks {
    fn drop(&mut self) {
        self.0.note(match ask() {
            Ok(gold) => format!("there are {gold}"),
            Err(WithError::NotLent { .. }) => "not lent".to_string(),
            Err(_) => "borrowed".to_string(),
        });
    }
}

/// One who has been asleep since frame 0 and asks when it goes.
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

mod finding {
    use super::*;

    #[test]
    fn what_is_lent_is_found_in_every_frame_in_which_it_is() {
        let mut timeline = Timeline::with_dt(0.25);
        let mut gold = Gold(0);
        timeline.frames_are(move |executor, dt| {
            // Odd frames only.
            if executor.time().frame % 2 == 0 {
                executor.lend(&mut gold, |executor| executor.run_frame(dt));
            } else {
                executor.run_frame(dt);
            }
        });
        timeline.row("finds", |mark| async move {
            loop {
                if is_lent() {
                    mark.hit();
                }
                next_frame().await;
            }
        });
        timeline.row("late", |mark| async move {
            for _ in 0..4 {
                end_of_frame().await;
                if is_lent() {
                    mark.hit();
                }
            }
        });
        timeline.check(
            "
            frame 0 1 2 3 4 5
            finds - * - * - *
            late  - Z - Z
            ",
        );
    }

    #[test]
    fn the_host_has_its_state_back_between_frames() {
        let mut executor = unclamped();
        let mut gold = Gold(0);
        executor.spawn(async {
            loop {
                with(|gold: &mut Gold| gold.0 += 1);
                next_frame().await;
            }
        });
        for _ in 0..3 {
            lend_frame(&mut executor, &mut gold);
            gold.0 *= 10;
        }
        assert_eq!(gold.0, 1110);
    }

    #[test]
    fn a_value_comes_out_of_the_closures() {
        let mut executor = unclamped();
        let mut gold = Gold(7);
        let twice = executor.spawn(async { with(|gold: &mut Gold| gold.0 * 2) });
        let frame = executor.lend(&mut gold, |executor| {
            executor.run_frame(0.25);
            executor.time().frame
        });
        assert_eq!(frame, 1);
        assert_eq!(result_of(&executor, twice).unwrap(), 14);
    }

    #[test]
    fn states_of_several_types_are_found_by_type() {
        let mut executor = unclamped();
        let (mut gold, mut doors, mut number) = (Gold(1), Doors::default(), 5_u8);
        executor.spawn(async {
            with(|doors: &mut Doors| doors.0.push("open"));
            with(|gold: &mut Gold| gold.0 += 1);
            with(|number: &mut u8| *number += 1);
        });
        executor.lend(&mut gold, |executor| {
            executor.lend(&mut doors, |executor| {
                executor.lend(&mut number, |executor| executor.run_frame(0.25));
            });
        });
        assert_eq!((gold, doors, number), (Gold(2), Doors(vec!["open"]), 6));
    }

    #[test]
    fn of_two_of_one_type_the_inner_one_is_found_and_the_outer_one_again_after() {
        let mut executor = unclamped();
        let (mut outer, mut inner) = (Gold(0), Gold(0));
        executor.start(async {
            loop {
                next_frame().await;
                with(|gold: &mut Gold| gold.0 = gold.0 * 10 + u32::try_from(time().frame).unwrap());
            }
        });
        executor.lend(&mut outer, |executor| {
            executor.run_frame(0.25);
            executor.lend(&mut inner, |executor| executor.run_frame(0.25));
            executor.run_frame(0.25);
        });
        assert_eq!((outer, inner), (Gold(13), Gold(2)));
    }

    #[test]
    fn what_an_inner_lend_lends_is_gone_after_it() {
        let mut executor = unclamped();
        let (mut gold, mut doors) = (Gold(0), Doors::default());
        executor.lend(&mut doors, |executor| {
            executor.lend(&mut gold, |executor| assert!(executor.enter(is_lent)));
            assert!(!executor.enter(is_lent));
            executor.enter(|| with(|doors: &mut Doors| doors.0.push("here")));
        });
        assert_eq!(doors.0, ["here"]);
    }

    #[test]
    fn it_is_found_in_custom_phases_in_run_until_and_by_what_is_started_from_outside() {
        let mut executor = unclamped();
        let mut gold = Gold(0);
        let add = |n| with(move |gold: &mut Gold| gold.0 += n);
        executor.spawn_in(Phase::Custom(3), async move { add(1) });
        executor.lend(&mut gold, |executor| {
            executor.run_phase(Phase::Custom(3));
            executor.run_until(
                async move {
                    wait_seconds(1).await;
                    add(10);
                },
                0.25,
            );
            executor.start(async move { add(100) });
            executor.handle().start(async move { add(1_000) });
            executor.enter(|| add(10_000));
        });
        assert_eq!(gold.0, 11_111);
    }

    #[test]
    fn conditions_borrow_it_too() {
        let mut timeline = Timeline::with_dt(0.25);
        let mut gold = Gold(0);
        timeline.frames_are(move |executor, dt| {
            gold.0 += 1;
            executor.lend(&mut gold, |executor| executor.run_frame(dt));
        });
        timeline.row("rich", |mark| async move {
            wait_until(|| with(|gold: &mut Gold| gold.0 >= 3)).await;
            mark.hit();
        });
        timeline.check(
            "
            frame 0 1 2 3 4
            rich  - - - *
            ",
        );
    }

    #[test]
    fn it_is_lent_to_one_executor_only() {
        let mut lends = unclamped();
        let other = unclamped();
        let mut gold = Gold(0);
        lends.lend(&mut gold, |lends| {
            assert!(lends.enter(is_lent));
            assert!(!other.enter(is_lent));
            assert!(!is_lent(), "outside of executors");
            lends.enter(|| {
                other.enter(|| assert!(!is_lent(), "the innermost executor counts"));
                std::thread::scope(|scope| {
                    scope.spawn(|| assert!(!is_lent(), "nothing is lent to other threads"));
                });
                assert!(is_lent());
            });
        });
    }

    #[test]
    fn anything_that_is_static_can_be_lent() {
        trait Speaks {
            fn speak(&mut self) -> &'static str;
        }
        impl Speaks for u32 {
            fn speak(&mut self) -> &'static str {
                *self += 1;
                "moo"
            }
        }
        type Leaked = &'static mut u32;
        struct Nothing;
        struct Large([u64; 1_000]);

        let mut executor = unclamped();
        let said = executor.spawn(async {
            with(|_: &mut Nothing| ());
            with(|large: &mut Large| large.0[999] += 1);
            with(|rc: &mut Rc<Cell<u32>>| rc.set(1));
            with(|leaked: &mut Leaked| **leaked += 1);
            with(|cow: &mut Box<dyn Speaks>| cow.speak())
        });
        let mut nothing = Nothing;
        let mut large = Box::new(Large([0; 1_000]));
        let mut rc = Rc::new(Cell::new(0_u32));
        let mut number = Box::leak(Box::new(5_u32)) as Leaked;
        let mut cow: Box<dyn Speaks> = Box::new(0_u32);
        executor.lend(&mut nothing, |executor| {
            executor.lend(&mut *large, |executor| {
                executor.lend(&mut rc, |executor| {
                    executor.lend(&mut number, |executor| {
                        executor.lend(&mut cow, |executor| executor.run_frame(0.25));
                    });
                });
            });
        });
        assert_eq!((large.0[999], rc.get(), *number), (1, 1, 6));
        assert_eq!(result_of(&executor, said).unwrap(), "moo");
        // SAFETY: it came from a box, and nobody else has it.
        drop(unsafe { Box::from_raw(number) });
    }

    #[test]
    fn the_state_may_be_replaced_as_a_whole() {
        let mut executor = unclamped();
        let mut doors = Doors(vec!["old"]);
        let old = executor.spawn(async { with(mem::take::<Doors>) });
        executor.spawn(async { with(|doors: &mut Doors| *doors = Doors(vec!["new"])) });
        executor.lend(&mut doors, |executor| executor.run_frame(0.25));
        assert_eq!(result_of(&executor, old).unwrap().0, ["old"]);
        assert_eq!(doors.0, ["new"]);
    }
}

mod refusing {
    use super::*;

    #[test]
    fn with_outside_of_a_lend_names_the_type_and_what_to_do() {
        let mut executor = unclamped();
        let ended = executor.start(async { with(|gold: &mut Gold| gold.0) });
        let error = result_of(&executor, ended).unwrap_err();
        let text = panic_text(&*error.into_panic());
        assert!(
            text.contains("lend::Gold`") && text.contains("executor.lend("),
            "{text}"
        );
        // The same outside of executors, and with another type lent.
        assert_eq!(panic_of(|| with(|gold: &mut Gold| gold.0)), text);
        let lent = |executor: &mut Executor| executor.enter(|| with(|gold: &mut Gold| gold.0));
        assert_eq!(
            panic_of(|| executor.lend(&mut Doors::default(), lent)),
            text
        );
    }

    #[test]
    fn nested_borrows_of_one_type_are_refused_and_of_another_work() {
        let mut executor = unclamped();
        let (mut gold, mut doors) = (Gold(1), Doors::default());
        let refused = executor.spawn(async {
            with(|gold: &mut Gold| {
                gold.0 += 1;
                with(|doors: &mut Doors| {
                    doors.0.push("inside");
                    assert!(is_borrowed());
                });
                with(|doors: &mut Doors| doors.0.push("again"));
                with(|_: &mut Gold| unreachable!("it is borrowed"));
            });
        });
        let after = executor.spawn(async { ask() });
        executor.lend(&mut gold, |executor| {
            executor.lend(&mut doors, |executor| executor.run_frame(0.25));
        });
        let error = result_of::<()>(&executor, refused).unwrap_err();
        let text = panic_text(&*error.into_panic());
        assert!(
            text.contains("lend::Gold`") && text.contains("borrowed"),
            "{text}"
        );
        assert!(text.contains("spawn"), "{text}");
        assert_eq!(result_of(&executor, after).unwrap(), Ok(2));
        assert_eq!(doors.0, ["inside", "again"]);
    }

    #[test]
    fn the_inner_of_two_being_borrowed_the_outer_is_not_found() {
        let mut executor = unclamped();
        let (mut outer, mut inner) = (Gold(1), Gold(2));
        executor.lend(&mut outer, |executor| {
            executor.lend(&mut inner, |executor| {
                executor.enter(|| {
                    with(|gold: &mut Gold| {
                        assert_eq!(gold.0, 2);
                        assert!(is_borrowed());
                    });
                });
            });
        });
    }

    #[test]
    fn the_error_says_which_and_why() {
        let mut executor = unclamped();
        let error = ask().unwrap_err();
        assert!(
            matches!(error, WithError::NotLent { type_name, .. } if type_name.ends_with("Gold"))
        );
        assert!(error.to_string().contains("is lent"), "{error}");
        executor.lend(&mut Gold(0), |executor| {
            let error = executor.enter(|| with(|_: &mut Gold| ask().unwrap_err()));
            let WithError::Borrowed { type_name, .. } = error else {
                panic!("it is borrowed: {error}");
            };
            assert!(type_name.ends_with("Gold"), "{type_name}");
        });
    }

    #[test]
    fn the_panic_is_at_the_callers_line() {
        thread_local! {
            static PANICKED_AT: RefCell<Option<String>> = const { RefCell::new(None) };
        }
        // It stays, since other tests panic at the same time, each on a thread
        // of its own.
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICKED_AT.set(info.location().map(ToString::to_string));
            usual(info);
        }));
        let line = line!() + 1;
        panic_of(|| with(|_: &mut Gold| ()));
        let at = PANICKED_AT.take().expect("it panicked");
        assert!(at.starts_with(&format!("{}:{line}:", file!())), "{at}");
    }
}

mod panicking {
    use super::*;

    #[test]
    fn a_panic_in_the_closure_ends_its_coroutine_and_gives_the_state_back() {
        let mut executor = unclamped();
        let log = Log::new();
        let mut gold = Gold(0);
        let panics = executor.spawn(async {
            with(|gold: &mut Gold| {
                gold.0 += 1;
                panic!("on purpose");
            });
        });
        let say = log.clone();
        executor.spawn(async move {
            loop {
                say.say(with(|gold: &mut Gold| gold.0));
                next_frame().await;
            }
        });
        lend_frame(&mut executor, &mut gold);
        lend_frame(&mut executor, &mut gold);
        log.check(&["F1: 1", "F2: 1"]);
        assert!(result_of(&executor, panics).unwrap_err().is_panic());
    }

    #[test]
    fn a_panic_out_of_nested_closures_gives_back_what_each_had() {
        let mut executor = unclamped();
        let (mut gold, mut doors) = (Gold(0), Doors::default());
        executor.spawn(async {
            let nested = || {
                with(|_: &mut Gold| with(|_: &mut Doors| panic!("on purpose")));
            };
            assert!(catch_unwind(nested).is_err());
            with(|gold: &mut Gold| {
                let inner = || with(|_: &mut Doors| panic!("on purpose"));
                assert!(catch_unwind(inner).is_err());
                with(|doors: &mut Doors| doors.0.push("usable"));
                assert!(
                    is_borrowed(),
                    "of the outer one nothing has been given back"
                );
                gold.0 += 1;
            });
        });
        executor.lend(&mut gold, |executor| {
            executor.lend(&mut doors, |executor| executor.run_frame(0.25));
        });
        assert_eq!((gold.0, doors.0), (1, vec!["usable"]));
    }

    #[test]
    fn a_lend_that_unwinds_takes_its_state_back() {
        let mut executor = unclamped();
        let (mut outer, mut inner) = (Gold(1), Gold(2));
        executor.lend(&mut outer, |executor| {
            let unwinds = || executor.lend(&mut inner, |_| panic!("on purpose"));
            assert_eq!(panic_of::<()>(unwinds), "on purpose");
            assert_eq!(executor.enter(ask), Ok(1));
        });
        assert_eq!((outer, inner), (Gold(1), Gold(2)));
        assert!(!executor.enter(is_lent));
    }

    #[test]
    fn run_until_may_unwind_through_a_lend() {
        let mut executor = unclamped();
        let mut gold = Gold(0);
        let unwinds = || {
            executor.lend(&mut gold, |executor| {
                executor.run_until(async { with(|_: &mut Gold| panic!("on purpose")) }, 0.25);
            });
        };
        assert_eq!(panic_of(unwinds), "on purpose");
        assert!(!executor.enter(is_lent));
        assert_eq!(
            executor.lend(&mut gold, |executor| executor.enter(ask)),
            Ok(0)
        );
    }
}

mod destructors {
    use super::*;

    #[test]
    fn they_find_the_state_if_it_is_there_and_an_error_if_not() {
        let mut executor = unclamped();
        let log = Log::new();
        let mut gold = Gold(7);
        let [lent, borrowed, unlent] = [(); 3].map(|()| asks_when_it_goes(&executor, &log));
        executor.spawn(async move {
            lent.stop();
            with(|_: &mut Gold| borrowed.stop());
        });
        lend_frame(&mut executor, &mut gold);
        unlent.stop();
        log.check(&["there are 7", "borrowed", "not lent"]);
        drop(Asks(log.clone()));
        log.check(&["not lent"]);
    }

    #[test]
    fn they_find_it_when_the_executor_is_dropped_while_it_lends() {
        let mut executor = unclamped();
        let log = Log::new();
        asks_when_it_goes(&executor, &log);
        executor.lend(&mut Gold(7), |executor| drop(mem::take(executor)));
        log.check(&["there are 7"]);
        assert!(!executor.enter(is_lent), "nothing was lent to the new one");
    }

    #[test]
    fn they_find_it_given_back_when_a_panic_has_left_the_closure() {
        let mut executor = unclamped();
        let log = Log::new();
        let (inside, outside) = (Asks(log.clone()), Asks(log.clone()));
        executor.spawn(async move {
            let _outside = outside;
            with(move |_: &mut Gold| {
                let _inside = inside;
                panic!("on purpose");
            });
        });
        lend_frame(&mut executor, &mut Gold(7));
        log.check(&["borrowed", "there are 7"]);
    }

    #[test]
    fn the_old_state_may_ask_when_it_is_replaced() {
        struct AsksForItself(Log);
        impl Drop for AsksForItself {
            fn drop(&mut self) {
                let asked = try_with(|_: &mut AsksForItself| ());
                self.0.note(asked.is_err());
            }
        }
        let mut executor = unclamped();
        let log = Log::new();
        let new = AsksForItself(log.clone());
        executor.spawn(async move { with(move |state: &mut AsksForItself| *state = new) });
        let mut state = AsksForItself(log.clone());
        executor.lend(&mut state, |executor| executor.run_frame(0.25));
        drop(state);
        log.check(&["true", "true"]);
    }
}

mod acting_inside {
    use super::*;

    #[test]
    fn others_are_stopped_at_once_and_oneself_at_the_next_wait() {
        let mut executor = unclamped();
        let log = Log::new();
        let guard = log.on_drop("the other has gone");
        let other = executor.start(async move {
            let _guard = guard;
            forever().await;
        });
        let say = log.clone();
        let own = executor.spawn(async move {
            let _guard = say.on_drop("oneself, too");
            with(|gold: &mut Gold| {
                assert!(stop(other.id()) && stop(current()));
                say.say("in the closure");
                gold.0 += 1;
            });
            say.say("after it");
            with(|gold: &mut Gold| gold.0 += 1);
            next_frame().await;
            say.say("never");
        });
        let mut gold = Gold(0);
        lend_frame(&mut executor, &mut gold);
        lend_frame(&mut executor, &mut gold);
        log.check(&[
            "the other has gone",
            "F1: in the closure",
            "F1: after it",
            "oneself, too",
        ]);
        assert!(own.is_finished());
        assert_eq!(gold.0, 2);
    }

    #[test]
    fn wakes_arrive_after_the_closure_later_in_the_run() {
        let mut executor = unclamped();
        let log = Log::new();
        let (sender, receiver) = async_channel::bounded::<()>(1);
        let say = log.clone();
        executor.spawn(async move {
            receiver.recv().await.unwrap();
            with(|gold: &mut Gold| gold.0 += 1);
            say.say("woken");
        });
        let say = log.clone();
        executor.spawn(async move {
            next_frame().await;
            with(|gold: &mut Gold| {
                sender.try_send(()).unwrap();
                gold.0 += 1;
                say.say("has woken it");
            });
            say.say("goes on first");
        });
        let mut gold = Gold(0);
        lend_frame(&mut executor, &mut gold);
        lend_frame(&mut executor, &mut gold);
        log.check(&["F2: has woken it", "F2: goes on first", "F2: woken"]);
        assert_eq!(gold.0, 2);
    }

    #[test]
    fn a_wait_may_be_made_inside_and_awaited_outside() {
        let mut timeline = Timeline::with_dt(0.25);
        let mut gold = Gold(2);
        timeline.frames_are(move |executor, dt| {
            executor.lend(&mut gold, |executor| executor.run_frame(dt));
        });
        timeline.row("waits", |mark| async move {
            next_frame().await;
            with(|gold: &mut Gold| wait_frames(gold.0.into())).await;
            mark.hit();
        });
        timeline.check(
            "
            frame 0 1 2 3
            waits - - - *
            ",
        );
    }
}

mod other_executors {
    use super::*;

    #[test]
    fn the_closure_may_put_the_executor_elsewhere() {
        let mut executor = unclamped();
        let mut gold = Gold(0);
        let digs = executor.start(async {
            loop {
                next_frame().await;
                with(|gold: &mut Gold| gold.0 += 1);
            }
        });
        let mut elsewhere = None;
        executor.lend(&mut gold, |executor| {
            executor.run_frame(0.25);
            let mut old = mem::replace(executor, unclamped());
            assert!(
                !executor.enter(is_lent),
                "the new one has been lent nothing"
            );
            old.run_frame(0.25);
            elsewhere = Some(old);
        });
        assert_eq!(gold.0, 2);
        // Neither of them leads to it any more.
        let mut old = elsewhere.expect("put there");
        assert!(!executor.enter(is_lent));
        assert!(!old.enter(is_lent));
        old.run_frame(0.25);
        assert!(result_of(&old, digs).unwrap_err().is_panic());
    }

    #[test]
    fn what_another_executor_lends_in_between_is_taken_back_from_that() {
        let mut first = unclamped();
        first.lend(&mut Gold(1), |first| {
            let mut second = mem::replace(first, unclamped());
            first.lend(&mut Gold(2), |first| {
                mem::swap(first, &mut second);
                assert_eq!((first.enter(ask), second.enter(ask)), (Ok(1), Ok(2)));
            });
            assert_eq!(first.enter(ask), Ok(1));
            assert!(!second.enter(is_lent));
        });
        assert!(!first.enter(is_lent));
    }

    #[test]
    fn a_closure_may_drop_the_executor_and_go_on() {
        let mut executor = unclamped();
        let log = Log::new();
        asks_when_it_goes(&executor, &log);
        let handle = executor.handle();
        let mut gold = Gold(7);
        executor.lend(&mut gold, |executor| {
            executor.lend(&mut Doors::default(), |executor| {
                *executor = unclamped();
                assert!(handle.time().is_none());
                assert!(handle.start(async {}).is_finished());
            });
        });
        log.check(&["there are 7"]);
        assert_eq!(gold.0, 7);
    }

    #[test]
    fn a_coroutine_may_run_an_executor_of_its_own_inside_and_lend_on_what_it_has() {
        let mut outer = unclamped();
        let log = Log::new();
        let say = log.clone();
        outer.spawn(async move {
            let mut inner = unclamped();
            let also = say.clone();
            inner.start(async move {
                loop {
                    next_frame().await;
                    also.note(format_args!("inner: {:?}", ask().ok()));
                    let _ = try_with(|gold: &mut Gold| gold.0 += 1);
                }
            });
            with(|gold: &mut Gold| {
                inner.run_frame(0.25);
                inner.lend(gold, |inner| inner.run_frame(0.25));
                gold.0 *= 10;
                inner.run_frame(0.25);
            });
            say.note(format_args!("outer: {:?}", ask().ok()));
        });
        let mut gold = Gold(1);
        lend_frame(&mut outer, &mut gold);
        log.check(&[
            "inner: None",
            "inner: Some(1)",
            "inner: None",
            "outer: Some(20)",
        ]);
    }

    #[test]
    fn an_executor_that_is_lent_may_be_run_by_a_coroutine_of_another() {
        let mut outer = unclamped();
        let mut inner = unclamped();
        let log = Log::new();
        let say = log.clone();
        inner.start(async move {
            loop {
                next_frame().await;
                say.say(ask().unwrap_or(0));
            }
        });
        outer.start(async {
            loop {
                next_frame().await;
                with(|inner: &mut Executor| inner.lend(&mut Gold(5), |inner| inner.run_frame(0.5)));
            }
        });
        for _ in 0..2 {
            outer.lend(&mut inner, |outer| outer.run_frame(0.25));
        }
        log.check(&["F1: 5", "F2: 5"]);
    }

    #[test]
    fn an_executor_that_steps_itself_through_a_start_lends_like_any_other() {
        let executor = unclamped();
        let handle = executor.handle();
        let own = Rc::new(RefCell::new(Some(executor)));
        let taken = own.clone();
        let stepped = handle.start(async move {
            let mut executor = taken.take().expect("put there");
            executor.spawn(async { with(|gold: &mut Gold| gold.0 += 1) });
            let mut state = Gold(1);
            executor.lend(&mut state, |executor| {
                with(|gold: &mut Gold| {
                    gold.0 *= 10;
                    executor.lend(gold, |executor| executor.run_frame(0.25));
                    gold.0 *= 10;
                });
            });
            taken.replace(Some(executor));
            state
        });
        let executor = own.take().expect("put back");
        assert_eq!(result_of(&executor, stepped).unwrap(), Gold(110));
        assert!(!executor.enter(is_lent));
    }
}

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
