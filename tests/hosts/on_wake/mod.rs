//! `on_wake`: a sleeping host is woken whenever something outside a run makes
//! `has_ready` true or `next_deadline` earlier.
//!
//! `rows` goes through all calls that can do so, and calls that cannot. `at_random`
//! compares what is due before and after random combinations of them. `wakes` has the
//! wakes of coroutines.

mod at_random;
mod rows;
mod wakes;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use framestep::prelude::*;
use framestep::{Executor, Handle};

use framestep_testkit::forever;

/// An executor, and how often its host was woken.
struct Host {
    executor: Executor,
    calls: Arc<AtomicUsize>,
}

/// What a host checks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Due {
    ready: bool,
    next: Option<Duration>,
}

impl Host {
    fn new(executor: Executor) -> Self {
        let calls = Arc::new(AtomicUsize::new(0));
        let count = calls.clone();
        executor.on_wake(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        Host { executor, calls }
    }

    fn look(&self) -> Due {
        Due {
            ready: self.executor.has_ready(),
            next: self.executor.next_deadline(),
        }
    }

    fn take_calls(&self) -> usize {
        self.calls.swap(0, Ordering::Relaxed)
    }
}

impl Due {
    /// Whether a host that has seen `before` must wake up.
    fn is_sooner_than(self, before: Due) -> bool {
        let earlier = match (self.next, before.next) {
            (Some(now), Some(before)) => now < before,
            (now, before) => now.is_some() && before.is_none(),
        };
        self.ready && !before.ready || earlier
    }
}

#[test]
fn it_is_called_once_until_the_host_looks_or_runs() {
    let mut host = Host::new(Executor::new());
    let spawn = |host: &Host| drop(host.executor.spawn(wait_seconds(1)));
    spawn(&host);
    spawn(&host);
    assert_eq!(host.take_calls(), 1);
    assert!(host.executor.has_ready());
    spawn(&host);
    spawn(&host);
    assert_eq!(host.take_calls(), 1);
    assert_eq!(host.executor.next_deadline(), None);
    spawn(&host);
    assert_eq!(host.take_calls(), 1);
    host.executor.run_frame(0.25);
    spawn(&host);
    assert_eq!(host.take_calls(), 1);
}

#[test]
fn a_waker_that_is_set_later_counts_as_not_called() {
    let executor = Executor::new();
    executor.remote().spawn(|| async {});
    let mut host = Host::new(executor);
    host.executor.remote().spawn(|| async {});
    assert_eq!(host.take_calls(), 1);
    let another = Host::new(std::mem::take(&mut host.executor));
    another.executor.spawn(async {});
    assert_eq!((host.take_calls(), another.take_calls()), (0, 1));
}

#[test]
fn what_happens_in_a_run_does_not_call_it() {
    let mut host = Host::new(Executor::new());
    let (signal, clock) = (Signal::<()>::new(), host.executor.clock());
    let owner = Rc::new(host.executor.owner());
    let heard = signal.clone();
    host.executor.start(async move {
        heard.wait().await;
        wait_seconds(1).await;
    });
    let blocked = host.executor.start(forever());
    let id = blocked.id();
    host.executor.start(blocked);
    host.executor.spawn(async move {
        spawn(async {});
        script("").in_phase(Phase::LateUpdate).spawn(async {});
        start(wait_seconds(0.5));
        start(next_frame());
        signal.emit(());
        owner.pause();
        owner.start(wait_seconds(0.1));
        owner.resume();
        clock.pause();
        clock.resume();
        clock.set_scale(2);
        stop(id);
    });
    host.look();
    host.take_calls();
    host.executor.run_frame(0.25);
    assert_eq!(host.take_calls(), 0);
    // A later change wakes it again.
    host.executor.spawn(async {});
    assert_eq!(host.take_calls(), 1);
}

#[test]
fn it_may_call_back_into_anything() {
    thread_local! {
        static EXECUTOR: RefCell<Option<Rc<Executor>>> = const { RefCell::new(None) };
        static SEEN: RefCell<Vec<(bool, usize)>> = const { RefCell::new(Vec::new()) };
    }
    let executor = Rc::new(Executor::new());
    EXECUTOR.set(Some(executor.clone()));
    executor.on_wake(|| {
        let executor = EXECUTOR.with_borrow(Clone::clone).unwrap();
        let ready = executor.has_ready();
        let len = executor.len();
        SEEN.with_borrow_mut(|seen| seen.push((ready, len)));
        if len < 5 {
            // Calls this again, in the middle of itself.
            executor.spawn(async {});
        }
        executor.snapshot();
    });
    executor.spawn(async {});
    assert_eq!(
        SEEN.take(),
        [(true, 1), (true, 2), (true, 3), (true, 4), (true, 5)]
    );
    EXECUTOR.take();
}

#[test]
fn it_may_drop_the_executor_in_any_call() {
    thread_local! {
        static EXECUTOR: RefCell<Option<Executor>> = const { RefCell::new(None) };
    }
    type Act = fn(&Handle, &Owner, &Clock, Coroutine<()>);
    let acts: [Act; 6] = [
        |handle, _, _, _| drop(handle.spawn(async {})),
        |handle, _, _, _| drop(handle.start(wait_seconds(1))),
        |_, owner, _, _| assert!(owner.resume()),
        |_, _, clock, _| assert!(clock.resume()),
        |_, _, _, blocked| assert!(blocked.stop()),
        |handle, _, _, _| {
            handle.enter(|| start(next_frame()));
        },
    ];
    for act in acts {
        let executor = Executor::new();
        let (handle, owner, clock) = (executor.handle(), executor.owner(), executor.clock());
        owner.spawn(async {});
        owner.pause();
        clock.pause();
        let blocked = executor.start(forever());
        let finished = blocked.finished();
        executor.start(finished);
        executor.on_wake(|| drop(EXECUTOR.take()));
        executor.look_like_a_host();
        EXECUTOR.set(Some(executor));
        act(&handle, &owner, &clock, blocked);
        assert!(EXECUTOR.take().is_none(), "it was called");
        assert!(handle.time().is_none());
    }
}

trait LookLikeAHost {
    fn look_like_a_host(&self);
}

impl LookLikeAHost for Executor {
    fn look_like_a_host(&self) {
        self.has_ready();
        self.next_deadline();
    }
}

#[test]
fn a_panic_of_it_is_swallowed_where_nothing_was_woken() {
    let executor = Executor::new();
    let (clock, owner) = (executor.clock(), executor.owner());
    clock.pause();
    owner.pause();
    executor.on_wake(|| panic!("on purpose"));
    let spawned = executor.spawn(async {});
    executor.has_ready();
    let started = executor.start(wait_seconds(1));
    executor.has_ready();
    assert!(clock.resume());
    executor.has_ready();
    assert!(owner.resume());
    assert!(!spawned.is_finished() && !started.is_finished());
    assert_eq!(executor.len(), 2);
}
