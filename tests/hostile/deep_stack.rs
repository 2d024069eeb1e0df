//! Stops and ends deep in the stack: a call that reports a stop has stopped the
//! coroutine, and freed futures have been dropped.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use framestep::prelude::*;
use framestep::task::CoroutineId;
use framestep::{Executor, Handle};

use framestep_testkit::timeline::unclamped;
use framestep_testkit::watched::{alive, check_all_dropped, check_no_faults, expect, watched};
use framestep_testkit::{count_frames, forever};

/// Around the depth limit of nested stops, and far beyond it.
const DEPTHS: [u32; 6] = [1, 98, 99, 100, 101, 300];

/// Runs `f` on a stack with room for a few hundred debug frames of a poll.
fn on_a_large_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(32 << 20);
    let result = thread.spawn(f).unwrap().join();
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

/// Calls `f` inside `depth` nested calls of `enter`.
fn inside_enter(executors: &[Executor], depth: u32, f: &mut dyn FnMut()) {
    if depth == 0 {
        return f();
    }
    let at = usize::try_from(depth).unwrap() % executors.len();
    executors[at].enter(|| inside_enter(executors, depth - 1, f));
}

/// Calls `f` in the last of `depth` starts inside one another.
fn inside_starts(depth: u32, f: Box<dyn FnOnce()>) -> LocalBoxFuture<'static, ()> {
    async move {
        if depth == 0 {
            f();
        } else {
            start(watched(inside_starts(depth - 1, f)));
        }
        forever().await;
    }
    .boxed_local()
}

/// Calls `f` from the last of `depth` destructors inside one another, each of
/// which stops the next one, on the executors in turn.
fn inside_stops(handles: &[Handle], depth: u32, f: Box<dyn FnOnce()>) -> Coroutine<()> {
    struct Then<F: FnMut()>(F);
    impl<F: FnMut()> Drop for Then<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    let mut f = Some(f);
    let last = Then(move || f.take().expect("dropped once")());
    let mut next = handles[0].start(watched(async move {
        let _last = last;
        forever().await;
    }));
    for at in 1..depth {
        let inner = next;
        let of = |at: u32| handles[usize::try_from(at).unwrap() % handles.len()].clone();
        let (handle, inner_handle) = (of(at), of(at - 1));
        let stops = Then(move || {
            // Its drop, and therefore its outcome, may be still to come.
            expect(inner.stop(), "it is stopped");
            expect(
                !inner_handle.is_alive(inner.id()),
                "what is stopped is dead",
            );
            expect(!inner.stop(), "it is stopped once");
        });
        next = handle.start(watched(async move {
            let _stops = stops;
            forever().await;
        }));
    }
    next
}

/// An act at the bottom, and what must hold afterwards. The act is told whether its
/// effects are complete when it returns.
type Act = (Box<dyn FnOnce(bool)>, Box<dyn FnOnce()>);

/// Every kind of nesting: `act` is called at the bottom of each, and its
/// effects are complete when the outermost call returns.
fn at_every_depth(executors: usize, act: fn() -> Act) {
    for depth in DEPTHS {
        let mut others: Vec<Executor> = (0..executors).map(|_| unclamped()).collect();
        let handles: Vec<Handle> = others.iter().map(Executor::handle).collect();

        let (f, after) = act();
        let mut f = Some(f);
        inside_enter(&others, depth, &mut || f.take().unwrap()(true));
        after();
        check_no_faults();

        let (f, after) = act();
        others[0].start(watched(inside_starts(depth, Box::new(|| f(true)))));
        // Coroutines too deep to begin at once begin in a later frame.
        for _ in 0..4 {
            others[0].run_frame(0.25);
        }
        after();
        check_no_faults();

        let (f, after) = act();
        // In the hundredth destructor, a stop is too deep. Deeper ones are called by the
        // outermost stop, so there is room again.
        let at_once = depth != 100;
        let first = inside_stops(&handles, depth, Box::new(move || f(at_once)));
        assert!(first.stop());
        after();
        drop((first, others));
        check_all_dropped();
    }
}

/// An executor with coroutines, among them one that counts frames.
fn victims() -> (Executor, Rc<Cell<u64>>, Vec<Coroutine<()>>) {
    let executor = unclamped();
    let frames = Rc::new(Cell::new(0));
    let coroutines = vec![
        executor.start(watched(count_frames(frames.clone()))),
        executor.spawn(watched(forever())),
        executor.start(watched(wait_seconds(1).map(drop))),
        executor.start(watched(async {
            drop(start(watched(forever())).await);
        })),
    ];
    (executor, frames, coroutines)
}

fn ends_an_executor() -> Act {
    let (executor, _, coroutines) = victims();
    (
        Box::new(move |at_once| {
            let (before, handle) = (alive(), executor.handle());
            drop(executor);
            let finished = coroutines.iter().all(Coroutine::is_finished);
            expect(finished == at_once, "all have ended");
            let dropped = if at_once { 5 } else { 0 };
            expect(alive() + dropped == before, "none is freed without a drop");
            expect(handle.spawn(forever()).is_finished(), "it takes no more");
        }),
        Box::new(|| ()),
    )
}

fn stops_another_executors_coroutine() -> Act {
    let (mut executor, frames, coroutines) = victims();
    let handle = executor.handle();
    (
        Box::new(move |at_once| {
            let before = alive();
            for coroutine in &coroutines {
                expect(handle.stop(coroutine.id()), "it is stopped");
                expect(!handle.is_alive(coroutine.id()), "what is stopped is dead");
                expect(coroutine.is_finished() == at_once, "it has ended");
            }
            let dropped = if at_once { 4 } else { 0 };
            expect(alive() + dropped == before, "what is stopped is dropped");
        }),
        Box::new(move || {
            executor.run_frame(0.25);
            assert_eq!(frames.get(), 0, "polled after its stop");
            assert_eq!(executor.len(), 1);
        }),
    )
}

fn drops_an_owner() -> Act {
    let mut executor = unclamped();
    let owner = executor.owner();
    let frames = Rc::new(Cell::new(0));
    owner.start(watched(count_frames(frames.clone())));
    let below = owner.child();
    owner.start(watched(async move {
        below.start(watched(forever()));
        forever().await;
    }));
    (
        Box::new(move |at_once| {
            let before = alive();
            drop(owner);
            let dropped = if at_once { 3 } else { 0 };
            expect(alive() + dropped == before, "what it owned is dropped");
        }),
        Box::new(move || {
            executor.assert_empty();
            executor.run_frame(0.25);
            assert_eq!(frames.get(), 0);
        }),
    )
}

fn drops_a_handle_that_stops() -> Act {
    let mut executor = unclamped();
    let frames = Rc::new(Cell::new(0));
    let coroutine = executor
        .start(watched(count_frames(frames.clone())))
        .stop_on_drop();
    (
        Box::new(move |at_once| {
            let before = alive();
            drop(coroutine);
            let dropped = usize::from(at_once);
            expect(alive() + dropped == before, "the coroutine is dropped");
        }),
        Box::new(move || {
            executor.assert_empty();
            executor.run_frame(0.25);
            assert_eq!(frames.get(), 0);
        }),
    )
}

#[test]
fn an_executor_that_ends_at_any_depth_drops_its_futures_before_it_frees_them() {
    on_a_large_stack(|| at_every_depth(1, ends_an_executor));
}

#[test]
fn an_executor_that_ends_in_polls_and_destructors_of_several_others_drops_its_futures() {
    on_a_large_stack(|| at_every_depth(3, ends_an_executor));
}

#[test]
fn a_stop_at_any_depth_stops() {
    on_a_large_stack(|| at_every_depth(1, stops_another_executors_coroutine));
}

#[test]
fn a_stop_in_polls_and_destructors_of_several_other_executors_stops() {
    on_a_large_stack(|| at_every_depth(3, stops_another_executors_coroutine));
}

#[test]
fn an_owner_dropped_at_any_depth_stops_all_it_owns() {
    on_a_large_stack(|| {
        at_every_depth(1, drops_an_owner);
        at_every_depth(2, drops_an_owner);
    });
}

#[test]
fn a_handle_that_stops_does_so_at_any_depth() {
    on_a_large_stack(|| {
        at_every_depth(1, drops_a_handle_that_stops);
        at_every_depth(2, drops_a_handle_that_stops);
    });
}

/// In the executor with the nested starts.
#[test]
fn a_stop_at_any_depth_of_its_own_executor_stops() {
    on_a_large_stack(|| {
        for depth in DEPTHS {
            let mut executor = unclamped();
            let frames = Rc::new(Cell::new(0));
            let victim = executor.start(watched(count_frames(frames.clone())));
            let (id, stopped) = (victim.id(), Rc::new(Cell::new(None)));
            let say = stopped.clone();
            let stops = Box::new(move || say.set(Some(stop(id))));
            executor.start(watched(inside_starts(depth, stops)));
            // Coroutines too deep to begin at once begin in a later run.
            for _ in 0..4 {
                executor.run_phase(Phase::Update);
            }
            assert_eq!(stopped.get(), Some(true), "at depth {depth}");
            assert!(victim.is_finished());
            for _ in 0..3 {
                executor.run_frame(0.25);
            }
            assert_eq!(frames.get(), 0, "at depth {depth}");
            drop(executor);
            check_all_dropped();
        }
    });
}

#[test]
fn a_destructor_that_ends_its_own_executor_at_any_depth_leaves_nothing_undropped() {
    on_a_large_stack(|| {
        for depth in DEPTHS {
            let executor = unclamped();
            let handle = executor.handle();
            for _ in 0..5 {
                executor.start(watched(forever()));
            }
            let slot = Rc::new(RefCell::new(None));
            let take = slot.clone();
            let ends: Box<dyn FnOnce()> = Box::new(move || {
                let executor: Option<Executor> = take.take();
                drop(executor);
            });
            let first = inside_stops(&[handle], depth, ends);
            slot.replace(Some(executor));
            assert!(first.stop());
            assert!(slot.borrow().is_none());
            check_all_dropped();
        }
    });
}

#[test]
fn stops_of_a_thousand_that_stop_the_next_all_say_what_they_did() {
    for executors in 1..=3 {
        on_a_large_stack(move || {
            let others: Vec<Executor> = (0..executors).map(|_| unclamped()).collect();
            let handles: Vec<Handle> = others.iter().map(Executor::handle).collect();
            let reached = Rc::new(Cell::new(false));
            let reach = reached.clone();
            let first = inside_stops(&handles, 1_000, Box::new(move || reach.set(true)));
            assert!(first.stop());
            assert!(reached.get());
            assert_eq!(alive(), 0);
            assert!(others.iter().all(Executor::is_empty));
            check_no_faults();
        });
    }
}

#[test]
fn nothing_that_is_stopped_too_deep_is_polled_before_it_is_dropped() {
    struct Starts(Handle, CoroutineId);
    impl Drop for Starts {
        fn drop(&mut self) {
            // Everything that could poll it: a wake, a resume, a start beside
            // it.
            self.0.resume(self.1);
            expect(!self.0.is_alive(self.1), "what is stopped has ended");
            expect(!self.0.stop(self.1), "it is stopped once");
            self.0.start(watched(async {}));
        }
    }
    on_a_large_stack(|| {
        let executor = unclamped();
        let handle = executor.handle();
        let frames = Rc::new(Cell::new(0));
        let victim = executor.start(watched(count_frames(frames.clone())));
        let id = victim.id();
        let stops = handle.clone();
        let first = inside_stops(
            std::slice::from_ref(&handle),
            250,
            Box::new(move || {
                expect(stops.stop(id), "it is stopped");
                drop(Starts(stops, id));
            }),
        );
        assert!(first.stop());
        assert!(victim.is_finished());
        assert_eq!(frames.get(), 0);
        executor.assert_empty();
        drop((executor, victim, first));
        check_all_dropped();
    });
}
