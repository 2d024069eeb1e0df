//! Inputs 13 and 30: executors in thread-locals that are destroyed with their
//! thread, while destructors use everything that still exists. A panic there
//! would abort the process.

use std::any::Any;
use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use framestep::prelude::*;
use framestep::scene::{Behaviour, BehaviourHandle, Scene, SceneHandle};
use framestep::sync::Subscription;
use framestep::task::RemoteHandle;
use framestep::{Executor, Handle};

use framestep_testkit::forever;
use framestep_testkit::timeline::unclamped;

use super::sleepers::Bound;

thread_local! {
    static EXECUTOR: RefCell<Option<Executor>> = const { RefCell::new(None) };
    static SCENE: RefCell<Option<Scene>> = const { RefCell::new(None) };
    /// Values of scripts and hosts, for their destructors.
    static KEPT: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Uses the free functions when it is dropped, in a coroutine or not.
struct UsesAll {
    bound: Bound,
    wakers: Wakers,
}

type Wakers = Arc<Mutex<Vec<Waker>>>;

impl Drop for UsesAll {
    fn drop(&mut self) {
        // On this thread, and before its fields are dropped.
        assert_eq!(self.bound.0, std::thread::current().id());
        let refused = spawn(forever());
        assert!(refused.is_finished());
        assert!(start(async { unreachable!("it is too late") }).is_finished());
        assert!(
            script("")
                .in_phase(Phase::LateUpdate)
                .spawn(forever())
                .is_finished()
        );
        stop(current());
        stop(refused.id());
        let _ = (time(), delta_seconds());
        assert!(try_with(|_: &mut u8| ()).is_err());
        let owner = owner();
        assert!(!owner.is_active() && owner.child().spawn(forever()).is_finished());
        for waker in self.wakers.lock().unwrap().iter() {
            waker.wake_by_ref();
        }
    }
}

/// Uses the remains of an executor when it is dropped.
struct UsesHandles {
    handle: Handle,
    remote: RemoteHandle,
    owner: Owner,
    clock: Clock,
    signal: Signal<u32>,
    subscription: Subscription<u32>,
    coroutine: Coroutine<()>,
    scene: Option<(SceneHandle, BehaviourHandle<Nothing>)>,
    wakers: Wakers,
    dropped: Arc<AtomicUsize>,
}

struct Nothing;

impl Behaviour for Nothing {}

impl Drop for UsesHandles {
    fn drop(&mut self) {
        self.handle.spawn(async {});
        self.handle.start(async {});
        self.handle.stop(self.coroutine.id());
        self.handle.enter(|| drop(start(async {})));
        self.remote.spawn(|| async {});
        self.owner.start(forever());
        self.owner.pause();
        self.owner.resume();
        self.owner.stop_all();
        self.clock.set_scale(2);
        let _ = (self.clock.now(), self.clock.child().delta());
        self.signal.emit(1);
        let _ = self.subscription.missed();
        self.coroutine.pause();
        self.coroutine.resume();
        self.coroutine.stop();
        assert!(self.coroutine.is_finished());
        if let Some((scene, this)) = &self.scene {
            scene.add(Nothing);
            let _ = (this.try_with(|_| ()), this.destroy(), this.is_alive());
        }
        for waker in self.wakers.lock().unwrap().iter() {
            let clone = waker.clone();
            waker.wake_by_ref();
            drop(clone);
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Coroutines with destructors, in all states.
fn populate(executor: &mut Executor, drops: &Arc<AtomicUsize>, wakers: &Wakers) {
    for at in 0..12 {
        let uses = UsesAll {
            bound: Bound::here(drops),
            wakers: wakers.clone(),
        };
        let keep = wakers.clone();
        executor.spawn(async move {
            let _uses = uses;
            poll_fn(|cx| {
                keep.lock().unwrap().push(cx.waker().clone());
                Poll::Ready(())
            })
            .await;
            match at % 6 {
                0 => next_frame().await,
                1 => wait_seconds(100).await,
                2 => wait_until(|| false).await,
                3 => drop(start(forever()).await),
                4 => in_phase(Phase::Custom(1)).await,
                _ => {}
            }
            forever().await;
        });
    }
    executor.run_frame(0.25);
}

fn handles(executor: &Executor, wakers: &Wakers, dropped: &Arc<AtomicUsize>) -> UsesHandles {
    let signal = Signal::new();
    UsesHandles {
        handle: executor.handle(),
        remote: executor.remote(),
        owner: executor.owner(),
        clock: executor.clock().child(),
        subscription: signal.subscribe(),
        signal,
        coroutine: executor.start(forever()),
        scene: None,
        wakers: wakers.clone(),
        dropped: dropped.clone(),
    }
}

/// The coroutines of `populate`, and one for each that waits in it.
const BOMBS: usize = 12;

fn thread_local_teardown(kept_first: bool, in_scene: bool) {
    let (drops, dropped) = (Arc::default(), Arc::default());
    let wakers = Wakers::default();
    let (count, counted, wakes) = (Arc::clone(&drops), Arc::clone(&dropped), wakers.clone());
    let thread = std::thread::spawn(move || {
        // Thread-locals are registered at their first use, and dropped in some
        // order.
        if kept_first {
            KEPT.with_borrow_mut(|_| ());
        }
        let mut executor = unclamped();
        populate(&mut executor, &count, &wakes);
        let mut uses = handles(&executor, &wakes, &counted);
        if in_scene {
            let scene = Scene::with_executor(executor);
            uses.scene = Some((scene.handle(), scene.add(Nothing)));
            SCENE.set(Some(scene));
        } else {
            EXECUTOR.set(Some(executor));
        }
        KEPT.with_borrow_mut(|kept| kept.push(Box::new(uses)));
    });
    thread.join().unwrap();
    assert_eq!(drops.load(Ordering::Relaxed), BOMBS);
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    let wakers: Vec<Waker> = std::mem::take(&mut *wakers.lock().unwrap());
    assert_eq!(wakers.len(), BOMBS);
    wakers.iter().for_each(Waker::wake_by_ref);
    let threads = wakers.into_iter().map(|waker| {
        std::thread::spawn(move || {
            drop(waker.clone());
            waker.wake();
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
}

#[test]
fn an_executor_in_a_thread_local_goes_with_its_thread_before_or_after_what_uses_it() {
    for kept_first in [false, true] {
        for in_scene in [false, true] {
            thread_local_teardown(kept_first, in_scene);
        }
    }
}

#[test]
fn an_executor_may_be_stepped_while_its_thread_ends() {
    struct Steps(Option<Executor>, Arc<AtomicUsize>);
    impl Drop for Steps {
        fn drop(&mut self) {
            let mut executor = self.0.take().unwrap();
            let count = self.1.clone();
            executor.start(async move {
                for _ in 0..3 {
                    next_frame().await;
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
            for _ in 0..5 {
                executor.run_frame(0.25);
            }
            executor.assert_empty();
        }
    }
    thread_local! {
        static STEPS: RefCell<Option<Steps>> = const { RefCell::new(None) };
    }
    let frames = Arc::new(AtomicUsize::new(0));
    let count = frames.clone();
    let thread = std::thread::spawn(move || STEPS.set(Some(Steps(Some(unclamped()), count))));
    thread.join().unwrap();
    assert_eq!(frames.load(Ordering::Relaxed), 3);
}

#[test]
fn a_destructor_that_spawns_without_end_cannot_hold_the_end_of_a_thread() {
    struct Phoenix(Handle, Bound);
    impl Drop for Phoenix {
        fn drop(&mut self) {
            let next = Phoenix(self.0.clone(), Bound::here(&self.1.1));
            self.0.spawn(async move {
                let _next = next;
                forever().await;
            });
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let count = drops.clone();
    let thread = std::thread::spawn(move || {
        let executor = unclamped();
        let phoenix = Phoenix(executor.handle(), Bound::here(&count));
        executor.start(async move {
            let _phoenix = phoenix;
            forever().await;
        });
        EXECUTOR.set(Some(executor));
    });
    thread.join().unwrap();
    let drops = drops.load(Ordering::Relaxed);
    assert!((1..=1_000).contains(&drops), "{drops}");
}

#[test]
fn coroutines_may_hold_the_executor_that_holds_those_that_hold_the_first() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = dropped.clone();
    let thread = std::thread::spawn(move || {
        let outer = unclamped();
        let mut inner = unclamped();
        let (bound, handle) = (Bound::here(&count), outer.handle());
        inner.start(async move {
            let _bound = (bound, handle);
            forever().await;
        });
        let bound = Bound::here(&count);
        outer.start(async move {
            let _bound = bound;
            loop {
                next_frame().await;
                inner.run_frame(0.25);
            }
        });
        let outer = Rc::new(RefCell::new(outer));
        outer.borrow_mut().run_frame(0.25);
        KEPT.with_borrow_mut(|kept| kept.push(Box::new(outer)));
    });
    thread.join().unwrap();
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
}

/// Runs `f` in the destructor of a thread-local of a new thread. The thread-local
/// exists before any of the crate's, so they would be destroyed before it.
fn in_a_destructor_of_a_thread(f: impl FnOnce() + Send + 'static) {
    type Work = Box<dyn FnOnce()>;
    struct AtEnd(Option<Work>);
    impl Drop for AtEnd {
        fn drop(&mut self) {
            self.0.take().unwrap()();
        }
    }
    thread_local! {
        static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
    }
    let done = Arc::new(AtomicUsize::new(0));
    let count = done.clone();
    let thread = std::thread::spawn(move || {
        AT_END.set(Some(AtEnd(Some(Box::new(|| ())))));
        drop(unclamped());
        let work = move || {
            f();
            count.fetch_add(1, Ordering::Relaxed);
        };
        let earlier = AT_END.replace(Some(AtEnd(Some(Box::new(work)))));
        drop(earlier);
    });
    thread.join().unwrap();
    assert_eq!(done.load(Ordering::Relaxed), 1);
}

#[test]
fn an_executor_works_in_the_destructor_of_any_thread_local() {
    in_a_destructor_of_a_thread(|| {
        let mut executor = unclamped();
        let owner = executor.owner();
        let waker = Rc::new(RefCell::new(None::<Waker>));
        let given = waker.clone();
        let woken = owner.start(poll_fn(move |cx| {
            match given.replace(Some(cx.waker().clone())) {
                None => Poll::Pending,
                Some(_) => Poll::Ready(()),
            }
        }));
        let spawned = owner.spawn(next_frame());
        let parent = executor.start(async { start(wait_seconds(0.25)).await });
        let kept = waker.take().unwrap();
        waker.replace(Some(kept.clone()));
        kept.wake();
        for _ in 0..3 {
            executor.run_frame(0.25);
        }
        assert!(woken.is_finished() && spawned.is_finished() && parent.is_finished());
        let remote = executor.remote();
        let sent = owner.into_send();
        assert!(sent.get().is_some());
        drop(executor);
        assert!(sent.get().is_none() && !remote.spawn(forever));
    });
}

#[test]
fn an_executor_that_was_made_before_works_there_too() {
    thread_local! {
        static FIRST: RefCell<Option<StepsAtEnd>> = const { RefCell::new(None) };
    }
    struct StepsAtEnd(Executor, framestep::Owner, Arc<AtomicUsize>);
    impl Drop for StepsAtEnd {
        fn drop(&mut self) {
            let StepsAtEnd(executor, owner, finished) = self;
            let finished = finished.clone();
            owner.spawn(async move {
                next_frame().await;
                finished.fetch_add(1, Ordering::Relaxed);
            });
            for _ in 0..2 {
                executor.run_frame(0.25);
            }
        }
    }
    let finished = Arc::new(AtomicUsize::new(0));
    let count = finished.clone();
    let thread = std::thread::spawn(move || {
        FIRST.set(None);
        let executor = unclamped();
        let owner = executor.owner();
        FIRST.set(Some(StepsAtEnd(executor, owner, count)));
    });
    thread.join().unwrap();
    assert_eq!(finished.load(Ordering::Relaxed), 1);
}
