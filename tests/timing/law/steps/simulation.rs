//! A simulation on fixed steps, with scripts that change scales, pause clocks,
//! owners and each other: its trace is the same at every frame rate.

use std::fmt::{Display, Write as _};

use super::*;
use framestep_testkit::Random;
use framestep_testkit::timeline::UNLIMITED;

const STEPS: u64 = 400;
const ACTORS: u64 = 12;

/// The shared state of the scripts.
struct Stage {
    step: Cell<u64>,
    trace: RefCell<String>,
    /// The game clock, clocks below it, and clocks below these.
    clocks: RefCell<Vec<Clock>>,
    owners: Vec<Owner>,
    actors: RefCell<Vec<Coroutine<()>>>,
}

impl Stage {
    /// Records the script's readings, in nanoseconds.
    fn say(&self, name: impl Display) {
        let time = time();
        let mut trace = self.trace.borrow_mut();
        let step = self.step.get();
        assert_eq!(time.phase, Some(FIXED));
        write!(
            trace,
            "{step} {name}: {:?} {:?} {}, {:?} {:?}",
            time.elapsed, time.delta, time.scale, time.fixed_elapsed, time.fixed_delta
        )
        .unwrap();
        for clock in self.clocks.borrow().iter() {
            let (now, delta, scale) = (clock.now(), clock.delta(), clock.effective_scale());
            write!(trace, ", {now:?} {delta:?} {scale}").unwrap();
        }
        trace.push('\n');
    }

    fn any_clock(&self, random: &mut Random) -> Clock {
        let clocks = self.clocks.borrow();
        let at = random.below(clocks.len() as u64);
        clocks[usize::try_from(at).unwrap()].clone()
    }

    fn owner(&self, at: u64) -> &Owner {
        &self.owners[usize::try_from(at).unwrap()]
    }
}

/// Waits for something on fixed steps.
async fn wait(random: &mut Random, stage: &Rc<Stage>) {
    let length = Duration::from_micros(random.below(150_000));
    let clock = stage.any_clock(random);
    match random.below(9) {
        0 => wait_steps(random.below(4)).await,
        1 => wait_seconds(length).in_phase(FIXED).await,
        2 => clock.wait_seconds(length).in_phase(FIXED).await,
        3 => clock.wait_until(clock.now() + length).in_phase(FIXED).await,
        4 => {
            let wait = clock.wait_seconds(length).in_phase(FIXED);
            let result = timeout(length / 2, wait).in_phase(FIXED).await;
            stage.say(result.is_ok());
        }
        5 => animate(length, |t| stage.say(t)).in_phase(FIXED).await,
        6 => {
            let mut ticks = interval(length + Duration::from_millis(1)).in_phase(FIXED);
            for _ in 0..3 {
                stage.say(ticks.tick().await.late.as_nanos());
            }
        }
        7 => {
            let child = start(clock.wait_seconds(length).in_phase(FIXED));
            child.await.unwrap();
        }
        _ => {
            let until = clock.now() + length / 3;
            let until = wait_until(move || clock.now() >= until).in_phase(FIXED);
            until.await;
        }
    }
}

async fn act(number: u64, mut random: Random, stage: Rc<Stage>) {
    loop {
        wait(&mut random, &stage).await;
        stage.say(number);
    }
}

/// Changes something every few steps.
async fn direct(mut random: Random, stage: Rc<Stage>) {
    loop {
        wait_steps(1 + random.below(5)).await;
        let clock = stage.any_clock(&mut random);
        let is_game = clock == stage.clocks.borrow()[0];
        match random.below(12) {
            0..=3 => {
                let scales: [f64; 7] = [0.0, 0.25, 1.0 / 3.0, 0.5, 1.0, 1.0, 2.0];
                let scale = scales[usize::try_from(random.below(7)).unwrap()];
                // With a game clock at 0 there would be no further step.
                clock.set_scale(if is_game { scale.max(0.25) } else { scale });
            }
            4..=5 => {
                // The host resumes the game clock. Others stop for some steps.
                clock.pause();
                let steps = 1 + random.below(6);
                start(async move {
                    wait_steps(steps).await;
                    clock.resume();
                });
            }
            6..=8 => {
                let owner = random.below(4);
                stage.owner(owner).pause();
                let (steps, stage) = (1 + random.below(10), stage.clone());
                start(async move {
                    wait_steps(steps).await;
                    stage.owner(owner).resume();
                });
            }
            9 => {
                let owner = random.below(4);
                stage.owner(owner).resume();
            }
            10 => {
                let at = usize::try_from(random.below(ACTORS)).unwrap();
                let actors = stage.actors.borrow();
                if !actors[at].pause() {
                    actors[at].resume();
                }
            }
            _ => {
                let mut clocks = stage.clocks.borrow_mut();
                if clocks.len() < 9 {
                    clocks.push(clock.child());
                }
            }
        }
        stage.say("director");
    }
}

fn trace(seed: u64, frames: &mut dyn FnMut() -> Duration) -> String {
    let mut executor = Executor::builder().max_delta(UNLIMITED).build();
    let game = executor.clock();
    let (enemies, world) = (game.child(), game.child());
    let bosses = enemies.child();
    let stage = Rc::new(Stage {
        step: Cell::new(0),
        trace: RefCell::default(),
        owners: [&game, &enemies, &world, &bosses]
            .map(|clock| executor.owner_on(clock))
            .into(),
        clocks: RefCell::new(vec![game.clone(), enemies, world, bosses]),
        actors: RefCell::default(),
    });
    executor
        .script("")
        .in_phase(FIXED)
        .spawn(direct(Random(seed), stage.clone()));
    for number in 0..ACTORS {
        let owner = stage.owner(number % 4);
        let random = Random(seed * 1_000 + number + 1);
        let actor = owner
            .script("")
            .in_phase(FIXED)
            .spawn(act(number, random, stage.clone()));
        stage.actors.borrow_mut().push(actor);
    }
    loop {
        executor.begin_frame(frames());
        executor.run_phase(Phase::EarlyUpdate);
        while executor.begin_fixed_step() {
            stage.step.set(stage.step.get() + 1);
            executor.run_phase(FIXED);
            if stage.step.get() == STEPS {
                drop(executor);
                return stage.trace.take();
            }
        }
        executor.run_phase(Phase::Update);
        executor.run_phase(Phase::LateUpdate);
        executor.run_phase(Phase::EndOfFrame);
        game.resume();
    }
}

#[test]
fn a_simulation_has_the_same_trace_at_every_frame_rate() {
    for seed in 1..=12 {
        let expected = trace(seed, &mut || Duration::from_millis(20));
        let lines = expected.lines().count();
        assert!(lines > 500, "{lines}");
        for millis in [10, 7, 40, 100, 200, 1_000] {
            let trace = trace(seed, &mut || Duration::from_millis(millis));
            compare(&trace, &expected, format_args!("seed {seed}, {millis} ms"));
        }
        let mut random = Random(seed);
        let trace = trace(seed, &mut || {
            Duration::from_nanos(random.below(150_000_000))
        });
        compare(&trace, &expected, format_args!("seed {seed}, uneven"));
    }
}

#[track_caller]
fn compare(trace: &str, expected: &str, case: impl Display) {
    let differs = |(is, should): &(&str, &str)| is != should;
    let found = trace.lines().zip(expected.lines()).find(differs);
    assert!(trace == expected, "{case}: (is, should be) {found:#?}");
}
