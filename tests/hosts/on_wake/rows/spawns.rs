//! Coroutines that begin.

use std::cell::Cell;
use std::rc::Rc;

use futures::stream::FuturesUnordered;
use futures::task::LocalSpawnExt;

use framestep::prelude::*;

use framestep_testkit::forever;

use super::{OnDrop, Row, elsewhere, poll_by_hand, with_owner};

pub(super) const ROWS: &[Row] = &[
    ("Executor::spawn", act!(|e| drop(e.spawn(async {})))),
    (
        "Executor::spawn_in",
        act!(|e| drop(e.script("").in_phase(Phase::EndOfFrame).spawn(async {}))),
    ),
    (
        "spawn_in of a custom phase",
        act!(|e| drop(e.script("").in_phase(Phase::Custom(7)).spawn(async {}))),
    ),
    (
        "Executor::start, a frame",
        act!(|e| drop(e.start(next_frame()))),
    ),
    (
        "Executor::start, a step",
        act!(|e| drop(e.start(fixed_update()))),
    ),
    (
        "Executor::start, a phase",
        act!(|e| drop(e.start(end_of_frame()))),
    ),
    (
        "Executor::start, frames",
        act!(|e| drop(e.start(wait_frames(3)))),
    ),
    (
        "Executor::start, a condition",
        act!(|e| drop(e.start(wait_until(|| false)))),
    ),
    (
        "Executor::start, a timer",
        act!(|e| drop(e.start(wait_seconds(1)))),
    ),
    (
        "Executor::start, no time",
        act!(|e| drop(e.start(wait_seconds(0)))),
    ),
    (
        "Executor::start, realtime",
        act!(|e| drop(e.start(wait_seconds_realtime(1)))),
    ),
    (
        "Executor::start, animate",
        act!(|e| drop(e.start(animate(1, |_| ())))),
    ),
    (
        "Executor::start, select!",
        act!(|e| {
            e.start(async {
                select! { () = forever() => {}, () = wait_seconds(1) => {} }
            });
        }),
    ),
    (
        "Executor::start, FuturesUnordered",
        act!(|e| {
            e.start(async {
                let mut waits = FuturesUnordered::from_iter([wait_seconds(1), wait_seconds(2)]);
                futures::StreamExt::next(&mut waits).await;
            });
        }),
    ),
    (
        "Executor::start, which starts",
        act!(|e| {
            e.start(async {
                start(wait_seconds(1));
            });
        }),
    ),
    (
        "Executor::start, which spawns",
        act!(|e| {
            e.start(async {
                spawn(async {});
            });
        }),
    ),
    ("Handle::spawn", act!(|e| drop(e.handle().spawn(async {})))),
    (
        "Handle::spawn_in",
        act!(|e| drop(
            e.handle()
                .script("")
                .in_phase(Phase::EndOfFrame)
                .spawn(async {})
        )),
    ),
    (
        "Handle::start",
        act!(|e| drop(e.handle().start(next_frame()))),
    ),
    (
        "Handle, as LocalSpawn",
        act!(|e| e.handle().spawn_local(async {}).unwrap()),
    ),
    ("Owner::spawn", |e| {
        with_owner(e, |owner| drop(owner.spawn(async {})))
    }),
    ("Owner::spawn_in", |e| {
        with_owner(e, |owner| {
            drop(owner.script("").in_phase(Phase::Update).spawn(async {}));
        })
    }),
    ("Owner::start", |e| {
        with_owner(e, |owner| drop(owner.start(wait_seconds(1))))
    }),
    (
        "spawn in enter",
        act!(|e| drop(e.enter(|| spawn(async {})))),
    ),
    (
        "start in Handle::enter",
        act!(|e| drop(e.handle().enter(|| start(next_frame())))),
    ),
    (
        "a start held back by a borrow",
        act!(|e| e.lend(&mut 1_u32, |e| {
            e.enter(|| with(|_: &mut u32| drop(start(wait_seconds(1)))));
        })),
    ),
    (
        "Remote::spawn",
        act!(|e| {
            let remote = e.remote();
            elsewhere(move || assert!(remote.spawn(|| async {})));
        }),
    ),
    (
        "Remote::spawn_in",
        act!(|e| {
            let remote = e.remote();
            elsewhere(move || assert!(remote.spawn_in(Phase::EndOfFrame, || async {})));
        }),
    ),
    (
        "Remote::call",
        act!(|e| {
            let remote = e.remote();
            elsewhere(move || assert!(remote.call(|| ())));
        }),
    ),
    ("Remote::stop", |e| {
        let id = e.start(forever()).id();
        Box::new(move |e| {
            let remote = e.remote();
            elsewhere(move || assert!(remote.stop(id)));
        })
    }),
    (
        "a wait polled by hand in enter",
        act!(|e| e.enter(|| poll_by_hand(wait_seconds(1)))),
    ),
    (
        "a phase polled by hand in enter",
        act!(|e| e.enter(|| poll_by_hand(end_of_frame()))),
    ),
    ("a destructor that spawns", |e| {
        let handle = e.handle();
        let guard = OnDrop(move || drop(handle.spawn(async {})));
        let script = e.start(async move {
            let _guard = guard;
            forever().await;
        });
        Box::new(move |_| assert!(script.stop()))
    }),
    ("a destructor that polls a wait by hand", |e| {
        let guard = OnDrop(|| poll_by_hand(wait_seconds(1)));
        let script = e.start(async move {
            let _guard = guard;
            forever().await;
        });
        Box::new(move |_| assert!(script.stop()))
    }),
    ("a result whose destructor polls a wait by hand", |e| {
        let script = e.start(async { OnDrop(|| poll_by_hand(wait_seconds(1))) });
        Box::new(move |_| drop(script))
    }),
    ("a trace hook that starts", |e| {
        let (handle, armed) = (e.handle(), Rc::new(Cell::new(false)));
        let arm = armed.clone();
        e.on_trace(move |_| {
            if armed.take() {
                handle.start(wait_seconds(1));
            }
        });
        Box::new(move |e| {
            arm.set(true);
            e.start(forever());
        })
    }),
];
