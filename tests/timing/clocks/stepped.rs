//! Clocks in frame time and in stepped time, at random, compared with the
//! definition: each clock is a sum over the steps.

use super::*;
use framestep_testkit::Random;

const FIXED: Phase = Phase::FixedUpdate;
const STEP_NS: u64 = 20_000_000;

/// A clock in one of its times.
struct Course {
    oracle: Oracle,
    /// Its reading before the latest frame or step.
    before: u128,
    now: u128,
}

impl Course {
    fn new(source: u128) -> Self {
        let mut oracle = Oracle::new();
        oracle.source_anchor = source;
        Course {
            oracle,
            before: 0,
            now: 0,
        }
    }

    fn follow(&mut self, source: u128) {
        self.before = self.now;
        self.now = self.oracle.at(source);
    }
}

/// A clock, and its expected reading.
struct Pair {
    clock: Clock,
    parent: usize,
    frames: Course,
    steps: Course,
    scale: f64,
    /// How long its script waits, and until when.
    length_ns: u64,
    due: u128,
}

struct World {
    executor: Executor,
    random: Random,
    dt_sum: u128,
    /// The game clock, then others, each behind its parent.
    pairs: Vec<Pair>,
    in_step: bool,
    /// The clocks with waits that ended in the run, and their readings.
    noted: Rc<RefCell<Vec<(usize, u128)>>>,
    over: usize,
}

impl World {
    fn new(seed: u64) -> Self {
        let executor = unclamped();
        let mut world = World {
            random: Random(seed),
            dt_sum: 0,
            pairs: Vec::new(),
            in_step: false,
            noted: Rc::default(),
            over: 0,
            executor,
        };
        let game = world.executor.clock();
        world.add(game, 0);
        world
    }

    fn add(&mut self, clock: Clock, parent: usize) {
        let (frames, steps) = match self.pairs.get(parent) {
            Some(parent) => (parent.frames.now, parent.steps.now),
            None => (0, 0),
        };
        let number = self.pairs.len();
        let length_ns = self.random.below(200_000_000);
        let (noted, waits) = (self.noted.clone(), clock.clone());
        // Begins in a step, and waits for a later one.
        drop(self.executor.script("").in_phase(FIXED).spawn(async move {
            loop {
                noted.borrow_mut().push((number, waits.now().as_nanos()));
                waits.wait_seconds(nanos(length_ns)).in_phase(FIXED).await;
            }
        }));
        self.pairs.push(Pair {
            clock,
            parent,
            frames: Course::new(frames),
            steps: Course::new(steps),
            scale: 1.0,
            length_ns,
            due: 0,
        });
    }

    fn begin_frame(&mut self) {
        let dt_ns = match self.random.below(4) {
            0 => self.random.below(100),
            1 => self.random.below(200_000_000),
            _ => self.random.below(30_000_000),
        };
        self.executor.begin_frame(nanos(dt_ns));
        self.dt_sum += u128::from(dt_ns);
        self.in_step = false;
        for at in 0..self.pairs.len() {
            let source = match at {
                0 => self.dt_sum,
                _ => self.pairs[self.pairs[at].parent].frames.now,
            };
            self.pairs[at].frames.follow(source);
        }
    }

    /// Begins a step, if one is due.
    fn begin_step(&mut self) -> bool {
        let game = &self.pairs[0];
        let is_due = game.steps.now + u128::from(STEP_NS) <= game.frames.now;
        let begins = is_due && !game.clock.is_paused();
        assert_eq!(self.executor.begin_fixed_step(), begins);
        self.in_step = false;
        if begins {
            self.step(STEP_NS);
        }
        begins
    }

    fn step(&mut self, length_ns: u64) {
        self.in_step = true;
        let game = &mut self.pairs[0].steps;
        game.before = game.now;
        game.now += u128::from(length_ns);
        for at in 1..self.pairs.len() {
            let source = self.pairs[self.pairs[at].parent].steps.now;
            self.pairs[at].steps.follow(source);
        }
    }

    fn run(&mut self) {
        self.executor.run_phase(FIXED);
        let mut expected = Vec::new();
        for (number, pair) in self.pairs.iter_mut().enumerate() {
            if pair.steps.now >= pair.due {
                expected.push((number, pair.steps.now));
                pair.due = pair.steps.now + u128::from(pair.length_ns);
            }
        }
        let mut noted = self.noted.take();
        noted.sort_unstable();
        assert_eq!(noted, expected);
        self.over += noted.len();
    }

    fn change(&mut self) {
        let at = usize::try_from(self.random.below(self.pairs.len() as u64)).unwrap();
        let pair = &self.pairs[at];
        match self.random.below(8) {
            0 => drop(pair.clock.pause()),
            1..=3 => drop(pair.clock.resume()),
            _ => {
                let scales = [0.0, 0.5, 1.0, 1.0 / 3.0, 2.0, 0.1, 1e-9, 1.7];
                let scale: f64 = scales[usize::try_from(self.random.below(8)).unwrap()];
                // With a game clock at 0 there would be few steps.
                let scale = if at == 0 { scale.max(0.5) } else { scale };
                pair.clock.set_scale(scale);
                self.pairs[at].scale = scale;
            }
        }
        let (dt_sum, parent) = (self.dt_sum, self.pairs[at].parent);
        let source = match at {
            0 => (dt_sum, 0),
            _ => (self.pairs[parent].frames.now, self.pairs[parent].steps.now),
        };
        let pair = &mut self.pairs[at];
        let factor = if pair.clock.is_paused() {
            0.0
        } else {
            pair.scale
        };
        pair.frames.oracle.change(source.0, factor);
        pair.steps.oracle.change(source.1, factor);
    }

    fn look(&self) {
        for (number, pair) in self.pairs.iter().enumerate() {
            let course = if self.in_step {
                &pair.steps
            } else {
                &pair.frames
            };
            let read = (pair.clock.now().as_nanos(), pair.clock.delta().as_nanos());
            assert_eq!(read, (course.now, course.now - course.before), "{number}");
        }
    }

    fn perhaps_change(&mut self) {
        while self.random.below(6) == 0 {
            self.change();
        }
        if self.random.below(40) == 0 && self.pairs.len() < 12 {
            let parent = usize::try_from(self.random.below(self.pairs.len() as u64)).unwrap();
            let clock = self.pairs[parent].clock.child();
            self.add(clock, parent);
        }
        // A reading that is not needed is computed later, or never.
        if self.random.below(3) == 0 {
            self.look();
        }
    }
}

#[test]
fn readings_and_waits_agree_with_the_definition_whatever_changes_when() {
    let mut over = 0;
    for seed in 1..=30 {
        let mut world = World::new(seed);
        for _ in 0..200 {
            if world.random.below(4) == 0 {
                let length_ns = world.random.below(40_000_000);
                world.executor.begin_fixed_step_of(nanos(length_ns));
                world.step(length_ns);
                world.perhaps_change();
                world.run();
                world.perhaps_change();
            }
            world.begin_frame();
            world.perhaps_change();
            while world.begin_step() {
                world.perhaps_change();
                world.run();
                world.perhaps_change();
            }
            world.perhaps_change();
        }
        over += world.over;
    }
    assert!(over > 5_000, "{over}");
}
