//! Stops of coroutines that others join.

use std::cell::RefCell;
use std::rc::Rc;

use futures::FutureExt;

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::forever;

use super::{Act, OnDrop, Row};

/// A script that waits for `blocked` to end, which only a stop can cause.
fn joined(executor: &Executor, blocked: &Coroutine<()>) {
    let finished = blocked.finished();
    executor.start(finished);
}

fn with_blocked(executor: &Executor, f: impl FnOnce(&Owner) + 'static) -> Act {
    let owner = executor.owner();
    joined(executor, &owner.start(forever()));
    Box::new(move |_| f(&owner))
}

pub(super) const ROWS: &[Row] = &[
    ("Coroutine::stop", |e| {
        let blocked = e.start(forever());
        joined(e, &blocked);
        Box::new(move |_| assert!(blocked.stop()))
    }),
    ("Executor::stop", |e| {
        let blocked = e.start(forever());
        joined(e, &blocked);
        Box::new(move |e| assert!(e.stop(blocked.id())))
    }),
    ("Handle::stop", |e| {
        let blocked = e.start(forever());
        joined(e, &blocked);
        Box::new(move |e| assert!(e.handle().stop(blocked.id())))
    }),
    ("stop in enter", |e| {
        let blocked = e.start(forever());
        joined(e, &blocked);
        Box::new(move |e| assert!(e.enter(|| stop(blocked.id()))))
    }),
    ("a stop of what is awaited by value", |e| {
        let blocked = e.start(forever());
        let id = blocked.id();
        e.start(async move { drop(blocked.await) });
        Box::new(move |e| assert!(e.stop(id)))
    }),
    ("a stop_on_drop handle", |e| {
        let blocked = e.start(forever()).stop_on_drop();
        joined(e, &blocked);
        Box::new(move |_| drop(blocked))
    }),
    ("Owner::stop_all", |e| with_blocked(e, Owner::stop_all)),
    ("Owner::set_active", |e| {
        with_blocked(e, |owner| owner.set_active(false))
    }),
    ("dropping an owner", |e| {
        let owner = e.owner();
        joined(e, &owner.start(forever()));
        Box::new(move |_| drop(owner))
    }),
    ("a start that stops another", |e| {
        let blocked = e.start(forever());
        joined(e, &blocked);
        Box::new(move |e| drop(e.start(async move { assert!(blocked.stop()) })))
    }),
    ("a start that ends what is joined", |e| {
        let slot = Rc::new(RefCell::new(None::<Coroutine<()>>));
        let joins = slot.clone();
        let waker = Rc::new(RefCell::new(None));
        let put = waker.clone();
        e.start(std::future::poll_fn(move |cx| {
            *put.borrow_mut() = Some(cx.waker().clone());
            match joins.borrow_mut().as_mut() {
                Some(joined) => joined.poll_unpin(cx).map(drop),
                None => std::task::Poll::Pending,
            }
        }));
        Box::new(move |_| waker.borrow().as_ref().unwrap().wake_by_ref())
    }),
    ("a stop 200 deep", |e| {
        let mut script = e.start(forever());
        joined(e, &script);
        for _ in 0..200 {
            let inner = script;
            let guard = OnDrop(move || assert!(inner.stop()));
            script = e.start(async move {
                let _guard = guard;
                forever().await;
            });
        }
        Box::new(move |_| assert!(script.stop()))
    }),
];
