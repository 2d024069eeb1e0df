//! Acts that wake several coroutines at once, each in its order: docs/contract.md#rule-8-acts

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};

use framestep::prelude::*;
use framestep::{Coroutine, Executor, Owner};

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, in_quarters, unclamped};

/// Starts a script on an owner that says `name` when `wait` is over.
fn says_on<F: Future + 'static>(
    owner: &Owner,
    log: &Log,
    name: &'static str,
    wait: F,
) -> Coroutine<()> {
    let log = log.clone();
    owner.start(async move {
        wait.await;
        log.say(name);
    })
}

/// What is woken in frame 1 by `act`, in a run of another script, in order.
fn woken_by(executor: &mut Executor, log: &Log, act: impl FnOnce() + 'static) -> Vec<String> {
    executor.start(async move {
        next_frame().await;
        act();
    });
    executor.run_frames(3, 0.25);
    let lines = log.take();
    let name = |line: &String| line.split(": ").nth(1).unwrap_or_default().to_owned();
    lines.iter().map(name).collect()
}

// docs/contract.md#rule-8-acts
#[test]
fn an_event_a_change_and_permits_wake_in_the_order_in_which_the_waits_began() {
    let mut executor = unclamped();
    let (log, owner) = (Log::new(), executor.owner());
    let signal = Signal::new();
    // The subscription was made first, but begins to wait last.
    let mut early = signal.subscribe();
    says_on(&owner, &log, "first", signal.wait());
    says_on(&owner, &log, "second", signal.wait());
    says_on(&owner, &log, "third", async move { early.next().await });
    let woken = woken_by(&mut executor, &log, move || signal.emit(()));
    assert_eq!(woken, ["first", "second", "third"]);

    let watch = Rc::new(Watch::new(0));
    for (name, wanted) in [("first", 2), ("second", 1), ("third", 2)] {
        let watch = watch.clone();
        says_on(&owner, &log, name, async move {
            watch.wait_for(|&value| value >= wanted).await;
        });
    }
    let woken = woken_by(&mut executor, &log, move || {
        watch.set(1);
        watch.set(2);
    });
    // Each is woken once, at its place, and finds the latest value.
    assert_eq!(woken, ["first", "second", "third"]);

    let permits = Rc::new(Semaphore::new(0));
    for (name, count) in [("first", 1), ("two permits", 2), ("third", 1)] {
        let permits = permits.clone();
        says_on(&owner, &log, name, async move {
            std::mem::forget(permits.acquire_many(count).await);
        });
    }
    let woken = woken_by(&mut executor, &log, move || permits.add(4));
    assert_eq!(woken, ["first", "two permits", "third"]);
}

/// ```text
/// top             a0 a1
/// ├─ left         b0
/// │  └─ leaf      c0
/// └─ right        d0
/// ```
fn family(executor: &Executor) -> [Owner; 4] {
    let top = executor.owner();
    let (left, right) = (top.child(), top.child());
    let leaf = left.child();
    [top, left, leaf, right]
}

// docs/contract.md#rule-8-acts
#[test]
fn a_request_to_stop_wakes_owners_below_first_and_each_owner_in_the_order_of_the_waits() {
    let mut executor = unclamped();
    let log = Log::new();
    let [top, left, leaf, right] = family(&executor);
    says_on(&top, &log, "a0", stop_requested());
    says_on(&right, &log, "d0", stop_requested());
    // Made before the next one, and begins to wait after it.
    says_on(&left, &log, "b1", async {
        next_frame().await;
        stop_requested().await;
    });
    says_on(&left, &log, "b0", stop_requested());
    says_on(&top, &log, "a1", stop_requested());
    says_on(&leaf, &log, "c0", stop_requested());
    let woken = woken_by(&mut executor, &log, move || {
        top.request_stop();
        std::mem::forget((top, left, leaf, right));
    });
    assert_eq!(woken, ["c0", "b0", "b1", "d0", "a0", "a1"]);
}

// docs/contract.md#rule-8-acts
#[test]
fn what_a_request_stops_it_stops_as_stop_all_does_at_the_end_of_the_run() {
    for is_request in [false, true] {
        let mut executor = unclamped();
        let log = Log::new();
        let owners = family(&executor);
        for (at, name) in [(0, "a0"), (3, "d0"), (1, "b0"), (0, "a1"), (2, "c0")] {
            let log = log.clone();
            owners[at].start(async move {
                let _stopped = defer_call(move || log.say(name));
                forever().await;
            });
        }
        if is_request {
            drop(owners[0].stop_within(0.25));
            executor.run_frames(2, 0.25);
        } else {
            executor.run_frames(2, 0.25);
            owners[0].stop_all();
        }
        let order = log.take();
        let names: Vec<_> = order.iter().map(|line| &line[line.len() - 2..]).collect();
        assert_eq!(names, ["c0", "b0", "d0", "a0", "a1"]);
        assert_eq!(order[0].starts_with("F2: "), is_request);
    }
}

// docs/contract.md#rule-8-acts
#[test]
fn the_end_of_owners_resumes_the_inner_waits_first_each_in_the_order_of_the_waits() {
    let mut executor = unclamped();
    let (log, beside) = (Log::new(), executor.owner());
    let [top, left, leaf, _right] = family(&executor);
    let last = leaf.start(wait_seconds(0.5));
    for (name, owner) in [
        ("top", &top),
        ("leaf", &leaf),
        ("left", &left),
        ("leaf again", &leaf),
    ] {
        says_on(&beside, &log, name, owner.ended());
    }
    says_on(&beside, &log, "join", last);
    executor.run_frames(3, 0.25);
    log.check(&[
        "F2: join",
        "F2: leaf",
        "F2: leaf again",
        "F2: left",
        "F2: top",
    ]);
}

// docs/contract.md#rule-8-acts
#[test]
fn a_resumed_owner_makes_its_scripts_ready_in_the_order_in_which_they_were_made() {
    let mut executor = unclamped();
    let log = Log::new();
    let [top, left, ..] = family(&executor);
    for (owner, name, length) in [(&top, "a", 0.75), (&left, "b", 0.25), (&top, "c", 0.5)] {
        let wait = wait_until(move || time().elapsed >= Duration::from_secs_f64(length));
        says_on(owner, &log, name, wait);
    }
    top.pause();
    executor.run_frames(4, 0.25);
    top.resume();
    executor.run_frame(0.25);
    log.check(&["F5: a", "F5: b", "F5: c"]);
}

/// A timer that another script moves in the run in which it is due: the run does not reach it at
/// its place any more. Its coroutine polls it at home: later in this run, if this is a run of its
/// home phase.
// docs/contract.md#rule-8-acts
#[test]
fn a_timer_that_is_moved_in_the_run_in_which_it_is_due_is_polled_at_home() {
    for (phase, frame) in [(Phase::Update, "F1: "), (Phase::LateUpdate, "F2: ")] {
        let mut executor = unclamped();
        let (log, owner) = (Log::new(), executor.owner());
        let timer = Rc::new(RefCell::new(wait_seconds(0.25).in_phase(phase)));
        let (moves, say) = (timer.clone(), log.clone());
        owner.start(async move {
            in_phase(phase).await;
            moves.borrow_mut().reset(5);
            say.say("moved");
        });
        let (polls, say) = (timer.clone(), log.clone());
        owner.start(async move {
            let mut is_first = true;
            std::future::poll_fn(move |cx| {
                if !std::mem::take(&mut is_first) {
                    say.note(format!("F{}: polled", time().frame));
                }
                std::pin::Pin::new(&mut *polls.borrow_mut()).poll(cx)
            })
            .await;
        });
        executor.run_frames(4, 0.25);
        let lines = log.take();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert_eq!(lines[1], format!("{frame}polled"));
    }
}

/// The waker of `FuturesUnordered` is called before the first poll. So its script is polled in the
/// run even if its timer is moved or dropped before its turn: before a script that is woken first.
///
/// ```text
/// place      3                          5
/// mover      emits, moves the timer
/// combinator                            polled
/// listener                              heard
/// ```
// docs/contract.md#rule-8-acts
#[test]
fn the_waker_of_a_combinator_keeps_a_place_in_the_run_in_which_its_timer_is_moved_or_dropped() {
    for (phase, drops) in [
        (Phase::Update, false),
        (Phase::Update, true),
        (Phase::LateUpdate, false),
        (Phase::LateUpdate, true),
    ] {
        let mut executor = unclamped();
        let (log, owner) = (Log::new(), executor.owner());
        let timer = wait_seconds(0.5).in_phase(phase);
        let timer = Rc::new(RefCell::new(Some(timer)));
        let signal = Signal::<()>::new();
        let (moves, emits, say) = (timer.clone(), signal.clone(), log.clone());
        owner.start(async move {
            wait_frames(2).in_phase(phase).await;
            emits.emit(());
            if drops {
                moves.take();
            } else if let Some(timer) = &mut *moves.borrow_mut() {
                timer.reset(5);
            }
            say.say("moved");
        });
        let say = log.clone();
        owner.script("").in_phase(phase).start(async move {
            signal.wait().await;
            say.say("heard");
        });
        let (polls, say) = (timer.clone(), log.clone());
        owner.start(async move {
            let polled = std::future::poll_fn(move |cx| match &mut *polls.borrow_mut() {
                Some(timer) => std::pin::Pin::new(timer).poll(cx),
                None => std::task::Poll::Pending,
            });
            let mut waits = FuturesUnordered::from_iter([polled]);
            std::future::poll_fn(move |cx| {
                // `FuturesUnordered` has woken itself in frame 0.
                if time().frame > 1 {
                    say.say("polled");
                }
                waits.poll_next_unpin(cx)
            })
            .await;
        });
        executor.run_frames(2, 0.25);
        let run = if phase == Phase::Update {
            "F2"
        } else {
            "F2.LateUpdate"
        };
        let lines = ["moved", "polled", "heard"].map(|line| format!("{run}: {line}"));
        assert_eq!(log.take(), lines, "{phase}, {drops}");
    }
}

/// In a pause, a wait for the end of the frame is due in the run in which the joined script ends.
/// It counts, although the join is found first.
// docs/contract.md#rule-8-acts
#[test]
fn a_wait_that_is_due_in_a_pause_counts_before_a_join_of_the_same_run() {
    for waits in [false, true] {
        let mut executor = unclamped();
        let (log, owner) = (Log::new(), executor.owner());
        let ends = executor
            .script("")
            .in_phase(Phase::EndOfFrame)
            .start(next_frame());
        let paused = says_on(&owner, &log, "resumed", async move {
            if waits {
                select! { _ = ends => {} () = end_of_frame() => {} }
            } else {
                drop(ends.await);
            }
        });
        paused.pause();
        executor.run_frame(0.25);
        paused.resume();
        executor.run_frame(0.25);
        // The join counts for the home phase, the wait for its own.
        log.check(&[if waits {
            "F2.EndOfFrame: resumed"
        } else {
            "F2: resumed"
        }]);
    }
}

/// ```text
/// frame   1              2 to 3   4                        5
///         animate, a, b  paused   animate, a, b: resumed   animate, a, b: its place is kept
/// ```
// docs/contract.md#rule-8-acts
#[test]
fn an_animation_after_a_pause_is_ready_before_the_run_and_keeps_the_place_of_that_poll() {
    let mut executor = unclamped();
    let (log, owner) = (Log::new(), executor.owner());
    let loops = |name: &'static str| {
        let log = log.clone();
        executor.start(async move {
            loop {
                next_frame().await;
                log.say(name);
            }
        })
    };
    let _first = loops("a");
    let say = log.clone();
    let animation = owner.start(animate(9, move |share| {
        if share > 0.0 {
            say.say("animate");
        }
    }));
    let _last = loops("b");
    executor.run_frame(0.25);
    animation.pause();
    executor.run_frame(0.25);
    animation.resume();
    executor.run_frames(2, 0.25);
    log.check(&[
        "F1: a",
        "F1: animate",
        "F1: b",
        "F2: a",
        "F2: b",
        "F3: animate",
        "F3: a",
        "F3: b",
        "F4: animate",
        "F4: a",
        "F4: b",
    ]);
}

/// ```text
/// frame  1 (2 s)                  2
/// long   0.125, awaits 1.125      at its place by registration
/// short  0.25,  awaits 0.75
/// ```
// docs/contract.md#rule-8-acts
#[test]
fn overdue_ticks_come_in_the_order_in_which_they_are_awaited() {
    let mut executor = unclamped();
    let log = Log::new();
    for (name, first, period) in [("long", 0.125, 1.0), ("short", 0.25, 0.5)] {
        let log = log.clone();
        executor.start(async move {
            let mut ticks = interval(period).first_after(first);
            for _ in 0..2 {
                ticks.tick().await;
                log.say(name);
            }
        });
    }
    executor.run_frame(2);
    executor.run_frame(0.125);
    log.check(&["F1: long", "F1: short", "F2: long", "F2: short"]);
}

/// Four steps of a frame are owed when the clock is paused, of which the frame could still run
/// two. Those are held back, and come on top of the limit of the frame in which they run.
// docs/contract.md#decided-held-steps
#[test]
fn steps_that_are_held_back_are_those_that_their_frame_could_still_run() {
    let builder = Executor::builder().max_delta(0.5).fixed_delta(0.125);
    let mut executor = builder.build();
    // Limit: 4 steps in a frame. Of the first frame, two run; then the clock is paused.
    executor.clock().set_scale(2.0);
    executor.begin_frame(0.5);
    assert!(executor.begin_fixed_step() && executor.begin_fixed_step());
    executor.clock().pause();
    assert!(!executor.begin_fixed_step());
    executor.clock().resume();
    executor.begin_frame(0.5);
    let steps = std::iter::from_fn(|| executor.begin_fixed_step().then_some(())).count();
    assert_eq!(steps, 4 + 2);
}

#[test]
fn a_sleeping_script_is_no_part_of_any_act() {
    let mut executor = in_quarters();
    let (log, owner) = (Log::new(), executor.owner());
    let asleep = says_on(&owner, &log, "asleep", wait_seconds(60));
    owner.request_stop();
    owner.pause();
    owner.resume();
    executor.run_frames(3, 0.25);
    assert!(!asleep.is_finished());
    log.check(&[]);
}
