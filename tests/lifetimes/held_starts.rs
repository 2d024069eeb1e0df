//! Coroutines started inside `with` begin when the outermost closure has
//! returned: docs/contract.md#rule-9-held-starts

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;

use framestep::prelude::*;
use framestep::task::CoroutineId;
use framestep::{Executor, Handle};

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{forever, panic_text, result_of};

#[derive(Debug, Default)]
struct World(u32);

#[derive(Debug, Default)]
struct Score(u32);

/// Runs `script` in Update of frame 1, with both states lent.
fn run(script: impl FnOnce(Log) -> Boxed) -> Log {
    let mut executor = unclamped();
    let log = Log::new();
    executor.spawn(script(log.clone()));
    frames(&mut executor, 1);
    log
}

fn frames(executor: &mut Executor, count: u32) {
    for _ in 0..count {
        executor.lend(&mut World::default(), |executor| {
            executor.lend(&mut Score::default(), |executor| executor.run_frame(0.25));
        });
    }
}

type Boxed = Pin<Box<dyn Future<Output = ()>>>;

/// Says `text`, with the value that it found in the world.
fn says(log: &Log, text: &'static str) -> impl Future<Output = ()> + use<> {
    let log = log.clone();
    async move {
        let found = try_with(|world: &mut World| world.0);
        log.say(format_args!("{text}: {}", found.expect("it is free")));
    }
}

#[test]
fn they_begin_in_order_after_the_outermost_closure() {
    let log = run(|log| {
        Box::pin(async move {
            with(|world: &mut World| {
                start(says(&log, "first"));
                with(|score: &mut Score| {
                    start(says(&log, "second"));
                    score.0 += 1;
                });
                log.say("the inner closure is over");
                start(says(&log, "third"));
                world.0 = 5;
            });
            log.say("the outer one, too");
            start(says(&log, "fourth"));
            log.say("the end");
        })
    });
    log.check(&[
        "F1: the inner closure is over",
        "F1: first: 5",
        "F1: second: 5",
        "F1: third: 5",
        "F1: the outer one, too",
        "F1: fourth: 5",
        "F1: the end",
    ]);
}

#[test]
fn they_begin_in_the_run_of_the_closure_and_wait_from_there() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.frames_are(|executor, dt| {
        executor.lend(&mut World::default(), |executor| executor.run_frame(dt));
    });
    timeline.row("late", |mark| async move {
        in_phase(Phase::LateUpdate).await;
        let child = with(|_: &mut World| {
            let mark = mark.clone();
            start(async move {
                mark.hit();
                end_of_frame().await;
                mark.hit();
                wait_seconds(0.5).await;
                mark.hit();
            })
        });
        child.await.unwrap();
    });
    timeline.check(
        "
        frame 0 1  2 3
        late  - LZ - *
        ",
    );
}

#[test]
fn spawns_inside_come_later_in_the_run_after_the_starts() {
    let log = run(|log| {
        Box::pin(async move {
            with(|_: &mut World| {
                spawn(says(&log, "spawned"));
                start(says(&log, "started"));
            });
            log.say("the end");
        })
    });
    log.check(&["F1: started: 0", "F1: the end", "F1: spawned: 0"]);
}

#[test]
fn try_with_holds_them_as_well_unless_it_refuses() {
    let log = run(|log| {
        Box::pin(async move {
            let given = try_with(|_: &mut World| {
                start(says(&log, "held"));
                assert!(try_with(|_: &mut World| ()).is_err());
                log.say("still in the closure");
            });
            assert!(given.is_ok());
            assert!(try_with(|_: &mut u8| ()).is_err());
            start(says(&log, "at once"));
            log.say("the end");
        })
    });
    log.check(&[
        "F1: still in the closure",
        "F1: held: 0",
        "F1: at once: 0",
        "F1: the end",
    ]);
}

#[test]
fn every_way_to_start_is_held() {
    let mut executor = unclamped();
    let log = Log::new();
    let (handle, say) = (executor.handle(), log.clone());
    let executor_of_script: Handle = handle.clone();
    executor.spawn(async move {
        with(|_: &mut World| {
            start(says(&say, "start"));
            executor_of_script.start(says(&say, "Handle::start"));
            executor_of_script.enter(|| start(says(&say, "start in enter")));
            say.say("in the closure");
        });
    });
    frames(&mut executor, 1);
    executor.lend(&mut World(7), |executor| {
        executor.enter(|| {
            with(|_: &mut World| {
                executor.start(says(&log, "Executor::start"));
                log.say("in the host's closure");
            });
        });
    });
    log.check(&[
        "F1: in the closure",
        "F1: start: 0",
        "F1: Handle::start: 0",
        "F1: start in enter: 0",
        "F1.host: in the host's closure",
        "F1.host: Executor::start: 7",
    ]);
}

#[test]
fn they_begin_also_if_the_closure_panics() {
    let log = run(|log| {
        Box::pin(async move {
            let closure = || {
                with(|_: &mut World| {
                    start(says(&log, "first"));
                    // It panics while the closure's own panic unwinds.
                    start(async { panic!("on purpose, too") });
                    with(|_: &mut Score| {
                        start(says(&log, "last"));
                        panic!("on purpose");
                    })
                })
            };
            let payload = catch_unwind(AssertUnwindSafe(closure)).unwrap_err();
            log.say(panic_text(&*payload));
        })
    });
    log.check(&["F1: first: 0", "F1: last: 0", "F1: on purpose"]);
}

#[test]
fn they_begin_also_if_the_panic_ends_the_coroutine() {
    let log = run(|log| {
        Box::pin(async move {
            let _guard = log.on_drop("gone");
            with(|_: &mut World| {
                start(says(&log, "held"));
                panic!("on purpose");
            });
        })
    });
    log.check(&["F1: held: 0", "gone"]);
}

#[test]
fn one_that_panics_does_not_hold_up_the_others() {
    let log = run(|log| {
        Box::pin(async move {
            let panics = with(|_: &mut World| {
                let panics = start(async { panic!("on purpose") });
                start(says(&log, "next"));
                panics
            });
            let result: Result<(), _> = panics.await;
            log.say(result.unwrap_err().is_panic());
        })
    });
    log.check(&["F1: next: 0", "F1: true"]);
}

#[test]
fn handles_are_usable_meanwhile() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let id: Rc<Cell<Option<CoroutineId>>> = Rc::default();
    let found = id.clone();
    executor.spawn(async move {
        let joined = with(|_: &mut World| {
            let joined = start(async { 5 });
            assert!(!joined.is_finished());
            found.set(Some(joined.id()));

            drop(start(says(&say, "detached")));

            let guard = say.on_drop("stopped");
            let stopped = start(async move {
                let _guard = guard;
                unreachable!("it was stopped before");
            });
            assert!(stopped.stop());
            assert!(stopped.is_finished());
            assert!(!stopped.stop());

            let guard = say.on_drop("dropped");
            let dropped = start(async move {
                let _guard = guard;
                unreachable!("its handle was dropped before");
            })
            .stop_on_drop();
            drop(dropped);

            say.say("the closure is over");
            joined
        });
        assert!(joined.is_finished());
        say.say(joined.await.unwrap());
    });
    frames(&mut executor, 1);
    log.check(&[
        "stopped",
        "dropped",
        "F1: the closure is over",
        "F1: detached: 0",
        "F1: 5",
    ]);
    assert!(!executor.is_alive(id.get().unwrap()));
    executor.assert_empty();
}

#[test]
fn one_that_is_held_may_stop_the_next_one() {
    let log = run(|log| {
        Box::pin(async move {
            let next: Rc<RefCell<Option<Coroutine<()>>>> = Rc::default();
            with(|_: &mut World| {
                let (of_first, say) = (next.clone(), log.clone());
                start(async move {
                    say.say(of_first.take().unwrap().stop());
                });
                next.replace(Some(start(says(&log, "never"))));
                start(says(&log, "the last"));
            });
        })
    });
    log.check(&["F1: true", "F1: the last: 0"]);
}

#[test]
fn a_join_of_one_that_is_held_may_begin_before_it_does() {
    let mut executor = unclamped();
    let log = Log::new();
    let handed: Rc<RefCell<Option<Coroutine<u32>>>> = Rc::default();
    let (joins, say) = (handed.clone(), log.clone());
    // Started first, so it is already joining when the other one ends.
    executor.spawn(async move {
        with(|_: &mut World| {
            start(async move {
                let child = joins.take().unwrap();
                say.say("joins");
                say.say(child.await.unwrap());
            });
            let child = start(async {
                next_frame().await;
                5
            });
            handed.replace(Some(child));
        });
    });
    frames(&mut executor, 1);
    log.check(&["F1: joins"]);
    frames(&mut executor, 1);
    log.check(&["F2: 5"]);
}

#[test]
fn each_comes_to_its_first_wait_before_the_next_begins() {
    let log = run(|log| {
        Box::pin(async move {
            with(|_: &mut World| {
                let say = log.clone();
                start(async move {
                    with(|_: &mut World| {
                        start(says(&say, "of the first"));
                        say.say("first");
                    });
                    say.say("goes on");
                    start(says(&say, "of the first again"));
                    say.say("the first ends");
                });
                start(says(&log, "second"));
                start(says(&log, "third"));
            });
        })
    });
    log.check(&[
        "F1: first",
        "F1: of the first: 0",
        "F1: goes on",
        "F1: of the first again: 0",
        "F1: the first ends",
        "F1: second: 0",
        "F1: third: 0",
    ]);
}

#[test]
fn destructors_that_start_inside_are_held_too() {
    struct Starts(Handle, Log);
    impl Drop for Starts {
        fn drop(&mut self) {
            self.0.start(says(&self.1, "started by a destructor"));
            self.1.note("dropped");
        }
    }
    let mut executor = unclamped();
    let log = Log::new();
    let guard = Starts(executor.handle(), log.clone());
    let victim = executor.start(async move {
        let _guard = guard;
        forever().await;
    });
    let say = log.clone();
    executor.spawn(async move {
        with(|_: &mut World| {
            victim.stop();
            say.say("the closure is over");
        });
    });
    frames(&mut executor, 1);
    log.check(&[
        "dropped",
        "F1: the closure is over",
        "F1: started by a destructor: 0",
    ]);
}

#[test]
fn only_the_executor_whose_coroutine_has_the_borrow_holds_them() {
    let mut executor = unclamped();
    let other = unclamped();
    let log = Log::new();
    let (to_other, own, say) = (other.handle(), executor.handle(), log.clone());
    executor.spawn(async move {
        with(|_: &mut World| {
            let in_other = say.clone();
            to_other.start(async move {
                in_other.say("of the other: at once");
                assert!(try_with(|_: &mut World| ()).is_err(), "it was lent nothing");
                own.start(says(&in_other, "of the first"));
                start(async move { in_other.say("of the other again: at once") });
            });
            say.say("the closure is over");
        });
    });
    frames(&mut executor, 1);
    log.check(&[
        "F0: of the other: at once",
        "F0: of the other again: at once",
        "F1: the closure is over",
        "F1: of the first: 0",
    ]);
}

#[test]
fn those_of_an_executor_that_is_dropped_inside_do_not_begin() {
    let executor = unclamped();
    let log = Log::new();
    let handle = executor.handle();
    let own = Rc::new(RefCell::new(Some(executor)));
    let (taken, say) = (own.clone(), log.clone());
    handle.start(async move {
        let mut executor = taken.take().expect("put there");
        let held = executor.lend(&mut World(0), |executor| {
            with(|_: &mut World| {
                let guard = say.on_drop("dropped");
                let held = start(async move {
                    let _guard = guard;
                    unreachable!("its executor is gone");
                });
                *executor = unclamped();
                say.note("the closure is over");
                held
            })
        });
        assert!(held.is_finished());
        say.note("the end");
    });
    log.check(&["dropped", "the closure is over", "the end"]);
}

/// Each starts the next inside `with`; the last one does `last`.
fn chain(length: u32, last: fn() -> Boxed) -> Boxed {
    Box::pin(async move {
        if length == 0 {
            last().await;
        } else {
            let next = with(|world: &mut World| {
                world.0 += 1;
                start(chain(length - 1, last))
            });
            next.await.unwrap();
        }
    })
}

#[test]
fn a_hundred_thousand_that_start_one_another_inside_fit_on_a_small_stack() {
    const LENGTH: u32 = 100_000;
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let test = || {
        let mut executor = unclamped();
        let mut world = World(0);
        let lasts: [fn() -> Boxed; 2] = [
            || Box::pin(async {}),
            || {
                Box::pin(async {
                    next_frame().await;
                })
            },
        ];
        for last in lasts {
            let first = executor.spawn(chain(LENGTH, last));
            executor.lend(&mut world, |executor| executor.run_frame(0.25));
            assert_eq!(std::mem::take(&mut world.0), LENGTH, "all in one frame");
            executor.run_frame(0.25);
            assert!(result_of(&executor, first).is_ok());
        }
    };
    thread.spawn(test).unwrap().join().unwrap();
}

#[test]
fn a_hundred_thousand_are_held_by_one_closure() {
    let mut executor = unclamped();
    let begun = Rc::new(Cell::new(0));
    let count = begun.clone();
    executor.spawn(async move {
        with(|_: &mut World| {
            for i in 0..100_000 {
                let count = count.clone();
                start(async move {
                    assert_eq!(count.replace(i + 1), i, "in order");
                });
            }
            assert_eq!(count.get(), 0);
        });
    });
    frames(&mut executor, 1);
    assert_eq!(begun.get(), 100_000);
    executor.assert_empty();
}

/// Says its number, and starts two coroutines that do, and then the next.
fn branch(number: u32, log: Log) -> Boxed {
    Box::pin(async move {
        log.note(number);
        with(|_: &mut World| {
            for leaf in 1..=2 {
                let log = log.clone();
                start(async move { log.note(format_args!("{number}.{leaf}")) });
            }
            if number < 300 {
                start(branch(number + 1, log.clone()));
            }
        });
    })
}

#[test]
fn the_order_is_the_same_where_the_stack_is_too_deep_to_start_more() {
    let log = run(|log| branch(1, log));
    let expected: Vec<String> = (1..=300)
        .flat_map(|n| [n.to_string(), format!("{n}.1"), format!("{n}.2")])
        .collect();
    assert_eq!(log.take(), expected);
}
