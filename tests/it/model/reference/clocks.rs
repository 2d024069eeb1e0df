//! Time, from the dt that the host passes.

use framestep::Phase;

use crate::model::program::{Length, Settings};

pub(super) const GAME: usize = 0;
pub(super) const REAL: usize = 1;

/// How long a fixed step is.
const STEP: u64 = 125_000_000;
/// What `max_delta` is where it is not unlimited.
const MOST: u64 = 500_000_000;

pub(super) struct Clocks {
    pub(super) frame: u64,
    pub(super) fixed: u64,
    steps_of_frame: u64,
    /// A fixed step is under way.
    in_step: bool,
    unlimited: bool,
    /// By order of creation: the game's, realtime, and those of the program.
    clocks: Vec<Clock>,
}

struct Clock {
    /// None: it follows the host.
    above: Option<usize>,
    quarters: u64,
    paused: bool,
    now: u64,
    /// How far it went in this frame.
    delta: u64,
}

impl Clocks {
    pub(super) fn new(settings: &Settings) -> Self {
        Clocks {
            frame: 0,
            fixed: 0,
            steps_of_frame: 0,
            in_step: false,
            unlimited: settings.unlimited,
            clocks: vec![Clock::new(None), Clock::new(None)],
        }
    }

    pub(super) fn begin_frame(&mut self, dt: Length) {
        let dt = match dt {
            Length::Nanos(ns) => ns,
            Length::Negative | Length::NotANumber => 0,
            Length::Infinite => unreachable!("no program has it"),
        };
        let cut = if self.unlimited { dt } else { dt.min(MOST) };
        self.frame += 1;
        self.steps_of_frame = 0;
        self.in_step = false;
        for at in 0..self.clocks.len() {
            let base = match (at, self.clocks[at].above) {
                (REAL, _) => dt,
                (_, None) => cut,
                (_, Some(above)) => self.clocks[above].delta,
            };
            let clock = &mut self.clocks[at];
            clock.delta = if clock.paused {
                0
            } else {
                let quarters = base * clock.quarters;
                assert!(quarters % 4 == 0, "no program needs to round");
                quarters / 4
            };
            clock.now += clock.delta;
        }
    }

    pub(super) fn begin_fixed_step(&mut self) -> bool {
        let game = self.clocks[GAME].now;
        self.in_step = self.fixed + STEP <= game;
        if !self.in_step {
            return false;
        }
        if !self.unlimited && self.steps_of_frame >= MOST.div_ceil(STEP) {
            // The steps that the frame has no room for are dropped.
            self.fixed += (game - self.fixed) / STEP * STEP;
            self.in_step = false;
            return false;
        }
        self.steps_of_frame += 1;
        self.fixed += STEP;
        true
    }

    /// A run of a named phase other than the fixed one ends the step. One of the
    /// fixed phase that no step was begun for reads fixed time as well.
    pub(super) fn begin_run(&mut self, phase: Phase) {
        if !matches!(phase, Phase::Custom(_)) {
            self.in_step = phase == Phase::FixedUpdate;
        }
    }

    /// What a clock reads in the code of scripts and hosts, and to timers of the
    /// run.
    pub(super) fn read(&self, clock: usize, run: Option<Phase>) -> u64 {
        if clock == GAME && (self.in_step || run == Some(Phase::FixedUpdate)) {
            self.fixed
        } else {
            self.clocks[clock].now
        }
    }

    /// What a pause of a timer in `phase` is measured by.
    pub(super) fn of_timers(&self, clock: usize, phase: Phase) -> u64 {
        if clock == GAME && phase == Phase::FixedUpdate {
            self.fixed
        } else {
            self.clocks[clock].now
        }
    }

    pub(super) fn child(&mut self, above: usize) -> usize {
        self.clocks.push(Clock::new(Some(above)));
        self.clocks.len() - 1
    }

    pub(super) fn set_scale(&mut self, clock: usize, quarters: u8) {
        self.clocks[clock].quarters = quarters.into();
    }

    pub(super) fn set_paused(&mut self, clock: usize, paused: bool) -> bool {
        std::mem::replace(&mut self.clocks[clock].paused, paused) != paused
    }
}

impl Clock {
    fn new(above: Option<usize>) -> Self {
        Clock {
            above,
            quarters: 4,
            paused: false,
            now: 0,
            delta: 0,
        }
    }
}
