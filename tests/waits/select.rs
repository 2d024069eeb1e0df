//! `select!`: the first of several futures, the upper one if two are ready.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{IntoFuture, Ready, pending, ready};
use std::panic::resume_unwind;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::channel::mpsc;
use futures::future::FusedFuture;
use futures::{FutureExt, StreamExt};

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{counted, noted, panic_of, panic_text, place_of_panic, result_of, swallow};

/// Polls `future` to its end; nothing in it waits.
#[track_caller]
fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing in it waits"),
    }
}

/// A future that is neither `Unpin` nor fused.
async fn after(frames: u64, value: &'static str) -> &'static str {
    wait_frames(frames).await;
    value
}

#[test]
fn select_continues_with_the_first_that_is_ready() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("upper", |mark| async move {
        select! {
            _ = next_frame() => mark.hit(),
            _ = wait_frames(2) => unreachable!(),
        }
    });
    timeline.row("lower", |mark| async move {
        select! {
            _ = wait_frames(3) => unreachable!(),
            _ = wait_seconds(0.5) => mark.hit(),
        }
    });
    timeline.row("handle", |mark| async move {
        let child = start(after(2, "child"));
        select! {
            value = child => assert_eq!(value.unwrap(), "child"),
            _ = wait_frames(3) => unreachable!(),
        }
        mark.hit();
    });
    timeline.row("phase", |mark| async move {
        select! {
            _ = wait_frames(2) => unreachable!(),
            _ = end_of_frame() => mark.hit(),
        }
    });
    timeline.row("at_once", |mark| async move {
        select! {
            _ = next_frame() => unreachable!(),
            value = ready(7) => assert_eq!(value, 7),
        }
        mark.hit();
    });
    timeline.row("after_it", |mark| async move {
        select! {
            _ = next_frame() => {}
            _ = wait_frames(2) => {}
        }
        mark.hit();
        next_frame().await;
        mark.hit();
    });
    timeline.row("swallow", |mark| async move {
        swallow(async {
            select! {
                _ = wait_frames(2) => {}
                _ = wait_frames(3) => unreachable!(),
            }
        })
        .await;
        mark.hit();
    });
    timeline.check(
        "
        frame    0 1 2 3
        upper    - *
        lower    - - *
        handle   - - *
        phase    - Z
        at_once  *
        after_it - * *
        swallow  - - *
        ",
    );
}

#[test]
fn of_two_that_are_ready_in_one_poll_the_upper_one_wins() {
    let mut executor = unclamped();
    let winners = executor.start(async {
        let mut winners = Vec::new();
        for _ in 0..100 {
            winners.push(select! {
                _ = wait_seconds(0.5) => "timer",
                _ = wait_frames(2) => "frames",
            });
            winners.push(select! {
                _ = wait_frames(2) => "frames",
                _ = wait_seconds(0.5) => "timer",
            });
        }
        winners
    });
    let winners = executor.run_until(winners, 0.25).unwrap();
    assert!(winners.chunks(2).all(|pair| pair == ["timer", "frames"]));
    assert_eq!(executor.time().frame, 400);
}

#[test]
fn branches_are_polled_in_order_from_the_top_down_to_the_first_that_is_ready() {
    let log = Log::new();
    let write = log.clone();
    let mut executor = unclamped();
    let winner = executor.run_until(
        async move {
            select! {
                name = noted(&write, "a", 3) => name,
                name = noted(&write, "b", 2) => name,
                name = noted(&write, "c", 2) => name,
            }
        },
        0.25,
    );
    assert_eq!(winner, "b");
    log.check(&["a", "b", "c", "a", "b", "drop a", "drop b", "drop c"]);
}

#[test]
fn a_frame_is_one_poll_however_many_branches_are_due() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    executor.start(counted(polls.clone(), async {
        loop {
            select! {
                _ = wait_frames(2) => {}
                _ = wait_seconds(0.5) => {}
                _ = wait_until(|| time().frame % 2 == 0) => {}
            }
        }
    }));
    polls.set(0);
    for _ in 0..10 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 10, "once a frame, for the condition");
}

#[test]
fn losers_are_dropped_from_the_top_before_the_handler_runs() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let waits = |name: &'static str, frames| {
            let guard = say.on_drop(name);
            async move {
                let _guard = guard;
                wait_frames(frames).await;
            }
        };
        let child = |name: &'static str| start(waits(name, 3)).stop_on_drop();
        select! {
            () = waits("first dropped", 9) => unreachable!(),
            () = waits("second dropped", 1) => say.say("handler"),
            () = waits("third dropped", 9) => unreachable!(),
            _ = child("child stopped") => unreachable!(),
            _ = start(waits("detached child ends", 3)) => unreachable!(),
        }
        say.say("after it");
    });
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&[
        // Its own local variable, when it returns.
        "second dropped",
        "first dropped",
        "third dropped",
        "child stopped",
        "F1: handler",
        "F1: after it",
        "detached child ends",
    ]);
    executor.assert_empty();
}

#[test]
fn stopping_the_coroutine_drops_the_branches_from_the_top() {
    let executor = unclamped();
    let log = Log::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| log.on_drop(name));
    let script = executor.start(async move {
        let hold = |guard| async move {
            let _guard = guard;
            pending::<()>().await;
        };
        select! {
            () = hold(a) => {}
            () = hold(b) => {}
            () = hold(c) => {}
        }
    });
    log.check(&[]);
    script.stop();
    log.check(&["a", "b", "c"]);
}

#[test]
fn a_branch_that_panics_drops_the_others() {
    let executor = unclamped();
    let log = Log::new();
    let guard = log.on_drop("dropped");
    let script = executor.start(async move {
        select! {
            () = async move {
                let _guard = guard;
                pending::<()>().await;
            } => {}
            () = async { panic!("on purpose") } => {}
        }
    });
    log.check(&["dropped"]);
    let payload = result_of(&executor, script).unwrap_err().into_panic();
    assert_eq!(panic_text(&*payload), "on purpose");
}

#[test]
fn an_output_is_dropped_even_if_the_destructor_of_a_branch_panics() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            resume_unwind(Box::new("on purpose"));
        }
    }
    /// Panics when it is dropped.
    async fn never() {
        let _panics = Panics;
        pending::<()>().await;
    }
    let executor = unclamped();
    let log = Log::new();
    let output = log.on_drop("output");
    let script = executor.start(async move {
        select! {
            () = never() => unreachable!("it is not ready"),
            _ = ready(output) => unreachable!("a destructor panics before this runs"),
        }
    });
    let payload = result_of(&executor, script).unwrap_err().into_panic();
    assert_eq!(panic_text(&*payload), "on purpose");
    log.check(&["output"]);
}

#[test]
fn branches_borrow_local_variables_and_the_handler_has_them_back() {
    let mut executor = unclamped();
    let place = executor.run_until(
        async {
            async fn walk(steps: &mut Vec<u64>, to: u64) -> u64 {
                for step in 1..=to {
                    next_frame().await;
                    steps.push(step);
                }
                to
            }
            let (mut left, mut right) = (vec![], vec![]);
            let mut log = String::new();
            let name = String::from("walker");
            select! {
                _ = walk(&mut left, 9) => unreachable!(),
                to = walk(&mut right, 3) => {
                    left.push(to);
                    right.clear();
                    log += &name;
                }
                () = async { log.push('?'); pending().await } => {}
            }
            (left, right, log, name)
        },
        0.25,
    );
    // The upper one took its third step in the same poll.
    let steps = (vec![1, 2, 3, 3], vec![], "?walker".into(), "walker".into());
    assert_eq!(place, steps);
}

#[test]
fn handlers_await_and_leave_functions_and_loops() {
    async fn fallible(frames: u64) -> Result<u64, &'static str> {
        let value = select! {
            _ = wait_frames(frames) => Err("late")?,
            _ = wait_frames(2) => 2,
        };
        let more = select! {
            value = fallible_now(value) => value?,
            _ = next_frame() => return Ok(0),
        };
        next_frame().await;
        Ok(more)
    }
    async fn fallible_now(value: u64) -> Result<u64, &'static str> {
        if value == 2 {
            next_frame().await;
        }
        Ok(value + 1)
    }
    let mut executor = unclamped();
    assert_eq!(executor.run_until(fallible(1), 0.25), Err("late"));
    assert_eq!(executor.run_until(fallible(9), 0.25), Ok(3));
    let counts = executor.run_until(
        async {
            let (mut odd, mut rounds) = (0, 0);
            let reached = 'outer: loop {
                rounds += 1;
                for count in 0.. {
                    let in_time = select! {
                        _ = wait_frames(9) => break,
                        _ = next_frame(), if count < 3 => continue,
                        _ = next_frame() => {
                            next_frame().await;
                            if rounds == 3 {
                                break 'outer count;
                            }
                            odd += 1;
                            continue 'outer;
                        }
                        _ = next_frame() => false,
                    };
                    assert!(in_time);
                }
                unreachable!("both leave the inner loop");
            };
            (odd, rounds, reached)
        },
        0.25,
    );
    assert_eq!(counts, (2, 3, 3));
}

#[test]
fn a_loop_keeps_what_it_passes_by_reference() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let mut child = start(after(3, "child"));
        let mut end = wait_frames(5);
        let mut block = pin!(after(2, "block"));
        let (mut waits_for_child, mut waits_for_block) = (true, true);
        loop {
            select! {
                _ = &mut end => return say.say("end"),
                value = &mut child, if waits_for_child => {
                    say.say(value.unwrap());
                    waits_for_child = false;
                }
                value = block.as_mut(), if waits_for_block => {
                    say.say(value);
                    waits_for_block = false;
                }
                _ = wait_frames(2) => say.say("two frames"),
            }
        }
    });
    for _ in 0..6 {
        executor.run_frame(0.25);
    }
    log.check(&["F2: block", "F3: child", "F5: end"]);
}

#[test]
fn a_handle_that_lost_can_still_be_joined() {
    let mut executor = unclamped();
    let (early, late) = executor.run_until(
        async {
            let mut child = start(after(3, "child"));
            let early = select! {
                value = &mut child => value.unwrap(),
                _ = next_frame() => "not yet",
            };
            assert!(!child.is_terminated());
            (early, child.await.unwrap())
        },
        0.25,
    );
    assert_eq!((early, late), ("not yet", "child"));
    assert_eq!(executor.time().frame, 3);
}

#[test]
fn a_condition_disables_its_branch_before_any_future_is_made() {
    let log = Log::new();
    let noted = |text: &'static str, value: bool| {
        log.note(text);
        value
    };
    let polls = Rc::new(Cell::new(0));
    let value = at_once(async {
        select! {
            value = { noted("future a", true); counted(polls.clone(), ready("a")) },
                if noted("condition a", false) => value,
            value = { noted("future b", true); ready("b") }, if noted("condition b", true) => value,
            value = { noted("future c", true); ready("c") } => value,
        }
    });
    assert_eq!((value, polls.get()), ("b", 0));
    log.check(&[
        "condition a",
        "condition b",
        "future a",
        "future b",
        "future c",
    ]);
}

#[test]
fn a_pattern_that_does_not_match_disables_its_branch() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("next", |mark| async move {
        select! {
            Some(()) = async { None } => unreachable!(),
            _ = next_frame() => mark.hit(),
        }
    });
    timeline.row("same_poll", |mark| async move {
        select! {
            Err(error) = start(after(1, "fine")) => panic!("{error}"),
            2 = ready(1) => unreachable!(),
            2 | 3 = ready(3) => mark.hit(),
            _ = next_frame() => unreachable!(),
        }
    });
    timeline.row("late", |mark| async move {
        select! {
            Err(error) = start(after(1, "fine")) => panic!("{error}"),
            "b" = after(2, "a") => unreachable!(),
            "c" = after(3, "c") => mark.hit(),
        }
    });
    timeline.row("else", |mark| async move {
        select! {
            Err(error) = start(after(1, "fine")) => panic!("{error}"),
            "b" = after(2, "a") => unreachable!(),
            else => mark.hit(),
        }
    });
    timeline.check(
        "
        frame     0 1 2 3
        next      - *
        same_poll *
        late      - - - *
        else      - - *
        ",
    );
}

#[test]
fn a_branch_that_does_not_match_is_not_polled_again() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let count = polls.clone();
    executor.run_until(
        async move {
            let mut wait = wait_frames(5);
            select! {
                false = counted(count, async { true }) => unreachable!(),
                _ = wait_until(|| time().frame == 3) => {}
                _ = &mut wait => unreachable!(),
            }
        },
        0.25,
    );
    assert_eq!(polls.get(), 1);
}

#[test]
fn patterns_may_move_copy_and_borrow_by_any_name() {
    const ONE: u32 = 1;
    struct NotCopy(String);
    fn text(s: &str) -> Ready<Option<NotCopy>> {
        ready(Some(NotCopy(s.into())))
    }
    at_once(async {
        select! {
            Some(NotCopy(mut s)) = text("a") => { s.push('!'); assert_eq!(s, "a!"); }
        }
        select! {
            mut all @ Some(_) = text("b") => assert_eq!(all.take().unwrap().0, "b"),
            else => unreachable!(),
        }
        select! {
            Some(NotCopy(ref s)) = text("c") => assert_eq!(s, "c"),
        }
        select! {
            Some(NotCopy(ref mut s)) = text("d") => { s.clear(); assert_eq!(s, ""); }
        }
        select! {
            &number = ready(&7) => assert_eq!(number, 7),
        }
        select! {
            (first, .., [_, last]) = ready((1, "x", [2, 3])) => assert_eq!((first, last), (1, 3)),
        }
        select! {
            mut number = ready(1) => { number += 1; assert_eq!(number, 2); }
        }
        select! {
            ONE = ready(2) => unreachable!(),
            2..=9 = ready(10) => unreachable!(),
            NotCopy(s) = ready(NotCopy("e".into())) => assert_eq!(s, "e"),
        }
    });
}

#[test]
fn an_output_that_matches_nothing_is_dropped_once() {
    let log = Log::new();
    let value = at_once(async {
        select! {
            None = ready(Some(log.on_drop("no match"))) => 1,
            _ = ready(log.on_drop("match")) => { log.note("handler"); 2 }
        }
    });
    assert_eq!(value, 2);
    // `_` binds nothing: the output is dropped after the handler, as with `match`.
    log.check(&["no match", "handler", "match"]);
}

#[test]
fn else_runs_when_all_branches_are_disabled() {
    let mut never = 0;
    let value = at_once(async {
        select! {
            _ = pending::<()>(), if never > 0 => 1,
            Some(x) = ready(None) => x,
            else => { never += 2; never }
        }
    });
    assert_eq!(value, 2);
    assert_eq!(
        at_once(async {
            select! { else => "alone" }
        }),
        "alone"
    );
}

#[test]
fn without_else_a_select_of_disabled_branches_panics_at_its_line() {
    let disabled = || {
        at_once(async {
            select! {
                _ = pending::<()>(), if false => (),
                Some(()) = ready(None) => (),
            }
        });
    };
    assert!(panic_of(disabled).contains("all branches of `select!` are disabled"));
    let line = line!() + 3;
    let disabled = || {
        at_once(async {
            select! { 1 = ready(2) => () }
        });
    };
    assert_eq!(place_of_panic(disabled), format!("{}:{line}", file!()));
}

#[test]
fn handlers_take_every_shape() {
    let value = |n: u32| {
        at_once(async move {
            select! {
                biased;
                1 = ready(n) => "a",
                2 = ready(n) => { "b" },
                3 = ready(n) => { "c" }
                4 = ready(n), if n > 0 => { "d" }
                5 = ready(n), if n > 0 => { "e" },
                6 = ready(n), if n > 0 => "f",
                7 = ready(n) => if n > 0 { "g" } else { "?" },
                else => "else"
            }
        })
    };
    assert_eq!(
        [1, 2, 3, 4, 5, 6, 7, 8].map(value),
        ["a", "b", "c", "d", "e", "f", "g", "else"]
    );
    // A single branch, without a comma; a variable with the name of the keyword.
    assert_eq!(
        at_once(async {
            select! { biased = ready(1) => biased }
        }),
        1
    );
    let biased = ready(2);
    assert_eq!(
        at_once(async {
            framestep::select! { x = biased => x }
        }),
        2
    );
}

#[test]
fn names_of_the_caller_and_of_the_macro_do_not_meet() {
    let (future, output, cx, is_enabled, is_pending, is_match) = (1, 2, 3, true, false, false);
    let sum = at_once(async {
        select! {
            future = ready(future), if is_pending => future,
            output = ready(output + cx), if is_enabled && !is_match => output + future,
        }
    });
    assert_eq!(sum, 6);
}

#[test]
fn any_into_future_is_a_branch() {
    struct Later(u64);
    impl IntoFuture for Later {
        type Output = u64;
        type IntoFuture = std::pin::Pin<Box<dyn Future<Output = u64>>>;
        fn into_future(self) -> Self::IntoFuture {
            Box::pin(async move {
                wait_frames(self.0).await;
                self.0
            })
        }
    }
    let mut executor = unclamped();
    let (mut events, mut stream) = mpsc::unbounded();
    executor.start(async move {
        next_frame().await;
        events.start_send("event").unwrap();
    });
    let values = executor.run_until(
        async move {
            let event = select! {
                Some(event) = stream.next() => event,
                _ = Later(2) => unreachable!(),
            };
            let number = select! {
                Some(event) = stream.next() => panic!("{event}"),
                number = Later(2) => number,
                impossible = pending::<Infallible>() => match impossible {},
            };
            (event, number)
        },
        0.25,
    );
    assert_eq!(values, ("event", 2));
    assert_eq!(executor.time().frame, 3);
}

#[test]
fn selects_nest() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("future", |mark| async move {
        let value = select! {
            value = async {
                select! {
                    _ = wait_frames(4) => 1,
                    _ = wait_frames(2) => select! {
                        _ = wait_frames(2) => 2,
                        _ = next_frame() => 3,
                    },
                }
            } => value,
            _ = wait_frames(4) => 4,
        };
        assert_eq!(value, 3);
        mark.hit();
    });
    timeline.row("join", |mark| async move {
        let (value, ()) = join!(
            async {
                select! {
                    _ = next_frame() => 1,
                    ((), b) = async { join!(after(2, "").map(drop), ready(2)) } => b,
                }
            },
            wait_frames(2),
        );
        assert_eq!(value, 1);
        mark.hit();
    });
    timeline.check(
        "
        frame  0 1 2 3
        future - - - *
        join   - - *
        ",
    );
}

#[test]
fn there_may_be_64_branches() {
    let value = |n: u32| {
        at_once(async move {
            select! {
                0 = ready(n) => 0, 1 = ready(n) => 1, 2 = ready(n) => 2, 3 = ready(n) => 3,
                4 = ready(n) => 4, 5 = ready(n) => 5, 6 = ready(n) => 6, 7 = ready(n) => 7,
                8 = ready(n) => 8, 9 = ready(n) => 9, 10 = ready(n) => 10, 11 = ready(n) => 11,
                12 = ready(n) => 12, 13 = ready(n) => 13, 14 = ready(n) => 14, 15 = ready(n) => 15,
                16 = ready(n) => 16, 17 = ready(n) => 17, 18 = ready(n) => 18, 19 = ready(n) => 19,
                20 = ready(n) => 20, 21 = ready(n) => 21, 22 = ready(n) => 22, 23 = ready(n) => 23,
                24 = ready(n) => 24, 25 = ready(n) => 25, 26 = ready(n) => 26, 27 = ready(n) => 27,
                28 = ready(n) => 28, 29 = ready(n) => 29, 30 = ready(n) => 30, 31 = ready(n) => 31,
                32 = ready(n) => 32, 33 = ready(n) => 33, 34 = ready(n) => 34, 35 = ready(n) => 35,
                36 = ready(n) => 36, 37 = ready(n) => 37, 38 = ready(n) => 38, 39 = ready(n) => 39,
                40 = ready(n) => 40, 41 = ready(n) => 41, 42 = ready(n) => 42, 43 = ready(n) => 43,
                44 = ready(n) => 44, 45 = ready(n) => 45, 46 = ready(n) => 46, 47 = ready(n) => 47,
                48 = ready(n) => 48, 49 = ready(n) => 49, 50 = ready(n) => 50, 51 = ready(n) => 51,
                52 = ready(n) => 52, 53 = ready(n) => 53, 54 = ready(n) => 54, 55 = ready(n) => 55,
                56 = ready(n) => 56, 57 = ready(n) => 57, 58 = ready(n) => 58, 59 = ready(n) => 59,
                60 = ready(n) => 60, 61 = ready(n) => 61, 62 = ready(n) => 62, 63 = ready(n) => 63,
                else => 64,
            }
        })
    };
    for n in 0..=64 {
        assert_eq!(value(n), n);
    }
}

#[test]
fn expressions_lend_what_they_make_for_as_long_as_a_let_does() {
    let log = Log::new();
    let value = at_once(async {
        select! {
            value = &mut ready(1) => value,
            // The borrow of the cell ends with the expression, before the poll.
            value = {
                let cell = RefCell::new(2);
                let future = ready(*cell.borrow());
                log.note("made");
                future
            } => value,
        }
    });
    assert_eq!(value, 1);
    log.check(&["made"]);
}

/// The size of a `select!` in a coroutine: its futures, and little more.
#[test]
fn select_takes_little_more_room_than_its_futures() {
    async fn hold<const N: usize>() {
        let bytes = [0_u8; N];
        pending::<()>().await;
        std::hint::black_box(&bytes);
    }
    let one = size_of_val(&hold::<1000>());
    let select = async {
        select! {
            () = hold::<1000>() => hold::<1000>().await,
            () = hold::<1000>() => hold::<1000>().await,
        }
    };
    let size = size_of_val(&select);
    assert!(size < 2 * one + 64, "{size} of {one} each");
}
