//! Handles and ids: their text, what they refer to, and what outlives what.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::FusedFuture;

use framestep::prelude::*;
use framestep::task::{CoroutineId, Outcome, RemoteHandle};
use framestep::{Executor, Handle, JoinError};

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{forever, poll_once, result_of};

// ids

#[test]
fn ids_print_as_slot_and_generation() {
    let executor = unclamped();
    let text = executor.start(forever()).id().to_string();
    let (slot, generation) = text.split_once('v').expect("like 12v3");
    assert!(slot.parse::<u32>().is_ok(), "{text}");
    assert!(generation.parse::<u32>().is_ok(), "{text}");
}

#[test]
fn ids_are_values() {
    fn is_value<T: Copy + Eq + Ord + std::hash::Hash + std::fmt::Debug + std::fmt::Display>() {}
    is_value::<CoroutineId>();
    let executor = unclamped();
    let coroutines: Vec<_> = (0..10).map(|_| executor.start(forever())).collect();
    let ids: HashSet<_> = coroutines.iter().map(Coroutine::id).collect();
    assert_eq!(ids.len(), 10);
    let sorted: BTreeSet<_> = ids.iter().copied().collect();
    assert_eq!(sorted.len(), 10);
    assert_eq!(coroutines[3].id(), coroutines[3].id());
}

#[test]
fn ids_are_not_used_twice() {
    let mut executor = unclamped();
    let mut seen = HashSet::new();
    for _ in 0..1_000 {
        let at_once = executor.start(async {});
        let in_a_frame = executor.spawn(async {});
        let stopped = executor.start(forever());
        stopped.stop();
        executor.run_frame(0.25);
        for id in [at_once.id(), in_a_frame.id(), stopped.id()] {
            assert!(seen.insert(id), "{id} again");
            assert!(!executor.is_alive(id));
        }
    }
}

#[test]
fn an_id_is_alive_from_spawn_to_end() {
    let mut executor = unclamped();
    let handle = executor.handle();
    let id = executor
        .spawn(async {
            next_frame().await;
        })
        .id();
    assert!(executor.is_alive(id) && handle.is_alive(id));
    executor.run_frame(0.25);
    assert!(executor.is_alive(id) && handle.is_alive(id));
    executor.run_frame(0.25);
    assert!(!executor.is_alive(id) && !handle.is_alive(id));
}

#[test]
fn len_counts_the_living() {
    let mut executor = unclamped();
    executor.assert_empty();
    executor.spawn(async {});
    executor.start(wait_frames(2).map(drop));
    let stopped = executor.start(forever());
    assert_eq!(executor.len(), 3);
    executor.run_frame(0.25);
    assert_eq!(executor.len(), 2);
    stopped.stop();
    assert_eq!(executor.len(), 1);
    executor.run_frame(0.25);
    assert_eq!(executor.len(), 0);
    executor.assert_empty();
}

#[test]
fn many_come_and_go() {
    let mut executor = unclamped();
    let alive = Rc::new(Cell::new(0_u32));
    for frame in 0..200_u64 {
        for i in 0..50 {
            let alive = alive.clone();
            executor.spawn(async move {
                alive.set(alive.get() + 1);
                wait_frames((frame * 7 + i * 3) % 11).await;
                alive.set(alive.get() - 1);
            });
        }
        executor.run_frame(0.25);
        assert_eq!(executor.len(), alive.get() as usize);
    }
    for _ in 0..11 {
        executor.run_frame(0.25);
    }
    assert_eq!(alive.get(), 0);
    executor.assert_empty();
}

// coroutine handles

#[test]
fn a_handle_knows_whether_its_coroutine_has_ended() {
    let mut executor = unclamped();
    let coroutine = executor.spawn(next_frame().map(drop));
    assert!(!coroutine.is_finished());
    executor.run_frame(0.25);
    assert!(!coroutine.is_finished());
    executor.run_frame(0.25);
    assert!(coroutine.is_finished());
}

#[test]
fn handles_are_fused_and_unpin() {
    let mut executor = unclamped();
    let done = executor.start(async {
        let mut child = start(next_frame().map(drop));
        assert!(!child.is_terminated());
        assert!(poll_once(&mut child).await.is_pending());
        assert!(!child.is_terminated());
        next_frame().await;
        assert!(!child.is_terminated(), "not before it has been looked at");
        (&mut child).await.unwrap();
        assert!(child.is_terminated());
        // So that a loop over `select!` skips it.
        futures::select_biased! {
            _ = child => unreachable!(),
            () = next_frame() => (),
        }
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    result_of(&executor, done).unwrap();
}

#[test]
fn join_errors_name_the_coroutine_and_the_reason() {
    let executor = unclamped();
    let stopped = executor.start(forever());
    let panicked = executor.start(async { panic!("on purpose") });
    let (stopped_id, panicked_id) = (stopped.id().to_string(), panicked.id().to_string());
    stopped.stop();
    let error: JoinError = result_of(&executor, stopped).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(&stopped_id) && text.contains("stopped"),
        "{text}"
    );
    let error = result_of::<()>(&executor, panicked).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(&panicked_id) && text.contains("panicked"),
        "{text}"
    );
    let _: &dyn std::error::Error = &error;
}

#[test]
fn outcomes_are_values() {
    fn is_value<T: Copy + Eq + std::fmt::Debug>() {}
    is_value::<Outcome>();
    assert_ne!(Outcome::Finished, Outcome::Stopped);
    assert_ne!(Outcome::Stopped, Outcome::Panicked);
}

// executors and threads

/// Tells whether a type is `Send`: the inherent constant takes precedence over
/// that of the trait, if it applies. The message of a compile-fail test would
/// change with the compiler and with the crate's private types.
struct IsSend<T>(PhantomData<T>);
struct IsSync<T>(PhantomData<T>);

trait Otherwise {
    const YES: bool = false;
}

impl<T> Otherwise for IsSend<T> {}
impl<T> Otherwise for IsSync<T> {}

impl<T: Send> IsSend<T> {
    const YES: bool = true;
}

impl<T: Sync> IsSync<T> {
    const YES: bool = true;
}

#[test]
fn executors_and_handles_stay_on_their_thread() {
    const { assert!(!IsSend::<Executor>::YES) }
    const { assert!(!IsSend::<Handle>::YES) }
    const { assert!(!IsSend::<Coroutine<()>>::YES) }
    const { assert!(!IsSend::<framestep::task::Finished>::YES) }
    const { assert!(!IsSend::<framestep::time::Clock>::YES) }
    const { assert!(!IsSend::<Owner>::YES) }
    const { assert!(!IsSend::<framestep::task::OwnerHandle>::YES) }
    const { assert!(!IsSync::<Executor>::YES) }
    const { assert!(!IsSync::<Handle>::YES) }
    const { assert!(!IsSync::<Coroutine<()>>::YES) }
    const { assert!(!IsSync::<Owner>::YES) }
    const { assert!(!IsSync::<framestep::task::OwnerHandle>::YES) }
    // The probe can return true.
    const { assert!(IsSend::<RemoteHandle>::YES) }
    const { assert!(IsSync::<RemoteHandle>::YES) }
}

#[test]
fn remotes_go_anywhere() {
    fn goes_anywhere<T: Clone + Send + Sync + 'static>() {}
    goes_anywhere::<RemoteHandle>();
}

#[test]
fn a_remote_spawns_from_any_thread_into_the_next_update() {
    let mut executor = unclamped();
    let remote = executor.remote();
    let (done, is_done) = std::sync::mpsc::channel();
    let home = std::thread::current().id();
    let thread = std::thread::spawn(move || {
        let accepted = remote.spawn(move || async move {
            assert_eq!(time().phase, Some(Phase::Update));
            let not_send = Rc::new(5);
            next_frame().await;
            done.send((*not_send, std::thread::current().id())).unwrap();
        });
        assert!(accepted);
    });
    thread.join().unwrap();
    executor.begin_frame(0.25);
    executor.run_phase(Phase::EarlyUpdate);
    assert!(executor.has_ready());
    executor.run_phase(Phase::Update);
    assert_eq!(executor.len(), 1);
    assert!(is_done.try_recv().is_err());
    executor.run_frame(0.25);
    assert_eq!(is_done.try_recv(), Ok((5, home)));
}

#[test]
fn a_remote_spawn_during_a_run_waits_for_the_next_update() {
    let mut executor = unclamped();
    let (remote, remote2) = (executor.remote(), executor.remote());
    let (done, is_done) = std::sync::mpsc::channel();
    executor.start(async move {
        next_frame().await;
        let thread = std::thread::spawn(move || {
            remote.spawn(move || async move { done.send(time().frame).unwrap() })
        });
        assert!(thread.join().unwrap());
    });
    executor.run_frame(0.25);
    assert!(is_done.try_recv().is_err());
    executor.run_frame(0.25);
    assert_eq!(is_done.try_recv(), Ok(2));
    assert!(remote2.clone().spawn(|| async {}));
}

#[test]
fn a_remote_of_a_dead_executor_says_so() {
    let executor = unclamped();
    let remote = executor.remote();
    drop(executor);
    let dropped = std::sync::Arc::new(());
    let alive = std::sync::Arc::downgrade(&dropped);
    assert!(!remote.spawn(move || async move { drop(dropped) }));
    let there = remote.clone();
    let thread = std::thread::spawn(move || there.spawn(|| async {}));
    assert!(!thread.join().unwrap());
    assert!(alive.upgrade().is_none(), "the closure is dropped");
}

#[test]
fn what_a_remote_spawned_and_never_ran_is_dropped_with_the_executor() {
    let executor = unclamped();
    let remote = executor.remote();
    let token = std::sync::Arc::new(());
    let alive = std::sync::Arc::downgrade(&token);
    assert!(remote.spawn(move || async move { drop(token) }));
    assert!(alive.upgrade().is_some());
    drop(executor);
    assert!(alive.upgrade().is_none());
}

#[test]
fn a_panic_in_the_closure_of_a_remote_ends_with_it() {
    let mut executor = unclamped();
    let log = Log::new();
    let remote = executor.remote();
    assert!(remote.spawn(|| -> std::future::Ready<()> { panic!("on purpose") }));
    let say = log.clone();
    executor.spawn(async move { say.say("the next arrival") });
    executor.run_frame(0.25);
    log.check(&["F1: the next arrival"]);
}

// the weak handle

#[test]
fn a_weak_handle_does_what_the_executor_does() {
    let mut executor = unclamped();
    let handle: Handle = executor.handle().clone();
    let log = Log::new();
    let say = log.clone();
    let started = handle.start(async move {
        say.say("started");
        forever().await;
    });
    let say = log.clone();
    handle.spawn(async move { say.say("spawned") });
    let say = log.clone();
    handle
        .script("")
        .in_phase(Phase::LateUpdate)
        .spawn(async move { say.say("spawned late") });
    assert!(handle.is_alive(started.id()));
    executor.run_frame(0.25);
    log.check(&["F0: started", "F1: spawned", "F1.LateUpdate: spawned late"]);
    assert!(handle.stop(started.id()));
    assert!(!handle.is_alive(started.id()));
    let time = handle.time().expect("the executor is there");
    assert_eq!(time.frame, 1);
    assert_eq!(time.elapsed, Duration::from_millis(250));
    assert_eq!(handle.enter(|| framestep::time().frame), Some(1));
}

#[test]
fn a_weak_handle_keeps_nothing_alive() {
    let executor = unclamped();
    let handle = executor.handle();
    let log = Log::new();
    let dropped = log.on_drop("dropped");
    executor.start(async move {
        let _dropped = dropped;
        forever().await;
    });
    drop(executor);
    log.check(&["dropped"]);
    assert!(handle.time().is_none());
}

#[test]
fn a_handle_of_a_dead_executor_returns_finished_coroutines_and_stops_nothing() {
    let executor = unclamped();
    let handle = executor.handle();
    let old = executor.start(forever());
    let old_id = old.id();
    drop(executor);
    let log = Log::new();
    let future = || {
        let (say, dropped) = (log.clone(), log.on_drop("dropped"));
        async move {
            let _dropped = dropped;
            say.note("never");
        }
    };
    let refused = [
        handle.spawn(future()),
        handle.start(future()),
        handle
            .script("")
            .in_phase(Phase::LateUpdate)
            .spawn(future()),
    ];
    log.check(&["dropped", "dropped", "dropped"]);
    assert!(!handle.stop(old_id));
    assert!(!handle.is_alive(old_id));
    let elsewhere = unclamped();
    for coroutine in refused {
        assert!(coroutine.is_finished());
        assert!(!coroutine.stop());
        assert!(!handle.is_alive(coroutine.id()));
        assert!(!handle.stop(coroutine.id()));
        assert!(result_of(&elsewhere, coroutine).unwrap_err().is_stopped());
    }
}

#[test]
fn coroutines_of_an_executor_that_goes_are_stopped() {
    let executor = unclamped();
    let waiting = executor.start(forever());
    let queued = executor.spawn(async {});
    let ended = executor.start(async { 5 });
    let finished = waiting.finished();
    drop(executor);
    let elsewhere = unclamped();
    assert!(waiting.is_finished() && queued.is_finished());
    assert!(!waiting.stop());
    assert!(result_of(&elsewhere, waiting).unwrap_err().is_stopped());
    assert!(result_of(&elsewhere, queued).unwrap_err().is_stopped());
    assert_eq!(result_of(&elsewhere, ended).unwrap(), 5);
    let outcome = elsewhere.start(finished);
    assert_eq!(result_of(&elsewhere, outcome).unwrap(), Outcome::Stopped);
}

#[test]
fn what_a_destructor_spawns_while_the_executor_goes_ends_with_it() {
    type Spawned = Rc<RefCell<Vec<Coroutine<()>>>>;
    struct Respawns(Handle, Spawned, Log);
    impl Drop for Respawns {
        fn drop(&mut self) {
            let (handle, spawned, log) = (self.0.clone(), self.1.clone(), self.2.clone());
            let successor = self.0.spawn(async move {
                log.note("never");
                let _again = Respawns(handle, spawned, log);
                forever().await;
            });
            self.1.borrow_mut().push(successor);
        }
    }
    let executor = unclamped();
    let log = Log::new();
    let spawned = Spawned::default();
    for _ in 0..3 {
        let guard = Respawns(executor.handle(), spawned.clone(), log.clone());
        executor.start(async move {
            let _guard = guard;
            forever().await;
        });
    }
    drop(executor);
    log.check(&[]);
    let spawned = spawned.take();
    assert_eq!(spawned.len(), 3);
    let elsewhere = unclamped();
    for successor in spawned {
        assert!(successor.is_finished());
        assert!(result_of(&elsewhere, successor).unwrap_err().is_stopped());
    }
}

#[test]
fn two_executors_on_one_thread_do_not_mix() {
    let (mut here, mut there) = (unclamped(), unclamped());
    let log = Log::new();
    for (executor, name) in [(&here, "here"), (&there, "there")] {
        let log = log.clone();
        executor.start(async move {
            loop {
                next_frame().await;
                log.say(name);
            }
        });
    }
    here.run_frame(0.25);
    here.run_frame(0.25);
    there.run_frame(0.25);
    log.check(&["F1: here", "F2: here", "F1: there"]);
}

#[test]
fn an_executor_may_run_within_a_coroutine_of_another() {
    let mut outer = unclamped();
    let log = Log::new();
    let say = log.clone();
    outer.start(async move {
        next_frame().await;
        let mut inner = unclamped();
        let log = say.clone();
        inner.start(async move {
            loop {
                log.say("inner");
                next_frame().await;
            }
        });
        inner.run_frame(0.25);
        inner.run_frame(0.25);
        say.say("outer");
        next_frame().await;
        say.say("outer");
    });
    outer.run_frame(0.25);
    outer.run_frame(0.25);
    log.check(&[
        "F0: inner",
        "F1: inner",
        "F2: inner",
        "F1: outer",
        "F2: outer",
    ]);
}

#[test]
fn handles_and_results_may_be_kept_in_collections() {
    let mut executor = unclamped();
    let results = Rc::new(RefCell::new(Vec::new()));
    let into = results.clone();
    executor.start(async move {
        let children: Vec<Coroutine<u64>> = (0..5)
            .map(|i| {
                start(async move {
                    wait_frames(5 - i).await;
                    i
                })
            })
            .collect();
        for child in children {
            let result = child.await.unwrap();
            into.borrow_mut().push(result);
        }
    });
    for _ in 0..5 {
        executor.run_frame(0.25);
    }
    assert_eq!(*results.borrow(), [0, 1, 2, 3, 4]);
}

#[test]
fn waits_made_outside_an_executor_may_be_awaited_inside() {
    let wait = wait_seconds(0.25).map(drop);
    let mut executor = unclamped();
    let coroutine = executor.start(wait);
    executor.run_frame(0.25);
    assert!(coroutine.is_finished());
}

#[test]
fn an_executor_may_be_moved_between_frames() {
    let mut executor = unclamped();
    let child = executor.start(wait_frames(3));
    executor.run_frame(0.25);
    let mut boxed = Box::new(executor);
    boxed.run_frame(0.25);
    let mut back = *boxed;
    back.run_frame(0.25);
    assert!(child.is_finished());
    assert_eq!(back.time().frame, 3);
}

#[test]
fn a_hook_that_stops_what_is_woken_from_outside_leaves_nothing_to_poll() {
    let mut executor = unclamped();
    // Several waits at once, some of them not registered with the coroutine.
    let waits = |receiver| async { futures::join!(next_frame(), wait_frames(2), receiver) };
    let (senders, mut scripts): (Vec<_>, Vec<_>) = (0..3)
        .map(|_| {
            let (sender, receiver) = oneshot::channel::<()>();
            (sender, executor.start(waits(receiver)))
        })
        .unzip();
    let woken = scripts.remove(0).id();
    for script in scripts {
        script.stop();
    }
    let handle = executor.handle();
    executor.remote().spawn(|| async {});
    // It receives the remote spawn at the beginning of the run, before the
    // first poll.
    executor.on_trace(move |_| _ = handle.stop(woken));
    for sender in senders {
        let _ = sender.send(());
    }
    assert_eq!(executor.len(), 2);
    executor.run_frame(0.25);
    executor.assert_empty();
}

#[test]
fn a_handle_that_is_detached_stops_nothing() {
    let mut executor = unclamped();
    let ids = [false, true].map(|stops| {
        let script = executor.start(wait_frames(2));
        let id = script.id();
        if stops {
            script.stop_on_drop().detach();
        } else {
            script.detach();
        }
        id
    });
    assert!(ids.iter().all(|&id| executor.is_alive(id)));
    executor.run_frames(2, 0.25);
    executor.assert_empty();
    // One that has ended, or was refused.
    executor.start(async {}).stop_on_drop().detach();
    let owner = executor.owner();
    owner.set_active(false);
    executor.on_report(|_| ());
    owner.start(async {}).stop_on_drop().detach();
}
