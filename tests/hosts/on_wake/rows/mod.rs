//! All calls that can make something due outside a run, one by one, and calls
//! that cannot.

/// An act without preparation.
macro_rules! act {
    ($($act:tt)*) => { |_| Box::new($($act)*) };
}

mod resumes;
mod spawns;
mod stops;
mod wakes;

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::thread;

use framestep::Executor;
use framestep::prelude::*;
use framestep::sync::Signal;
use framestep::task::{Budget, CoroutineId};

use framestep_testkit::{OnDrop, forever};

use super::Host;

/// The act while the host sleeps.
type Act = Box<dyn FnOnce(&mut Executor)>;

/// Prepares an act.
type Row = (&'static str, fn(&mut Executor) -> Act);

/// The waker of a script that waits for nothing else.
fn waker_of(executor: &Executor) -> Waker {
    let slot = Rc::new(RefCell::new(None));
    let fill = slot.clone();
    executor.start(std::future::poll_fn(move |cx| {
        *fill.borrow_mut() = Some(cx.waker().clone());
        std::task::Poll::<()>::Pending
    }));
    let waker = slot.borrow().clone();
    waker.unwrap()
}

/// The only script there is.
fn only(executor: &Executor) -> CoroutineId {
    executor.snapshot().iter().next().unwrap().id()
}

/// Polls a wait that belongs to no script, as host code may.
fn poll_by_hand(wait: impl Future<Output = ()> + 'static) {
    let mut wait = Box::pin(wait);
    let polled = wait.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    std::mem::forget(wait);
}

fn elsewhere(f: impl FnOnce() + Send + 'static) {
    thread::spawn(f).join().unwrap();
}

fn with_owner(executor: &Executor, f: impl FnOnce(&Owner) + 'static) -> Act {
    let owner = executor.owner();
    Box::new(move |_| {
        f(&owner);
        std::mem::forget(owner);
    })
}

const NOTHING: &[Row] = &[
    (
        "looking",
        act!(|e| {
            e.time();
            e.len();
            e.has_ready();
            e.next_deadline();
            e.snapshot();
            e.clock().now();
        }),
    ),
    (
        "handles and clocks",
        act!(|e| {
            drop((e.handle(), e.remote(), e.clock().child(), e.realtime()));
            drop(e.owner().child());
        }),
    ),
    ("enter", act!(|e| e.enter(|| ()))),
    (
        "a start that ends at once",
        act!(|e| drop(e.start(async {}))),
    ),
    (
        "a start that waits for something foreign",
        act!(|e| drop(e.start(forever()))),
    ),
    (
        "a start that waits without end",
        act!(|e| drop(e.start(wait_seconds(f32::INFINITY)))),
    ),
    ("a join of what goes on", |e| {
        let blocked = e.start(forever());
        Box::new(move |e| drop(e.start(async move { drop(blocked.await) })))
    }),
    ("dropping a handle", |e| {
        let script = e.start(forever());
        Box::new(move |_| drop(script))
    }),
    ("naming", |e| {
        let script = e.start(forever());
        Box::new(move |_| {
            script.named("script");
        })
    }),
    ("a stop that nobody joins", |e| {
        let script = e.start(wait_seconds(1));
        Box::new(move |_| assert!(script.stop()))
    }),
    ("a stop of what has ended", |e| {
        let script = e.start(async {});
        Box::new(move |_| assert!(!script.stop()))
    }),
    ("Coroutine::pause", |e| {
        let script = e.start(wait_seconds(1));
        Box::new(move |_| assert!(script.pause()))
    }),
    ("Coroutine::resume of what is not paused", |e| {
        let script = e.start(wait_seconds(1));
        Box::new(move |_| assert!(!script.resume()))
    }),
    ("Owner::pause", |e| {
        with_owner(e, |owner| assert!(owner.pause()))
    }),
    ("spawning on a paused owner", |e| {
        let owner = e.owner();
        owner.pause();
        Box::new(move |_| {
            owner.spawn(async {});
            owner.start(next_frame());
        })
    }),
    ("spawning on an inactive owner", |e| {
        let owner = e.owner();
        Box::new(move |_| {
            owner.set_active(false);
            owner.spawn(async {});
            owner.start(next_frame());
            owner.set_active(true);
        })
    }),
    (
        "Clock::pause and a lower scale",
        act!(|e| {
            e.clock().set_scale(0.5);
            e.clock().set_scale(0.5);
            e.clock().pause();
            e.clock().set_scale(1);
        }),
    ),
    ("a wake of what has ended", |e| {
        let (waker, script) = (waker_of(e), only(e));
        e.stop(script);
        Box::new(move |_| waker.wake())
    }),
    ("a wake of what is paused", |e| {
        let (waker, script) = (waker_of(e), only(e));
        e.pause(script);
        Box::new(move |_| waker.wake())
    }),
    (
        "a signal that nobody hears",
        act!(|_| Signal::new().emit(1)),
    ),
    ("a budget", act!(|_| drop(Budget::of_units(3).clone()))),
    (
        "another executor",
        act!(|_| drop(Executor::new().spawn(async {}))),
    ),
];

#[test]
fn every_call_that_makes_something_due_calls_it() {
    for (name, prepare) in [spawns::ROWS, resumes::ROWS, stops::ROWS, wakes::ROWS].concat() {
        for sleeps_long in [false, true] {
            let mut host = Host::new(Executor::new());
            let act = prepare(&mut host.executor);
            if sleeps_long {
                // Something else is due first, so that a later deadline changes
                // nothing.
                host.executor.start(wait_seconds(100));
            }
            let before = host.look();
            host.take_calls();
            act(&mut host.executor);
            assert!(host.take_calls() > 0, "{name} does not call the host");
            let now = host.look();
            assert!(
                now.is_sooner_than(before),
                "{name}: {before:?}, then {now:?}"
            );
        }
    }
}

#[test]
fn calls_that_make_nothing_due_do_not_call_it() {
    for &(name, prepare) in NOTHING {
        let mut host = Host::new(Executor::new());
        let act = prepare(&mut host.executor);
        let before = host.look();
        host.take_calls();
        act(&mut host.executor);
        assert_eq!(host.take_calls(), 0, "{name} calls the host");
        let now = host.look();
        assert!(
            !now.is_sooner_than(before),
            "{name}: {before:?}, then {now:?}"
        );
    }
}
