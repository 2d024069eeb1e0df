//! `Watch`: a value that remembers its version, and waits for its changes.

mod reentry;
mod subscribers;

use std::cell::Cell;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::FusedFuture;

use framestep::prelude::*;

use framestep_testkit::allocations_of;
use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{counted, panic_of, swallow};

#[test]
fn set_by_a_coroutine_it_resumes_later_in_the_same_run() {
    let mut timeline = Timeline::with_dt(0.25);
    let door = Watch::new("shut");
    for (name, late, waits_for) in [
        ("changed", false, false),
        ("holds", false, true),
        ("late", true, true),
    ] {
        let door = door.clone();
        timeline.row(name, |mark| async move {
            let home = if late {
                Phase::LateUpdate
            } else {
                Phase::Update
            };
            let waits = script("").in_phase(home).start(async move {
                if waits_for {
                    door.wait_for(|door| *door == "open").await;
                } else {
                    door.changed().await;
                }
                assert_eq!(door.get(), "open");
                mark.hit();
            });
            waits.await.unwrap();
        });
    }
    timeline.row("sets", |mark| async move {
        wait_frames(2).await;
        door.set("open");
        mark.hit();
    });
    timeline.check(
        "
        frame   0 1 2 3
        changed - - *
        holds   - - *
        late    - - L
        sets    - - *
        ",
    );
}

#[test]
fn set_in_another_phase_it_resumes_in_the_next_run_of_its_own() {
    let mut timeline = Timeline::with_dt(0.25);
    let door = Watch::new(false);
    let update = door.clone();
    timeline.row("update", |mark| async move {
        next_frame().await;
        update.wait_for(|&open| open).await;
        mark.hit();
    });
    timeline.row("sets", |mark| async move {
        next_frame().in_phase(Phase::LateUpdate).await;
        door.set(true);
        mark.hit();
    });
    timeline.check(
        "
        frame  0 1 2 3
        update - - *
        sets   - L
        ",
    );
}

#[test]
fn set_by_the_host_it_resumes_in_the_next_run_in_order_of_waiting() {
    let mut executor = unclamped();
    let (log, health) = (Log::new(), Watch::new(10));
    for (name, frames) in [("late", 2), ("early", 1), ("between", 1)] {
        let (log, health) = (log.clone(), health.clone());
        executor.start(async move {
            wait_frames(frames).await;
            health.changed().await;
            log.say(name);
        });
    }
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    health.set(9);
    assert!(executor.has_ready());
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F3: early", "F3: between", "F3: late"]);
    assert!(!executor.has_ready());
}

// docs/contract.md#rule-8-refused
#[test]
fn a_wait_that_refuses_a_change_begins_to_wait_anew() {
    let mut executor = unclamped();
    let (log, health) = (Log::new(), Watch::new(10));
    let (first, dying) = (log.clone(), health.clone());
    executor.start(async move {
        dying.wait_for(|&health| health <= 0).await;
        first.say("first");
    });
    let (later, changing) = (log.clone(), health.clone());
    executor.start(async move {
        wait_frames(2).await;
        changing.set(9); // refused in F2, when this one waits
        changing.changed().await;
        later.say("later");
    });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    health.set(0);
    executor.run_frame(0.25);
    log.check(&["F3: later", "F3: first"]);
}

#[test]
fn a_condition_that_holds_already_ends_at_once() {
    let executor = unclamped();
    let health = Watch::new(3);
    assert!(executor.start(health.wait_for(|&h| h < 5)).is_finished());
    assert!(!executor.start(health.wait_for(|&h| h < 3)).is_finished());
    // Also outside an executor.
    assert_eq!(health.wait_for(|&h| h < 5).now_or_never(), Some(3));
}

#[test]
fn waits_return_the_value_that_they_have_found() {
    let mut executor = unclamped();
    let health = Watch::new(10);
    let changed = executor.start(health.changed());
    let dies = executor.start(health.wait_for(|&health| health <= 0));
    health.set(7);
    health.set(5);
    assert_eq!(executor.run_until(changed, 0.25).unwrap(), 5);
    let late = health.clone();
    let resets = executor.start(async move {
        late.wait_for(|&health| health <= 0).await;
        late.set(10);
    });
    // The value that the condition has seen, even if it has been replaced
    // since.
    let sets = health.clone();
    let seen = executor.start(health.wait_for(move |&health| {
        sets.set(health - 1);
        health == 5
    }));
    assert_eq!(seen.take_output().unwrap().unwrap(), 5);
    health.set(-2);
    executor.run_frame(0.25);
    assert!(resets.is_finished());
    assert_eq!(
        (dies.take_output().unwrap().unwrap(), health.get()),
        (-2, 10)
    );
}

#[test]
fn a_condition_is_asked_once_for_each_change_and_not_in_between() {
    let mut executor = unclamped();
    let (asked, polls) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let health = Watch::new(10);
    let ask = asked.clone();
    let dies = health.wait_for(move |&health| {
        ask.set(ask.get() + 1);
        health <= 0
    });
    let dies = executor.start(counted(polls.clone(), dies));
    for _ in 0..10 {
        executor.run_frame(0.25);
    }
    assert_eq!((asked.get(), polls.get()), (1, 1));
    health.set(5);
    health.set(4);
    executor.run_frame(0.25);
    assert_eq!((asked.get(), polls.get()), (2, 2));
    health.set(0);
    executor.run_until(dies, 0.25).unwrap();
    assert_eq!((asked.get(), polls.get()), (3, 3));
}

#[test]
fn a_value_that_is_replaced_before_the_resume_is_not_seen() {
    let mut executor = unclamped();
    let door = Watch::new("shut");
    let opens = executor.start(door.wait_for(|door| *door == "open"));
    door.set("open");
    door.set("shut");
    executor.run_frame(0.25);
    assert!(!opens.is_finished());
    door.set("open");
    executor.run_frame(0.25);
    assert!(opens.is_finished());
}

#[test]
fn changed_counts_from_the_call() {
    let executor = unclamped();
    let health = Watch::new(10);
    health.set(9);
    let changed = health.changed();
    let late = health.changed();
    health.set(8);
    // Neither has been polled, and both have been woken.
    assert!(executor.start(changed).is_finished());
    assert!(executor.start(late).is_finished());
    assert!(!executor.start(health.changed()).is_finished());
}

#[test]
fn setting_an_equal_value_is_a_change() {
    let mut executor = unclamped();
    let health = Watch::new(10);
    let changed = executor.start(health.changed());
    health.set(10);
    executor.run_until(changed, 0.25).unwrap();
    assert_eq!(executor.time().frame, 1);
}

#[test]
fn it_is_read_with_and_without_a_clone() {
    struct Unique(u32);

    let unique = Watch::new(Unique(1));
    assert_eq!(unique.with(|unique| unique.0), 1);
    unique.clone().set(Unique(2));
    assert_eq!(unique.with(|unique| unique.0), 2);

    let number = Watch::<u32>::default();
    assert_eq!(number.update(|number| std::mem::replace(number, 7)), 0);
    assert_eq!(number.get(), 7);
    assert_eq!(format!("{number:?}"), "Watch { value: 7, .. }");
}

#[test]
fn an_update_that_panics_leaves_the_value_as_it_is_and_counts_as_a_change() {
    let mut executor = unclamped();
    let health = Watch::new(10);
    let changed = executor.start(health.changed());
    let message = panic_of(|| {
        health.update(|health| {
            *health = 3;
            panic!("on purpose");
        })
    });
    assert_eq!(message, "on purpose");
    assert_eq!(health.get(), 3);
    executor.run_frame(0.25);
    assert_eq!(changed.take_output().unwrap().unwrap(), 3);
}

/// A value that counts its clones.
struct Counted(Rc<Cell<u32>>, u32);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.set(self.0.get() + 1);
        Counted(self.0.clone(), self.1)
    }
}

#[test]
fn an_update_clones_only_what_a_closure_is_reading() {
    let clones = Rc::new(Cell::new(0));
    let watch = Watch::new(Counted(clones.clone(), 1));
    watch.update(|value| value.1 += 1);
    assert!(watch.update_if(|value| value.1 == 2));
    assert_eq!(watch.replace(Counted(clones.clone(), 5)).1, 2);
    assert_eq!(clones.get(), 0);
    watch.with(|kept| {
        watch.update(|value| value.1 += 1);
        assert_eq!(kept.1, 5);
    });
    assert_eq!(clones.get(), 1);
    assert_eq!(watch.with(|value| value.1), 6);
}

#[test]
fn update_if_wakes_only_if_its_closure_says_so() {
    let mut executor = unclamped();
    let health = Watch::new(10);
    let mut changes = health.subscribe();
    let polls = Rc::new(Cell::new(0));
    let change = executor.start(counted(polls.clone(), async move { changes.next().await }));
    assert!(!health.update_if(|_| false));
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 1);
    health.with(|_| {
        assert!(!health.update_if(|health| {
            *health = 0;
            false
        }));
    });
    assert_eq!(health.get(), 10);
    assert!(health.update_if(|health| {
        *health = 9;
        true
    }));
    executor.run_frame(0.25);
    assert_eq!(change.take_output().unwrap().unwrap(), Some(9));
}

#[test]
fn a_reader_waits_and_does_not_keep_the_streams_from_ending() {
    let mut executor = unclamped();
    let health = Watch::new(10).named("health");
    let reader = health.reader();
    let (changed, dies) = (reader.changed(), reader.wait_for(|&left| left <= 0));
    let (changed, dies) = (executor.start(changed), executor.start(dies));
    let mut changes = reader.clone().subscribe().with_present();
    let seen = executor.start(async move {
        let mut seen = Vec::new();
        while let Some(left) = changes.next().await {
            seen.push(left);
        }
        seen
    });
    assert_eq!(
        format!("{reader:?}"),
        "WatchReader { name: \"health\", value: 10, .. }"
    );
    health.set(4);
    executor.run_frame(0.25);
    health.set(0);
    drop(health);
    executor.run_frame(0.25);
    assert_eq!(changed.take_output().unwrap().unwrap(), 4);
    assert_eq!(dies.take_output().unwrap().unwrap(), 0);
    assert_eq!(seen.take_output().unwrap().unwrap(), [10, 4, 0]);
    assert_eq!((reader.get(), reader.with(|&left| left)), (0, 0));
}

#[test]
fn waits_are_owned_fused_and_may_be_dropped() {
    let mut executor = unclamped();
    let health = Watch::new(10);
    let (mut changed, mut dies) = (health.changed(), health.wait_for(|&health| health <= 0));
    assert!(!changed.is_terminated() && !dies.is_terminated());
    executor.run_until(
        async move {
            for frame in 0.. {
                futures::select_biased! {
                    health = changed => assert_eq!((frame, health), (2, 5)),
                    health = dies => return assert_eq!((frame, health), (6, 0)),
                    () = next_frame() => (),
                }
                match time().frame {
                    2 => health.set(5),
                    5 => health.set(0),
                    _ => (),
                }
            }
        },
        0.25,
    );

    let mut wait = Watch::new(1).wait_for(|_| true);
    assert!((&mut wait).now_or_never().is_some());
    assert!(wait.is_terminated());
    let message = panic_of(|| wait.now_or_never());
    assert!(message.contains("polled again"), "{message}");
}

#[test]
fn a_wait_that_was_stopped_takes_nothing_from_the_others() {
    let mut executor = unclamped();
    let (log, health) = (Log::new(), Watch::new(10));
    let wait = |name: &'static str| {
        let (log, health) = (log.clone(), health.clone());
        executor.start(async move {
            health.changed().await;
            log.say(name);
        })
    };
    let (_a, stopped, _b) = (wait("a"), wait("stopped"), wait("b"));
    health.set(1);
    stopped.stop();
    executor.run_frame(0.25);
    log.check(&["F1: a", "F1: b"]);
}

#[test]
fn when_all_watches_are_gone_its_waits_sleep_and_can_be_stopped() {
    let mut executor = unclamped();
    let watch = Watch::new(1);
    let changed = executor.start(watch.changed());
    let holds = executor.start(watch.wait_for(|&value| value == 2));
    drop(watch);
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    assert!(!executor.has_ready(), "they do not wake themselves");
    assert!(changed.stop() && holds.stop());
}

#[test]
fn behind_a_waker_that_does_nothing_it_is_ready_at_the_next_poll() {
    let mut executor = unclamped();
    let door = Watch::new(false);
    let (wait, mut frames) = (door.wait_for(|&open| open), 0);
    let seen = executor.start(async move {
        let mut wait = std::pin::pin!(swallow(wait));
        loop {
            futures::select_biased! {
                _ = wait.as_mut().fuse() => return frames,
                () = next_frame() => frames += 1,
            }
        }
    });
    executor.run_frame(0.25);
    door.set(true);
    assert_eq!(executor.run_until(seen, 0.25).unwrap(), 1);
}

#[test]
fn a_paused_coroutine_sees_a_change_when_it_is_resumed() {
    let mut executor = unclamped();
    let health = Watch::new(10);
    let changed = executor.start(health.changed());
    changed.pause();
    health.set(3);
    executor.run_frame(0.25);
    assert!(!changed.is_finished());
    changed.resume();
    executor.run_frame(0.25);
    assert!(changed.is_finished());
}

#[test]
fn setting_allocates_nothing_in_the_steady_state() {
    let mut executor = unclamped();
    let watch = Watch::new(0_u64);
    for i in 0..50 {
        let watch = watch.clone();
        executor.start(async move {
            loop {
                if i % 2 == 0 {
                    watch.changed().await;
                } else {
                    let seen = watch.get();
                    watch.wait_for(|&value| value > seen).await;
                }
            }
        });
    }
    let mut frames = |count| {
        for _ in 0..count {
            watch.update(|value| *value += 1);
            executor.run_frame(0.25);
        }
    };
    frames(1_000);
    assert_eq!(allocations_of(|| frames(1_000)), 0);
}
