//! Input 30: forgotten values leak, and do no other harm. These tests leak on
//! purpose.

use std::cell::Cell;
use std::mem::forget;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt};

use framestep::Executor;
use framestep::prelude::*;
use framestep::scene::{Behaviour, Scene};

use framestep_testkit::Stage;
use framestep_testkit::timeline::unclamped;
use framestep_testkit::waits::cases;
use framestep_testkit::{count_frames, counted, forever, poll_once, result_of};

/// Forgets a wait that has not begun and one that has, in place and behind a
/// pointer.
async fn forget_all<F: Future + Unpin + 'static>(make: impl Fn() -> F) {
    forget(make());
    forget(Box::new(make()));
    let mut begun = make();
    let _ = poll_once(&mut begun).await;
    forget(begun);
    let mut begun = Box::new(make());
    let _ = poll_once(&mut begun).await;
    forget(begun);
}

fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

type Script = LocalBoxFuture<'static, ()>;
type Make = Rc<dyn Fn() -> Script>;

type MakeMore = fn() -> Script;

/// Forgets every kind of wait, and the objects behind some of them.
fn waits() -> Vec<(&'static str, Make)> {
    let mut all: Vec<(&str, Make)> = Vec::new();
    for case in cases() {
        let make = move || (case.forget)(case.given(&Stage::of(&handle()).given));
        all.push((case.call, Rc::new(make)));
    }
    for (name, make) in more() {
        all.push((name, Rc::new(make)));
    }
    all
}

/// Types that are not in the table of waits.
fn more() -> Vec<(&'static str, MakeMore)> {
    vec![
        ("Coroutine that stops", || {
            forget_all(|| start(wait_frames(2)).stop_on_drop()).boxed_local()
        }),
        ("Frames that have begun", || {
            async {
                let mut frames = frames();
                frames.next().await;
                let _ = poll_once(&mut frames.select_next_some()).await;
                forget(frames);
            }
            .boxed_local()
        }),
        ("Acquire, of a name", || {
            let permits = Semaphore::new(0).named("permits");
            forget_all(move || permits.acquire()).boxed_local()
        }),
        ("WaitSignalFor, of a name", || {
            let signal = Signal::<u32>::new().named("signal");
            forget_all(move || signal.wait_for(|_| false)).boxed_local()
        }),
        ("Changed and WaitWatch, of a name", || {
            let (watch, same) = (Watch::new(1).named("watch"), Watch::new(1));
            forget_all(move || {
                watch.set(2);
                futures::future::join(watch.changed(), same.wait_for(|&value| value > 1))
            })
            .boxed_local()
        }),
        ("Signal and Subscription", || {
            async {
                let signal = Signal::new();
                let mut subscription = signal.subscribe();
                let _ = poll_once(&mut subscription.next()).await;
                signal.emit(1);
                forget(signal.clone());
                forget(subscription);
                signal.emit(2);
                forget(signal);
            }
            .boxed_local()
        }),
        ("Budget and Checkpoint", || {
            async {
                let budget = Budget::of_units(1);
                budget.checkpoint().await;
                forget(budget.clone());
                forget_all(|| {
                    let budget = leaked(budget.clone());
                    Box::pin(async move {
                        budget.checkpoint().await;
                        budget.checkpoint().await;
                    })
                })
                .await;
                let mut checkpoint = leaked(budget.clone()).checkpoint();
                let _ = poll_once(&mut checkpoint).await;
                forget(checkpoint);
                forget(budget);
            }
            .boxed_local()
        }),
    ]
}

#[test]
fn a_wait_begun_or_not_leaks_and_its_coroutine_continues() {
    for (name, make) in waits() {
        let mut executor = unclamped();
        let frames = Rc::new(Cell::new(0));
        executor.start(count_frames(frames.clone()));
        let script = executor.start(async move {
            make().await;
            let begun = time().frame;
            next_frame().await;
            let next = time().frame;
            wait_frames(3).await;
            let third = time().frame;
            wait_seconds(0.5).await;
            (next - begun, third - next, time().frame - third)
        });
        for frame in 1..=20 {
            executor.run_frame(0.25);
            assert_eq!(frames.get(), frame, "{name}");
        }
        assert_eq!(
            result_of(&executor, script).expect(name),
            (1, 3, 2),
            "{name}"
        );
        drop(executor);
    }
}

/// Forgets waits, or sleeps without end: the same type, so that one may reuse the
/// slot of the other.
async fn forgets_or_sleeps(forgets: Option<Make>, polls: Rc<Cell<u32>>) {
    match forgets {
        Some(make) => make().await,
        None => counted(polls, forever()).await,
    }
}

#[test]
fn a_coroutine_that_ends_with_forgotten_waits_ends_and_the_next_in_its_place_sleeps() {
    for (name, make) in waits() {
        let mut executor = unclamped();
        let polls = Rc::new(Cell::new(0));
        let script = executor.start(forgets_or_sleeps(Some(make.clone()), polls.clone()));
        while !script.is_finished() && executor.time().frame < 6 {
            executor.run_frame(0.25);
        }
        assert!(script.is_finished(), "{name}");
        drop(script);
        for sleepers in 1..=4 {
            executor.start(forgets_or_sleeps(None, polls.clone()));
            executor.run_frame(0.25);
            assert_eq!(polls.get(), sleepers, "{name}");
        }
        let stopped = executor.start(async move {
            make().await;
            forever().await;
        });
        executor.run_frame(0.25);
        assert!(stopped.stop(), "{name}");
        executor.run_frame(0.25);
        assert_eq!(polls.get(), 4, "{name}");
    }
}

struct Counts(Rc<Cell<u32>>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

impl Behaviour for Counts {}

/// Starts a coroutine that counts when it is dropped.
fn lasting(executor: &Executor, drops: &Rc<Cell<u32>>) -> Coroutine<()> {
    let counts = Counts(drops.clone());
    executor.start(async move {
        let _counts = counts;
        forever().await;
    })
}

#[test]
fn handles_owners_clocks_and_remotes_leak_and_their_coroutines_continue_to_the_executors_end() {
    let drops = Rc::new(Cell::new(0));
    let mut executor = Executor::new();
    forget(executor.handle());
    forget(executor.remote());
    forget(executor.clock());
    forget(executor.clock().child());
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let owner = executor.owner_on(&slow);
    let below = owner.child();
    forget(slow);
    let counts = Counts(drops.clone());
    forget(below.start(async move {
        let _counts = counts;
        wait_seconds(1).await;
    }));
    forget(below);
    forget(owner);
    forget(lasting(&executor, &drops));
    let stops = lasting(&executor, &drops).stop_on_drop();
    forget(stops);
    forget(lasting(&executor, &drops).finished());
    let paused = executor.owner();
    paused.pause();
    paused.spawn(async { unreachable!("it stays paused") });
    forget(paused);
    for _ in 0..20 {
        executor.run_frame(0.25);
    }
    assert_eq!(drops.get(), 1, "the one that waited for its time");
    assert_eq!(executor.len(), 4);
    drop(executor);
    assert_eq!(drops.get(), 4);
}

#[test]
fn results_and_errors_leak() {
    let mut executor = unclamped();
    let drops = Rc::new(Cell::new(0));
    let counts = Counts(drops.clone());
    forget(executor.start(async { counts }));
    let panics = executor.start(async { std::panic::resume_unwind(Box::new(1)) });
    forget(result_of::<()>(&executor, panics));
    let stopped = lasting(&executor, &drops);
    stopped.stop();
    forget(result_of(&executor, stopped));
    assert_eq!(drops.get(), 1, "the one that was stopped");
    executor.run_frame(0.25);
    executor.assert_empty();
}

#[test]
fn an_executor_leaks_with_its_coroutines_and_another_takes_its_place() {
    let drops = Rc::new(Cell::new(0));
    let executor = unclamped();
    lasting(&executor, &drops);
    let polls = Rc::new(Cell::new(0));
    let waker = super::sleepers::waker_of(&executor, &polls);
    let (handle, remote, owner) = (executor.handle(), executor.remote(), executor.owner());
    forget(executor);
    // It still counts as alive, and will not get another frame.
    for _ in 0..1_000 {
        waker.wake_by_ref();
    }
    assert!(remote.spawn(|| async {}));
    assert!(handle.start(async {}).is_finished());
    let spawned = handle.spawn(async {});
    assert!(!spawned.is_finished() && spawned.stop());
    drop((owner, handle, remote));
    let mut next = unclamped();
    let wait = next.start(wait_seconds(0.5));
    next.run_frame(0.25);
    next.run_frame(0.25);
    assert!(wait.is_finished());
    drop(next);
    waker.wake();
    assert_eq!((polls.get(), drops.get()), (1, 0));
}

#[test]
fn scenes_and_what_is_had_of_them_leak() {
    let drops = Rc::new(Cell::new(0));
    let mut scene = Scene::new();
    forget(scene.handle());
    forget(scene.add(Counts(drops.clone())));
    forget(scene.find::<Counts>());
    scene.run_frame(0.25);
    let other = Scene::new();
    other.add(Counts(drops.clone()));
    forget(other);
    scene.run_frame(0.25);
    drop(scene);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_forgotten_future_of_a_combinator_blocks_no_other() {
    let mut executor = unclamped();
    let ended = executor.start(async {
        let mut unordered = futures::stream::FuturesUnordered::new();
        unordered.push(next_frame());
        unordered.push(next_frame());
        let _ = poll_once(&mut unordered.next()).await;
        forget(unordered);
        let mut joined = Box::pin(futures::future::join(next_frame(), wait_seconds(0.25)));
        let _ = poll_once(&mut joined).await;
        forget(joined);
        wait_frames(2).await;
        time().frame
    });
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    assert_eq!(result_of(&executor, ended).unwrap(), 2);
}
