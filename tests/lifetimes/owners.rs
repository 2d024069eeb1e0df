//! Owners: coroutines end with their owner.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::Outcome;

use framestep_testkit::allocations_of;
use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{OnDrop, count_frames, forever, panic_text, result_of};

/// A coroutine that notes `name` when it is dropped, and never ends by itself.
fn lasting(log: &Log, name: &str) -> impl Future<Output = ()> + use<> {
    let dropped = log.on_drop(name);
    async move {
        let _dropped = dropped;
        forever().await;
    }
}

/// Runs `f` in a thread with a stack of 2 MiB.
fn in_small_thread(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(f).unwrap().join().unwrap();
}

// docs/contract.md#rule-refused
#[track_caller]
fn check_refused(executor: &Executor, coroutine: Coroutine<()>) {
    assert!(coroutine.is_finished());
    assert!(!coroutine.stop());
    let outcome = executor.start(coroutine.finished());
    assert_eq!(result_of(executor, outcome).unwrap(), Outcome::Stopped);
    assert!(result_of(executor, coroutine).unwrap_err().is_stopped());
}

// Spawn and start

#[test]
fn an_owner_spawns_and_starts_like_the_executor() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    let script = |name: &'static str| {
        let log = log.clone();
        async move { log.say(name) }
    };
    owner.spawn(script("spawned"));
    owner
        .script("")
        .in_phase(Phase::LateUpdate)
        .spawn(script("spawned late"));
    owner.start(script("started"));
    assert!(!owner.is_empty());
    executor.run_frame(0.25);
    log.check(&["F0: started", "F1: spawned", "F1.LateUpdate: spawned late"]);
    assert!(owner.is_empty());
}

#[test]
fn dropping_an_owner_stops_what_it_owns_in_order_and_nothing_else() {
    let executor = unclamped();
    let log = Log::new();
    let (one, two) = (executor.owner(), executor.owner());
    for name in ["a", "b", "c"] {
        one.start(lasting(&log, name));
    }
    two.start(lasting(&log, "of another"));
    executor.start(lasting(&log, "of none"));
    drop(one);
    log.check(&["a", "b", "c"]);
    assert_eq!(executor.len(), 2);
    drop(two);
    log.check(&["of another"]);
    drop(executor);
    log.check(&["of none"]);
}

#[test]
fn joiners_get_an_error_in_the_next_run() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let child = owner.start(forever());
    let joiner = executor.start(async move {
        let error = child.await.unwrap_err();
        assert!(error.is_stopped());
        time().frame
    });
    executor.run_frame(0.25);
    drop(owner);
    executor.run_frame(0.25);
    assert_eq!(result_of(&executor, joiner).unwrap(), 2);
}

// docs/contract.md#scenario-8
#[test]
fn nothing_starts_on_an_inactive_owner_and_nothing_begins_when_it_is_active_again() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    owner.start(lasting(&log, "stopped"));
    assert!(owner.is_active());
    owner.set_active(false);
    assert!(!owner.is_active() && owner.is_empty());
    let refused = ["start", "spawn", "spawn_in"].map(|how| {
        let script = log.clone();
        let dropped = log.on_drop(how);
        let script = async move {
            let _dropped = dropped;
            script.say("never said");
        };
        match how {
            "start" => owner.start(script),
            "spawn" => owner.spawn(script),
            _ => owner.script("").in_phase(Phase::Update).spawn(script),
        }
    });
    for coroutine in refused {
        check_refused(&executor, coroutine);
    }
    owner.set_active(true);
    executor.run_frame(0.25);
    log.check(&["stopped", "start", "spawn", "spawn_in"]);
    assert!(owner.is_active());
    owner.start(lasting(&log, "new"));
    assert!(!owner.is_empty());
}

#[test]
fn nothing_starts_below_an_inactive_owner_or_one_that_is_gone() {
    let executor = unclamped();
    let top = executor.owner();
    let middle = top.child();
    let low = middle.child();
    top.set_active(false);
    middle.set_active(false);
    check_refused(&executor, low.start(forever()));
    top.set_active(true);
    check_refused(&executor, low.start(forever()));
    assert!(top.is_active() && !middle.is_active() && !low.is_active());
    assert!(!middle.child().is_active());
    middle.set_active(true);
    assert!(low.start(forever()).stop());
    drop(middle);
    assert!(!low.is_active());
    check_refused(&executor, low.start(forever()));
    check_refused(&executor, low.child().start(forever()));
    low.set_active(true);
    check_refused(&executor, low.spawn(forever()));
    assert!(top.start(forever()).stop());
}

#[test]
fn nothing_starts_when_the_executor_is_gone() {
    let executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    owner.start(lasting(&log, "stopped"));
    let handle = executor.handle();
    drop(executor);
    log.check(&["stopped"]);
    assert!(!owner.is_active() && owner.is_empty());
    let other = unclamped();
    check_refused(&other, owner.start(forever()));
    check_refused(&other, owner.child().spawn(forever()));
    owner.pause();
    owner.resume();
    owner.set_active(false);
    owner.set_active(true);
    owner.stop_all();
    assert!(!owner.is_active());
    assert!(handle.owner().is_none());
}

// Which owner is inherited

#[test]
fn what_a_coroutine_spawns_and_starts_is_of_its_owner() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    let logs = log.clone();
    owner.start(async move {
        start(lasting(&logs, "started"));
        let deeper = logs.clone();
        start(async move {
            spawn(lasting(&deeper, "spawned by a started one"));
            next_frame().await;
            start(lasting(&deeper, "started later"));
        });
        script("")
            .in_phase(Phase::LateUpdate)
            .spawn(lasting(&logs, "spawned late"));
    });
    executor.run_frame(0.25);
    assert_eq!(executor.len(), 4);
    drop(owner);
    log.check(&[
        "started",
        "spawned by a started one",
        "spawned late",
        "started later",
    ]);
    executor.assert_empty();
}

#[test]
fn what_a_coroutine_starts_on_another_owner_belongs_to_that_owner() {
    let executor = unclamped();
    let (owner, other) = (executor.owner(), Rc::new(executor.owner()));
    let log = Log::new();
    let (logs, on, handle) = (log.clone(), other.clone(), executor.handle());
    owner.start(async move {
        handle.start(lasting(&logs, "of none"));
        let inner = logs.clone();
        on.start(async move {
            start(lasting(&inner, "of the other"));
        });
        start(lasting(&logs, "of its own"));
    });
    drop(owner);
    log.check(&["of its own"]);
    other.stop_all();
    log.check(&["of the other"]);
    drop(executor);
    log.check(&["of none"]);
}

#[test]
fn destructors_inherit_too() {
    let executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    let logs = log.clone();
    let script = owner.start(async move {
        let _guard = OnDrop(|| {
            start(lasting(&logs, "last words"));
        });
        forever().await;
    });
    script.stop();
    assert_eq!(executor.len(), 1);
    drop(owner);
    log.check(&["last words"]);
}

#[test]
fn when_the_owner_is_gone_its_last_coroutine_can_start_nothing() {
    let mut executor = unclamped();
    let owner = Rc::new(RefCell::new(Some(executor.owner())));
    let log = Log::new();
    let (logs, own) = (log.clone(), owner.clone());
    let script = owner.borrow().as_ref().unwrap().spawn({
        async move {
            let guard = logs.clone();
            let _guard = OnDrop(move || {
                let refused = start(lasting(&guard, "refused in a destructor"));
                assert!(refused.is_finished());
                assert!(!framestep::task::owner().is_active());
            });
            let gone = own.borrow_mut().take();
            drop(gone);
            // It continues to its next wait.
            assert!(start(lasting(&logs, "refused")).is_finished());
            assert!(spawn(lasting(&logs, "refused")).is_finished());
            let below = framestep::task::owner();
            assert!(!below.is_active() && !below.child().is_active());
            assert!(below.start(lasting(&logs, "refused below")).is_finished());
            next_frame().await;
            unreachable!("its owner is gone");
        }
    });
    executor.run_frame(0.25);
    assert!(script.is_finished());
    log.check(&[
        "refused",
        "refused",
        "refused below",
        "refused in a destructor",
    ]);
    executor.assert_empty();
}

// Stopping

#[test]
fn children_stop_first_each_in_the_order_in_which_its_coroutines_were_added() {
    let executor = unclamped();
    let log = Log::new();
    let top = executor.owner();
    let left = top.child();
    let leaf = left.child();
    let right = top.child();
    top.start(lasting(&log, "top 1"));
    right.start(lasting(&log, "right"));
    left.start(lasting(&log, "left 1"));
    leaf.start(lasting(&log, "leaf"));
    left.start(lasting(&log, "left 2"));
    top.start(lasting(&log, "top 2"));
    top.stop_all();
    log.check(&["leaf", "left 1", "left 2", "right", "top 1", "top 2"]);
    assert!(top.is_empty() && top.is_active() && leaf.is_active());
    leaf.start(lasting(&log, "leaf"));
    top.start(lasting(&log, "top"));
    assert!(!left.is_empty() && right.is_empty());
    top.set_active(false);
    log.check(&["leaf", "top"]);
}

#[test]
fn what_destructors_spawn_is_not_stopped_unless_the_owner_goes() {
    for how in ["stop_all", "set_active", "drop"] {
        let mut executor = unclamped();
        let owner = executor.owner();
        let log = Log::new();
        for name in ["a", "b"] {
            let logs = log.clone();
            owner.start(async move {
                let _guard = OnDrop(|| {
                    logs.note(name);
                    start(lasting(&logs, "again"));
                });
                forever().await;
            });
        }
        match how {
            "stop_all" => {
                owner.stop_all();
                log.check(&["a", "b"]);
                assert_eq!(executor.len(), 2);
            }
            "set_active" => {
                owner.set_active(false);
                log.check(&["a", "again", "b", "again"]);
            }
            _ => {
                drop(owner);
                log.check(&["a", "again", "b", "again"]);
            }
        }
        executor.run_frame(0.25);
    }
}

#[test]
fn destructors_may_stop_others_and_the_owner_itself() {
    let executor = unclamped();
    let owner = Rc::new(executor.owner());
    let log = Log::new();
    let (own, logs) = (owner.clone(), log.clone());
    let second = Rc::new(RefCell::new(None::<Coroutine<()>>));
    let victim = second.clone();
    owner.start(async move {
        let _guard = OnDrop(|| {
            logs.note("first");
            victim.borrow().as_ref().unwrap().stop();
            own.stop_all();
            own.set_active(false);
        });
        forever().await;
    });
    *second.borrow_mut() = Some(owner.start(lasting(&log, "second")));
    owner.start(lasting(&log, "third"));
    owner.stop_all();
    log.check(&["first", "second", "third"]);
    assert!(executor.is_empty() && !owner.is_active());
}

#[test]
fn stopping_an_owner_stops_the_rest_of_a_child_that_is_being_dropped() {
    type Stop = fn(&Owner, Option<Owner>);
    let ways: [(&str, Stop); 3] = [
        ("stop_all", |parent, _| parent.stop_all()),
        ("set_active", |parent, _| parent.set_active(false)),
        ("drop of the grandchild", |_, grandchild| drop(grandchild)),
    ];
    for (how, stop) in ways {
        let executor = unclamped();
        let log = Log::new();
        let parent = Rc::new(executor.owner());
        let child = parent.child();
        let grandchild = child.child();
        let kept = Rc::new(Cell::new(None));
        let (above, logs, below) = (parent.clone(), log.clone(), kept.clone());
        grandchild.start(async move {
            let _guard = OnDrop(|| {
                stop(&above, below.take());
                logs.note("returned");
            });
            forever().await;
        });
        grandchild.start(lasting(&log, "second"));
        child.start(lasting(&log, "third"));
        kept.set(Some(grandchild));
        drop(child);
        if how.starts_with("drop") {
            log.check(&["second", "returned", "third"]);
        } else {
            log.check(&["second", "third", "returned"]);
        }
        assert!(executor.is_empty() && parent.is_empty(), "{how}");
    }
}

#[test]
fn a_dropped_child_is_below_its_parent_as_long_as_a_coroutine_of_it_is_polled() {
    let mut executor = unclamped();
    let parent = executor.owner();
    let child = Rc::new(Cell::new(None));
    let real = parent.child();
    let (last, own) = (real.handle(), child.clone());
    let script = real.spawn(async move {
        drop(own.take());
        assert!(!last.is_alive());
        next_frame().await;
        unreachable!("its owner is gone");
    });
    child.set(Some(real));
    assert!(!parent.is_empty());
    executor.run_frame(0.1);
    assert!(script.is_finished() && parent.is_empty());
}

#[test]
fn one_of_its_coroutines_may_stop_all_and_continues_to_its_next_wait() {
    for how in ["stop_all", "set_active", "drop"] {
        let mut executor = unclamped();
        let owner = Rc::new(RefCell::new(Some(executor.owner())));
        let log = Log::new();
        let (own, logs) = (owner.clone(), log.clone());
        let on = |f: &dyn Fn(&Owner)| f(owner.borrow().as_ref().unwrap());
        on(&|owner| drop(owner.start(lasting(&log, "before"))));
        on(&|owner| {
            let (own, logs) = (own.clone(), logs.clone());
            owner.start(async move {
                let _guard = logs.on_drop("itself");
                next_frame().await;
                let taken = own.borrow_mut().take().unwrap();
                match how {
                    "stop_all" => taken.stop_all(),
                    "set_active" => taken.set_active(false),
                    _ => {}
                }
                drop(taken);
                logs.say("goes on");
                next_frame().await;
                unreachable!("it was stopped");
            });
        });
        on(&|owner| drop(owner.start(lasting(&log, "after"))));
        executor.run_frame(0.25);
        log.check(&["before", "after", "F1: goes on", "itself"]);
        executor.assert_empty();
    }
}

#[test]
fn a_destructor_that_panics_ends_its_coroutine_alone() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    owner.start(lasting(&log, "before"));
    let bad = owner.start(async {
        let _guard = OnDrop(|| panic!("in a destructor"));
        forever().await;
    });
    owner.start(lasting(&log, "after"));
    drop(owner);
    log.check(&["before", "after"]);
    let error = result_of(&executor, bad).unwrap_err();
    assert_eq!(panic_text(&*error.into_panic()), "in a destructor");
    executor.run_frame(0.25);
}

// Where an owner may be dropped

#[test]
fn an_owner_in_its_own_coroutine_ends_with_it() {
    for how in ["returns", "is stopped", "the executor goes"] {
        let mut executor = unclamped();
        let log = Log::new();
        let owner = executor.owner();
        let (sibling, slot) = (lasting(&log, "sibling"), Rc::new(RefCell::new(None)));
        owner.start(sibling);
        let own = slot.clone();
        let script = owner.start(async move {
            next_frame().await;
            let owner: Option<Owner> = own.borrow_mut().take();
            wait_frames(2).await;
            drop(owner);
        });
        *slot.borrow_mut() = Some(owner);
        executor.run_frame(0.25);
        log.check(&[]);
        match how {
            "returns" => {
                executor.run_frame(0.25);
                executor.run_frame(0.25);
            }
            "is stopped" => drop(script.stop()),
            _ => drop(std::mem::take(&mut executor)),
        }
        log.check(&["sibling"]);
        executor.assert_empty();
    }
}

#[test]
fn an_owner_may_be_dropped_by_the_destructor_of_its_coroutine() {
    let executor = unclamped();
    let log = Log::new();
    let owner = Rc::new(Cell::new(None));
    let real = executor.owner();
    let (own, logs) = (owner.clone(), log.clone());
    real.start(async move {
        let _guard = OnDrop(|| {
            logs.note("first");
            drop(own.take());
        });
        forever().await;
    });
    real.start(lasting(&log, "second"));
    owner.set(Some(real));
    drop(executor);
    log.check(&["first", "second"]);
}

#[test]
fn a_tree_may_be_dropped_in_any_order() {
    for parent_first in [true, false] {
        let executor = unclamped();
        let log = Log::new();
        let top = executor.owner();
        let children = [top.child(), top.child(), top.child()];
        for (name, child) in ["a", "b", "c"].into_iter().zip(&children) {
            child.start(lasting(&log, name));
        }
        top.start(lasting(&log, "top"));
        let [a, b, c] = children;
        if parent_first {
            drop(top);
            log.check(&["a", "b", "c", "top"]);
            assert!(!b.is_active() && b.is_empty());
            drop((c, a, b));
        } else {
            drop(b);
            log.check(&["b"]);
            drop(a);
            log.check(&["a"]);
            top.stop_all();
            log.check(&["c", "top"]);
            let again = top.child();
            again.start(lasting(&log, "again"));
            drop(c);
            drop(top);
            log.check(&["again"]);
        }
        executor.assert_empty();
    }
}

#[test]
fn a_hundred_thousand_owners_below_one_another_fit_on_a_small_stack() {
    for parent_first in [true, false] {
        in_small_thread(move || {
            let mut executor = unclamped();
            let mut line = vec![executor.owner()];
            for depth in 0..100_000 {
                line.push(line[depth].child());
                line[depth + 1].start(forever());
            }
            assert_eq!(executor.len(), 100_000);
            line[0].pause();
            line[0].resume();
            assert!(!line[0].is_empty());
            if parent_first {
                let mut line = line.into_iter();
                drop(line.next());
                executor.assert_empty();
                drop(line);
            } else {
                while let Some(owner) = line.pop() {
                    drop(owner);
                }
            }
            executor.assert_empty();
            executor.run_frame(0.25);
        });
    }
}

#[test]
fn a_hundred_thousand_owners_beside_one_another_stop_in_order() {
    in_small_thread(|| {
        let executor = unclamped();
        let top = executor.owner();
        let stopped = Rc::new(Cell::new(0));
        let children: Vec<Owner> = (0..100_000)
            .map(|index| {
                let (child, stopped) = (top.child(), stopped.clone());
                child.start(async move {
                    let _guard = OnDrop(|| {
                        assert_eq!(stopped.get(), index);
                        stopped.set(index + 1);
                    });
                    forever().await;
                });
                child
            })
            .collect();
        drop(top);
        assert_eq!(stopped.get(), 100_000);
        drop(children);
    });
}

#[test]
fn a_hundred_thousand_coroutines_that_each_own_the_next_end_in_one_frame() {
    fn chain(length: u32) -> futures::future::LocalBoxFuture<'static, ()> {
        Box::pin(async move {
            if length > 0 {
                let below = owner();
                below.spawn(chain(length - 1));
                forever().await;
            }
            forever().await;
        })
    }
    in_small_thread(|| {
        let mut executor = unclamped();
        let first = executor.start(chain(100_000));
        executor.run_frame(0.25);
        assert_eq!(executor.len(), 100_001);
        first.stop();
        executor.assert_empty();
    });
}

// Structured children

/// Notes its end, and has two children that do.
async fn family(log: Log, name: &'static str, frames: u64, children: [&'static str; 2]) {
    let _end = log.on_drop(format!("{name} ends"));
    let own = owner();
    for child in children {
        own.start(lasting(&log, &format!("{child} of {name}")));
    }
    let _before = log.on_drop(format!("{name} stops its children"));
    wait_frames(frames).await;
    log.say(format!("{name} returns"));
}

#[test]
fn what_is_started_on_an_owner_in_a_local_ends_in_the_place_where_that_is_dropped() {
    for how in ["returns", "is stopped"] {
        let mut executor = unclamped();
        let log = Log::new();
        let script = executor.start(family(log.clone(), "p", 2, ["a", "b"]));
        assert_eq!(executor.len(), 3);
        executor.run_frame(0.25);
        let mut expected = vec!["p stops its children", "a of p", "b of p", "p ends"];
        if how == "returns" {
            executor.run_frame(0.25);
            expected.insert(0, "F2: p returns");
        } else {
            script.stop();
        }
        log.check(&expected);
        executor.assert_empty();
    }
}

#[test]
fn structured_children_end_depth_first() {
    let mut executor = unclamped();
    let log = Log::new();
    let logs = log.clone();
    executor.start(async move {
        let own = owner();
        own.start(family(logs.clone(), "p", 9, ["a", "b"]));
        own.start(family(logs.clone(), "q", 9, ["c", "d"]));
        end_of_frame().await;
        logs.say("over");
    });
    executor.run_frame(0.25);
    log.check(&[
        "F1.EndOfFrame: over",
        // The owners of both are below the dropped one: their coroutines are
        // stopped first.
        "a of p",
        "b of p",
        "c of q",
        "d of q",
        "p stops its children",
        "p ends",
        "q stops its children",
        "q ends",
    ]);
    executor.assert_empty();
}

#[test]
fn an_owner_of_a_coroutine_is_below_the_one_of_that() {
    let executor = unclamped();
    let log = Log::new();
    let top = executor.owner();
    let kept = Rc::new(RefCell::new(None));
    let (keep, logs) = (kept.clone(), log.clone());
    top.start(async move {
        let own = owner();
        own.start(lasting(&logs, "child"));
        *keep.borrow_mut() = Some(own);
    });
    assert!(!top.is_empty());
    assert!(top.pause() && kept.borrow().as_ref().unwrap().is_paused());
    top.stop_all();
    log.check(&["child"]);
}

// What it costs

#[test]
fn the_end_of_one_owner_of_many_touches_no_other() {
    let mut executor = unclamped();
    let frames = Rc::new(Cell::new(0));
    let owned = |executor: &Executor| {
        let owner = executor.owner();
        owner.start(count_frames(frames.clone()));
        owner
    };
    let owners: Vec<Owner> = (0..100_000).map(|_| owned(&executor)).collect();
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    assert_eq!(frames.get(), 200_000);
    assert_eq!(allocations_of(|| executor.run_frame(0.25)), 0);
    let mut owners = owners.into_iter();
    for left in (99_000..100_000).rev() {
        drop(owners.next());
        assert_eq!(executor.len(), left);
    }
    executor.run_frame(0.25);
    assert_eq!(frames.get(), 399_000);
    // New ones reuse the slots of the old ones.
    let churn = || {
        for _ in 0..100 {
            drop(owned(&executor));
        }
    };
    churn();
    assert_eq!(allocations_of(churn), 0);
}
