//! Subscriptions and intervals that go on in the next chapter, or in another script.

use framestep_durable::prelude::*;

use crate::twin::{Log, quiet};

const KNOCK: Signal<u32> = signal("knock");
const TAP: Signal<u32> = signal_with_limit("tap", 2);

fn log(what: impl Into<String>) {
    let what = what.into();
    with(move |log: &mut Log| log.push(what));
}

/// A chapter for each event, which is busy for a while after it.
#[durable]
async fn door(mut knocks: Unread<u32>) -> Chapter {
    let knock = knocks.next().await.unwrap();
    log(format!("{knock}, {} missed", knocks.missed()));
    wait_frames(2).await;
    Chapter::Next(door(knocks))
}

/// The same in one chapter.
#[durable]
async fn door_in_one() {
    let mut knocks = KNOCK.subscribe();
    loop {
        let knock = knocks.next().await.unwrap();
        log(format!("{knock}, {} missed", knocks.missed()));
        wait_frames(2).await;
    }
}

/// Hands its subscription to a child, with what it has not read.
#[durable]
async fn hands_to_a_child() {
    let mut knocks = KNOCK.subscribe();
    log(format!("parent {}", knocks.next().await.unwrap()));
    wait_frames(2).await;
    start(door(knocks.into())).detach();
    wait_frames(20).await;
}

/// Two subscriptions, one of which is new in each chapter.
#[durable]
async fn two(mut knocks: Unread<u32>, mut taps: Unread<u32>) -> Chapter {
    select! {
        knock = knocks.next() => log(format!("knock {}", knock.unwrap())),
        tap = taps.next() => log(format!("tap {}", tap.unwrap())),
    }
    drop(taps);
    Chapter::Next(two(knocks, Unread::of(&TAP.keyed("front"))))
}

/// Passes on what it has never used.
#[durable]
async fn passes(knocks: Unread<u32>, rounds: u32) -> Chapter {
    if rounds > 0 {
        wait_frames(1).await;
        return Chapter::Next(passes(knocks, rounds - 1));
    }
    start(door(knocks)).detach();
    Chapter::Done(())
}

#[durable]
async fn beat(mut every: Schedule) -> Chapter {
    every.tick().await;
    log(format!("tick {}", time().frame));
    Chapter::Next(beat(every))
}

#[durable]
async fn beat_in_one(mut every: Schedule) {
    loop {
        every.tick().await;
        log(format!("tick {}", time().frame));
    }
}

/// Ends its chapters in the middle of a tick.
#[durable]
async fn between_ticks(mut every: Schedule) -> Chapter {
    select! {
        _ = every.tick() => log(format!("tick {}", time().frame)),
        () = wait_frames(1) => {}
    }
    Chapter::Next(between_ticks(every))
}

/// Hands over an interval that has begun to another script.
#[durable]
async fn hands_a_beat() {
    let mut every = interval(0.5);
    every.tick().await;
    start(beat(every.into())).detach();
}

fn registry() -> Registry {
    Registry::new()
        .script(door)
        .script(door_in_one)
        .script(hands_to_a_child)
        .script(two)
        .script(passes)
        .script(beat)
        .script(beat_in_one)
        .script(between_ticks)
        .script(hands_a_beat)
}

fn runtime() -> Runtime {
    let runtime = Runtime::new(registry());
    runtime.on_loss(|loss| panic!("{loss}"));
    runtime
}

/// How a game goes on between two frames.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Plainly,
    Loaded,
    Described,
    RolledBack,
    SyncTested,
}

const WAYS: [Way; 5] = [
    Way::Plainly,
    Way::Loaded,
    Way::Described,
    Way::RolledBack,
    Way::SyncTested,
];

/// Runs frames, and calls `before` before each.
fn play(
    way: Way,
    begin: fn(&Runtime),
    frames: u32,
    before: impl Fn(u32, &Runtime),
) -> (Log, Runtime) {
    let mut runtime = match way {
        Way::SyncTested => Runtime::builder(registry()).sync_test::<Log>().build(),
        _ => Runtime::new(registry()),
    };
    runtime.on_loss(|loss| panic!("{loss}"));
    let mut log = Log::new();
    begin(&runtime);
    for frame in 1..=frames {
        before(frame, &runtime);
        let save = runtime.save().unwrap();
        match way {
            Way::Plainly | Way::SyncTested => {}
            Way::Loaded | Way::Described => {
                let save = match way {
                    Way::Described => save.described(&registry()).unwrap(),
                    _ => save,
                };
                let save = SaveState::from_bytes(&save.to_bytes()).unwrap();
                runtime = self::runtime();
                runtime.restore(&save, Policy::Fail).unwrap();
            }
            Way::RolledBack => {
                let then = log.clone();
                for _ in 0..3 {
                    runtime.run_frame_with(&mut log, 0.1);
                    runtime.named(&KNOCK).emit(99);
                }
                runtime.rollback(&save).unwrap();
                log = then;
            }
        }
        runtime.run_frame_with(&mut log, 0.1);
    }
    (log, runtime)
}

fn knocks_at(frame: u32, runtime: &Runtime) {
    for knock in (0..5).filter(|knock| knock / 3 + 2 == frame) {
        runtime.named(&KNOCK).emit(knock);
    }
}

#[test]
fn a_chapter_for_each_event_reads_all_that_one_chapter_reads() {
    let (expected, _) = play(
        Way::Plainly,
        |runtime| runtime.start(door_in_one()).detach(),
        20,
        knocks_at,
    );
    assert_eq!(expected.len(), 5);
    for way in WAYS {
        let begin = |runtime: &Runtime| runtime.start(door(Unread::of(&KNOCK))).detach();
        let (log, runtime) = play(way, begin, 20, knocks_at);
        assert_eq!(log, expected, "{way:?}");
        let text = runtime.save().unwrap().to_string();
        assert_eq!(text.matches("subscription of").count(), 1, "{text}");
    }
}

#[test]
fn a_subscription_of_a_parameter_begins_when_the_script_is_made() {
    for way in WAYS {
        // Nothing has polled it yet.
        let begin = |runtime: &Runtime| {
            runtime.spawn(door(Unread::of(&KNOCK))).detach();
            runtime.named(&KNOCK).emit(7);
        };
        let (log, _) = play(way, begin, 2, |_, _| ());
        assert_eq!(log, ["7, 0 missed"], "{way:?}");
    }
}

#[test]
fn a_subscription_goes_to_another_script_with_what_it_has_not_read() {
    for way in WAYS {
        let begin = |runtime: &Runtime| runtime.start(hands_to_a_child()).detach();
        let (log, _) = play(way, begin, 16, knocks_at);
        let expected = [
            "parent 0",
            "1, 0 missed",
            "2, 0 missed",
            "3, 0 missed",
            "4, 0 missed",
        ];
        assert_eq!(log, expected, "{way:?}");
    }
}

#[test]
fn a_subscription_that_no_chapter_has_used_keeps_its_events() {
    for way in WAYS {
        let begin = |runtime: &Runtime| runtime.spawn(passes(Unread::of(&KNOCK), 4)).detach();
        let (log, runtime) = play(way, begin, 20, knocks_at);
        assert_eq!(log.len(), 5, "{way:?}");
        assert_eq!(log[0], "0, 0 missed");
        let text = runtime.save().unwrap().to_string();
        assert_eq!(text.matches("subscription of").count(), 1, "{text}");
    }
}

#[test]
fn two_subscriptions_are_handed_over_apart() {
    for way in WAYS {
        let begin = |runtime: &Runtime| {
            let taps = Unread::of(&TAP.keyed("front"));
            runtime.start(two(Unread::of(&KNOCK), taps)).detach();
        };
        let (log, _) = play(way, begin, 8, |frame, runtime| match frame {
            2 => {
                runtime.named(&KNOCK).emit(1);
                runtime.named(&KNOCK).emit(2);
            }
            4 => runtime.named(&TAP.keyed("front")).emit(3),
            5 => runtime.named(&TAP.keyed("front")).emit(4),
            6 => runtime.named(&KNOCK).emit(5),
            _ => {}
        });
        let expected = ["knock 1", "knock 2", "tap 3", "tap 4", "knock 5"];
        assert_eq!(log, expected, "{way:?}");
    }
}

#[test]
fn an_event_for_one_stays_with_the_subscription_that_has_it() {
    for way in WAYS {
        let begin = |runtime: &Runtime| runtime.start(door(Unread::of(&KNOCK))).detach();
        let (log, _) = play(way, begin, 6, |frame, runtime| {
            if frame == 2 {
                assert_eq!(runtime.named(&KNOCK).emit_one(8), None);
                runtime.named(&KNOCK).emit(9);
            }
        });
        assert_eq!(log, ["8, 0 missed", "9, 0 missed"], "{way:?}");
    }
}

#[test]
fn an_interval_keeps_its_beat_over_chapters() {
    for missed in [MissedTicks::Burst, MissedTicks::Skip, MissedTicks::Delay] {
        for way in [Way::Plainly, Way::Loaded, Way::SyncTested] {
            let every = || interval(0.25).first_after(0.35).missed_ticks(missed);
            let run = |begin: fn(&Runtime, Schedule)| {
                let mut runtime = match way {
                    Way::SyncTested => Runtime::builder(registry()).sync_test::<Log>().build(),
                    _ => self::runtime(),
                };
                let mut log = Log::new();
                begin(&runtime, every().into());
                for frame in 0..30 {
                    if way == Way::Loaded {
                        let save = runtime.save().unwrap().to_bytes();
                        runtime = self::runtime();
                        let save = SaveState::from_bytes(&save).unwrap();
                        runtime.restore(&save, Policy::Fail).unwrap();
                    }
                    // One frame is as long as several ticks.
                    runtime.run_frame_with(&mut log, if frame == 9 { 1.1 } else { 0.1 });
                }
                log
            };
            let expected = run(|runtime, every| runtime.start(beat_in_one(every)).detach());
            assert!(expected.len() > 8);
            let chapters = run(|runtime, every| runtime.start(beat(every)).detach());
            assert_eq!(chapters, expected, "{missed:?} {way:?}");
            let between = run(|runtime, every| runtime.start(between_ticks(every)).detach());
            assert_eq!(between, expected, "{missed:?} {way:?}");
        }
    }
}

#[test]
fn a_loaded_interval_that_falls_behind_is_reported_by_the_line_that_awaits_it() {
    let mut runtime = self::runtime();
    runtime.start(beat(interval(0.001).into())).detach();
    let save = runtime.save().unwrap();
    runtime.restore(&save, Policy::Fail).unwrap();
    runtime.executor().on_report(|report| {
        with(|log: &mut Log| log.push(report.to_string()));
    });
    let mut log = Log::new();
    runtime.run_frame_with(&mut log, 0.25);
    assert!(log[0].contains("carried.rs:69"), "{log:?}");
}

#[test]
fn an_interval_that_has_begun_is_refused_in_the_state_of_another_script() {
    let mut runtime = quiet(registry());
    let hands = runtime.start(hands_a_beat());
    for _ in 0..6 {
        runtime.run_frame_with(&mut Log::new(), 0.1);
    }
    let Some(Err(JoinError::Panicked(why))) = runtime.take(hands) else {
        panic!("it has not panicked");
    };
    assert!(why.contains("give another script a new one"), "{why}");
}

#[test]
fn a_subscription_that_was_not_in_the_state_of_its_script_is_refused() {
    #[durable]
    async fn takes() {
        Unread::of(&KNOCK).next().await;
    }
    let runtime = quiet(Registry::new().script(takes));
    let takes = runtime.start(takes());
    let Some(Err(JoinError::Panicked(why))) = runtime.take(takes) else {
        panic!("it has not panicked");
    };
    assert!(
        why.contains("that the script `takes` does not have"),
        "{why}"
    );
}

mod before {
    use super::*;

    #[durable]
    pub(super) async fn guard(mut knocks: Unread<u32>) -> Chapter {
        let knock = knocks.next().await.unwrap();
        log(format!("{knock}"));
        wait_frames(3).await;
        Chapter::Next(guard(knocks))
    }
}

/// Code that does not fit a journal of the one above.
mod after {
    use super::*;

    #[durable]
    pub(super) async fn guard(mut knocks: Unread<u32>) -> Chapter {
        log("anew");
        let knock = knocks.next().await.unwrap();
        log(format!("{knock}"));
        Chapter::Next(guard(knocks))
    }
}

#[test]
fn a_script_that_restarts_its_chapter_keeps_the_events_of_its_state() {
    for (policy, expected) in [
        (Policy::Restart, vec!["0", "anew", "1", "anew", "2", "anew"]),
        (
            Policy::RestartAfterWait,
            vec!["0", "anew", "1", "anew", "2", "anew"],
        ),
    ] {
        let mut runtime = Runtime::new(Registry::new().script(before::guard));
        let mut log = Log::new();
        runtime.start(before::guard(Unread::of(&KNOCK))).detach();
        for knock in 0..3 {
            runtime.named(&KNOCK).emit(knock);
        }
        runtime.run_frame_with(&mut log, 0.1);
        let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();

        let mut runtime = Runtime::new(Registry::new().script(after::guard));
        runtime.on_loss(|loss| panic!("{loss}"));
        runtime.restore(&save, policy).unwrap();
        for _ in 0..6 {
            let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
            runtime.restore(&save, Policy::Fail).unwrap();
            runtime.run_frame_with(&mut log, 0.1);
        }
        assert_eq!(log, expected, "{policy:?}");
    }
}

mod first_release {
    use super::*;

    #[durable(name = "shop")]
    pub(super) async fn shop(coins: u32) {
        wait_frames(100 + u64::from(coins)).await;
    }
}

mod second_release {
    use super::*;

    fn migrated(old: framestep_durable::OldState<'_>) -> Option<Shop> {
        let (coins,) = old.read()?;
        Some(shop(coins, Unread::of(&KNOCK)))
    }

    #[durable(name = "shop", version = 1, migrate = migrated, state = Shop)]
    pub(super) async fn shop(coins: u32, mut knocks: Unread<u32>) -> Chapter {
        let knock = knocks.next().await.unwrap();
        log(format!("{coins} {knock}"));
        Chapter::Next(shop(coins + 1, knocks))
    }
}

#[test]
fn a_migrated_state_subscribes_in_the_restore() {
    let runtime = Runtime::new(Registry::new().script(first_release::shop));
    runtime.start(first_release::shop(3)).detach();
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    let registry = || Registry::new().script(second_release::shop);
    assert!(!registry().dry_run(&save).is_compatible());
    let mut checksums = Vec::new();
    for policy in [Policy::Restart, Policy::Restart, Policy::RestartAfterWait] {
        let mut runtime = Runtime::new(registry());
        // What was there before does not matter.
        for _ in 0..checksums.len() {
            runtime
                .start(second_release::shop(9, Unread::of(&KNOCK)))
                .detach();
        }
        runtime.restore(&save, policy).unwrap();
        checksums.push(runtime.checksum().unwrap());
        let mut log = Log::new();
        for _ in 0..if policy == Policy::Restart { 0 } else { 103 } {
            runtime.run_frame_with(&mut log, 0.1);
        }
        for knock in [1, 2] {
            runtime.named(&KNOCK).emit(knock);
            let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
            runtime.restore(&save, Policy::Fail).unwrap();
        }
        runtime.run_frame_with(&mut log, 0.1);
        assert_eq!(log, ["3 1", "4 2"], "{policy:?}");
    }
    assert_eq!(checksums[0], checksums[1]);
}

#[test]
fn a_script_that_goes_on_as_a_plain_coroutine_hands_over_as_well() {
    #[durable]
    async fn begins() {
        start(door(Unread::of(&KNOCK))).detach();
        start(beat(interval(0.25).into())).detach();
    }
    // In an executor without a runtime.
    let mut executor = framestep::Executor::new();
    let mut log = Log::new();
    executor.spawn(async { start(begins()).detach() });
    for frame in 0..9 {
        if frame == 1 {
            executor.enter(|| [1, 2, 3].map(|knock| KNOCK.emit(knock)));
        }
        executor.run_frame_with(&mut log, 0.125);
    }
    let expected = [
        "1, 0 missed",
        "tick 3",
        "2, 0 missed",
        "tick 5",
        "3, 0 missed",
        "tick 7",
        "tick 9",
    ];
    assert_eq!(log, expected);
}
