//! Stop is immediate for a coroutine that is not being polled:
//! docs/contract.md#rule-10-stop

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use futures::FutureExt;

use framestep::prelude::*;
use framestep::task::{CoroutineId, Outcome};

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{Bomb, counted, forever, panic_text, result_of};

/// Stops `id` when it is dropped.
struct StopOnDrop(Rc<Cell<Option<CoroutineId>>>, framestep::Handle, Log);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        let stopped = self.1.stop(self.0.get().unwrap());
        self.2.note(format_args!("the destructor stops: {stopped}"));
    }
}

#[test]
fn stop_drops_the_future_before_it_returns() {
    let mut executor = unclamped();
    let log = Log::new();
    for by_id in [true, false] {
        let dropped = log.on_drop("dropped");
        let say = log.clone();
        let coroutine = executor.start(async move {
            let _dropped = dropped;
            next_frame().await;
            say.say("never");
        });
        log.note("stops");
        let id = coroutine.id();
        assert!(if by_id {
            executor.stop(id)
        } else {
            coroutine.stop()
        });
        log.note("stopped");
        log.check(&["stops", "dropped", "stopped"]);
        assert!(coroutine.is_finished());
        assert!(!executor.is_alive(id));
        assert!(result_of(&executor, coroutine).unwrap_err().is_stopped());
    }
    executor.run_frame(0.25);
    log.check(&[]);
}

#[test]
fn stop_of_what_was_spawned_and_has_not_run_drops_it_unpolled() {
    let mut executor = unclamped();
    let log = Log::new();
    let (say, dropped) = (log.clone(), log.on_drop("dropped"));
    let coroutine = executor.spawn(async move {
        let _dropped = dropped;
        say.say("never");
    });
    assert!(coroutine.stop());
    log.check(&["dropped"]);
    executor.run_frame(0.25);
    log.check(&[]);
}

#[test]
fn a_second_stop_is_false() {
    let executor = unclamped();
    let coroutine = executor.start(forever());
    let id = coroutine.id();
    assert!(coroutine.stop());
    assert!(!coroutine.stop());
    assert!(!executor.stop(id));
    assert!(!executor.handle().stop(id));
    assert!(!executor.enter(|| stop(id)));
}

#[test]
fn stop_of_what_has_finished_or_panicked_is_false() {
    let mut executor = unclamped();
    let finished = executor.start(async {});
    let panicked = executor.start(async { panic!("on purpose") });
    executor.run_frame(0.25);
    for id in [finished.id(), panicked.id()] {
        assert!(!executor.is_alive(id));
        assert!(!executor.stop(id));
    }
    assert!(!finished.stop());
    assert!(result_of(&executor, finished).is_ok());
    assert!(result_of(&executor, panicked).unwrap_err().is_panic());
}

#[test]
fn stop_of_a_stale_id_leaves_the_next_occupant_alone() {
    let executor = unclamped();
    let stale: Vec<CoroutineId> = (0..10).map(|_| executor.start(async {}).id()).collect();
    let occupants: Vec<_> = (0..10).map(|_| executor.start(forever())).collect();
    for id in stale {
        assert!(!executor.stop(id));
        assert!(!executor.is_alive(id));
    }
    assert!(occupants.iter().all(|occupant| !occupant.is_finished()));
}

#[test]
fn stop_of_an_id_of_another_executor_is_false() {
    let (here, there) = (unclamped(), unclamped());
    let mine = here.start(forever());
    let theirs = there.start(forever());
    assert!(!here.stop(theirs.id()));
    assert!(!there.stop(mine.id()));
    assert!(!here.is_alive(theirs.id()));
    assert!(!theirs.is_finished() && !mine.is_finished());
    assert!(here.stop(mine.id()));
    assert!(there.stop(theirs.id()));
}

#[test]
fn a_sibling_that_was_due_later_in_the_run_is_dropped_at_once_and_not_polled() {
    // Due as a waiter, as a timer, as an arrival of this run and by a wake.
    let mut executor = unclamped();
    let log = Log::new();
    let ids: Rc<RefCell<Vec<CoroutineId>>> = Rc::default();
    let (wake, woken) = async_channel::unbounded();
    let (say, victims) = (log.clone(), ids.clone());
    executor.start(async move {
        next_frame().await;
        wake.send(()).await.unwrap();
        let log = say.clone();
        let spawned = spawn(async move { log.say("never") });
        victims.borrow_mut().push(spawned.id());
        let victims = victims.take();
        for id in victims {
            assert!(stop(id));
        }
        say.say("has stopped them");
    });
    let victim = |name, wait: futures::future::LocalBoxFuture<'static, ()>| {
        let (say, dropped) = (log.clone(), log.on_drop(name));
        let victim = executor.start(async move {
            let _dropped = dropped;
            wait.await;
            say.say("never");
        });
        ids.borrow_mut().push(victim.id());
    };
    victim("waiter", Box::pin(next_frame().map(drop)));
    victim("timer", Box::pin(wait_seconds(0).map(drop)));
    victim(
        "woken",
        Box::pin(async move { assert!(woken.recv().await.is_ok()) }),
    );
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["waiter", "timer", "woken", "F1: has stopped them"]);
}

#[test]
fn a_joiner_that_was_about_to_continue_can_be_stopped_by_another_joiner() {
    let mut executor = unclamped();
    let log = Log::new();
    let second = Rc::new(Cell::new(None));
    let child = executor.start(next_frame().map(drop));
    let (finished, victim, say) = (child.finished(), second.clone(), log.clone());
    executor.start(async move {
        finished.await;
        assert!(stop(victim.get().unwrap()));
        say.say("first");
    });
    let say = log.clone();
    let joiner = executor.start(async move {
        drop(child.await);
        say.say("never");
    });
    second.set(Some(joiner.id()));
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: first"]);
    assert!(joiner.is_finished());
}

// itself

#[test]
fn a_coroutine_that_stops_itself_runs_to_its_next_suspending_await() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let coroutine = executor.start(async move {
        let _dropped = say.on_drop("dropped");
        next_frame().await;
        stop(current());
        say.say("still here");
        std::future::ready(()).await;
        start(async {}).await.unwrap(); // joins what has finished
        say.say("nothing has suspended yet");
        next_frame().await;
        say.say("never");
    });
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.say("sibling");
    });
    executor.run_frame(0.25);
    log.check(&[
        "F1: still here",
        "F1: nothing has suspended yet",
        "dropped",
        "F1: sibling",
    ]);
    assert!(coroutine.is_finished());
    assert!(result_of(&executor, coroutine).unwrap_err().is_stopped());
    executor.run_frame(0.25);
    log.check(&[]);
}

#[test]
fn a_coroutine_that_stops_itself_and_returns_has_finished_normally() {
    let mut executor = unclamped();
    let started = executor.start(async {
        stop(current());
        1
    });
    let resumed = executor.start(async {
        next_frame().await;
        stop(current());
        2
    });
    executor.run_frame(0.25);
    let finished = resumed.finished();
    let outcome = executor.start(finished);
    assert_eq!(result_of(&executor, outcome).unwrap(), Outcome::Finished);
    assert_eq!(result_of(&executor, started).unwrap(), 1);
    assert_eq!(result_of(&executor, resumed).unwrap(), 2);
}

#[test]
fn a_coroutine_that_has_stopped_itself_is_alive_until_it_is_dropped() {
    let mut executor = unclamped();
    let handle = executor.handle();
    let seen = Rc::new(Cell::new(None));
    let see = seen.clone();
    let coroutine = executor.start(async move {
        next_frame().await;
        stop(current());
        see.set(Some(handle.is_alive(current())));
        next_frame().await;
    });
    executor.run_frame(0.25);
    assert_eq!(seen.get(), Some(true));
    assert!(!executor.is_alive(coroutine.id()));
}

#[test]
fn joiners_of_one_that_stops_itself_continue_before_its_siblings() {
    let mut executor = unclamped();
    let log = Log::new();
    let child = executor.start(async {
        next_frame().await;
        stop(current());
        next_frame().await;
    });
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.say("sibling");
    });
    let say = log.clone();
    executor.start(async move {
        assert!(child.await.unwrap_err().is_stopped());
        say.say("joiner");
    });
    executor.run_frame(0.25);
    log.check(&["F1: joiner", "F1: sibling"]);
}

#[test]
fn a_coroutine_stopped_by_the_one_it_starts_runs_to_its_next_suspending_await() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let parent = executor.start(async move {
        let _dropped = say.on_drop("parent dropped");
        next_frame().await;
        let parent = current();
        let log = say.clone();
        start(async move {
            stop(parent);
            log.say("child has stopped its parent");
            next_frame().await;
            log.say("child lives on");
        });
        say.say("parent");
        next_frame().await;
        say.say("never");
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F1: child has stopped its parent",
        "F1: parent",
        "parent dropped",
        "F2: child lives on",
    ]);
    assert!(result_of(&executor, parent).unwrap_err().is_stopped());
}

#[test]
fn a_coroutine_being_started_by_host_code_can_stop_itself() {
    let executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let coroutine = executor.start(async move {
        let _dropped = say.on_drop("dropped");
        stop(current());
        say.say("still here");
        next_frame().await;
        say.say("never");
    });
    log.note("start has returned");
    log.check(&["F0: still here", "dropped", "start has returned"]);
    assert!(result_of(&executor, coroutine).unwrap_err().is_stopped());
}

#[test]
fn a_stop_from_inside_works_behind_a_future_that_swallows_the_waker() {
    let mut executor = unclamped();
    let log = Log::new();
    let dropped = log.on_drop("dropped");
    let mut polls = 0;
    executor.start(poll_fn(move |_| {
        let _ = &dropped;
        polls += 1;
        stop(current());
        assert_eq!(polls, 1);
        Poll::<()>::Pending
    }));
    log.check(&["dropped"]);
    executor.run_frame(0.25);
    log.check(&[]);
}

// parents and children

#[test]
fn stopping_a_parent_does_not_stop_what_it_started_or_joined() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let parent = executor.start(async move {
        let log = say.clone();
        start(async move {
            next_frame().await;
            log.say("started");
        });
        let log = say.clone();
        start(async move {
            next_frame().await;
            log.say("joined");
        })
        .await
        .unwrap();
        say.say("never");
    });
    assert!(parent.stop());
    executor.run_frame(0.25);
    log.check(&["F1: started", "F1: joined"]);
}

#[test]
fn stop_on_drop_stops_the_coroutine_when_its_handle_goes() {
    let mut executor = unclamped();
    let log = Log::new();
    let dropped = log.on_drop("dropped");
    let coroutine = executor.start(async move {
        let _dropped = dropped;
        forever().await;
    });
    let id = coroutine.id();
    let coroutine = coroutine.stop_on_drop();
    executor.run_frame(0.25);
    assert!(executor.is_alive(id));
    drop(coroutine);
    log.check(&["dropped"]);
    assert!(!executor.is_alive(id));
}

#[test]
fn stop_on_drop_ties_a_child_to_its_parent() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let parent = executor.start(async move {
        let child = start(async move {
            let _dropped = say.on_drop("child dropped");
            forever().await;
        })
        .stop_on_drop();
        drop(child.await);
    });
    executor.run_frame(0.25);
    assert!(parent.stop());
    log.check(&["child dropped"]);
    executor.assert_empty();
}

#[test]
fn stop_on_drop_stops_a_branch_that_lost() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let log = say.clone();
        {
            let mut slow = start(async move {
                let _dropped = log.on_drop("dropped");
                forever().await;
            })
            .stop_on_drop();
            futures::select! {
                _ = slow => unreachable!(),
                () = next_frame() => (),
            }
        }
        say.say("goes on");
    });
    executor.run_frame(0.25);
    log.check(&["dropped", "F1: goes on"]);
}

#[test]
fn stop_on_drop_changes_nothing_for_what_has_finished() {
    let executor = unclamped();
    let coroutine = executor.start(async { 3 }).stop_on_drop();
    assert_eq!(result_of(&executor, coroutine).unwrap(), 3);
}

// destructors

#[test]
fn locals_are_dropped_in_reverse_order() {
    let executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let coroutine = executor.start(async move {
        let _first = say.on_drop("first");
        let _second = say.on_drop("second");
        async {
            let _inner = say.on_drop("inner");
            forever().await;
        }
        .await;
    });
    assert!(coroutine.stop());
    log.check(&["inner", "second", "first"]);
}

#[test]
fn a_destructor_may_stop_others() {
    let executor = unclamped();
    let log = Log::new();
    let target = Rc::new(Cell::new(None));
    let guard = StopOnDrop(target.clone(), executor.handle(), log.clone());
    let stopper = executor.start(async move {
        let _guard = guard;
        forever().await;
    });
    let dropped = log.on_drop("the other one is dropped");
    let other = executor.start(async move {
        let _dropped = dropped;
        forever().await;
    });
    target.set(Some(other.id()));
    assert!(stopper.stop());
    log.check(&["the other one is dropped", "the destructor stops: true"]);
    executor.assert_empty();
}

#[test]
fn two_destructors_may_stop_each_other() {
    let executor = unclamped();
    let log = Log::new();
    let targets: [Rc<Cell<Option<CoroutineId>>>; 2] = Default::default();
    let ids = targets.clone().map(|target| {
        let guard = StopOnDrop(target, executor.handle(), log.clone());
        let coroutine = executor.start(async move {
            let _guard = guard;
            forever().await;
        });
        coroutine.id()
    });
    targets[0].set(Some(ids[1]));
    targets[1].set(Some(ids[0]));
    assert!(executor.stop(ids[0]));
    assert_eq!(log.take().len(), 2);
    executor.assert_empty();
}

#[test]
fn a_destructor_may_spawn_and_start() {
    struct Successor(framestep::Handle, Log);
    impl Drop for Successor {
        fn drop(&mut self) {
            let log = self.1.clone();
            self.0.spawn(async move { log.say("spawned") });
            let log = self.1.clone();
            self.0.start(async move { log.say("started") });
        }
    }
    let mut executor = unclamped();
    let log = Log::new();
    let successor = Successor(executor.handle(), log.clone());
    let coroutine = executor.start(async move {
        let _successor = successor;
        forever().await;
    });
    assert!(coroutine.stop());
    log.check(&["F0: started"]);
    executor.run_frame(0.25);
    log.check(&["F1: spawned"]);
}

#[test]
fn a_destructor_that_panics_makes_the_join_an_error() {
    let mut executor = unclamped();
    let log = Log::new();
    let coroutine = executor.start(async {
        let _bomb = Bomb;
        forever().await;
    });
    let finished = coroutine.finished();
    let outcome = executor.start(finished);
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.say("sibling");
    });
    coroutine.stop();
    assert!(coroutine.is_finished());
    let error = result_of(&executor, coroutine).unwrap_err();
    assert!(error.is_panic() && !error.is_stopped());
    assert_eq!(panic_text(&*error.into_panic()), "the destructor panics");
    executor.run_frame(0.25);
    log.check(&["F1: sibling"]);
    assert_eq!(result_of(&executor, outcome).unwrap(), Outcome::Panicked);
}

#[test]
fn a_coroutine_that_stops_itself_may_have_a_destructor_that_panics() {
    let mut executor = unclamped();
    let log = Log::new();
    let coroutine = executor.start(async {
        let _bomb = Bomb;
        next_frame().await;
        stop(current());
        next_frame().await;
    });
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.say("sibling");
    });
    executor.run_frame(0.25);
    log.check(&["F1: sibling"]);
    assert!(result_of(&executor, coroutine).unwrap_err().is_panic());
}

#[test]
fn what_is_stopped_is_never_polled_again() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let (sender, receiver) = async_channel::unbounded();
    let coroutine = executor.start(counted(polls.clone(), async move {
        let _ = futures::join!(
            receiver.recv(),
            next_frame(),
            wait_seconds(0.25),
            end_of_frame()
        );
    }));
    polls.take();
    sender.try_send(()).unwrap();
    assert!(coroutine.stop());
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 0);
}

#[test]
fn the_executor_drops_all_its_coroutines_when_it_goes() {
    let mut executor = unclamped();
    let log = Log::new();
    for i in 0..3 {
        let dropped = log.on_drop("dropped");
        executor.start(async move {
            let _dropped = dropped;
            wait_frames(i).await;
            forever().await;
        });
    }
    let dropped = log.on_drop("spawned and dropped");
    executor.run_frame(0.25);
    let spawned = executor.spawn(async move { drop(dropped) });
    drop(executor);
    let mut trace = log.take();
    trace.sort();
    assert_eq!(
        trace,
        ["dropped", "dropped", "dropped", "spawned and dropped"]
    );
    assert!(spawned.is_finished());
}

#[test]
fn a_coroutine_may_drop_the_executor_that_polls_it() {
    let executor = Rc::new(RefCell::new(Some(Executor::new())));
    let handle = executor.borrow().as_ref().unwrap().handle();
    let guard = DropFlag::default();
    let (dropped, inside) = (guard.0.clone(), executor.clone());
    let coroutine = handle.start(async move {
        drop(inside.borrow_mut().take());
        // Stopped, but being polled: it continues until it next waits.
        assert!(!guard.0.get());
        next_frame().await;
        unreachable!("stopped with its executor");
    });
    assert!(dropped.get());
    assert!(coroutine.is_finished());
    assert!(coroutine.now_or_never().unwrap().unwrap_err().is_stopped());
}

/// Says that it was dropped.
#[derive(Default)]
struct DropFlag(Rc<Cell<bool>>);

impl Drop for DropFlag {
    fn drop(&mut self) {
        self.0.set(true);
    }
}
