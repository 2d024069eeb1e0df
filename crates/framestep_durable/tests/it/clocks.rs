//! Nested clocks that are paused and whose scales change, across saves and rollbacks.

use framestep_durable::prelude::*;

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet};

/// Counts on the clock of its owner, or on a clock that it names.
#[derive(Serialize, Deserialize)]
enum Counts {
    OfOwner(f64),
    On(ClockId),
    InFixed(ClockId),
    Animates,
    Ticks(u8),
}

impl DurableScript for Counts {
    const NAME: &'static str = "counts";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let share = |share: f32| with(|log: &mut Log| log.push(format!("{share}")));
        match self {
            Counts::OfOwner(seconds) => {
                for round in 0..4 {
                    wait_seconds(seconds).await;
                    log(format!("{seconds} s, round {round}"));
                }
            }
            Counts::On(clock) => {
                for _ in 0..3 {
                    clock.clock().wait_seconds(0.13).await;
                    log("a wait on a clock");
                }
                clock.clock().wait_until(1).await;
                log("one second of a clock");
            }
            Counts::InFixed(clock) => {
                for _ in 0..3 {
                    let wait = clock
                        .clock()
                        .wait_seconds(0.08)
                        .in_phase(Phase::FixedUpdate);
                    wait.await;
                    log("a wait on a clock in steps");
                }
            }
            Counts::Animates => {
                animate(0.33, share).await;
                animate(0, share).await;
                animate(0.2, share).in_phase(Phase::FixedUpdate).await;
            }
            Counts::Ticks(kind) => {
                let kinds = [MissedTicks::Burst, MissedTicks::Skip, MissedTicks::Delay];
                let mut ticks = interval(0.1).missed_ticks(kinds[usize::from(kind)]);
                log(format!("{:?}", ticks.tick().await));
                wait_seconds(0.35).await;
                for _ in 0..4 {
                    // Ticks that are given up in the middle of their wait.
                    let tick = timeout(0.05, ticks.tick()).await;
                    log(format!("{tick:?}"));
                }
            }
        }
        Chapter::Done(())
    }
}

/// Changes the scale of a clock, pauses it and resumes it.
#[derive(Serialize, Deserialize)]
struct Changes {
    clock: ClockId,
}

impl DurableScript for Changes {
    const NAME: &'static str = "changes";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let clock = self.clock;
        for scale in [0.0, 2.5, 0.0, 0.3, 1.0] {
            clock.clock().set_scale(scale);
            wait_seconds_realtime(0.17).await;
            assert!(clock.clock().pause() && !clock.clock().pause());
            next_frame().await;
            assert!(clock.clock().resume() && !clock.clock().resume());
        }
        Chapter::Done(())
    }
}

fn blank() -> Runtime {
    quiet(Registry::new().with::<Counts>().with::<Changes>())
}

fn begin(runtime: &mut Runtime, log: &mut Log) {
    let slow = runtime.enter(|| ClockId::GAME.child());
    let below = runtime.enter(|| slow.child());
    let real = runtime.enter(|| ClockId::REALTIME.child());
    runtime.lend(log, |runtime| {
        for clock in [slow, below, real] {
            let owner = runtime.enter(|| owner_on(clock));
            let heir = runtime.enter(|| owner.child());
            runtime.enter(|| owner.start(Counts::OfOwner(0.1))).detach();
            runtime.enter(|| heir.start(Counts::OfOwner(0.25))).detach();
            runtime.enter(|| heir.start(Counts::Animates)).detach();
            for kind in 0..3 {
                runtime.enter(|| heir.start(Counts::Ticks(kind))).detach();
            }
            runtime.start(Counts::On(clock)).detach();
            let in_steps = Counts::InFixed(clock);
            runtime
                .enter(|| start_in(Phase::FixedUpdate, in_steps))
                .detach();
        }
        runtime.start(Changes { clock: slow }).detach();
        let in_steps = Changes { clock: below };
        runtime
            .enter(|| start_in(Phase::FixedUpdate, in_steps))
            .detach();
    });
}

#[test]
fn clocks_that_change_and_pause_between_phases_continue_alike() {
    let game = Game {
        blank,
        begin,
        frame: |at, runtime, log: &mut Log| {
            let game = runtime.enter(|| ClockId::GAME.clock());
            match at {
                22 => game.set_scale(0.0),
                30 => game.set_scale(1.0),
                33 => assert!(game.pause()),
                44 => assert!(game.resume()),
                _ => {}
            }
            moment(at, runtime, log);
        },
        frames: 7 * MOMENTS,
    };
    assert!(game.assert_like_its_twin().len() > 50);
}

#[test]
fn steps_that_the_host_drives_are_saved_before_during_and_after_each_step() {
    let game = Game {
        blank,
        begin,
        frame: |at, runtime, log: &mut Log| {
            let game = runtime.enter(|| ClockId::GAME.clock());
            match at % 9 {
                0 => runtime.begin_frame_with(0.1, [0.1, 0.05, 0.0][at as usize % 3]),
                1 | 4 => runtime.begin_fixed_step_of([0.02, 0.0, 0.05, 1e-9][at as usize % 4]),
                2 | 5 => runtime.lend(log, |runtime| runtime.run_phase(Phase::FixedUpdate)),
                3 => runtime.end_fixed_step(),
                // Some frames have no Update, and some have two. The clock stands still between
                // these two.
                6 if at % 27 == 6 => assert!(game.pause()),
                8 if at % 27 == 8 => assert!(game.resume()),
                8 => {}
                _ => runtime.lend(log, |runtime| runtime.run_phase(Phase::Update)),
            }
        },
        frames: 7 * 9,
    };
    assert!(game.assert_like_its_twin().len() > 20);
}

#[test]
fn the_longest_and_the_shortest_lengths_and_frames_are_saved() {
    let game = Game {
        blank,
        begin: |runtime, log| {
            runtime.lend(log, |runtime| {
                for seconds in [f64::INFINITY, f64::MAX, 1.844e10, 9.2e9, 1e-9, 0.0, -5.0] {
                    runtime.start(Counts::OfOwner(seconds)).detach();
                }
                runtime.start(Counts::OfOwner(f64::NAN)).detach(); // and panics
            });
        },
        frame: |at, runtime, log: &mut Log| {
            let dts = [1e9, f64::INFINITY, f64::NAN, 0.1, 1e300, -1.0];
            runtime.run_frame_with(log, dts[at as usize % dts.len()]);
        },
        frames: 14,
    };
    assert_eq!(game.assert_like_its_twin().len(), 12);
}
