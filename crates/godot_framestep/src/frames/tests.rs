//! The clocks of the scripts against integers, with frames and steps as in Godot.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;

use super::Frames;

/// The 512th part of a second, which is a whole number of nanoseconds and exact in binary.
const UNIT_NS: u64 = 1_953_125;

type Log = Rc<RefCell<Vec<String>>>;

/// The state lent to the scripts.
#[derive(Default)]
struct Scene {
    visits: u64,
    /// The game clock of the frame; a step may be ahead of it.
    frame_time: Duration,
}

/// A small generator, the same on every machine: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn length(units: u64) -> Duration {
    Duration::from_nanos(units * UNIT_NS)
}

/// Godot's default.
fn seconds(units: u64) -> f64 {
    length(units).as_secs_f64()
}

/// Frames, and the expected readings of the clocks.
struct Pair {
    frames: Frames,
    scene: Scene,
    frame: u64,
    /// Of the latest frame.
    delta: u64,
    game: u64,
    fixed: u64,
    real: u64,
}

impl Pair {
    fn new(executor: Executor) -> Self {
        executor.on_report(|report| panic!("{report}"));
        Pair {
            frames: Frames::new(executor),
            scene: Scene::default(),
            frame: 0,
            delta: 0,
            game: 0,
            fixed: 0,
            real: 0,
        }
    }

    /// The readings in a node's own `_physics_process` or `_process`.
    #[track_caller]
    fn check(&self, elapsed: u64, delta: u64) {
        let time = self.frames.executor.time();
        assert_eq!(time.frame, self.frame);
        assert_eq!(time.elapsed, length(elapsed));
        assert_eq!(time.delta, length(delta));
        assert_eq!(time.fixed_elapsed, length(self.fixed));
        assert_eq!(time.unscaled_elapsed, length(self.real));
    }

    fn step(&mut self, delta: u64) {
        self.frames.begin_step(seconds(delta), &mut self.scene);
        self.fixed += delta;
        self.check(self.fixed, delta);
        self.frames.end_step(&mut self.scene);
        // Code after the step, such as a timer of the tree, reads the frame's time.
        self.check(self.game, self.delta);
    }

    fn frame(&mut self, real: u64, delta: u64, draws: bool) {
        let scene = &mut self.scene;
        self.frames.begin_frame(length(real), seconds(delta), scene);
        self.frame += 1;
        self.delta = delta;
        self.game += delta;
        self.real += real;
        self.scene.frame_time = length(self.game);
        self.check(self.game, delta);
        self.frames.update(&mut self.scene);
        if draws {
            self.frames.end_frame(&mut self.scene);
        }
        self.check(self.game, delta);
    }
}

/// Waits for random lengths, and checks that each wait ends in the first possible run.
async fn check_waits(seed: u64) {
    let mut random = Random(seed);
    loop {
        let units = random.below(100);
        let (before, wait) = (time(), length(units));
        match random.below(5) {
            0 => {
                // A wait for Update counts in frame time, even from a step.
                let began = match before.phase {
                    Some(Phase::FixedUpdate) => with(|scene: &mut Scene| scene.frame_time),
                    _ => before.elapsed,
                };
                let deadline = began + wait;
                wait_seconds(wait).await;
                let now = time();
                assert!(now.elapsed >= deadline);
                let is_next = now.frame == before.frame + 1;
                assert!(is_next || now.elapsed < deadline + now.delta);
            }
            1 => {
                wait_seconds(wait).in_phase(Phase::FixedUpdate).await;
                let now = time();
                let deadline = before.elapsed + wait;
                assert_eq!(now.elapsed, now.fixed_elapsed);
                let began = before.fixed_elapsed;
                // A wait of no length is for the next step, which may be one that is owed.
                assert!(now.elapsed >= deadline || units == 0);
                let is_next = now.fixed_elapsed == began + now.fixed_delta;
                assert!(is_next || now.elapsed < deadline + now.delta);
            }
            2 => {
                wait_seconds_realtime(wait).await;
                let now = time();
                let deadline = before.unscaled_elapsed + wait;
                assert!(now.unscaled_elapsed >= deadline);
                let is_next = now.frame == before.frame + 1;
                assert!(is_next || now.unscaled_elapsed < deadline + now.unscaled_delta);
            }
            3 => {
                end_of_frame().await;
                assert!(time().frame - before.frame < 2);
            }
            _ => {
                next_frame().await;
                assert_eq!(time().frame, before.frame + 1);
            }
        }
        with(|scene: &mut Scene| scene.visits += 1);
    }
}

#[test]
fn the_clocks_read_what_godot_has_added_up_and_no_wait_is_early_or_late() {
    let executor = Executor::builder().propagate_panics(true).build();
    for seed in 1..25 {
        executor.spawn(check_waits(seed));
    }
    let mut pair = Pair::new(executor);
    let mut random = Random(0x60d0_7000);
    let (mut scale, mut was_ahead, mut was_behind) = (2, false, false);
    let (mut left, mut owed) = (0, 0);
    for _ in 0..20_000 {
        if random.below(200) == 0 {
            scale = random.below(5); // halves of the normal speed, or a standstill
        }
        // The measured time determines the steps; the smoothed one is that of the frame.
        // Both are even, so that half of them is whole.
        let measured = 2 * (3 + random.below(5));
        left += measured;
        while left >= 8 {
            left -= 8;
            pair.step(8 * scale / 2);
        }
        was_ahead |= pair.fixed > pair.game;
        was_behind |= pair.fixed < pair.game;
        owed += measured;
        let smoothed = owed - 2 * random.below(2);
        owed -= smoothed;
        pair.frame(measured, smoothed * scale / 2, random.below(50) > 0);
    }
    assert!(was_ahead && was_behind);
    assert!(pair.scene.visits > 50_000, "{}", pair.scene.visits);
}

async fn log_phases(log: Log) {
    loop {
        let phase = time().phase;
        log.borrow_mut()
            .push(format!("{} {:?}", time().frame, phase.unwrap()));
        match phase {
            Some(Phase::FixedUpdate) => in_phase(Phase::EarlyUpdate).await,
            Some(Phase::EarlyUpdate) => in_phase(Phase::Update).await,
            Some(Phase::Update) => in_phase(Phase::LateUpdate).await,
            Some(Phase::LateUpdate) => end_of_frame().await,
            _ => fixed_update().await,
        }
    }
}

const ALL: [&str; 5] = [
    "0 FixedUpdate",
    "1 EarlyUpdate",
    "1 Update",
    "1 LateUpdate",
    "1 EndOfFrame",
];

fn logging() -> (Frames, Log) {
    let (executor, log) = (Executor::new(), Log::default());
    executor
        .script("")
        .in_phase(Phase::FixedUpdate)
        .spawn(log_phases(log.clone()));
    (Frames::new(executor), log)
}

#[test]
fn the_phases_of_a_frame_come_in_the_order_of_godot() {
    let (mut frames, log) = logging();
    frames.begin_step(0.5, &mut ());
    assert!(log.borrow().is_empty());
    frames.end_step(&mut ());
    assert_eq!(log.borrow().len(), 1);
    frames.begin_frame(Duration::ZERO, 0.5, &mut ());
    assert_eq!(log.borrow().len(), 2);
    frames.update(&mut ());
    assert_eq!(log.borrow().len(), 4);
    frames.end_frame(&mut ());
    assert_eq!(*log.borrow(), ALL);
}

#[test]
fn what_godot_leaves_out_is_made_up_for() {
    let (mut frames, log) = logging();
    frames.begin_step(0.5, &mut ());
    frames.begin_frame(Duration::ZERO, 0.5, &mut ());
    assert_eq!(*log.borrow(), ALL[..2]);
    frames.begin_step(0.5, &mut ());
    // The end of frame 1 came before the step that now begins.
    assert_eq!(*log.borrow(), ALL);
    frames.end_step(&mut ());
    assert_eq!(log.borrow().last().unwrap(), "1 FixedUpdate");
}

#[test]
fn what_comes_twice_runs_once() {
    let (mut frames, log) = logging();
    frames.end_frame(&mut ());
    frames.update(&mut ());
    frames.end_step(&mut ());
    assert!(log.borrow().is_empty());
    frames.begin_step(0.5, &mut ());
    for _ in 0..2 {
        frames.end_step(&mut ());
    }
    frames.begin_frame(Duration::ZERO, 0.5, &mut ());
    for _ in 0..2 {
        frames.update(&mut ());
    }
    for _ in 0..2 {
        frames.end_frame(&mut ());
    }
    assert_eq!(*log.borrow(), ALL);
}

/// The game's own lengths are seldom exact: a frame is rounded up to a nanosecond, so a
/// wait is never late by a frame.
#[test]
fn sixty_frames_of_a_sixtieth_are_a_second() {
    let executor = Executor::new();
    let second = executor.start(wait_seconds(1));
    let mut frames = Frames::new(executor);
    for frame in 1..=60 {
        assert!(!second.is_finished(), "{frame}");
        frames.begin_frame(Duration::ZERO, 1.0 / 60.0, &mut ());
        frames.update(&mut ());
    }
    assert!(second.is_finished());
}
