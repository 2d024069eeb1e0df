//! A pinned future is dropped before its memory is reused: futures that hold
//! pointers to each other, such as those of tokio's `Notify`, write through
//! them when woken or dropped.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Notify;

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::CoroutineId;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::watched::{check_all_dropped, check_no_faults, watched};
use framestep_testkit::{Random, forever};

/// Waits to be notified, in an intrusive list of the futures.
async fn notified(notify: Arc<Notify>, heard: Rc<Cell<u32>>) {
    loop {
        notify.notified().await;
        heard.set(heard.get() + 1);
    }
}

/// Reuses the memory of dropped futures, with futures of the same size.
fn use_memory_again(executor: &Executor) -> Vec<Coroutine<()>> {
    let other = Arc::new(Notify::new());
    (0..64)
        .map(|_| executor.start(watched(notified(other.clone(), Rc::default()))))
        .collect()
}

/// The ways to end a coroutine before it returns.
const ENDS: [fn(&mut Executor, Coroutine<()>, Owner); 9] = [
    |_, coroutine, _| assert!(coroutine.stop()),
    |_, coroutine, _| drop(coroutine.stop_on_drop()),
    |_, _, owner| drop(owner),
    |_, _, owner| owner.stop_all(),
    |_, _, owner| owner.set_active(false),
    // In a run, by another coroutine.
    |executor, coroutine, _| {
        let id = coroutine.id();
        executor.spawn(async move { assert!(stop(id)) });
        executor.run_frame(0.25);
    },
    // In the destructor of another.
    |executor, coroutine, owner| {
        let held = (coroutine.stop_on_drop(), owner);
        let holder = executor.start(async move {
            let _held = held;
            forever().await;
        });
        assert!(holder.stop());
    },
    // While it is paused.
    |executor, coroutine, owner| {
        coroutine.pause();
        executor.run_frame(0.25);
        owner.pause();
        assert!(coroutine.stop());
    },
    // With its executor.
    |executor, _, _| drop(std::mem::take(executor)),
];

#[test]
fn one_that_others_point_into_is_dropped_before_its_memory_is_used_again() {
    for end in ENDS {
        let mut executor = unclamped();
        let notify = Arc::new(Notify::new());
        let heard = Rc::new(Cell::new(0));
        let mut kept = Vec::new();
        // Neighbours in the list on both sides.
        let waiting =
            |executor: &Executor| executor.start(watched(notified(notify.clone(), heard.clone())));
        kept.push(waiting(&executor));
        let owner = executor.owner();
        let victim = owner.start(watched(notified(notify.clone(), heard.clone())));
        kept.push(waiting(&executor));
        end(&mut executor, victim, owner);
        let again = use_memory_again(&executor);
        notify.notify_waiters();
        executor.run_frame(0.25);
        let alive = kept.iter().filter(|coroutine| !coroutine.is_finished());
        assert_eq!(heard.get() as usize, alive.count());
        check_no_faults();
        drop((executor, again, kept));
        notify.notify_waiters();
        check_all_dropped();
    }
}

#[test]
fn one_that_stops_itself_is_dropped_with_all_that_points_into_it() {
    let mut executor = unclamped();
    let notify = Arc::new(Notify::new());
    let waits = notify.clone();
    let coroutine = executor.start(watched(async move {
        let (first, second) = (waits.notified(), waits.notified());
        futures::pin_mut!(first, second);
        futures::future::select(&mut first, &mut second).await;
        stop(current());
        // Both stand in the list until this.
        futures::join!(first, second);
    }));
    notify.notify_one();
    executor.run_frame(0.25);
    assert!(coroutine.is_finished());
    let again = use_memory_again(&executor);
    notify.notify_waiters();
    executor.run_frame(0.25);
    drop((executor, again, coroutine));
    check_all_dropped();
}

#[test]
fn one_that_is_stopped_far_down_the_stack_is_dropped_before_its_memory_is_used_again() {
    fn inside_enter(executor: &Executor, depth: u32, f: &mut dyn FnMut()) {
        match depth {
            0 => f(),
            _ => executor.enter(|| inside_enter(executor, depth - 1, f)),
        }
    }
    for depth in [99, 100, 101] {
        for by_its_end in [false, true] {
            let (outer, inner) = (unclamped(), unclamped());
            let notify = Arc::new(Notify::new());
            let coroutine = inner.start(watched(notified(notify.clone(), Rc::default())));
            let mut inner = Some(inner);
            let mut again = Vec::new();
            inside_enter(&outer, depth, &mut || {
                if by_its_end {
                    drop(inner.take());
                } else {
                    assert!(coroutine.stop());
                    again.extend(use_memory_again(inner.as_ref().unwrap()));
                }
                assert!(coroutine.is_finished());
            });
            again.extend(use_memory_again(&outer));
            notify.notify_waiters();
            check_no_faults();
            drop((inner, outer, again));
            check_all_dropped();
        }
    }
}

/// Starts, stops, notifies and ends at random, from inside polls as well.
#[test]
fn notifications_and_stops_at_random_never_reach_what_is_gone() {
    for seed in 0..30 {
        let mut executor = unclamped();
        let notify = Arc::new(Notify::new());
        let random = Rc::new(RefCell::new(Random(seed)));
        let ids: Rc<RefCell<Vec<CoroutineId>>> = Rc::default();
        for _ in 0..20 {
            let (notify, random, ids) = (notify.clone(), random.clone(), ids.clone());
            executor.start(watched(async move {
                loop {
                    next_frame().await;
                    let (act, which) = {
                        let mut random = random.borrow_mut();
                        (random.below(4), random.next())
                    };
                    let id = {
                        let ids = ids.borrow();
                        let at = usize::try_from(which % (ids.len() as u64 + 1)).unwrap();
                        ids.get(at).copied()
                    };
                    match (act, id) {
                        (0, Some(id)) => _ = stop(id),
                        (1, _) => notify.notify_one(),
                        (2, _) => notify.notify_waiters(),
                        _ => {
                            let waits = watched(notified(notify.clone(), Rc::default()));
                            let id = start(waits).id();
                            ids.borrow_mut().push(id);
                        }
                    }
                }
            }));
        }
        for frame in 0..20 {
            executor.run_frame(0.25);
            if frame % 7 == 6 {
                notify.notify_waiters();
            }
            check_no_faults();
        }
        if seed % 2 == 0 {
            notify.notify_waiters();
        }
        drop(executor);
        notify.notify_waiters();
        check_all_dropped();
    }
}
