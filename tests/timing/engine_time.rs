//! Engines that scale and clamp time, and decide when there is a fixed step:
//! `begin_frame_with` and `begin_fixed_step_of`, called as these engines do.
//! docs/contract.md#time-driven-steps
//!
//! Scripts wait for random lengths, and record when they resume and what the
//! clocks read. A reference in plain integers computes the expected records.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;

use framestep_testkit::Random;

const MS: u64 = 1_000_000;
const SCRIPTS: u64 = 24;

/// What a script waits for next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Frame,
    Step,
    Game(u64),
    Fixed(u64),
    Real(u64),
    /// On the game clock, in a custom phase that the host runs inside its steps.
    Custom(u64),
}

const CUSTOM: Phase = Phase::Custom(3);

impl Kind {
    fn random(random: &mut Random) -> Kind {
        // Sometimes of length zero.
        let ns = random.below(90 * MS).saturating_sub(5 * MS);
        match random.below(6) {
            0 => Kind::Frame,
            1 => Kind::Step,
            2 => Kind::Game(ns),
            3 => Kind::Fixed(ns),
            4 => Kind::Real(ns),
            _ => Kind::Custom(ns),
        }
    }
}

/// The record of a resume.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Note {
    script: u64,
    frame: u64,
    delta_ns: u64,
    elapsed_ns: u64,
    unscaled_ns: u64,
    fixed_ns: u64,
    step_ns: u64,
}

type Notes = Rc<RefCell<Vec<Note>>>;

fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap()
}

async fn script(number: u64, notes: Notes) {
    let mut random = Random(number + 1);
    loop {
        let length = Duration::from_nanos;
        match Kind::random(&mut random) {
            Kind::Frame => next_frame().await,
            Kind::Step => fixed_update().await,
            Kind::Game(ns) => wait_seconds(length(ns)).await,
            Kind::Fixed(ns) => wait_seconds(length(ns)).in_phase(Phase::FixedUpdate).await,
            Kind::Real(ns) => wait_seconds_realtime(length(ns)).await,
            Kind::Custom(ns) => wait_seconds(length(ns)).in_phase(CUSTOM).await,
        }
        let now = time();
        notes.borrow_mut().push(Note {
            script: number,
            frame: now.frame,
            delta_ns: nanos(now.delta),
            elapsed_ns: nanos(now.elapsed),
            unscaled_ns: nanos(now.unscaled_elapsed),
            fixed_ns: nanos(now.fixed_elapsed),
            step_ns: nanos(now.fixed_delta),
        });
    }
}

/// A wait of the reference.
struct Waiting {
    script: u64,
    random: Random,
    kind: Kind,
    /// When it began, among all waits.
    order: u64,
    frame: u64,
    deadline_ns: u64,
}

/// The expected behaviour of the executor, in integers.
struct Reference {
    frame: u64,
    game_ns: u64,
    real_ns: u64,
    fixed_ns: u64,
    delta_ns: u64,
    step_ns: u64,
    in_step: bool,
    begun: u64,
    waits: Vec<Waiting>,
    notes: Vec<Note>,
}

impl Reference {
    fn new(step_ns: u64) -> Self {
        let mut this = Reference {
            frame: 0,
            game_ns: 0,
            real_ns: 0,
            fixed_ns: 0,
            delta_ns: 0,
            step_ns,
            in_step: false,
            begun: 0,
            waits: Vec::new(),
            notes: Vec::new(),
        };
        (0..SCRIPTS).for_each(|script| this.wait(script, Random(script + 1)));
        this
    }

    /// The reading of the game clock.
    fn now_ns(&self) -> u64 {
        if self.in_step {
            self.fixed_ns
        } else {
            self.game_ns
        }
    }

    fn wait(&mut self, script: u64, mut random: Random) {
        let kind = Kind::random(&mut random);
        let deadline_ns = match kind {
            Kind::Frame | Kind::Step => 0,
            Kind::Game(ns) | Kind::Custom(ns) => self.game_ns + ns,
            // It is over in the next step.
            Kind::Fixed(0) => self.fixed_ns,
            Kind::Fixed(ns) => self.now_ns() + ns,
            Kind::Real(ns) => self.real_ns + ns,
        };
        self.begun += 1;
        self.waits.push(Waiting {
            script,
            random,
            kind,
            order: self.begun,
            frame: self.frame,
            deadline_ns,
        });
    }

    /// A run of a phase: its waiters, then timers by clock, deadline and order.
    fn run(&mut self, phase: Phase) {
        let turn = |wait: &Waiting| {
            let is_later = self.frame > wait.frame;
            let is_due = |now_ns| wait.deadline_ns <= now_ns;
            match (phase, wait.kind) {
                (Phase::Update, Kind::Frame) if is_later => Some((0, 0, wait.order)),
                (Phase::FixedUpdate, Kind::Step) => Some((0, 0, wait.order)),
                (Phase::Update, Kind::Game(_)) | (CUSTOM, Kind::Custom(_))
                    if is_later && is_due(self.game_ns) =>
                {
                    Some((1, wait.deadline_ns, wait.order))
                }
                (Phase::FixedUpdate, Kind::Fixed(_)) if is_due(self.fixed_ns) => {
                    Some((1, wait.deadline_ns, wait.order))
                }
                (Phase::Update, Kind::Real(_)) if is_later && is_due(self.real_ns) => {
                    Some((2, wait.deadline_ns, wait.order))
                }
                _ => None,
            }
        };
        let mut due: Vec<_> = (0..self.waits.len())
            .filter_map(|index| Some((turn(&self.waits[index])?, self.waits[index].script)))
            .collect();
        due.sort_unstable();
        for (_, script) in due {
            let index = self.waits.iter().position(|wait| wait.script == script);
            let wait = self.waits.swap_remove(index.unwrap());
            self.notes.push(Note {
                script,
                frame: self.frame,
                delta_ns: if self.in_step {
                    self.step_ns
                } else {
                    self.delta_ns
                },
                elapsed_ns: self.now_ns(),
                unscaled_ns: self.real_ns,
                fixed_ns: self.fixed_ns,
                step_ns: self.step_ns,
            });
            self.wait(script, wait.random);
        }
    }
}

/// An executor and its reference, stepped together.
struct Pair {
    executor: Executor,
    reference: Reference,
    notes: Notes,
    resumed: usize,
}

impl Pair {
    fn new() -> Self {
        let executor = Executor::builder().fixed_delta(1).max_delta(1).build();
        executor.on_report(|report| panic!("{report}"));
        let notes = Notes::default();
        for number in 0..SCRIPTS {
            executor.start(script(number, notes.clone()));
        }
        Pair {
            executor,
            reference: Reference::new(1_000 * MS),
            notes,
            resumed: 0,
        }
    }

    fn begin_frame(&mut self, dt_ns: u64, game_dt_ns: u64) {
        let length = Duration::from_nanos;
        self.executor
            .begin_frame_with(length(dt_ns), length(game_dt_ns));
        let reference = &mut self.reference;
        reference.frame += 1;
        reference.real_ns += dt_ns;
        reference.game_ns += game_dt_ns;
        reference.delta_ns = game_dt_ns;
        reference.in_step = false;
    }

    /// A fixed step, in which the host also runs a custom phase.
    fn step(&mut self, step_ns: u64) {
        self.executor
            .begin_fixed_step_of(Duration::from_nanos(step_ns));
        self.reference.fixed_ns += step_ns;
        self.reference.step_ns = step_ns;
        self.reference.in_step = true;
        self.run(CUSTOM);
        self.run(Phase::FixedUpdate);
    }

    fn end_steps(&mut self) {
        self.executor.end_fixed_step();
        self.reference.in_step = false;
    }

    fn update(&mut self) {
        self.reference.in_step = false;
        self.run(Phase::Update);
        self.run(CUSTOM);
    }

    #[track_caller]
    fn run(&mut self, phase: Phase) {
        self.executor.run_phase(phase);
        self.reference.run(phase);
        let notes = self.notes.take();
        self.resumed += notes.len();
        assert_eq!(notes, self.reference.notes, "{:?}", self.executor.time());
        self.reference.notes.clear();
    }
}

/// Virtual time is scaled, then clamped; the accumulated time is spent in steps,
/// and the game may change their length.
#[test]
fn as_bevy_does() {
    let mut random = Random(0xbe55);
    let mut pair = Pair::new();
    let (mut overstep_ns, mut step_ns, mut percent) = (0, 15_625_000, 100);
    for _ in 0..20_000 {
        match random.below(200) {
            0 => step_ns = (1 + random.below(40)) * MS,
            1 => percent = random.below(4) * 100,
            _ => {}
        }
        let dt_ns = match random.below(50) {
            0 => random.below(2_000 * MS),
            _ => 12 * MS + random.below(9 * MS),
        };
        let game_dt_ns = (dt_ns * percent / 100).min(250 * MS);
        pair.begin_frame(dt_ns, game_dt_ns);
        overstep_ns += game_dt_ns;
        while overstep_ns >= step_ns {
            overstep_ns -= step_ns;
            pair.step(step_ns);
        }
        pair.end_steps();
        pair.update();
    }
    assert!(pair.resumed > 100_000, "{}", pair.resumed);
}

/// Physics runs before the dt of the frame is known, and its delta is scaled like
/// that of the frame. So fixed time is sometimes ahead of the game clock,
/// sometimes behind.
#[test]
fn as_godot_does() {
    let mut random = Random(0x60d07);
    let mut pair = Pair::new();
    let (mut percent, mut was_ahead) = (100, false);
    let (mut left_ns, mut owed_ns): (u64, u64) = (0, 0);
    for _ in 0..20_000 {
        if random.below(200) == 0 {
            percent = 50 * random.below(4);
        }
        let dt_ns = 10 * MS + random.below(15 * MS);
        // The measured time determines the steps; the frame gets a smoothed time.
        left_ns += dt_ns;
        let step_ns = 16_666_667;
        while left_ns >= step_ns {
            left_ns -= step_ns;
            pair.step(step_ns * percent / 100);
        }
        was_ahead |= pair.reference.fixed_ns > pair.reference.game_ns;
        owed_ns += dt_ns;
        let smoothed_ns = owed_ns - random.below(2 * MS);
        owed_ns -= smoothed_ns;
        pair.begin_frame(dt_ns, smoothed_ns * percent / 100);
        pair.update();
    }
    assert!(was_ahead);
    assert!(pair.resumed > 100_000, "{}", pair.resumed);
}

/// The accumulator is compared with `>`: a frame of exactly one step runs none,
/// and the next one runs it.
#[test]
fn as_ggez_does() {
    let mut random = Random(0x66e2);
    let mut pair = Pair::new();
    let (step_ns, mut left_ns) = (20 * MS, 0);
    for frame in 0..20_000 {
        // Whole steps for a while, so that the two comparisons differ.
        let dt_ns = if frame < 5_000 {
            step_ns * random.below(3)
        } else {
            random.below(60 * MS)
        };
        pair.begin_frame(dt_ns, dt_ns);
        left_ns += dt_ns;
        while left_ns > step_ns {
            left_ns -= step_ns;
            pair.step(step_ns);
        }
        pair.end_steps();
        pair.update();
    }
    assert!(pair.resumed > 100_000, "{}", pair.resumed);
}

/// The host runs fixed steps by hand, between frames or without any, as in tests
/// and rollback; and the phase even without a step.
#[test]
fn with_the_fixed_schedule_run_by_hand() {
    let mut random = Random(0x4011);
    let mut pair = Pair::new();
    for _ in 0..20_000 {
        // The two stay close to each other.
        let (fixed_ns, game_ns) = (pair.reference.fixed_ns, pair.reference.game_ns);
        let choice = match random.below(8) {
            _ if fixed_ns > game_ns + 200 * MS => 4,
            _ if game_ns > fixed_ns + 200 * MS => 0,
            choice => choice,
        };
        match choice {
            0 => {
                let steps = random.below(9);
                (0..steps).for_each(|_| pair.step(16 * MS));
            }
            1 => pair.step(random.below(40 * MS)),
            2 => pair.step(0),
            3 => {
                // Without a step, the phase reads the latest one.
                pair.reference.in_step = true;
                pair.run(Phase::FixedUpdate);
            }
            _ => {
                let dt_ns = random.below(30 * MS);
                pair.begin_frame(dt_ns, dt_ns);
                pair.update();
            }
        }
    }
    assert!(pair.resumed > 50_000, "{}", pair.resumed);
}

#[test]
fn neither_dt_is_cut_and_the_accumulator_has_all_the_steps_it_needs() {
    let mut executor = Executor::builder().fixed_delta(0.25).max_delta(0.5).build();
    executor.on_report(|report| panic!("{report}"));
    executor.begin_frame_with(8, 4);
    let time = executor.time();
    assert_eq!(time.unscaled_delta, Duration::from_secs(8));
    assert_eq!(time.delta, Duration::from_secs(4));
    let steps = std::iter::from_fn(|| executor.begin_fixed_step().then_some(()));
    assert_eq!(steps.count(), 16);
    // The next frame is limited as usual.
    executor.on_report(|report| assert!(matches!(report, Report::TimeDropped { .. })));
    executor.begin_frame(8);
    assert_eq!(executor.time().delta, Duration::from_millis(500));
}

#[test]
fn a_scale_or_pause_of_the_game_clock_comes_on_top() {
    let mut executor = Executor::new();
    executor.clock().set_scale(0.5);
    executor.begin_frame_with(1, 4);
    assert_eq!(executor.time().elapsed, Duration::from_secs(2));
    executor.clock().pause();
    executor.begin_frame_with(1, 4);
    assert_eq!(executor.time().elapsed, Duration::from_secs(2));
    assert_eq!(executor.time().unscaled_elapsed, Duration::from_secs(2));
}

#[test]
fn what_is_no_length_of_time_counts_as_nothing_and_is_reported() {
    let mut executor = Executor::new();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let hear = reports.clone();
    executor.on_report(move |report| {
        if let Report::InvalidDelta { frame, counted_as } = *report {
            hear.borrow_mut().push((frame, counted_as));
        }
    });
    executor.begin_frame_with(f32::NAN, -1.0);
    executor.begin_fixed_step_of(f64::NEG_INFINITY);
    executor.run_phase(Phase::FixedUpdate);
    executor.begin_frame_with(1, 1);
    let nothing = Duration::ZERO;
    assert_eq!(reports.take(), [(1, nothing), (1, nothing), (1, nothing)]);
    assert_eq!(executor.time().elapsed, Duration::from_secs(1));
    assert!(executor.time().fixed_elapsed.is_zero());
    executor.begin_fixed_step_of(f64::INFINITY);
    let end = Duration::from_nanos(u64::MAX);
    assert_eq!(reports.take(), [(2, end)]);
    assert_eq!(executor.time().fixed_elapsed, end);
    // It counts no further, and its own steps must wait for the game clock.
    executor.begin_fixed_step_of(1);
    assert!(!executor.begin_fixed_step());
}

/// A host that starts scripts in its own update, after the steps: they count on
/// the frame's time once the steps have ended.
#[test]
fn a_script_started_behind_the_steps_counts_on_the_frame() {
    let mut executor = Executor::new();
    executor.begin_frame_with(0.5, 0.5);
    executor.begin_fixed_step_of(0.25);
    executor.run_phase(Phase::FixedUpdate);
    executor.end_fixed_step();
    let wait = executor.start(wait_seconds(0.25));
    executor.run_phase(Phase::Update);
    executor.begin_frame_with(0.125, 0.125);
    executor.run_phase(Phase::Update);
    assert!(!wait.is_finished());
    executor.begin_frame_with(0.125, 0.125);
    executor.run_phase(Phase::Update);
    assert!(wait.is_finished());
}

#[test]
fn next_deadline_takes_further_steps_to_be_like_the_latest() {
    let mut executor = Executor::builder().fixed_delta(0.25).build();
    executor.begin_frame_with(1, 1);
    executor.begin_fixed_step_of(0.5);
    executor.run_phase(Phase::FixedUpdate);
    let _wait = executor.start(wait_seconds(1.25).in_phase(Phase::FixedUpdate));
    // Due at 1.75 of fixed time, in the step that ends at 2.
    assert_eq!(executor.next_deadline(), Some(Duration::from_secs(1)));
}
