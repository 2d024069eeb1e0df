//! A joiner continues at once, and never hangs:
//! docs/contract.md#rule-6-joins-continue, docs/contract.md#rule-7-joins-never-hang

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use futures::FutureExt;

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::Outcome;

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{counted, forever, panic_text, poll_once, result_of};

/// Starts a coroutine that joins `child` and says `name`.
fn joiner<T: 'static>(
    executor: &Executor,
    log: &Log,
    name: &'static str,
    child: Coroutine<T>,
) -> Coroutine<()> {
    let log = log.clone();
    executor.start(async move {
        drop(child.await);
        log.say(name);
    })
}

#[test]
fn joining_returns_the_output_of_the_coroutine() {
    let mut executor = unclamped();
    let child = executor.start(async {
        next_frame().await;
        String::from("result")
    });
    let parent = executor.start(async move { child.await.unwrap() });
    executor.run_frame(0.25);
    assert_eq!(result_of(&executor, parent).unwrap(), "result");
}

#[test]
fn join_the_function_is_the_handle_awaited() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("handle", |mark| async move {
        start(wait_frames(2).map(drop)).await.unwrap();
        mark.hit();
    });
    timeline.row("join", |mark| async move {
        join(start(wait_frames(2).map(drop))).await.unwrap();
        mark.hit();
    });
    timeline.check(
        "
        frame  0 1 2 3
        handle - - *
        join   - - *
        ",
    );
}

#[test]
fn a_joiner_continues_in_the_frame_and_phase_in_which_the_child_ends() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    for phase in framestep_testkit::timeline::DRAWN {
        timeline.row(&format!("{phase:?}"), |mark| async move {
            start(next_frame().in_phase(phase).map(drop)).await.unwrap();
            mark.hit();
        });
    }
    timeline.check(
        "
        frame       0 1 2
        EarlyUpdate - E
        FixedUpdate - F
        Update      - *
        LateUpdate  - L
        EndOfFrame  - Z
        ",
    );
}

// docs/contract.md#law-join
#[test]
fn joining_what_has_ended_takes_no_time() {
    let mut executor = unclamped();
    let child = executor.start(async { 7 });
    assert!(child.is_finished());
    executor.run_frame(0.25);
    let polls = Rc::new(Cell::new(0));
    let parent = executor.start(counted(
        polls.clone(),
        async move { join(child).await.unwrap() },
    ));
    assert!(parent.is_finished());
    assert_eq!(polls.get(), 1);
    assert_eq!(result_of(&executor, parent).unwrap(), 7);
}

#[test]
fn awaiting_an_async_fn_directly_costs_nothing() {
    #[expect(clippy::unused_async, reason = "the point of it")]
    async fn child() -> u32 {
        40
    }
    let executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let parent = executor.start(counted(polls.clone(), async { child().await + 2 }));
    assert_eq!(polls.get(), 1);
    assert_eq!(result_of(&executor, parent).unwrap(), 42);
}

// docs/contract.md#rule-6-joins-continue
#[test]
fn joiners_continue_in_the_order_in_which_they_began_to_wait() {
    let mut executor = unclamped();
    let log = Log::new();
    let child = executor.start(next_frame().map(drop));
    for name in ["a", "b", "c"] {
        let (log, finished) = (log.clone(), child.finished());
        executor.start(async move {
            assert_eq!(finished.await, Outcome::Finished);
            log.say(name);
        });
    }
    joiner(&executor, &log, "d", child);
    executor.run_frame(0.25);
    log.check(&["F1: a", "F1: b", "F1: c", "F1: d"]);
}

#[test]
fn joiners_continue_in_the_order_in_which_the_children_ended() {
    let mut executor = unclamped();
    let log = Log::new();
    let a = executor.start(forever());
    let b = executor.start(forever());
    let (a_id, b_id) = (a.id(), b.id());
    joiner(&executor, &log, "joins a", a);
    joiner(&executor, &log, "joins b", b);
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        assert!(stop(b_id));
        assert!(stop(a_id));
        say.say("has stopped b, then a");
        next_frame().await;
    });
    executor.run_frame(0.25);
    log.check(&["F1: has stopped b, then a", "F1: joins b", "F1: joins a"]);
}

#[test]
fn joins_go_depth_first() {
    let mut executor = unclamped();
    let log = Log::new();
    let said = |name: &'static str, child: Coroutine<()>| joiner(&executor, &log, name, child);
    //        root
    //      a       b
    //    a1 a2   b1
    //    a11
    let root = executor.start(next_frame().map(drop));
    let (for_a, for_b) = (root.finished(), root);
    let say = log.clone();
    let a = executor.start(async move {
        for_a.await;
        say.say("a");
    });
    let b = said("b", for_b);
    let for_a1 = a.finished();
    let say = log.clone();
    let a1 = executor.start(async move {
        for_a1.await;
        say.say("a1");
    });
    said("a2", a);
    said("b1", b);
    said("a11", a1);
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.say("queued before any of them");
    });
    executor.run_frame(0.25);
    log.check(&[
        "F1: a",
        "F1: a1",
        "F1: a11",
        "F1: a2",
        "F1: b",
        "F1: b1",
        "F1: queued before any of them",
    ]);
}

#[test]
fn a_joiner_of_several_is_polled_once_when_they_end_together() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let children = [(); 3].map(|()| executor.start(forever()));
    let ids = children.each_ref().map(Coroutine::id);
    let parent = executor.start(counted(polls.clone(), async move {
        futures::future::join_all(children).await.len()
    }));
    executor.start(async move {
        next_frame().await;
        for id in ids {
            assert!(stop(id));
        }
    });
    polls.take();
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 1);
    assert_eq!(result_of(&executor, parent).unwrap(), 3);
}

#[test]
fn a_chain_of_joins_ends_in_one_run_without_recursion() {
    const LINKS: u32 = 100_000;
    let chain = || {
        let mut executor = unclamped();
        let ended = Rc::new(Cell::new(0));
        let mut last = executor.start(async {
            next_frame().await;
            0
        });
        for _ in 0..LINKS {
            let (previous, ended) = (last, ended.clone());
            last = executor.start(async move {
                let depth = previous.await.unwrap() + 1;
                ended.set(ended.get() + 1);
                depth
            });
        }
        assert_eq!(ended.get(), 0);
        executor.run_frame(0.25);
        assert_eq!(ended.get(), LINKS);
        executor.assert_empty();
        assert_eq!(result_of(&executor, last).unwrap(), LINKS);
    };
    small_thread(chain);
}

#[test]
fn a_chain_of_joins_is_dropped_with_its_executor_without_recursion() {
    small_thread(|| {
        let executor = unclamped();
        let mut last = executor.start(forever());
        for _ in 0..100_000 {
            let previous = last;
            last = executor.start(async move { drop(previous.await) });
        }
        drop(executor);
        assert!(last.is_finished());
    });
}

#[test]
fn stopping_the_last_of_a_chain_of_stop_on_drop_handles_stops_the_chain() {
    let executor = unclamped();
    let mut last = executor.start(forever());
    for _ in 0..100 {
        let previous = last;
        last = executor.start(async move {
            let previous = previous.stop_on_drop();
            drop(previous.await);
        });
    }
    assert_eq!(executor.len(), 101);
    assert!(last.stop());
    executor.assert_empty();
}

/// Runs `f` in a thread with a stack of 2 MiB.
fn small_thread(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(f).unwrap().join().unwrap();
}

// several waiters

#[test]
fn any_number_may_wait_for_the_end_of_one() {
    let mut timeline = Timeline::with_dt(0.25);
    let child: Rc<RefCell<Option<Coroutine<()>>>> = Rc::default();
    let leave = child.clone();
    timeline.row("child", |mark| async move {
        let worker = start(wait_frames(2).map(drop));
        leave.replace(Some(worker));
        mark.hit();
    });
    let finished = child.borrow().as_ref().unwrap().finished();
    for name in ["a", "b"] {
        let finished = finished.clone();
        timeline.row(name, |mark| async move {
            assert_eq!(finished.await, Outcome::Finished);
            mark.hit();
        });
    }
    timeline.row("late", |mark| async move {
        wait_frames(3).await;
        assert_eq!(finished.await, Outcome::Finished); // at once
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1 2 3 4
        child *
        a     - - *
        b     - - *
        late  - - - *
        ",
    );
}

#[test]
fn finished_outlives_the_handle() {
    let mut executor = unclamped();
    let log = Log::new();
    let child = executor.start(next_frame().map(drop));
    let finished = child.finished();
    drop(child);
    let say = log.clone();
    executor.start(async move {
        finished.await;
        say.say("finished");
    });
    executor.run_frame(0.25);
    log.check(&["F1: finished"]);
}

#[test]
fn finished_returns_how_the_coroutine_ended() {
    let mut executor = unclamped();
    let finishes = executor.start(next_frame().map(drop));
    let panics = executor.start(async {
        next_frame().await;
        panic!("on purpose");
    });
    let stopped = executor.start(forever());
    let outcomes = [finishes.finished(), panics.finished(), stopped.finished()];
    let watch = executor.start(async move { futures::future::join_all(outcomes).await });
    stopped.stop();
    executor.run_frame(0.25);
    assert_eq!(
        result_of(&executor, watch).unwrap(),
        [Outcome::Finished, Outcome::Panicked, Outcome::Stopped]
    );
}

// stopped and panicked

// docs/contract.md#rule-7-joins-never-hang
#[test]
fn joining_a_stopped_coroutine_returns_an_error_in_the_same_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let child = executor.start(forever());
    let id = child.id();
    let say = log.clone();
    executor.start(async move {
        let error = child.await.unwrap_err();
        assert!(error.is_stopped() && !error.is_panic());
        say.say("stopped");
    });
    let say = log.clone();
    executor.start(async move {
        wait_frames(2).in_phase(Phase::LateUpdate).await;
        assert!(stop(id));
        say.say("stops");
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F2.LateUpdate: stops", "F2.LateUpdate: stopped"]);
}

#[test]
fn joining_a_coroutine_that_panics_returns_the_payload_in_the_same_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let child = executor.start(async {
        end_of_frame().await;
        panic!("the roof is on fire");
    });
    let say = log.clone();
    executor.start(async move {
        let result: Result<(), _> = child.await;
        let error = result.unwrap_err();
        assert!(error.is_panic() && !error.is_stopped());
        say.say(panic_text(&*error.into_panic()));
    });
    executor.run_frame(0.25);
    log.check(&["F1.EndOfFrame: the roof is on fire"]);
}

// docs/contract.md#decided-stopped-by-the-host
#[test]
fn a_coroutine_stopped_by_host_code_wakes_its_joiners_like_any_wake_from_outside() {
    let mut executor = unclamped();
    let log = Log::new();
    let mut ids = Vec::new();
    for (name, phase) in [
        ("at home in Update", Phase::Update),
        ("at home in LateUpdate", Phase::LateUpdate),
    ] {
        let child = executor.start(forever());
        ids.push(child.id());
        let log = log.clone();
        executor.script("").in_phase(phase).start(async move {
            in_phase(Phase::EndOfFrame).await;
            assert!(child.await.unwrap_err().is_stopped());
            log.say(name);
        });
    }
    executor.run_frame(0.25);
    for id in ids {
        assert!(executor.stop(id));
    }
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&[
        "F2: at home in Update",
        "F2.LateUpdate: at home in LateUpdate",
    ]);
}

// docs/contract.md#decided-stopped-by-the-host
thread_local! {
    /// A game that a waker, which must be `Send`, can reach.
    static GAME: RefCell<Option<Rc<RefCell<Executor>>>> = const { RefCell::new(None) };
}

/// Runs a frame of [`GAME`] when it is first woken.
struct RunsAFrame;

impl Wake for RunsAFrame {
    fn wake(self: Arc<Self>) {
        if let Some(game) = GAME.take() {
            game.borrow_mut().run_frame(0.25);
        }
    }
}

#[test]
fn joiners_are_woken_at_the_stop_even_if_the_waker_of_one_runs_a_frame() {
    let game = Rc::new(RefCell::new(unclamped()));
    let handle = game.borrow().handle();
    let log = Log::new();
    let child = handle.start(forever());
    for name in ["a", "b", "c"] {
        let (mut end, log) = (child.finished(), log.clone());
        handle.start(async move {
            let waker = Waker::from(Arc::new(RunsAFrame));
            let mut end = pin!(&mut end);
            if name == "b" {
                end.await;
            } else {
                poll_fn(|_| end.as_mut().poll(&mut Context::from_waker(&waker))).await;
            }
            log.say(name);
        });
    }
    game.borrow_mut().run_frame(0.25);
    GAME.set(Some(game.clone()));
    // Runs frame 2 before it returns.
    assert!(handle.stop(child.id()));
    log.check(&["F2: a", "F2: b", "F2: c"]);
}

#[test]
fn a_coroutine_stopped_by_one_that_host_code_starts_has_ended_outside_a_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let child = executor.start(forever());
    let id = child.id();
    joiner(&executor, &log, "joiner", child);
    executor.start(async move { assert!(stop(id)) });
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F1: joiner"]);
}

#[test]
fn a_join_that_is_polled_too_early_continues_to_wait() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("select", |mark| async move {
        let mut child = start(wait_frames(3).map(drop));
        loop {
            futures::select_biased! {
                result = child => break result.unwrap(),
                () = next_frame() => mark.hit(),
            }
        }
        assert_eq!(time().frame, 3);
        mark.hit();
    });
    timeline.check(
        "
        frame  0 1 2 3  4
        select - * * **
        ",
    );
}

#[test]
fn a_handle_can_be_awaited_by_reference() {
    let mut executor = unclamped();
    let parent = executor.start(async {
        let mut child = start(async {
            next_frame().await;
            5
        });
        assert!(poll_once(&mut child).await.is_pending());
        let five = (&mut child).await.unwrap();
        assert!(child.is_finished());
        five
    });
    executor.run_frame(0.25);
    assert_eq!(result_of(&executor, parent).unwrap(), 5);
}

// docs/contract.md#decided-self-join
#[test]
fn two_that_join_each_other_sleep_until_one_is_stopped() {
    let mut executor = unclamped();
    let log = Log::new();
    let slots: [Rc<RefCell<Option<Coroutine<()>>>>; 2] = Default::default();
    let mut handles = Vec::new();
    for (slot, name) in slots.iter().zip(["a", "b"]) {
        let (slot, log) = (slot.clone(), log.clone());
        handles.push(executor.spawn(async move {
            let other = slot.take().unwrap();
            let stopped = other.await.is_err();
            log.say(format_args!("{name}, the other one stopped: {stopped}"));
        }));
    }
    let ids: Vec<_> = handles.iter().map(Coroutine::id).collect();
    for (slot, handle) in slots.iter().rev().zip(handles) {
        slot.replace(Some(handle));
    }
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    assert_eq!(executor.len(), 2);
    assert!(executor.stop(ids[1]));
    executor.run_frame(0.25);
    log.check(&["F4: a, the other one stopped: true"]);
    executor.assert_empty();
}

// docs/contract.md#decided-self-join
#[test]
fn a_coroutine_that_joins_itself_blocks_no_other_and_can_be_stopped() {
    let mut executor = unclamped();
    let log = Log::new();
    let slot: Rc<RefCell<Option<Coroutine<()>>>> = Rc::default();
    let take = slot.clone();
    let own = executor.spawn(async move {
        let own = take.take().unwrap();
        drop(own.await);
    });
    let id = own.id();
    slot.replace(Some(own));
    let say = log.clone();
    executor.spawn(async move { say.say("sibling") });
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: sibling"]);
    executor.stop(id);
    executor.run_frame(0.25);
    executor.assert_empty();
}
