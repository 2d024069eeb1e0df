//! Hooks that stop the coroutine that the executor is about to queue, or that
//! drop the executor.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Poll, Waker};

use framestep::Executor;
use framestep::inspect::{Report, TraceKind};
use framestep::prelude::*;
use framestep::task::CoroutineId;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::watched::{alive, check_all_dropped, check_no_faults, watched};
use framestep_testkit::{count_frames, forever};

/// Stops `victim` from the trace hook as soon as anything is spawned.
fn stop_at_the_next_spawn(executor: &Executor, victim: CoroutineId) {
    let handle = executor.handle();
    executor.on_trace(move |event| {
        if matches!(event.kind, TraceKind::Spawned { .. }) && event.id != Some(victim) {
            handle.stop(victim);
        }
    });
    // Taken over as soon as the executor takes its messages.
    assert!(executor.remote().spawn(|| async {}));
}

#[test]
fn one_that_a_hook_stops_while_a_waker_wakes_it_is_not_polled_again() {
    let mut executor = unclamped();
    let (polls, waker) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(None)));
    let (count, keep) = (polls.clone(), waker.clone());
    let victim = executor.start(watched(poll_fn(move |cx| {
        count.set(count.get() + 1);
        keep.replace(Some(cx.waker().clone()));
        Poll::<()>::Pending
    })));
    stop_at_the_next_spawn(&executor, victim.id());
    let waker: Waker = waker.take().unwrap();
    waker.wake();
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    assert!(victim.is_finished());
    assert_eq!(polls.get(), 1);
    drop(executor);
    check_all_dropped();
}

#[test]
fn one_that_a_hook_stops_while_a_paused_owner_starts_it_is_never_polled() {
    for (inactive, pause_first) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut executor = unclamped();
        let owner = Rc::new(executor.owner());
        let (handle, own) = (executor.handle(), Rc::downgrade(&owner));
        let first = Cell::new(None::<CoroutineId>);
        executor.on_trace(move |event| {
            if !matches!(event.kind, TraceKind::Spawned { .. }) {
                return;
            }
            if inactive {
                // An owner may already be gone, and its coroutines with it.
                if let Some(own) = own.upgrade() {
                    own.set_active(false);
                }
            } else if let Some(first) = first.replace(event.id) {
                handle.stop(first);
            }
        });
        if pause_first {
            owner.pause();
        }
        executor.remote().spawn(|| async {});
        owner.pause();
        let polls = Rc::new(Cell::new(0));
        let count = polls.clone();
        let coroutine = owner.start(watched(async move { count.set(count.get() + 1) }));
        executor.remote().spawn(|| async {});
        executor.run_frame(0.25);
        owner.resume();
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        if coroutine.is_finished() && inactive {
            assert_eq!(polls.get(), 0);
        }
        assert!(polls.get() <= 1);
        check_no_faults();
        drop((owner, executor));
        check_all_dropped();
    }
}

#[test]
fn a_joiner_that_a_hook_stops_while_what_it_joins_is_stopped_is_not_polled_again() {
    let mut executor = unclamped();
    let gate = executor.start(watched(forever()));
    let (polls, mut joined) = (Rc::new(Cell::new(0)), gate.finished());
    let count = polls.clone();
    let joiner = executor.start(watched(poll_fn(move |cx| {
        count.set(count.get() + 1);
        Pin::new(&mut joined).poll(cx)
    })));
    stop_at_the_next_spawn(&executor, joiner.id());
    assert!(gate.stop());
    executor.run_frame(0.25);
    assert!(joiner.is_finished());
    assert!(polls.get() <= 2);
    drop(executor);
    check_all_dropped();
}

type Act = fn(&Executor, &Coroutine<()>, &Owner);

/// Whatever the host does first after a message has arrived, a hook is called
/// during that call.
// docs/contract.md#decided-hook-that-stops
#[test]
fn whatever_the_host_does_a_hook_may_stop_its_coroutine_first() {
    let acts: [(&str, Act); 9] = [
        ("pause", |_, victim, _| _ = victim.pause()),
        ("pause and resume", |_, victim, _| {
            victim.pause();
            victim.resume();
        }),
        ("stop", |_, victim, _| _ = victim.stop()),
        ("pause the owner", |_, _, owner| _ = owner.pause()),
        ("resume the owner", |_, _, owner| {
            owner.pause();
            owner.resume();
        }),
        ("stop the owner", |_, _, owner| owner.stop_all()),
        ("spawn", |executor, _, _| drop(executor.spawn(async {}))),
        ("start", |executor, _, _| drop(executor.start(async {}))),
        ("snapshot", |executor, _, _| drop(executor.snapshot())),
    ];
    for (name, act) in acts {
        let mut executor = unclamped();
        let owner = executor.owner();
        let frames = Rc::new(Cell::new(0));
        let others = owner.start(watched(count_frames(frames.clone())));
        let victim = owner.start(watched(async {
            futures::join!(next_frame(), wait_seconds(1), forever());
        }));
        stop_at_the_next_spawn(&executor, victim.id());
        act(&executor, &victim, &owner);
        for _ in 0..3 {
            executor.run_frame(0.25);
        }
        assert!(victim.is_finished(), "{name}");
        let expected = if others.is_finished() || owner.is_paused() {
            0
        } else {
            3
        };
        assert_eq!(frames.get(), expected, "{name}");
        check_no_faults();
        drop((executor, owner, victim, others));
        check_all_dropped();
    }
}

/// An executor in a slot, which a trace hook drops at once.
fn that_ends_at_the_next_event() -> (framestep::Handle, Owner, Rc<RefCell<Option<Executor>>>) {
    let executor = unclamped();
    let (handle, owner) = (executor.handle(), executor.owner());
    executor.start(watched(forever()));
    executor.remote().spawn(|| async {});
    let slot: Rc<RefCell<Option<Executor>>> = Rc::default();
    let take = slot.clone();
    executor.on_trace(move |_| drop(take.take()));
    slot.replace(Some(executor));
    (handle, owner, slot)
}

#[test]
fn what_is_inserted_while_the_executor_ends_is_dropped_with_it() {
    type Insert = fn(&framestep::Handle, &Owner) -> Coroutine<()>;
    let inserts: [Insert; 6] = [
        |handle, _| handle.spawn(watched(forever())),
        |handle, _| handle.start(watched(forever())),
        |handle, _| {
            handle
                .script("")
                .in_phase(Phase::LateUpdate)
                .spawn(watched(forever()))
        },
        |_, owner| owner.spawn(watched(forever())),
        |_, owner| owner.start(watched(forever())),
        |_, owner| owner.child().spawn(watched(forever())),
    ];
    for insert in inserts {
        let (handle, owner, slot) = that_ends_at_the_next_event();
        let coroutine = insert(&handle, &owner);
        assert!(slot.borrow().is_none(), "the hook was called");
        assert!(coroutine.is_finished());
        assert!(!handle.is_alive(coroutine.id()) && !coroutine.stop());
        assert_eq!(alive(), 0, "{} are kept", alive());
        // After the end nothing is stored either.
        assert!(insert(&handle, &owner).is_finished());
        drop((coroutine, owner));
        check_all_dropped();
    }
}

#[test]
fn a_destructor_that_inserts_while_its_executor_ends_leaves_nothing() {
    struct Inserts(framestep::Handle, Rc<RefCell<Vec<Coroutine<()>>>>);
    impl Drop for Inserts {
        fn drop(&mut self) {
            for _ in 0..2 {
                let spawned = self.0.spawn(watched(forever()));
                let started = self.0.start(watched(forever()));
                self.1.borrow_mut().extend([spawned, started]);
            }
        }
    }
    let executor = unclamped();
    let kept = Rc::default();
    for _ in 0..3 {
        let inserts = Inserts(executor.handle(), Rc::clone(&kept));
        executor.start(watched(async move {
            let _inserts = inserts;
            next_frame().await;
        }));
    }
    drop(executor);
    assert_eq!(kept.borrow().len(), 12);
    assert!(kept.borrow().iter().all(Coroutine::is_finished));
    check_all_dropped();
}

#[test]
fn a_report_that_stops_its_coroutine_is_the_end_of_that() {
    let mut executor = Executor::builder().max_polls_per_run(5).build();
    let frames = Rc::new(Cell::new(0));
    executor.start(watched(count_frames(frames.clone())));
    let waker = Rc::new(RefCell::new(Vec::<Waker>::new()));
    // Two that wake each other as often as they are polled.
    let polls = Rc::new(Cell::new(0));
    let pair: Vec<_> = (0..2)
        .map(|_| {
            let (wakers, count) = (waker.clone(), polls.clone());
            executor.start(watched(poll_fn(move |cx| {
                count.set(count.get() + 1);
                let others = wakers.take();
                wakers.borrow_mut().push(cx.waker().clone());
                others.into_iter().for_each(Waker::wake);
                Poll::<()>::Pending
            })))
        })
        .collect();
    let (handle, stopped) = (executor.handle(), Rc::new(Cell::new(0)));
    let count = stopped.clone();
    executor.on_report(move |report| {
        if let Report::PollLimitReached { id, .. } = report {
            assert!(handle.stop(*id));
            count.set(count.get() + 1);
        }
    });
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    assert!(stopped.get() > 0, "nobody was greedy");
    assert!(pair.iter().any(Coroutine::is_finished));
    let before = polls.get();
    executor.run_frame(0.25);
    assert!(polls.get() <= before + 1);
    assert_eq!(frames.get(), 5);
    drop((pair, executor));
    check_all_dropped();
}

/// Panics when it is dropped.
struct Bomb(Arc<AtomicU32>);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::panic::resume_unwind(Box::new("on purpose"));
    }
}

#[test]
fn what_came_from_afar_is_dropped_in_silence_if_a_hook_ends_the_executor_before_its_turn() {
    for call in [false, true] {
        let executor = Rc::new(RefCell::new(Some(unclamped())));
        let (remote, handle) = {
            let executor = executor.borrow();
            let executor = executor.as_ref().unwrap();
            (executor.remote(), executor.handle())
        };
        let ends = executor.clone();
        let on_trace = move |_: &framestep::inspect::TraceEvent| drop(ends.take());
        executor.borrow().as_ref().unwrap().on_trace(on_trace);
        let drops = Arc::new(AtomicU32::new(0));
        assert!(remote.spawn(|| async {}));
        for _ in 0..2 {
            let bomb = Bomb(drops.clone());
            assert!(if call {
                remote.call(move || drop(bomb))
            } else {
                remote.spawn(move || async move { drop(bomb) })
            });
        }
        // This takes over the messages that arrived before it.
        assert!(handle.spawn(async {}).is_finished());
        assert_eq!(drops.load(Ordering::Relaxed), 2);
        assert!(executor.borrow().is_none());
    }
}
