//! A wait that several coroutines share: no wake is lost, whichever of them is paused,
//! ends, or takes the result first: docs/contract.md#rule-4-no-wake-forgotten

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use futures::FutureExt;

use framestep::prelude::*;
use framestep::{Executor, join, select};

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, unclamped};

fn frames(executor: &mut Executor, frames: usize) {
    for _ in 0..frames {
        executor.run_frame(0.25);
    }
}

/// Starts a coroutine that says when the wait has ended.
fn says(
    executor: &Executor,
    log: &Log,
    name: &'static str,
    wait: impl Future + 'static,
) -> Coroutine<()> {
    let log = log.clone();
    executor.start(async move {
        wait.await;
        log.say(name);
    })
}

// Taken by another coroutine before the turn of the one that the wait resumes

#[test]
fn a_timer_that_another_script_takes_first_resumes_both() {
    let mut executor = unclamped();
    let log = Log::new();
    let round = wait_seconds(1).shared();
    let event = Signal::<()>::new();
    let mut hits = event.subscribe();
    let mut first = round.clone();
    says(&executor, &log, "woken by the event", async move {
        loop {
            select! {
                () = &mut first => break,
                _ = futures::StreamExt::next(&mut hits) => {}
            }
        }
    });
    says(&executor, &log, "waits only", round);
    frames(&mut executor, 3);
    // It is polled at the beginning of the run in which the timer is due.
    event.emit(());
    frames(&mut executor, 1);
    log.check(&["F4: woken by the event", "F4: waits only"]);
}

#[test]
fn a_frame_that_another_script_takes_first_resumes_both() {
    let mut executor = unclamped();
    let log = Log::new();
    let frame = next_frame().shared();
    let event = Signal::<()>::new();
    let (both, wait) = (frame.clone(), event.wait());
    says(
        &executor,
        &log,
        "both",
        async move { _ = join!(both, wait) },
    );
    says(&executor, &log, "frame", frame);
    event.emit(());
    frames(&mut executor, 1);
    log.check(&["F1: both", "F1: frame"]);
}

#[test]
fn a_join_that_another_script_takes_first_resumes_both() {
    let mut executor = unclamped();
    let log = Log::new();
    let child = executor.start(next_frame());
    let finished = child.finished();
    let ended = child.map(|result| result.is_ok()).shared();
    let both = ended.clone();
    says(
        &executor,
        &log,
        "both",
        async move { _ = join!(finished, both) },
    );
    says(&executor, &log, "join", ended);
    frames(&mut executor, 1);
    log.check(&["F1: both", "F1: join"]);
}

thread_local! {
    static WAIT: RefCell<Option<Pin<Box<dyn Future<Output = ()>>>>> = const { RefCell::new(None) };
    static SCRIPT: RefCell<Option<Waker>> = const { RefCell::new(None) };
}

struct DropsTheWait;

impl Wake for DropsTheWait {
    fn wake(self: Arc<Self>) {
        drop(WAIT.take());
        SCRIPT.take().unwrap().wake();
    }
}

#[test]
fn a_waker_that_drops_its_wait_and_wakes_the_script_is_heard() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let count = polls.clone();
    let script = executor.start(poll_fn(move |cx| {
        count.set(count.get() + 1);
        if count.get() > 1 {
            return Poll::Ready(());
        }
        SCRIPT.set(Some(cx.waker().clone()));
        let waker = Waker::from(Arc::new(DropsTheWait));
        let mut wait: Pin<Box<dyn Future<Output = ()>>> = Box::pin(next_frame());
        let polled = wait.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        WAIT.set(Some(wait));
        Poll::Pending
    }));
    frames(&mut executor, 1);
    assert!(script.is_finished());
    assert_eq!(polls.get(), 2);
}

// The last one that polled it is paused, or ends

// docs/contract.md#decided-shared-waits
#[test]
fn a_timer_goes_on_with_the_others_while_its_last_script_is_paused() {
    let mut executor = unclamped();
    let log = Log::new();
    let timer = wait_seconds(1).shared();
    says(&executor, &log, "goes on", timer.clone());
    let paused = says(&executor, &log, "paused", timer);
    frames(&mut executor, 2);
    paused.pause();
    frames(&mut executor, 4);
    log.check(&["F4: goes on"]);
    paused.resume();
    frames(&mut executor, 1);
    log.check(&["F7: paused"]);
}

#[test]
fn no_pause_moves_a_timer_that_scripts_share() {
    for order in [[0, 1], [1, 0]] {
        let mut executor = unclamped();
        let log = Log::new();
        let timer = wait_seconds(1).shared();
        let scripts = [
            says(&executor, &log, "first", timer.clone()),
            says(&executor, &log, "last", timer),
        ];
        // Both are paused when the timer is due, in F4.
        scripts[order[0]].pause();
        frames(&mut executor, 1);
        scripts[order[1]].pause();
        frames(&mut executor, 6);
        scripts[order[0]].resume();
        frames(&mut executor, 3);
        let names = ["first", "last"];
        log.check(&[format!("F8: {}", names[order[0]]).as_str()]);
        scripts[order[1]].resume();
        frames(&mut executor, 1);
        log.check(&[format!("F11: {}", names[order[1]]).as_str()]);
    }
}

#[test]
fn a_timer_that_was_due_in_a_pause_outlives_its_last_script() {
    for (stops_after_due, is_paused_last) in
        [(false, false), (false, true), (true, false), (true, true)]
    {
        let mut executor = unclamped();
        let log = Log::new();
        let timer = wait_seconds(1).shared();
        let left = says(&executor, &log, "left", timer.clone());
        let stopped = says(&executor, &log, "stopped", timer);
        frames(&mut executor, 2);
        let order = if is_paused_last {
            [&left, &stopped]
        } else {
            [&stopped, &left]
        };
        for script in order {
            script.pause();
        }
        frames(&mut executor, if stops_after_due { 4 } else { 1 });
        assert!(stopped.stop());
        frames(&mut executor, 4);
        log.check(&[]);
        left.resume();
        frames(&mut executor, 2);
        let frame = if stops_after_due { 11 } else { 8 };
        log.check(&[format!("F{frame}: left").as_str()]);
    }
}

#[test]
fn a_timer_outlives_a_paused_script_whose_handle_is_kept() {
    let mut executor = unclamped();
    let log = Log::new();
    let other = executor.start(forever());
    other.pause();
    let timer = wait_seconds(1).shared();
    says(&executor, &log, "left", timer.clone());
    let stopped = says(&executor, &log, "stopped", timer);
    frames(&mut executor, 2);
    stopped.pause();
    stopped.stop();
    frames(&mut executor, 2);
    log.check(&["F4: left"]);
}

#[test]
fn a_timer_outlives_the_owner_of_its_last_script() {
    let mut executor = unclamped();
    let log = Log::new();
    let enemies = executor.owner();
    let timer = wait_seconds(1).shared();
    says(&executor, &log, "left", timer.clone());
    let gone = enemies.start(timer);
    frames(&mut executor, 2);
    enemies.pause();
    frames(&mut executor, 1);
    drop(enemies);
    assert!(gone.is_finished());
    frames(&mut executor, 1);
    log.check(&["F4: left"]);
}

#[test]
fn pauses_from_before_a_timer_was_shared_have_moved_it() {
    for is_paused_later in [false, true] {
        let mut executor = unclamped();
        let log = Log::new();
        let timer = wait_seconds(1).shared();
        let early = says(&executor, &log, "early", timer.clone());
        frames(&mut executor, 1);
        early.pause();
        frames(&mut executor, 2);
        early.resume(); // After F3 the timer is due in F6, not in F4.
        let late = says(&executor, &log, "late", timer);
        frames(&mut executor, 1);
        if is_paused_later {
            early.pause();
            late.pause();
            frames(&mut executor, 3);
            early.resume();
            frames(&mut executor, 1);
            log.check(&["F8: early"]);
            late.resume();
            frames(&mut executor, 1);
            log.check(&["F9: late"]);
        } else {
            frames(&mut executor, 4);
            log.check(&["F6: late", "F6: early"]);
        }
    }
}

// Without a wrapper that keeps all wakers

// docs/contract.md#decided-waits-polled-by-hand
#[test]
fn a_timer_polled_by_hand_outlives_its_script_as_the_last_poll_has_found_it() {
    let mut executor = unclamped();
    let log = Log::new();
    let wait = Rc::new(RefCell::new(wait_seconds(1)));
    let by_hand = || {
        let wait = wait.clone();
        poll_fn(move |cx| wait.borrow_mut().poll_unpin(cx))
    };
    let first = says(&executor, &log, "first", by_hand());
    frames(&mut executor, 1);
    first.pause();
    frames(&mut executor, 2);
    first.resume();
    assert!(first.stop());
    says(&executor, &log, "last", by_hand());
    frames(&mut executor, 3);
    log.check(&["F4: last"]);
}

// docs/contract.md#decided-waits-polled-by-hand
#[test]
fn a_wait_that_two_scripts_poll_by_hand_is_the_last_ones_alone() {
    for paused in [false, true] {
        let mut executor = unclamped();
        let log = Log::new();
        let wait = Rc::new(RefCell::new(wait_seconds(1)));
        let by_hand = || {
            let wait = wait.clone();
            poll_fn(move |cx| wait.borrow_mut().poll_unpin(cx))
        };
        let first = says(&executor, &log, "first", by_hand());
        let last = says(&executor, &log, "last", by_hand());
        if paused {
            last.pause();
        }
        frames(&mut executor, 6);
        log.check(if paused { &[] } else { &["F4: last"] });
        assert!(!first.is_finished());
    }
}
