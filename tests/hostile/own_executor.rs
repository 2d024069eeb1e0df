//! Input 21: a coroutine, or code that it calls, that runs its own executor. Such
//! a call panics at the caller's line and changes nothing. Another executor may
//! run anywhere; a destructor between runs may also run this one.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;

use framestep::prelude::*;
use framestep::{Executor, Handle};

use framestep_testkit::timeline::{Log, in_quarters, unclamped};
use framestep_testkit::watched::{check_all_dropped, check_no_faults, watched};
use framestep_testkit::{count_frames, forever, panic_of, place_of_panic, result_of};

/// An executor that its coroutines can reach.
type Game = Rc<RefCell<Executor>>;

fn game() -> (Game, Handle) {
    let executor = in_quarters();
    let handle = executor.handle();
    (Rc::new(RefCell::new(executor)), handle)
}

/// Ends the executor of a game whose coroutines hold the game.
fn end(game: &Game) {
    let executor = game.replace(unclamped());
    drop(executor);
    check_all_dropped();
}

struct Way {
    line: u32,
    run: fn(&mut Executor),
}

fn way(line: u32, run: fn(&mut Executor)) -> Way {
    Way { line, run }
}

/// Every way to run an executor.
fn ways() -> Vec<Way> {
    vec![
        way(line!(), |executor| executor.run_frame(0.25)),
        way(line!(), |executor| executor.begin_frame(0.25)),
        way(line!(), |executor| _ = executor.begin_fixed_step()),
        way(line!(), |executor| executor.run_phase(Phase::Update)),
        way(line!(), |executor| executor.run_until(async {}, 0.25)),
    ]
}

/// The state that a run would change.
fn state(executor: &Executor) -> String {
    let snapshot = executor.snapshot();
    format!("{:?} {} {snapshot}", executor.time(), executor.has_ready())
}

/// Runs the game in each way, and expects a panic.
fn run_in_vain(game: &Game) {
    for way in ways() {
        let mut executor = game.borrow_mut();
        let before = state(&executor);
        let place = place_of_panic(|| (way.run)(&mut executor));
        assert_eq!(place, format!("{}:{}", file!(), way.line));
        assert_eq!(state(&executor), before);
    }
}

/// A coroutine that is due in the next run, and one that waits for it.
fn bystanders(game: &Game) -> (Rc<Cell<u64>>, Coroutine<()>) {
    let frames = Rc::new(Cell::new(0));
    let executor = game.borrow();
    executor.start(watched(count_frames(frames.clone())));
    let spawned = executor.spawn(watched(async {}));
    (frames, spawned)
}

/// Runs `act` and then two frames; everything continues as before.
#[track_caller]
fn check(game: &Game, act: impl FnOnce()) {
    let (frames, spawned) = bystanders(game);
    act();
    assert!(frames.get() == 0 && !spawned.is_finished());
    check_no_faults();
    for frame in 1..=2 {
        game.borrow_mut().run_frame(0.25);
        assert_eq!(frames.get(), frame);
        assert!(spawned.is_finished());
        check_no_faults();
    }
    end(game);
}

#[test]
fn a_first_poll_cannot_run_its_own_executor() {
    let (game, handle) = game();
    let (own, log) = (game.clone(), Log::new());
    let say = log.clone();
    check(&game, || {
        drop(handle.start(watched(async move {
            run_in_vain(&own);
            say.note("refused");
            next_frame().await;
            say.note("went on");
        })));
        log.check(&["refused"]);
    });
    log.check(&["went on"]);
}

#[test]
fn a_first_poll_on_an_owner_cannot_run_its_own_executor() {
    let (game, _) = game();
    let owner = game.borrow().owner();
    let own = game.clone();
    check(&game, || {
        drop(owner.start(watched(async move { run_in_vain(&own) })));
    });
}

#[test]
fn a_poll_far_up_the_stack_is_under_way_all_the_same() {
    let (game, handle) = game();
    let own = game.clone();
    check(&game, || {
        drop(handle.start(watched(async move {
            // In between, another executor runs.
            let mut other = unclamped();
            other.start(async move {
                next_frame().await;
                start(async move { run_in_vain(&own) });
            });
            other.run_frame(0.25);
            assert!(other.is_empty());
        })));
    });
}

#[test]
fn what_a_poll_calls_cannot_run_the_executor() {
    struct Runs(Game);
    impl Drop for Runs {
        fn drop(&mut self) {
            run_in_vain(&self.0);
        }
    }
    let (game, handle) = game();
    let other = unclamped();
    let own = game.clone();
    check(&game, || {
        let coroutine = handle.start(watched(async move {
            // A destructor that it causes, in this executor and in another,
            let runs = Runs(own.clone());
            let victim = spawn(async move {
                let _runs = runs;
                forever().await;
            });
            victim.stop();
            let runs = Runs(own.clone());
            let victim = other.start(async move {
                let _runs = runs;
                forever().await;
            });
            drop(victim.stop_on_drop());
            // a closure that is called at once,
            let mut runs = Some(own.clone());
            let call = move |_| {
                if let Some(own) = runs.take() {
                    run_in_vain(&own);
                }
            };
            let _ = animate(1, call).now_or_never();
            // and its own destructor.
            let _runs = Runs(own);
        }));
        assert!(coroutine.is_finished());
    });
}

#[test]
fn a_waker_cannot_run_the_executor_of_what_is_being_polled() {
    thread_local! {
        static GAME: RefCell<Option<Game>> = const { RefCell::new(None) };
        static REFUSED: Cell<u32> = const { Cell::new(0) };
    }
    fn run() {
        // Set while the coroutine is being polled.
        if let Some(game) = GAME.with_borrow(Clone::clone) {
            run_in_vain(&game);
            REFUSED.set(REFUSED.get() + 1);
        }
    }
    let (game, handle) = game();
    // The waker of the host, and that of a combinator.
    game.borrow().on_wake(run);
    let (frames, spawned) = bystanders(&game);
    let gate = handle.start(forever());
    let finished = gate.finished();
    let own = game.clone();
    let polls = Rc::new(Cell::new(0));
    let count = polls.clone();
    let mut finished = Some(Box::pin(finished));
    handle.start(watched(poll_fn(move |cx| {
        count.set(count.get() + 1);
        GAME.set(Some(own.clone()));
        if let Some(mut finished) = finished.take() {
            let waker = waker_fn::waker_fn(run);
            let joined = finished.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(joined.is_pending());
            assert!(gate.stop());
            cx.waker().wake_by_ref();
        }
        GAME.take();
        Poll::<()>::Pending
    })));
    assert!(REFUSED.get() > 0);
    assert_eq!((polls.get(), frames.get()), (1, 0));
    game.borrow_mut().run_frame(0.25);
    assert_eq!((polls.get(), frames.get()), (2, 1));
    assert!(spawned.is_finished());
    check_no_faults();
    end(&game);
}

#[test]
fn unless_it_is_caught_the_panic_ends_the_coroutine_and_nothing_else() {
    let (game, handle) = game();
    let own = game.clone();
    let frames = Rc::new(Cell::new(0));
    handle.start(watched(count_frames(frames.clone())));
    let coroutine = handle.start(watched(async move {
        own.borrow_mut().run_frame(0.25);
    }));
    assert!(coroutine.is_finished());
    assert!(result_of(&game.borrow(), coroutine).unwrap_err().is_panic());
    assert_eq!(frames.get(), 0);
    game.borrow_mut().run_frame(0.25);
    assert_eq!(frames.get(), 1);
    drop(game);
    check_all_dropped();
}

#[test]
fn a_coroutine_that_is_given_its_own_executor_may_end_it_but_not_run_it() {
    for ready in [false, true] {
        let mut executor = unclamped();
        let handle = executor.handle();
        let frames = Rc::new(Cell::new(0));
        executor.start(watched(count_frames(frames.clone())));
        executor.run_frame(0.25);
        let count = frames.clone();
        let coroutine = handle.start(watched(async move {
            let mut wait = next_frame();
            let _ = (&mut wait).now_or_never();
            panic_of(|| executor.run_frame(0.25));
            poll_fn(|cx| {
                cx.waker().wake_by_ref();
                Poll::Ready(())
            })
            .await;
            panic_of(|| executor.run_frame(0.25));
            assert_eq!(count.get(), 1);
            drop(executor);
            if !ready {
                forever().await;
            }
        }));
        assert!(coroutine.is_finished());
        assert_eq!(frames.get(), 1);
        assert!(handle.time().is_none());
        drop(coroutine);
        check_all_dropped();
    }
}

#[test]
fn a_destructor_that_the_host_brings_about_between_runs_may_run_the_executor() {
    struct Runs(Game);
    impl Drop for Runs {
        fn drop(&mut self) {
            self.0.borrow_mut().run_frame(0.25);
        }
    }
    let (game, handle) = game();
    let frames = Rc::new(Cell::new(0));
    handle.start(watched(count_frames(frames.clone())));
    let owner = handle.owner().unwrap();
    let runs = Runs(game.clone());
    let stopped = handle.start(watched(async move {
        let _runs = runs;
        forever().await;
    }));
    let runs = Runs(game.clone());
    owner.start(watched(async move {
        let _runs = runs;
        // Behind a wait, a timer and a join.
        let join = start(forever()).finished();
        futures::join!(next_frame(), wait_seconds(9), join);
    }));
    let runs = Runs(game.clone());
    let output = handle.start(async move { runs });
    assert!(stopped.stop());
    assert_eq!(frames.get(), 1);
    drop(owner);
    assert_eq!(frames.get(), 2);
    drop(output);
    assert_eq!(frames.get(), 3);
    let executor = Rc::into_inner(game).expect("the destructors are over");
    assert_eq!(executor.into_inner().time().frame, 3);
    check_all_dropped();
}

#[test]
fn another_executor_runs_in_every_poll() {
    // Each coroutine runs a separate executor, ten deep.
    fn nested(depth: u32, log: Log) -> futures::future::LocalBoxFuture<'static, ()> {
        Box::pin(async move {
            if depth == 0 {
                log.note("the innermost");
                return;
            }
            let mut inner = unclamped();
            inner.start(watched(nested(depth - 1, log)));
            while !inner.is_empty() {
                inner.run_frame(0.25);
            }
            next_frame().await;
        })
    }
    let log = Log::new();
    let mut executor = unclamped();
    executor.start(watched(nested(10, log.clone())));
    log.check(&["the innermost"]);
    executor.run_frame(0.25);
    executor.assert_empty();
    check_all_dropped();
}

#[test]
fn a_refused_run_leaves_the_executor_ready_for_the_next() {
    let (game, handle) = game();
    let own = game.clone();
    let waker = Rc::new(Cell::new(None));
    let keep = waker.clone();
    handle.start(watched(poll_fn(move |cx| {
        keep.set(Some(cx.waker().clone()));
        let refused = catch_unwind(AssertUnwindSafe(|| own.borrow_mut().run_frame(0.25)));
        // In a run the game is borrowed, which also panics.
        assert!(refused.is_err());
        Poll::<()>::Pending
    })));
    for frame in 1..=3 {
        if let Some(waker) = waker.take() {
            Waker::wake(waker);
        }
        game.borrow_mut().run_frame(0.25);
        assert_eq!(game.borrow().time().frame, frame);
        let polled_again = waker.take().expect("polled in each frame");
        waker.set(Some(polled_again));
    }
    check_no_faults();
    end(&game);
}
