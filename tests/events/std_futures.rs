//! Any other future works: foreign channels, locks and threads.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use futures::{FutureExt, SinkExt, StreamExt};
use tokio::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};

use framestep::prelude::*;

use framestep_testkit::result_of;
use framestep_testkit::timeline::{Log, unclamped};

#[test]
fn tokio_channels_wake_in_update() {
    let mut executor = unclamped();
    let log = Log::new();
    let (mpsc_sender, mut mpsc_receiver) = mpsc::channel(1);
    let (oneshot_sender, oneshot_receiver) = oneshot::channel();
    let (watch_sender, mut watch_receiver) = watch::channel("nothing");
    let (broadcast_sender, mut broadcast_receiver) = broadcast::channel(4);
    let say = log.clone();
    executor.start(async move { say.say(mpsc_receiver.recv().await.unwrap()) });
    let say = log.clone();
    executor.start(async move { say.say(oneshot_receiver.await.unwrap()) });
    let say = log.clone();
    executor.start(async move {
        watch_receiver.changed().await.unwrap();
        let now = *watch_receiver.borrow();
        say.say(now);
    });
    let say = log.clone();
    executor.start(async move { say.say(broadcast_receiver.recv().await.unwrap()) });
    executor.run_frame(0.25);
    broadcast_sender.send("broadcast").unwrap();
    watch_sender.send("watch").unwrap();
    oneshot_sender.send("oneshot").unwrap();
    mpsc_sender.try_send("mpsc").unwrap();
    executor.run_frame(0.25);
    log.check(&["F2: broadcast", "F2: watch", "F2: oneshot", "F2: mpsc"]);
}

#[test]
fn a_full_channel_holds_its_sender_until_the_receiver_has_had_its_turn() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, mut receiver) = mpsc::channel(1);
    let say = log.clone();
    executor.start(async move {
        for i in 0..3 {
            sender.send(i).await.unwrap();
            say.say(format_args!("sent {i}"));
        }
    });
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        while let Some(i) = receiver.recv().await {
            say.say(format_args!("received {i}"));
            next_frame().await;
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

#[test]
fn a_mutex_is_passed_on_in_the_run_in_which_it_is_released() {
    let mut executor = unclamped();
    let log = Log::new();
    let mutex = Arc::new(Mutex::new(0));
    for name in ["a", "b", "c"] {
        let (log, mutex) = (log.clone(), mutex.clone());
        executor.start(async move {
            let mut count = mutex.lock().await;
            *count += 1;
            log.say(format_args!("{name} has it: {count}"));
            next_frame().await;
        });
    }
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&["F0: a has it: 1", "F1: b has it: 2", "F2: c has it: 3"]);
    executor.assert_empty();
}

#[test]
fn a_lock_guard_of_a_stopped_coroutine_is_released() {
    let mut executor = unclamped();
    let log = Log::new();
    let lock = Arc::new(RwLock::new(()));
    let held = lock.clone();
    let holder = executor.start(async move {
        let _guard = held.write().await;
        framestep_testkit::forever().await;
    });
    let say = log.clone();
    executor.start(async move {
        let _guard = lock.read().await;
        say.say("has it");
    });
    executor.run_frame(0.25);
    log.check(&[]);
    holder.stop();
    executor.run_frame(0.25);
    log.check(&["F2: has it"]);
}

#[test]
fn semaphores_barriers_and_notifications_work() {
    let mut executor = unclamped();
    let log = Log::new();
    let semaphore = Arc::new(Semaphore::new(1));
    let barrier = Arc::new(Barrier::new(2));
    let notify = Rc::new(Notify::new());
    let say = log.clone();
    let permits = semaphore.clone();
    executor.start(async move {
        let _permit = permits.acquire().await.unwrap();
        wait_frames(2).await;
        say.say("releases");
    });
    let say = log.clone();
    let gate = barrier.clone();
    executor.start(async move {
        let _permit = semaphore.acquire().await.unwrap();
        say.say("acquired");
        gate.wait().await;
        say.say("through the barrier");
    });
    let (say, notified) = (log.clone(), notify.clone());
    executor.start(async move {
        notified.notified().await;
        say.say("notified");
        barrier.wait().await;
        say.say("through the barrier as well");
    });
    executor.start(async move {
        wait_frames(3).await;
        notify.notify_one();
    });
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F2: releases",
        "F2: acquired",
        "F3: notified",
        "F3: through the barrier as well",
        "F3: through the barrier",
    ]);
}

#[test]
fn a_file_loaded_by_a_thread_arrives_through_a_oneshot() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, receiver) = oneshot::channel();
    let say = log.clone();
    let loads = executor.start(async move {
        say.say("loading");
        let text: std::io::Result<String> = receiver.await.unwrap();
        say.say("loaded");
        next_frame().await;
        text.unwrap()
    });
    let thread = std::thread::spawn(move || {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        sender.send(std::fs::read_to_string(path)).unwrap();
    });
    thread.join().unwrap();
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F0: loading", "F1: loaded"]);
    assert!(result_of(&executor, loads).unwrap().contains("framestep"));
}

#[test]
fn a_completion_callback_from_a_thread_is_noticed_by_wait_until() {
    let mut executor = unclamped();
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let is_done = done.clone();
    let waits = executor.start(async move {
        wait_until(move || is_done.load(std::sync::atomic::Ordering::Acquire)).await;
    });
    executor.run_frame(0.25);
    assert!(!waits.is_finished());
    let thread = std::thread::spawn(move || done.store(true, std::sync::atomic::Ordering::Release));
    thread.join().unwrap();
    executor.run_frame(0.25);
    assert!(waits.is_finished());
}

#[test]
fn streams_and_sinks_of_futures_work() {
    let mut executor = unclamped();
    let log = Log::new();
    let (mut sender, receiver) = futures::channel::mpsc::channel(0);
    executor.start(async move {
        for i in 0..4 {
            next_frame().await;
            sender.send(i).await.unwrap();
        }
    });
    let say = log.clone();
    executor.start(async move {
        let doubled = receiver
            .map(|i| i * 2)
            .filter(|i| futures::future::ready(*i > 0));
        doubled
            .for_each(|i| {
                say.say(i);
                futures::future::ready(())
            })
            .await;
        say.say("closed");
    });
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&["F2: 2", "F3: 4", "F4: 6", "F4: closed"]);
}

/// A user's wait: a `Future` around one of the crate's.
#[pin_project::pin_project]
struct Countdown<F> {
    #[pin]
    tick: F,
    left: Rc<Cell<u32>>,
    make: fn() -> F,
}

impl<F: Future> Future for Countdown<F> {
    type Output = &'static str;

    fn poll(
        self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<&'static str> {
        let mut this = self.project();
        while this.tick.as_mut().poll(cx).is_ready() {
            this.left.set(this.left.get() - 1);
            if this.left.get() == 0 {
                return std::task::Poll::Ready("lift-off");
            }
            this.tick.set((this.make)());
        }
        std::task::Poll::Pending
    }
}

#[test]
fn a_wait_of_ones_own_may_hold_waits_of_the_crate() {
    let mut executor = unclamped();
    let log = Log::new();
    let left = Rc::new(Cell::new(3));
    let make = || wait_seconds(0.5);
    let countdown = Countdown {
        tick: make(),
        left: left.clone(),
        make,
    };
    let say = log.clone();
    executor.start(countdown.map(move |text| say.say(text)));
    for expected in [3, 2, 2, 1, 1, 0] {
        executor.run_frame(0.25);
        assert_eq!(left.get(), expected);
    }
    log.check(&["F6: lift-off"]);
}
