//! A coroutine that waits for something foreign resumes in its home phase:
//! docs/contract.md#rule-4-home

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use futures::channel::{mpsc, oneshot};
use futures::{FutureExt, StreamExt};

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::{DRAWN, Log, Timeline, unclamped};
use framestep_testkit::{PHASES, counted, forever, receiver, receiver_in, yield_now};

// from outside

#[test]
fn a_wake_from_outside_resumes_at_home() {
    for home in PHASES {
        let mut executor = Executor::builder().max_delta(1).fixed_delta(0.25).build();
        let log = Log::new();
        let sender = receiver_in(home, &executor, &log, async {});
        executor.run_frame(0.25);
        sender.unbounded_send("message").unwrap();
        log.check(&[]);
        executor.run_frame(0.25);
        log.check(&[&match home {
            Phase::Update => "F2: message".to_owned(),
            phase => format!("F2.{phase:?}: message"),
        }]);
    }
}

#[test]
fn a_wait_in_another_phase_leaves_the_home_as_it_is() {
    let mut executor = Executor::builder().max_delta(1).fixed_delta(0.25).build();
    let log = Log::new();
    let mut senders = Vec::new();
    for phase in PHASES {
        senders.push(receiver(&executor, &log, in_phase(phase)));
    }
    executor.run_frame(0.25);
    for sender in &senders {
        sender.unbounded_send("message").unwrap();
    }
    executor.run_frame(0.25);
    log.check(&["F2: message"; PHASES.len()]);
}

#[test]
fn a_script_that_walks_in_fixed_steps_hears_a_key_while_the_game_is_paused() {
    let mut executor = Executor::builder().fixed_delta(0.25).build();
    let key = Signal::<()>::new();
    let pressed = key.clone();
    let script = executor.start(async move {
        fixed_update().await;
        clock().pause();
        pressed.wait().await;
        clock().resume();
        fixed_update().await;
        (time().frame, time().phase)
    });
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    key.emit(());
    let ended = executor.run_until(script, 0.25).unwrap();
    assert_eq!(ended, (5, Some(Phase::FixedUpdate)));
}

#[test]
fn a_coroutine_started_by_host_code_is_woken_in_update() {
    let mut executor = unclamped();
    let log = Log::new();
    let sender = receiver(&executor, &log, async {});
    sender
        .unbounded_send("started before the first frame")
        .unwrap();
    executor.run_frame(0.25);
    log.check(&["F1: started before the first frame"]);

    executor.begin_frame(0.25);
    executor.run_phase(Phase::EarlyUpdate);
    let sender = receiver(&executor, &log, async {});
    sender.unbounded_send("started between two phases").unwrap();
    executor.run_phase(Phase::LateUpdate);
    log.check(&[]);
    executor.run_phase(Phase::Update);
    log.check(&["F2: started between two phases"]);

    executor.begin_frame(1);
    assert!(executor.begin_fixed_step());
    let sender = receiver(&executor, &log, async {});
    sender
        .unbounded_send("started in the host's fixed update")
        .unwrap();
    executor.run_phase(Phase::FixedUpdate);
    log.check(&[]);
    executor.run_phase(Phase::Update);
    log.check(&["F3: started in the host's fixed update"]);
}

#[test]
fn a_coroutine_started_by_another_is_woken_at_the_home_of_that_one() {
    let mut executor = unclamped();
    let log = Log::new();
    for (home, first) in [
        (Phase::Update, Phase::LateUpdate),
        (Phase::LateUpdate, Phase::EarlyUpdate),
    ] {
        let (sender, mut receiver) = mpsc::unbounded();
        let say = log.clone();
        executor.script("").in_phase(home).start(async move {
            in_phase(first).await;
            let child = start(async move { say.say(receiver.next().await.unwrap()) });
            assert_eq!(child.home(), Some(home));
            next_frame().in_phase(Phase::EarlyUpdate).await;
            sender.unbounded_send("message").unwrap();
        });
    }
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&["F2: message", "F2.LateUpdate: message"]);
}

#[test]
fn a_coroutine_spawned_in_a_phase_is_woken_in_that_phase() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, mut receiver) = mpsc::unbounded();
    let say = log.clone();
    executor
        .script("")
        .in_phase(Phase::EndOfFrame)
        .spawn(async move {
            say.say("polled");
            say.say(receiver.next().await.unwrap());
        });
    executor.run_frame(0.25);
    sender.unbounded_send("message").unwrap();
    executor.run_frame(0.25);
    log.check(&["F1.EndOfFrame: polled", "F2.EndOfFrame: message"]);
}

#[test]
fn a_joiner_that_went_on_in_another_phase_is_woken_at_home() {
    let mut executor = unclamped();
    let log = Log::new();
    let child = executor.start(end_of_frame().map(drop));
    let sender = receiver(&executor, &log, child);
    executor.run_frame(0.25);
    sender.unbounded_send("message").unwrap();
    executor.run_frame(0.25);
    log.check(&["F2: message"]);
}

#[test]
fn a_wake_between_two_phases_takes_the_next_run_of_the_phase_in_the_same_frame() {
    let mut executor = unclamped();
    let log = Log::new();
    let sender = receiver_in(Phase::LateUpdate, &executor, &log, async {});
    executor.run_frame(0.25);
    executor.begin_frame(0.25);
    executor.run_phase(Phase::EarlyUpdate);
    sender.unbounded_send("before Update").unwrap();
    executor.run_phase(Phase::Update);
    log.check(&[]);
    executor.run_phase(Phase::LateUpdate);
    log.check(&["F2.LateUpdate: before Update"]);
    sender.unbounded_send("after LateUpdate").unwrap();
    executor.run_phase(Phase::EndOfFrame);
    executor.run_frame(0.25);
    log.check(&["F3.LateUpdate: after LateUpdate"]);
}

#[test]
fn a_wake_by_a_coroutine_that_host_code_starts_is_one_from_outside() {
    let mut executor = unclamped();
    let log = Log::new();
    let sender = receiver_in(Phase::LateUpdate, &executor, &log, async {});
    executor.run_frame(0.25);
    executor.start(async move { sender.unbounded_send("message").unwrap() });
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F2.LateUpdate: message", "F2.LateUpdate: closed"]);
}

#[test]
fn a_wake_waits_for_a_phase_that_the_host_skips() {
    let mut executor = unclamped();
    let log = Log::new();
    let custom = Phase::Custom(1);
    let sender = receiver_in(custom, &executor, &log, async {});
    executor.run_phase(custom);
    sender.unbounded_send("message").unwrap();
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&[]);
    executor.run_phase(custom);
    log.check(&["F2.Custom(1): message"]);
}

#[test]
fn a_wake_by_a_thread_before_the_frame_counts_as_one_from_outside() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, receiver) = oneshot::channel();
    let say = log.clone();
    executor.start(async move { say.say(receiver.await.unwrap()) });
    executor.run_frame(0.25);
    let thread = std::thread::spawn(move || sender.send("from a thread").unwrap());
    thread.join().unwrap();
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F2: from a thread"]);
}

#[test]
fn a_wake_by_a_thread_during_a_run_of_the_phase_waits_for_the_next() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, receiver) = oneshot::channel();
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        let thread = std::thread::spawn(move || sender.send("from a thread").unwrap());
        thread.join().unwrap();
        say.say("the thread has sent");
    });
    let say = log.clone();
    executor.start(async move { say.say(receiver.await.unwrap()) });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&["F1: the thread has sent", "F2: from a thread"]);
}

#[test]
fn a_wake_by_a_thread_during_an_earlier_phase_is_taken_over_in_the_same_frame() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, receiver) = oneshot::channel();
    executor.start(async move {
        in_phase(Phase::EarlyUpdate).await;
        let thread = std::thread::spawn(move || sender.send("from a thread").unwrap());
        thread.join().unwrap();
    });
    let say = log.clone();
    executor.start(async move { say.say(receiver.await.unwrap()) });
    executor.run_frame(0.25);
    log.check(&["F1: from a thread"]);
}

#[test]
fn many_wakes_before_a_run_are_one_poll() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let waker = Rc::new(RefCell::new(None));
    let keep = waker.clone();
    executor.start(counted(
        polls.clone(),
        poll_fn(move |cx| {
            keep.replace(Some(cx.waker().clone()));
            Poll::<()>::Pending
        }),
    ));
    polls.take();
    let wake: Waker = waker.borrow().clone().unwrap();
    for _ in 0..100_000 {
        wake.wake_by_ref();
    }
    let thread = std::thread::spawn(move || (0..1_000).for_each(|_| wake.wake_by_ref()));
    thread.join().unwrap();
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 1);
}

#[test]
fn a_waker_outlives_its_coroutine_and_its_executor() {
    let mut executor = unclamped();
    let waker = Rc::new(RefCell::new(None));
    let keep = waker.clone();
    executor.spawn(poll_fn(move |cx| {
        keep.replace(Some(cx.waker().clone()));
        Poll::Ready(())
    }));
    executor.run_frame(0.25);
    let waker: Waker = waker.take().unwrap();
    // The next occupant of the slot is not woken by the waker of the last.
    let polls = Rc::new(Cell::new(0));
    executor.start(counted(polls.clone(), forever()));
    polls.take();
    waker.wake_by_ref();
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 0);
    drop(executor);
    waker.wake_by_ref();
    let thread = std::thread::spawn(move || waker.wake());
    thread.join().unwrap();
}

// by another coroutine

// docs/contract.md#rule-4-wakes
#[test]
fn a_wake_by_another_coroutine_in_the_same_phase_takes_effect_in_the_same_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let sender = receiver(&executor, &log, next_frame());
    let say = log.clone();
    executor.start(async move {
        for message in ["a", "b"] {
            next_frame().await;
            say.say("sends");
            sender.unbounded_send(message).unwrap();
        }
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: sends", "F1: a", "F2: sends", "F2: b", "F2: closed"]);
}

#[test]
fn a_wake_by_another_coroutine_in_another_phase_waits_for_the_own_phase() {
    let mut executor = unclamped();
    let log = Log::new();
    let sender = receiver(&executor, &log, next_frame());
    executor.run_frame(0.25);
    for (phase, message) in [
        (Phase::EarlyUpdate, "sent early"),
        (Phase::LateUpdate, "sent late"),
    ] {
        let sender = sender.clone();
        executor.start(async move {
            in_phase(phase).await;
            sender.unbounded_send(message).unwrap();
        });
    }
    executor.run_frame(0.25);
    log.check(&["F2: sent early"]);
    drop(sender);
    executor.run_frame(0.25);
    log.check(&["F3: sent late", "F3: closed"]);
}

#[test]
fn messages_wander_through_several_coroutines_in_one_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let (sender, receiver) = async_channel::unbounded::<u32>();
        senders.push(sender);
        receivers.push(receiver);
    }
    // Started from last to first, so that the wakes come in the opposite order.
    for i in (1..4).rev() {
        let (receiver, sender) = (receivers[i - 1].clone(), senders[i].clone());
        let log = log.clone();
        executor.start(async move {
            let hops = receiver.recv().await.unwrap();
            log.say(format_args!("{i}: {hops} hops"));
            sender.send(hops + 1).await.unwrap();
        });
    }
    senders[0].try_send(0).unwrap();
    executor.run_frame(0.25);
    log.check(&["F1: 1: 0 hops", "F1: 2: 1 hops", "F1: 3: 2 hops"]);
    assert_eq!(receivers[3].try_recv(), Ok(3));
}

#[test]
fn event_listeners_wake_like_channels() {
    let mut executor = unclamped();
    let log = Log::new();
    let event = Rc::new(event_listener::Event::new());
    for name in ["a", "b"] {
        let (log, event) = (log.clone(), event.clone());
        executor.start(async move {
            event.listen().await;
            log.say(name);
        });
    }
    executor.run_frame(0.25);
    let notifier = event.clone();
    executor.start(async move {
        next_frame().await;
        notifier.notify(usize::MAX);
    });
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F2: a", "F2: b"]);
}

#[test]
fn async_channels_block_the_sender_that_is_too_fast() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, receiver) = async_channel::bounded(1);
    let say = log.clone();
    executor.start(async move {
        for i in 0..3 {
            sender.send(i).await.unwrap();
            say.say(format_args!("sent {i}"));
        }
    });
    let say = log.clone();
    executor.start(async move {
        loop {
            next_frame().await;
            let Ok(i) = receiver.recv().await else { return };
            say.say(format_args!("received {i}"));
        }
    });
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F0: sent 0",
        "F1: received 0",
        "F1: sent 1",
        "F2: received 1",
        "F2: sent 2",
        "F3: received 2",
    ]);
}

// docs/contract.md#decided-innermost
#[test]
fn a_coroutine_woken_by_the_one_it_has_started_runs_again_in_the_same_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        let (sender, receiver) = oneshot::channel();
        start(async move {
            next_frame().await;
            sender.send("message").unwrap();
        });
        say.say(receiver.await.unwrap());
    });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&["F2: message"]);
}

// by itself

// docs/contract.md#rule-4-wakes
#[test]
fn yield_now_takes_a_run_of_the_phase() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    for phase in DRAWN {
        timeline.row(&format!("{phase:?}"), |mark| async move {
            let at_home = script("").in_phase(phase).start(async move {
                in_phase(phase).await;
                mark.hit();
                for _ in 0..2 {
                    yield_now().await;
                    mark.hit();
                }
            });
            at_home.await.unwrap();
        });
    }
    timeline.row("started", |mark| async move {
        mark.hit();
        yield_now().await;
        mark.hit();
    });
    timeline.check(
        "
        frame       0 1 2 3 4
        EarlyUpdate - E E E
        FixedUpdate - F F F
        Update      - * * *
        LateUpdate  - L L L
        EndOfFrame  - Z Z Z
        started     * *
        ",
    );
}

#[test]
fn a_message_between_two_branches_of_one_coroutine_takes_a_run_if_it_comes_too_late() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let (sender, receiver) = oneshot::channel();
        // The receiver has been polled when the message is sent.
        let receives = async { say.say(receiver.await.unwrap()) };
        let sends = async {
            next_frame().await;
            say.say("sends");
            sender.send("message").unwrap();
        };
        futures::join!(receives, sends);
    });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&["F1: sends", "F2: message"]);
}

#[test]
fn a_coroutine_that_wakes_itself_without_end_is_polled_once_a_run() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let count = polls.clone();
    executor.start(async move {
        loop {
            count.set(count.get() + 1);
            yield_now().await;
        }
    });
    assert_eq!(polls.take(), 1);
    for _ in 0..3 {
        executor.run_frame(0.25);
        assert_eq!(polls.take(), 1);
    }
    executor.begin_frame(0.25);
    executor.run_phase(Phase::Update);
    executor.run_phase(Phase::Update);
    assert_eq!(polls.take(), 2);
}

/// Two coroutines that wake each other without end; counts the polls of each.
fn greedy(executor: &Executor) -> [Rc<Cell<u32>>; 2] {
    let (to_b, from_a) = async_channel::unbounded::<()>();
    let (to_a, from_b) = async_channel::unbounded::<()>();
    to_b.try_send(()).unwrap();
    [(from_a, to_a), (from_b, to_b)].map(|(receiver, sender)| {
        let polls = Rc::new(Cell::new(0));
        executor.spawn(counted(polls.clone(), async move {
            loop {
                receiver.recv().await.unwrap();
                sender.send(()).await.unwrap();
            }
        }));
        polls
    })
}

// docs/contract.md#rule-4-limit, docs/contract.md#decided-greedy
#[test]
fn two_that_wake_each_other_are_bounded_and_reported() {
    let mut executor = unclamped();
    let reports = Rc::new(Cell::new(0));
    let count = reports.clone();
    executor.on_report(move |_| count.set(count.get() + 1));
    let log = Log::new();
    let say = log.clone();
    let polls = greedy(&executor);
    executor.start(async move {
        next_frame().await;
        say.say("the others run all the same");
    });
    executor.run_frame(0.25);
    log.check(&["F1: the others run all the same"]);
    assert!(reports.get() > 0);
    for polls in &polls {
        // The limit is on wakes by others: the first poll may or may not count,
        // and both run out of wakes at the same time.
        assert!((999..=1_001).contains(&polls.get()), "{}", polls.get());
        polls.set(0);
    }
    executor.run_frame(0.25);
    for polls in &polls {
        assert!((998..=1_001).contains(&polls.get()), "{}", polls.get());
    }
}

#[test]
fn the_limit_of_polls_is_configurable() {
    let mut executor = Executor::builder().max_polls_per_run(10).build();
    let reports = Rc::new(Cell::new(0));
    let count = reports.clone();
    executor.on_report(move |_| count.set(count.get() + 1));
    let polls = greedy(&executor);
    for _ in 0..3 {
        executor.run_frame(0.25);
        assert!(reports.take() > 0);
        for polls in &polls {
            assert!((8..=11).contains(&polls.take()));
        }
    }
}

#[test]
fn busy_coroutines_below_the_limit_are_not_reported() {
    let mut executor = unclamped();
    let reports = Rc::new(Cell::new(0));
    let count = reports.clone();
    executor.on_report(move |_| count.set(count.get() + 1));
    let (sender, receiver) = async_channel::unbounded();
    let received = Rc::new(Cell::new(0));
    let count = received.clone();
    executor.start(async move {
        while receiver.recv().await.is_ok() {
            count.set(count.get() + 1);
        }
    });
    for _ in 0..900 {
        let sender = sender.clone();
        executor.spawn(async move { sender.send(()).await.unwrap() });
    }
    executor.run_frame(0.25);
    assert_eq!(received.get(), 900);
    assert_eq!(reports.get(), 0);
}

// whatever else is ready

// docs/contract.md#rule-4-one-poll
#[test]
fn whatever_else_in_a_coroutine_is_ready_continues_in_the_same_poll() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, receiver) = oneshot::channel();
    let say = log.clone();
    executor.spawn(async move {
        let ends = async {
            end_of_frame().await;
            say.say("end of frame");
        };
        let receives = async { say.say(receiver.await.unwrap()) };
        futures::join!(ends, receives);
    });
    executor.begin_frame(0.25);
    executor.run_phase(Phase::Update);
    sender.send("message").unwrap();
    executor.run_phase(Phase::LateUpdate);
    log.check(&[]);
    executor.run_phase(Phase::EndOfFrame);
    // The message is due in Update, but the coroutine is polled here.
    log.check(&["F1.EndOfFrame: end of frame", "F1.EndOfFrame: message"]);
}
