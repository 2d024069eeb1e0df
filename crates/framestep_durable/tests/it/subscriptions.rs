//! Subscriptions: which events they store, lose and return, before and after a save.

use std::cell::RefCell;

use framestep_durable::prelude::*;

const HIT: Signal<u32> = signal("hit");
const TAP: Signal<u32> = signal_with_limit("tap", 2);

type Log = Vec<String>;

fn log(what: String) {
    with(move |log: &mut Log| log.push(what));
}

/// Reads two events of a chapter, with a pause before each.
#[durable]
async fn reads(name: String, chapters: u32) -> Chapter {
    let mut taps = TAP.subscribe();
    for _ in 0..2 {
        wait_seconds(0.3).await;
        let tap = taps.next().await.unwrap();
        log(format!("{name} {tap}, {} missed", taps.missed()));
    }
    match chapters {
        1 => Chapter::Done(()),
        left => Chapter::Next(reads(name, left - 1)),
    }
}

#[durable]
async fn drops() -> u32 {
    let mut first = HIT.subscribe();
    let second = HIT.subscribe();
    next_frame().await;
    drop(second);
    let waits = first.next();
    drop(waits);
    let polled = timeout(0.1, first.next()).await;
    polled.map_or(0, Option::unwrap) + first.next().await.unwrap()
}

fn registry() -> Registry {
    Registry::new()
        .script(reads)
        .script(drops)
        .script(order)
        .script(shares)
}

fn reloaded(runtime: &Runtime) -> Runtime {
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    let mut runtime = Runtime::new(registry());
    runtime.restore(&save, Policy::Fail).unwrap();
    runtime
}

#[test]
fn no_event_is_lost_between_two_waits_but_those_beyond_the_limit() {
    for loads in [false, true] {
        let mut runtime = Runtime::new(registry());
        let mut log = Log::new();
        runtime.start(reads("early".into(), 1)).detach();
        runtime.named(&TAP).emit(1);
        runtime.start(reads("late".into(), 1)).detach();
        for tap in 2..5 {
            runtime.named(&TAP).emit(tap);
            if loads {
                runtime = reloaded(&runtime);
            }
        }
        assert!(runtime.save().unwrap().to_string().contains(
            "subscription of #1 to `tap`: 2 unread [3, 4], 2 missed\n\
             subscription of #2 to `tap`: 2 unread [3, 4], 1 missed"
        ));
        for _ in 0..8 {
            runtime.run_frame_with(&mut log, 0.1);
            if loads {
                runtime = reloaded(&runtime);
            }
        }
        let expected = [
            "early 3, 2 missed",
            "late 3, 1 missed",
            "early 4, 2 missed",
            "late 4, 1 missed",
        ];
        assert_eq!(log, expected);
        assert_eq!(runtime.save().unwrap().to_string().lines().count(), 1);
    }
}

#[test]
fn another_chapter_begins_without_the_events_of_the_last_one() {
    let mut runtime = Runtime::new(registry());
    let mut log = Log::new();
    runtime.start(reads("x".into(), 2)).detach();
    for tap in 1..=20 {
        runtime.named(&TAP).emit(tap);
        runtime.run_frame_with(&mut log, 0.1);
        runtime = reloaded(&runtime);
        let text = runtime.save().unwrap().to_string();
        let subscriptions = text.matches("subscription of").count();
        assert_eq!(subscriptions, runtime.scripts().len(), "{text}");
    }
    // The chapters begin before frame 1 and in frame 6.
    let expected = [
        "x 2, 1 missed",
        "x 5, 3 missed",
        "x 8, 1 missed",
        "x 11, 3 missed",
    ];
    assert_eq!(log, expected);
}

#[test]
fn a_wait_that_is_dropped_loses_nothing_and_a_subscription_that_is_dropped_is_gone() {
    let mut runtime = Runtime::new(registry());
    let script = runtime.start(drops());
    runtime.named(&HIT).emit(1);
    let unread = |runtime: &Runtime| {
        runtime
            .save()
            .unwrap()
            .to_string()
            .matches("unread")
            .count()
    };
    assert_eq!(unread(&runtime), 2);
    runtime.run_frame(0.1); // reads 1
    assert_eq!(unread(&runtime), 1);
    runtime.named(&HIT).emit(2);
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(script), Some(Ok(3)));
    assert_eq!(unread(&runtime), 0);
}

/// Waits in three ways for one signal.
#[durable]
async fn order(name: u32) {
    next_frame().await;
    let mut hits = HIT.subscribe();
    let hit = match name % 3 {
        0 => hits.next().await.unwrap(),
        1 => HIT.wait().await,
        _ => HIT.wait_for(|hit| *hit > 1).await,
    };
    log(format!("{name} {hit}"));
}

#[test]
fn scripts_that_wait_in_different_ways_resume_in_the_order_in_which_they_began() {
    for loads in [false, true] {
        let mut runtime = Runtime::new(registry());
        let mut log = Log::new();
        for name in [2, 0, 1, 5, 3, 4] {
            runtime.start(order(name)).detach();
        }
        runtime.run_frame_with(&mut log, 0.1);
        if loads {
            runtime = reloaded(&runtime);
        }
        // 2 and 5 refuse the first hit, and wait again, after the others.
        runtime.named(&HIT).emit(1);
        runtime.run_frame_with(&mut log, 0.1);
        for name in [6, 7] {
            runtime.start(order(name)).detach();
        }
        runtime.run_frame_with(&mut log, 0.1);
        if loads {
            runtime = reloaded(&runtime);
        }
        runtime.named(&HIT).emit(2);
        runtime.run_frame_with(&mut log, 0.1);
        let expected = ["0 1", "1 1", "3 1", "4 1", "2 2", "5 2", "6 2", "7 2"];
        assert_eq!(log, expected, "{loads}");
        assert_eq!(runtime.save().unwrap().to_string().lines().count(), 1);
    }
}

thread_local! {
    static SHARED: RefCell<Option<Subscription<u32>>> = const { RefCell::new(None) };
}

#[durable]
async fn shares(stores: bool) {
    if stores {
        SHARED.set(Some(HIT.subscribe()));
        wait_seconds(9).await;
    } else {
        let mut hits = SHARED.take().expect("the other one has stored it");
        hits.next().await;
    }
}

#[test]
fn a_subscription_that_another_script_polls_is_refused() {
    let runtime = Runtime::with(
        framestep::Executor::builder().propagate_panics(false),
        registry(),
    );
    runtime.executor().on_report(|_| ());
    let _owner = runtime.start(shares(true));
    let other = runtime.start(shares(false));
    let Some(Err(JoinError::Panicked(why))) = runtime.take(other) else {
        panic!("it has not panicked");
    };
    assert!(why.contains("cannot share subscriptions"), "{why}");
}
