//! A script on fixed steps depends on the steps alone, never on how they are
//! distributed over frames: docs/contract.md#stepped-game-clock

use std::fmt::Display;

use super::*;
use framestep_testkit::Random;

/// How many steps of 20 ms are compared.
const STEPS: u64 = 300;

/// The acts of scripts: the step, the fixed time, and the act.
type Trace = Vec<(u64, Duration, String)>;

/// The pencil of the scripts.
#[derive(Clone, Default)]
pub(in crate::law) struct Say {
    step: Rc<Cell<u64>>,
    trace: Rc<RefCell<Trace>>,
}

impl Say {
    pub(in crate::law) fn say(&self, text: impl Display) {
        let now = time();
        if self.step.get() > 0 {
            assert_eq!(now.phase, Some(FIXED), "{text}");
            assert_eq!(now.elapsed, now.fixed_elapsed);
        }
        let entry = (self.step.get(), now.fixed_elapsed, text.to_string());
        self.trace.borrow_mut().push(entry);
    }
}

/// How the steps are distributed over frames.
#[derive(Clone, Copy, Debug)]
enum Frames {
    /// So many frames a second.
    Even(u32),
    /// Frames of any length, some without a step and some with ten.
    Uneven(u64),
}

impl Frames {
    fn lengths(self) -> impl Iterator<Item = Duration> {
        let mut random = Random(match self {
            Frames::Even(_) => 0,
            Frames::Uneven(seed) => seed,
        });
        std::iter::repeat_with(move || match self {
            Frames::Even(a_second) => Duration::from_secs(1).div_f64(f64::from(a_second)),
            Frames::Uneven(_) => Duration::from_nanos(random.below(200_000_000)),
        })
    }
}

fn trace_of(frames: Frames, start: &dyn Fn(&Executor, &Say)) -> Trace {
    let mut executor = Executor::new();
    let say = Say::default();
    start(&executor, &say);
    for dt in frames.lengths() {
        executor.begin_frame(dt);
        executor.run_phase(Phase::EarlyUpdate);
        while executor.begin_fixed_step() {
            say.step.set(say.step.get() + 1);
            executor.run_phase(FIXED);
            if say.step.get() == STEPS {
                return say.trace.take();
            }
        }
        executor.run_phase(Phase::Update);
        executor.run_phase(Phase::LateUpdate);
        executor.run_phase(Phase::EndOfFrame);
    }
    unreachable!("frames go on")
}

/// Checks that the scripts of `start` do the same however the steps are
/// distributed over frames, and that they log `times` times.
pub(in crate::law) fn check(times: usize, start: impl Fn(&Executor, &Say)) {
    // A step in each frame.
    let expected = trace_of(Frames::Even(50), &start);
    let said = expected.iter().filter(|(step, ..)| *step > 0).count();
    assert_eq!(said, times, "{expected:?}");
    let even = [20, 30, 60, 144, 7].map(Frames::Even);
    let uneven = [1, 2, 3].map(Frames::Uneven);
    for frames in even.into_iter().chain(uneven) {
        let trace = trace_of(frames, &start);
        let differs = trace
            .iter()
            .zip(&expected)
            .find(|(is, should)| is != should);
        assert!(trace == expected, "{frames:?}: (is, should be) {differs:?}");
    }
}

/// Checks a script that logs the end of each `wait`.
fn check_loop<F: Future + 'static>(times: usize, wait: impl Fn() -> F + Copy + 'static) {
    check(times, |executor, say| {
        let say = say.clone();
        executor.start(async move {
            loop {
                wait().await;
                say.say("");
            }
        });
    });
}

#[test]
fn of_fixed_update() {
    check_loop(300, fixed_update);
}

#[test]
fn of_wait_seconds() {
    check_loop(300, || wait_seconds(0).in_phase(FIXED));
    check_loop(300, || wait_seconds(0.02).in_phase(FIXED));
    check_loop(100, || wait_seconds(0.05).in_phase(FIXED));
    check_loop(6, || wait_seconds(1).in_phase(FIXED));
}

#[test]
fn of_wait_until_and_wait_while() {
    check_loop(300, || wait_until(|| true).in_phase(FIXED));
    // In each third step.
    check_loop(100, || {
        let asked = Cell::new(0);
        wait_until(move || {
            asked.set(asked.get() + 1);
            asked.get() == 3
        })
        .in_phase(FIXED)
    });
    check_loop(100, || {
        let asked = Cell::new(0);
        wait_while(move || {
            asked.set(asked.get() + 1);
            asked.get() < 3
        })
        .in_phase(FIXED)
    });
}

#[test]
fn of_timeout() {
    check_loop(100, || timeout(0.05, pending::<()>()).in_phase(FIXED));
    // The future wins.
    check_loop(150, || {
        let wins = wait_seconds(0.04).in_phase(FIXED);
        async { assert!(timeout(0.04, wins).in_phase(FIXED).await.is_ok()) }
    });
}

#[test]
fn of_animate() {
    // Six calls in a tenth of a second, the first in the step of the last.
    check(360, |executor, say| {
        let say = say.clone();
        executor.start(async move {
            loop {
                animate(0.1, |t| say.say(t)).in_phase(FIXED).await;
            }
        });
    });
}

#[test]
fn of_interval() {
    for (period, times) in [(0.02, 300), (0.05, 120), (0.01, 300), (0.3, 20)] {
        check(times, |executor, say| {
            let say = say.clone();
            executor.start(async move {
                let mut ticks = interval(period).in_phase(FIXED);
                loop {
                    let tick = ticks.tick().await;
                    say.say(tick.late.as_millis());
                }
            });
        });
    }
    for policy in [MissedTicks::Skip, MissedTicks::Delay] {
        check(300, |executor, say| {
            let say = say.clone();
            executor.start(async move {
                let mut ticks = interval(0.01).missed_ticks(policy).in_phase(FIXED);
                loop {
                    let tick = ticks.tick().await;
                    say.say(format_args!("{} {}", tick.late.as_millis(), tick.skipped));
                }
            });
        });
    }
}

/// Random waits.
async fn any_of_them(random: &mut Random, say: &Say) {
    let seconds = Duration::from_millis(random.below(90));
    match random.below(9) {
        0 => fixed_update().await,
        1 => wait_seconds(seconds).in_phase(FIXED).await,
        2 => {
            let third = wait_until(|| time().fixed_elapsed.as_millis() % 3 == 0);
            third.in_phase(FIXED).await;
        }
        3 => drop(timeout(seconds, fixed_update()).in_phase(FIXED).await),
        4 => animate(seconds, |t| say.say(t)).in_phase(FIXED).await,
        5 => {
            let mut ticks = interval(seconds.max(Duration::from_millis(1))).in_phase(FIXED);
            for _ in 0..3 {
                ticks.tick().await;
            }
        }
        6 => {
            futures::join!(wait_seconds(seconds).in_phase(FIXED), fixed_update());
        }
        7 => {
            let mut until =
                wait_until(|| time().fixed_elapsed.as_millis() % 7 == 0).in_phase(FIXED);
            let mut seconds = wait_seconds(seconds).in_phase(FIXED);
            futures::select_biased! {
                () = until => say.say("until"),
                () = seconds => say.say("seconds"),
            }
        }
        _ => {
            let child = start(wait_seconds(seconds).in_phase(FIXED));
            child.await.unwrap();
        }
    }
}

#[test]
fn of_many_scripts_side_by_side_also_their_order() {
    for seed in 0..5 {
        let start = |executor: &Executor, say: &Say| {
            for script in 0..20 {
                let say = say.clone();
                let mut random = Random(seed * 100 + script);
                executor.start(async move {
                    loop {
                        any_of_them(&mut random, &say).await;
                        say.say(script);
                    }
                });
            }
        };
        let times = trace_of(Frames::Even(50), &start);
        let times = times.iter().filter(|(step, ..)| *step > 0).count();
        assert!(times > 1_000, "{times}");
        check(times, start);
    }
}
