//! In a pause, everything that counts seconds stands still, even if no timer is
//! pending when the pause begins, and on any clock.
//! docs/contract.md#rule-12-stands-still

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use framestep::Executor;
use framestep::prelude::*;
use framestep::time::Clock;

use framestep_testkit::PHASES;
use framestep_testkit::timeline::{Log, UNLIMITED};

/// The part that is paused.
#[derive(Clone, Copy, Debug)]
enum Flag {
    OnItself,
    OnItsOwner,
    FarAbove,
}

const FLAGS: [Flag; 3] = [Flag::OnItself, Flag::OnItsOwner, Flag::FarAbove];

/// The clock of the scripts: the game clock, or one that runs twice or half as
/// fast.
const CLOCKS: [Option<f64>; 3] = [None, Some(2.0), Some(0.5)];

/// A script that can be paused, on an owner whose clock runs at some speed.
struct Stage {
    executor: Executor,
    clock: Clock,
    top: Owner,
    _middle: Owner,
    owner: Owner,
}

impl Stage {
    fn new(speed: Option<f64>) -> Self {
        // In each frame a step.
        let builder = Executor::builder().max_delta(UNLIMITED);
        let executor = builder.fixed_delta(0.25 / speed.unwrap_or(1.0)).build();
        let mut clock = executor.clock();
        if let Some(speed) = speed {
            clock = clock.child();
            clock.set_scale(speed);
        }
        let top = executor.owner();
        let middle = top.child();
        let owner = middle.child_on(&clock);
        Stage {
            executor,
            clock,
            top,
            _middle: middle,
            owner,
        }
    }

    /// Runs so many frames in which the clock advances by a quarter of a second.
    fn quarters(&mut self, frames: u32) {
        for _ in 0..frames {
            self.executor.run_frame(0.25 / self.clock.scale());
        }
    }

    fn set_paused(&self, script: &Coroutine<()>, flag: Flag, paused: bool) {
        assert!(match (flag, paused) {
            (Flag::OnItself, true) => script.pause(),
            (Flag::OnItself, false) => script.resume(),
            (Flag::OnItsOwner, true) => self.owner.pause(),
            (Flag::OnItsOwner, false) => self.owner.resume(),
            (Flag::FarAbove, true) => self.top.pause(),
            (Flag::FarAbove, false) => self.top.resume(),
        });
    }
}

/// Runs `script` with a pause of five seconds after `frames` frames of a quarter
/// of a second, for each kind of pause and each clock. `check` gets its notes.
fn with_a_pause<F: Future<Output = ()> + 'static>(
    frames: u32,
    script: impl Fn(Log) -> F,
    expected: &[&str],
) {
    for flag in FLAGS {
        for speed in CLOCKS {
            let mut stage = Stage::new(speed);
            let log = Log::new();
            let script = stage.owner.start(script(log.clone()));
            stage.quarters(frames);
            stage.set_paused(&script, flag, true);
            stage.quarters(20);
            stage.set_paused(&script, flag, false);
            stage.quarters(20);
            let trace = log.take();
            assert_eq!(trace, expected, "{flag:?}, a clock of its own: {speed:?}");
        }
    }
}

#[test]
fn wait_seconds_has_as_much_before_it_as_when_the_pause_began() {
    for phase in PHASES {
        with_a_pause(
            2,
            |log| async move {
                wait_seconds(1).in_phase(phase).await;
                log.note(time().frame);
                wait_seconds(0.5).in_phase(phase).await;
                log.note(time().frame);
            },
            &["24", "26"],
        );
    }
}

#[test]
fn animate_continues_from_the_value_that_it_had() {
    for phase in [Phase::EarlyUpdate, Phase::Update, Phase::LateUpdate] {
        with_a_pause(
            1,
            |log| {
                let note = move |t| log.note(format_args!("F{} {t}", time().frame));
                animate(1, note).in_phase(phase)
            },
            &["F0 0", "F1 0.25", "F22 0.5", "F23 0.75", "F24 1"],
        );
    }
}

#[test]
fn an_animation_of_length_zero_has_its_end_when_the_pause_is_over() {
    with_a_pause(
        0,
        |log| animate(0, move |t| log.note(format_args!("F{} {t}", time().frame))),
        &["F0 0", "F21 1"],
    );
}

#[test]
fn timeout_leaves_as_much_time_as_when_the_pause_began() {
    with_a_pause(
        3,
        |log| async move {
            assert!(timeout(1, pending::<()>()).await.is_err());
            log.note(time().frame);
        },
        &["24"],
    );
    // The event that it waits for happened in the pause.
    with_a_pause(
        3,
        |log| async move {
            timeout(1, wait_frames(10)).await.unwrap();
            log.note(time().frame);
        },
        &["24"],
    );
}

#[test]
fn interval_has_no_overdue_ticks_while_it_waits_for_the_next() {
    for policy in [MissedTicks::Burst, MissedTicks::Skip, MissedTicks::Delay] {
        for phase in PHASES {
            with_a_pause(
                6,
                |log| async move {
                    let mut ticks = interval(1).missed_ticks(policy).in_phase(phase);
                    loop {
                        let tick = ticks.tick().await;
                        let late = tick.late.as_millis();
                        let skipped = tick.skipped;
                        log.note(format_args!("F{} {late} {skipped}", time().frame));
                    }
                },
                &[
                    "F4 0 0", "F28 0 0", "F32 0 0", "F36 0 0", "F40 0 0", "F44 0 0",
                ],
            );
        }
    }
}

/// What a script does between two ticks.
type Busy = fn() -> LocalBoxFuture<'static, ()>;

#[test]
fn interval_has_no_overdue_ticks_either_while_its_script_is_busy_elsewhere() {
    // In most of them, no timer is pending when the pause begins.
    let ways: [Busy; 6] = [
        || next_frame().boxed_local(),
        || wait_frames(2).boxed_local(),
        || in_phase(Phase::LateUpdate).boxed_local(),
        || wait_until(|| true).boxed_local(),
        || start(next_frame()).map(drop).boxed_local(),
        || wait_seconds(0.5).boxed_local(),
    ];
    for busy in ways {
        for policy in [MissedTicks::Burst, MissedTicks::Skip, MissedTicks::Delay] {
            with_a_pause(
                4,
                |log| async move {
                    let mut ticks = interval(1).missed_ticks(policy);
                    for _ in 0..3 {
                        let late = ticks.tick().await.late.as_millis();
                        log.note(format_args!("F{} {late}", time().frame));
                        busy().await;
                    }
                },
                &["F4 0", "F28 0", "F32 0"],
            );
        }
    }
}

#[test]
fn an_animation_inside_a_combinator_stands_still_too() {
    with_a_pause(
        2,
        |log| async move {
            let values = RefCell::new(Vec::new());
            let moves = animate(1, |t| values.borrow_mut().push(t));
            futures::join!(moves, end_of_frame());
            let values = values.into_inner();
            log.note(format_args!("F{} {values:?}", time().frame));
        },
        &["F24 [0.0, 0.25, 0.5, 0.75, 1.0]"],
    );
}

#[test]
fn on_fixed_steps_it_is_fixed_time_that_stands_still() {
    for flag in FLAGS {
        let mut stage = Stage::new(None);
        let log = Log::new();
        let say = log.clone();
        let script = stage.owner.start(async move {
            let values = animate(1, |t| say.say(t)).in_phase(Phase::FixedUpdate);
            let ticks = async {
                let mut ticks = interval(0.75).in_phase(Phase::FixedUpdate);
                for _ in 0..2 {
                    let late = ticks.tick().await.late.as_millis();
                    say.say(format_args!("tick {late}"));
                }
            };
            futures::join!(values, ticks);
        });
        // Two steps; an eighth of the clock's time remains.
        stage.executor.run_frame(0.625);
        stage.set_paused(&script, flag, true);
        stage.executor.run_frame(5);
        stage.set_paused(&script, flag, false);
        stage.executor.run_frame(1);
        log.check(&[
            "F0: 0",
            "F1.FixedUpdate: 0.25",
            "F1.FixedUpdate: 0.5",
            "F3.FixedUpdate: 0.75",
            "F3.FixedUpdate: tick 0",
            "F3.FixedUpdate: 1",
            "F3.FixedUpdate: tick 0",
        ]);
    }
}

#[test]
fn a_pause_between_two_frames_costs_nothing() {
    let mut stage = Stage::new(None);
    let log = Log::new();
    let say = log.clone();
    let note = move |text: &str| say.note(format_args!("F{} {text}", time().frame));
    let script = stage.owner.start(async move {
        let moves = async {
            animate(1, |_| ()).await;
            note("animated");
        };
        let gives_up = async {
            timeout(1, pending::<()>()).await.unwrap_err();
            note("timed out");
        };
        let ticks = async {
            interval(1).tick().await;
            note("tick");
        };
        let waits = async {
            wait_seconds(1).await;
            note("seconds");
        };
        futures::join!(moves, gives_up, ticks, waits);
    });
    for frame in 0..6 {
        let flag = FLAGS[frame % 3];
        stage.set_paused(&script, flag, true);
        stage.set_paused(&script, flag, false);
        stage.quarters(1);
    }
    log.check(&["F4 animated", "F4 timed out", "F4 tick", "F4 seconds"]);
}

#[test]
fn realtime_stands_still_too_and_a_clock_by_itself() {
    let mut stage = Stage::new(Some(2.0));
    let log = Log::new();
    let (say, clock) = (log.clone(), stage.executor.clock().child());
    clock.set_scale(4);
    let script = stage.owner.start(async move {
        let say = &say;
        let real = async {
            wait_seconds_realtime(0.5).await;
            say.say("realtime");
        };
        // Four times as fast as the game, and twice as fast as its owner.
        let other = async {
            clock.wait_seconds(2).await;
            say.say("another clock");
        };
        let own = async {
            wait_seconds(1).await;
            say.say("its own");
        };
        futures::join!(real, other, own);
    });
    stage.executor.run_frame(0.25);
    script.pause();
    for _ in 0..8 {
        stage.executor.run_frame(0.25);
    }
    script.resume();
    stage.executor.run_frame(0.25);
    log.check(&["F10: realtime", "F10: another clock", "F10: its own"]);
}

#[test]
fn a_clock_by_itself_stands_still_for_one_that_has_paused_itself_in_the_same_poll() {
    let mut stage = Stage::new(None);
    let log = Log::new();
    let clock = stage.executor.clock().child();
    let (say, handle) = (log.clone(), stage.executor.handle());
    let script = stage.owner.start(async move {
        framestep::next_frame().await;
        assert!(handle.pause(framestep::task::current()));
        clock.wait_seconds(0.5).await;
        say.say("half a second later");
    });
    stage.quarters(5);
    script.resume();
    stage.quarters(3);
    log.check(&["F7: half a second later"]);
}

#[test]
fn one_that_is_started_on_a_paused_owner_begins_its_seconds_when_it_is_first_polled() {
    let mut stage = Stage::new(None);
    let (waited, moved) = (Log::new(), Log::new());
    stage.owner.pause();
    let say = waited.clone();
    stage.owner.start(async move {
        wait_seconds(0.5).await;
        say.say("half a second later");
    });
    let say = moved.clone();
    stage.owner.start(animate(0.5, move |t| say.say(t)));
    stage.quarters(5);
    stage.owner.resume();
    stage.quarters(3);
    waited.check(&["F8: half a second later"]);
    moved.check(&["F6: 0", "F7: 0.5", "F8: 1"]);
}

#[test]
fn a_timer_that_moved_stands_still_with_its_coroutine_unless_the_one_before_still_waits() {
    for first_ends in [false, true] {
        let mut stage = Stage::new(None);
        let clock = stage.executor.clock().child();
        let timer = Rc::new(RefCell::new(clock.wait_seconds(1)));
        let (shared, log) = (timer.clone(), Log::new());
        // As through a combinator, with a waker that is not the coroutine's own.
        let first = stage.executor.start(async move {
            let polled = poll_fn(|_| {
                let mut cx = Context::from_waker(Waker::noop());
                Poll::Ready(Pin::new(&mut *shared.borrow_mut()).poll(&mut cx))
            });
            assert!(polled.await.is_pending());
            pending::<()>().await;
        });
        if first_ends {
            first.stop();
        }
        let say = log.clone();
        let second = stage.executor.start(poll_fn(move |_| {
            let mut cx = Context::from_waker(Waker::noop());
            let polled = Pin::new(&mut *timer.borrow_mut()).poll(&mut cx);
            polled.map(|()| say.say("over"))
        }));
        stage.executor.run_frame(0.25);
        first.pause();
        second.pause();
        for _ in 0..8 {
            stage.executor.run_frame(0.25);
        }
        second.resume();
        for _ in 0..4 {
            stage.executor.run_frame(0.25);
        }
        // A timer that two share is due in the pause, in F4.
        log.check(&[if first_ends { "F12: over" } else { "F10: over" }]);
    }
}
