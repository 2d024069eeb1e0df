//! Every call that can make something due outside of a run, one by one, and calls
//! that cannot.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};
use std::thread;

use futures::FutureExt;
use futures::channel::oneshot;
use futures::stream::FuturesUnordered;
use futures::task::LocalSpawnExt;

use framestep::prelude::*;
use framestep::{Budget, CoroutineId, Executor, Signal};

use crate::support::forever;

use super::Host;

/// What is done while the host sleeps.
type Act = Box<dyn FnOnce(&mut Executor)>;

/// Prepares an act.
type Row = (&'static str, fn(&mut Executor) -> Act);

/// An act without preparation.
macro_rules! act {
    ($($act:tt)*) => { |_| Box::new($($act)*) };
}

/// A script that waits for `blocked` to end, which nothing but a stop brings about.
fn joined(executor: &Executor, blocked: &Coroutine<()>) {
    let finished = blocked.finished();
    executor.start(async move { drop(finished.await) });
}

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

/// Polls a wait that is no script's, as host code may.
fn poll_by_hand(wait: impl Future<Output = ()> + 'static) {
    let mut wait = Box::pin(wait);
    let polled = wait.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    std::mem::forget(wait);
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn elsewhere(f: impl FnOnce() + Send + 'static) {
    thread::spawn(f).join().unwrap();
}

const SPAWNS: &[Row] = &[
    ("Executor::spawn", act!(|e| drop(e.spawn(async {})))),
    (
        "Executor::spawn_in",
        act!(|e| drop(e.spawn_in(Phase::EndOfFrame, async {}))),
    ),
    (
        "spawn_in of a custom phase",
        act!(|e| drop(e.spawn_in(Phase::Custom(7), async {}))),
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
        act!(|e| drop(e.handle().spawn_in(Phase::EndOfFrame, async {}))),
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
        with_owner(e, |owner| drop(owner.spawn_in(Phase::Update, async {})))
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

fn with_owner(executor: &Executor, f: impl FnOnce(&Owner) + 'static) -> Act {
    let owner = executor.owner();
    Box::new(move |_| {
        f(&owner);
        std::mem::forget(owner);
    })
}

const RESUMES: &[Row] = &[
    ("Coroutine::resume, a timer", |e| {
        let script = e.start(wait_seconds(1));
        script.pause();
        Box::new(move |_| assert!(script.resume()))
    }),
    ("Coroutine::resume, a wake", |e| {
        let script = e.spawn(async {});
        script.pause();
        e.run_frame(0.25);
        Box::new(move |_| assert!(script.resume()))
    }),
    ("Executor::resume", |e| {
        let id = e.start(wait_seconds(1)).id();
        e.pause(id);
        e.run_frame(0.25);
        Box::new(move |e| assert!(e.resume(id)))
    }),
    ("Handle::resume, a timer put aside", |e| {
        let id = e.start(wait_seconds(0.25)).id();
        e.pause(id);
        e.run_frame(0.25);
        e.run_frame(0.25);
        Box::new(move |e| assert!(e.handle().resume(id)))
    }),
    ("Owner::resume, timers", |e| {
        let owner = e.owner();
        owner.start(wait_seconds(1));
        owner.pause();
        Box::new(move |_| {
            assert!(owner.resume());
            std::mem::forget(owner);
        })
    }),
    ("Owner::resume, what was spawned in the pause", |e| {
        let owner = e.owner();
        owner.pause();
        owner.start(next_frame());
        Box::new(move |_| {
            assert!(owner.resume());
            std::mem::forget(owner);
        })
    }),
    ("Clock::resume, the game", |e| {
        e.start(wait_seconds(1));
        e.clock().pause();
        Box::new(|e| assert!(e.clock().resume()))
    }),
    ("Clock::resume, a child", |e| {
        let child = e.clock().child();
        e.start(child.wait_seconds(1));
        child.pause();
        Box::new(move |_| assert!(child.resume()))
    }),
    ("Clock::set_scale, from 0", |e| {
        e.start(wait_seconds(1));
        e.clock().set_scale(0);
        Box::new(|e| e.clock().set_scale(0.5))
    }),
    ("Clock::set_scale, higher", |e| {
        e.start(wait_seconds(1));
        Box::new(|e| e.clock().set_scale(2))
    }),
    ("Clock::set_scale, a child", |e| {
        let child = e.realtime().child();
        e.start(child.wait_seconds(1));
        Box::new(move |_| child.set_scale(1.5))
    }),
    ("Clock::set_scale, a parent", |e| {
        let (parent, child) = {
            let parent = e.clock().child();
            let child = parent.child();
            (parent, child)
        };
        e.start(child.wait_seconds(1));
        Box::new(move |_| parent.set_scale(1.5))
    }),
];

const STOPS: &[Row] = &[
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
        let blocked = e.start(forever());
        blocked.stop_on_drop();
        joined(e, &blocked);
        Box::new(move |_| drop(blocked))
    }),
    ("Owner::stop_all", |e| {
        with_blocked(e, |owner| owner.stop_all())
    }),
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

fn with_blocked(executor: &Executor, f: impl FnOnce(&Owner) + 'static) -> Act {
    let owner = executor.owner();
    joined(executor, &owner.start(forever()));
    Box::new(move |_| f(&owner))
}

const WAKES: &[Row] = &[
    ("a waker", |e| {
        let waker = waker_of(e);
        Box::new(move |_| waker.wake())
    }),
    ("a waker by reference", |e| {
        let waker = waker_of(e);
        Box::new(move |_| waker.wake_by_ref())
    }),
    ("a waker in enter", |e| {
        let waker = waker_of(e);
        Box::new(move |e| e.enter(|| waker.wake()))
    }),
    ("a waker in with", |e| {
        let waker = waker_of(e);
        Box::new(move |e| {
            e.lend(&mut 1_u32, |e| {
                e.enter(|| with(|_: &mut u32| waker.wake()));
            });
        })
    }),
    ("a waker on another thread", |e| {
        let waker = waker_of(e);
        Box::new(move |_| elsewhere(move || waker.wake()))
    }),
    ("Signal::emit", |e| {
        let signal = Signal::new();
        let heard = signal.clone();
        e.start(async move { heard.wait().await });
        Box::new(move |_| signal.emit(1))
    }),
    ("a channel", |e| {
        let (sender, receiver) = oneshot::channel();
        e.start(receiver);
        Box::new(move |_| sender.send(1).unwrap())
    }),
    ("the end of a channel", |e| {
        let (sender, receiver) = oneshot::channel::<u32>();
        e.start(receiver);
        Box::new(move |_| drop(sender))
    }),
    ("a channel on another thread", |e| {
        let (sender, receiver) = oneshot::channel();
        e.start(receiver);
        Box::new(move |_| elsewhere(move || sender.send(1).unwrap()))
    }),
    ("a channel behind another's waker", |e| {
        let (sender, receiver) = oneshot::channel::<u32>();
        e.start(async move {
            let mut futures = FuturesUnordered::from_iter([receiver]);
            futures::StreamExt::next(&mut futures).await;
        });
        // It wakes itself once, to let others have their turn.
        e.run_frame(0.25);
        Box::new(move |_| sender.send(1).unwrap())
    }),
    ("a signal emitted in a start", |e| {
        let signal = Signal::new();
        let heard = signal.clone();
        e.start(async move { heard.wait().await });
        Box::new(move |e| drop(e.start(async move { signal.emit(1) })))
    }),
];

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
    for (name, prepare) in [SPAWNS, RESUMES, STOPS, WAKES].concat() {
        for sleeps_long in [false, true] {
            let mut host = Host::new(Executor::new());
            let act = prepare(&mut host.executor);
            if sleeps_long {
                // Something else is due first, so that not anything is news.
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
