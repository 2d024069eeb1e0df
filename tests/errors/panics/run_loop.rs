//! Panics in user code that the run calls outside coroutines: wakers, hooks,
//! destructors of payloads and outputs. The run completes: it polls each due
//! coroutine, and no ended one, and later frames run as usual.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use framestep::prelude::*;
use framestep::task::CoroutineId;
use framestep::{Executor, Handle};

use framestep_testkit::timeline::in_quarters;
use framestep_testkit::watched::{Token, check_all_dropped, check_no_faults, watched};
use framestep_testkit::{WakerCall, forever, poll_once, waker_that_tells};

thread_local! {
    /// Panics once, at the next call.
    static ARMED: Cell<bool> = const { Cell::new(false) };
    /// Which function of the foreign waker panics.
    static CALL: Cell<Option<WakerCall>> = const { Cell::new(None) };
}

fn boom() {
    if !std::thread::panicking() && ARMED.replace(false) {
        resume_unwind(Box::new("on purpose"));
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        boom();
    }
}

fn foreign_waker() -> Waker {
    waker_that_tells(|call| {
        if CALL.get() == Some(call) {
            boom();
        }
    })
}

type Wait = LocalBoxFuture<'static, ()>;
type MakeWait = fn() -> Wait;

/// A wait that is in a list of the executor with a foreign waker.
const WAITS: [(&str, MakeWait); 8] = [
    ("next_frame", || next_frame().map(drop).boxed_local()),
    ("wait_frames", || wait_frames(2).map(drop).boxed_local()),
    ("wait_seconds", || {
        wait_seconds(0.25).map(drop).boxed_local()
    }),
    ("realtime", || {
        wait_seconds_realtime(0.25).map(drop).boxed_local()
    }),
    ("in_phase", || {
        in_phase(Phase::Update).map(drop).boxed_local()
    }),
    ("fixed_update", || fixed_update().map(drop).boxed_local()),
    ("wait_until", || wait_until(|| true).map(drop).boxed_local()),
    ("join", || {
        spawn(next_frame()).finished().map(drop).boxed_local()
    }),
];

/// Begins a wait behind a foreign waker, and never polls it again.
async fn behind_a_foreign_waker(wait: fn() -> Wait) {
    let mut wait = wait();
    let waker = foreign_waker();
    let begun = wait.poll_unpin(&mut Context::from_waker(&waker));
    assert!(begun.is_pending());
    drop(waker);
    forever().await;
    drop(wait);
}

/// Coroutines beside the one that panics, and what they have done.
struct Siblings {
    executor: Executor,
    frames: Rc<Cell<u32>>,
    ended: Rc<Cell<u32>>,
    joined: Rc<Cell<u32>>,
    groups: u32,
}

impl Siblings {
    fn new() -> Self {
        Siblings {
            executor: in_quarters(),
            frames: Rc::default(),
            ended: Rc::default(),
            joined: Rc::default(),
            groups: 0,
        }
    }

    /// Four coroutines are due in every frame, one ends in the first, and one
    /// joins it. The joiner also ends in the second frame.
    fn group(&mut self) {
        fn each<F: Future + 'static>(siblings: &Siblings, wait: fn() -> F) {
            let frames = siblings.frames.clone();
            siblings.executor.start(watched(async move {
                loop {
                    wait().await;
                    frames.set(frames.get() + 1);
                }
            }));
        }
        each(self, next_frame);
        each(self, || in_phase(Phase::Update));
        each(self, || wait_frames(1));
        each(self, || wait_seconds(0.25));
        let end = self.ended.clone();
        let ends = self.executor.start(watched(async move {
            next_frame().await;
            end.set(end.get() + 1);
        }));
        let join = self.joined.clone();
        self.executor.start(watched(async move {
            ends.await.unwrap();
            join.set(join.get() + 1);
        }));
        self.groups += 1;
    }

    /// Runs frames, at most one of which panics; returns whether one did. The
    /// panic may leave the frame, but must not skip anything.
    #[track_caller]
    fn check(&mut self, name: &str) -> bool {
        ARMED.set(true);
        for frame in 1..=4 {
            let executor = AssertUnwindSafe(&mut self.executor);
            let _ = catch_unwind(move || { executor }.run_frame(0.25));
            let expected = [4 * frame, 1, 1].map(|times| times * self.groups);
            let seen = [self.frames.get(), self.ended.get(), self.joined.get()];
            assert_eq!(seen, expected, "{name}, frame {frame}");
            check_no_faults();
        }
        !ARMED.replace(false)
    }
}

/// Runs frames with `install`, which panics, between siblings.
#[track_caller]
fn check(name: &str, install: impl FnOnce(&mut Executor)) {
    assert!(survives(name, install), "{name}: there was no panic");
}

/// Runs frames with `install` between siblings; returns whether it panics.
#[track_caller]
fn survives(name: &str, install: impl FnOnce(&mut Executor)) -> bool {
    let mut siblings = Siblings::new();
    siblings.group();
    siblings.group();
    install(&mut siblings.executor);
    siblings.group();
    let panics = siblings.check(name);
    drop(siblings);
    check_all_dropped();
    panics
}

#[test]
fn a_wake_of_a_foreign_waker() {
    CALL.set(Some(WakerCall::Wake));
    for (name, wait) in WAITS {
        check(name, |executor| {
            executor.start(watched(behind_a_foreign_waker(wait)));
        });
    }
}

type Act = fn(&Handle, CoroutineId);

/// Paused when the run begins, resumed in it, stopped in it: whatever takes the
/// waker out drops it.
#[test]
fn a_drop_of_a_foreign_waker_whose_coroutine_is_paused_resumed_or_stopped_in_the_run() {
    CALL.set(Some(WakerCall::Drop));
    let acts: [(&str, Act); 4] = [
        ("resumed", |handle, id| _ = handle.resume(id)),
        ("resumed and paused", |handle, id| {
            handle.resume(id);
            handle.pause(id);
            handle.resume(id);
        }),
        ("stopped", |handle, id| _ = handle.stop(id)),
        ("resumed and stopped", |handle, id| {
            handle.resume(id);
            handle.stop(id);
        }),
    ];
    let mut panics = 0;
    for (name, wait) in WAITS {
        for (what, act) in acts {
            for first in [true, false] {
                let name = format!("{name}, {what}, first {first}");
                let panicked = survives(&name, |executor| {
                    let id = Rc::new(Cell::new(None));
                    let (handle, other) = (executor.handle(), id.clone());
                    let acts = watched(async move {
                        next_frame().await;
                        act(&handle, other.get().unwrap());
                    });
                    let waits = watched(behind_a_foreign_waker(wait));
                    let coroutine = if first {
                        executor.start(acts);
                        executor.start(waits)
                    } else {
                        let coroutine = executor.start(waits);
                        executor.start(acts);
                        coroutine
                    };
                    id.set(Some(coroutine.id()));
                    coroutine.pause();
                });
                // A wake that came first has consumed the waker.
                panics += u32::from(panicked);
            }
        }
    }
    assert!(panics > 0);
}

#[test]
fn a_clone_of_a_foreign_waker() {
    CALL.set(Some(WakerCall::Clone));
    for (name, wait) in WAITS {
        check(name, |executor| {
            executor.spawn(watched(behind_a_foreign_waker(wait)));
        });
    }
}

/// The waker that a wait replaces when it is polled with another one in the
/// run.
#[test]
fn a_drop_of_a_foreign_waker_that_another_one_replaces() {
    CALL.set(Some(WakerCall::Drop));
    check("replaced", |executor| {
        executor.start(watched(async {
            let mut year = wait_seconds(31_536_000);
            loop {
                let waker = foreign_waker();
                let polled = year.poll_unpin(&mut Context::from_waker(&waker));
                assert!(polled.is_pending());
                std::mem::forget(waker);
                next_frame().await;
                let _ = poll_once(&mut year).await;
            }
        }));
    });
}

#[test]
fn a_condition_and_its_drop() {
    check("asked", |executor| {
        executor.start(watched(wait_until(|| {
            boom();
            false
        })));
    });
    check("dropped", |executor| {
        let bomb = Bomb;
        executor.start(watched(wait_until(move || {
            let _ = &bomb;
            true
        })));
    });
}

#[test]
fn an_output_a_payload_and_a_future_that_are_dropped() {
    check("an output that nobody takes", |executor| {
        drop(executor.start(watched(async {
            next_frame().await;
            Bomb
        })));
    });
    check("a payload that nobody takes", |executor| {
        drop(executor.start(watched(async {
            next_frame().await;
            resume_unwind(Box::new(Bomb));
        })));
    });
    check("what one that ends has held", |executor| {
        let bomb = Bomb;
        let ends = next_frame().map(move |()| {
            let _ = &bomb;
        });
        executor.start(watched(ends));
    });
    check("one that is stopped", |executor| {
        let victim = executor.start(watched(async {
            let _bomb = Bomb;
            forever().await;
        }));
        executor.spawn(watched(async move {
            victim.stop();
        }));
    });
    check("one that stops itself", |executor| {
        executor.spawn(watched(async {
            let _bomb = Bomb;
            stop(current());
            forever().await;
        }));
    });
    check("one whose owner ends in the run", |executor| {
        let owner = executor.owner();
        owner.start(watched(async {
            let _bomb = Bomb;
            forever().await;
        }));
        executor.spawn(watched(async move { drop(owner) }));
    });
    check("a handle with an output in it", |executor| {
        let kept = executor.start(watched(async { Bomb }));
        executor.spawn(watched(async move { drop(kept) }));
    });
}

#[test]
fn a_closure_from_afar_its_drop_and_its_future() {
    check("the closure", |executor| {
        executor.remote().spawn(|| {
            boom();
            async {}
        });
    });
    check("what the closure holds", |executor| {
        let bomb = Bomb;
        executor.remote().spawn(move || {
            let _bomb = bomb;
            async {}
        });
    });
    check("what its future holds", |executor| {
        let bomb = Bomb;
        executor.remote().spawn(move || async move {
            let _bomb = bomb;
        });
    });
}

#[test]
fn hooks() {
    check("a report of greed", |executor| {
        executor.on_report(|_| boom());
        let wakers: Rc<RefCell<Vec<Waker>>> = Rc::default();
        for _ in 0..2 {
            let wakers = wakers.clone();
            executor.start(watched(poll_fn(move |cx| {
                let others = wakers.take();
                wakers.borrow_mut().push(cx.waker().clone());
                others.into_iter().for_each(Waker::wake);
                Poll::<()>::Pending
            })));
        }
    });
    check("a trace", |executor| {
        executor.on_trace(|_| boom());
    });
}

/// Ready at its second poll; its destructor panics after that.
struct PanicsAfterItsEnd(#[expect(dead_code, reason = "it is dropped")] Token, u32);

impl Future for PanicsAfterItsEnd {
    type Output = Token;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Token> {
        self.1 += 1;
        if self.1 == 2 {
            return Poll::Ready(Token::new("an output"));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for PanicsAfterItsEnd {
    fn drop(&mut self) {
        boom();
    }
}

#[test]
fn an_output_of_a_future_whose_destructor_panics_is_dropped() {
    for kept in [false, true] {
        check("a destructor after the output", |executor| {
            let future = PanicsAfterItsEnd(Token::new("a future"), 0);
            let coroutine = executor.start(watched(future));
            if kept {
                executor.start(watched(async move {
                    assert!(coroutine.await.unwrap_err().is_panic());
                }));
            }
        });
    }
}

/// Returns a bomb, and is one.
struct BombWithBomb {
    output: Option<Bomb>,
    _future: Bomb,
}

impl Future for BombWithBomb {
    type Output = Bomb;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Bomb> {
        Poll::Ready(self.output.take().expect("it is polled once"))
    }
}

// docs/contract.md#rule-11-panics
#[test]
fn the_output_of_such_a_future_may_panic_when_it_is_dropped() {
    for kept in [false, true] {
        check("two destructors that panic", |executor| {
            let script = BombWithBomb {
                output: Some(Bomb),
                _future: Bomb,
            };
            let coroutine = executor.spawn(watched(script));
            if kept {
                executor.start(watched(async move {
                    assert!(coroutine.await.is_err_and(|error| error.is_panic()));
                }));
            }
        });
    }
}
