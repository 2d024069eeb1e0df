//! Time, from the dt that the host passes.

use framestep::Phase;

use framestep_testkit::program::{Length, Settings, UNIT};

pub(super) const GAME: usize = 0;
pub(super) const REAL: usize = 1;

/// How long a fixed step is.
const STEP: u64 = UNIT;
/// The value of `max_delta`, if it is not unlimited.
const MOST: u64 = 4 * UNIT;

pub(super) struct Clocks {
    pub(super) frame: u64,
    pub(super) fixed: u64,
    /// How many more steps this frame may have.
    steps_left: u64,
    /// A pause of the game clock holds back steps that are due.
    holds_steps: bool,
    /// A fixed step is under way.
    in_step: bool,
    unlimited: bool,
    /// By order of creation: the game's, realtime, and those of the program.
    clocks: Vec<Clock>,
}

struct Clock {
    /// `None`: it follows the dt of the host.
    above: Option<usize>,
    quarters: u64,
    paused: bool,
    /// How many guards hold it, and how many halve its speed.
    holds: i32,
    halves: i32,
    now: u64,
    /// Its reading in fixed steps, if it is below the game clock.
    stepped: u64,
    /// How far it advanced in this frame.
    delta: u64,
}

impl Clocks {
    pub(super) fn new(settings: &Settings) -> Self {
        Clocks {
            frame: 0,
            fixed: 0,
            steps_left: 0,
            holds_steps: false,
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
        self.steps_left = MOST.div_ceil(STEP) + self.held_steps();
        self.in_step = false;
        for at in 0..self.clocks.len() {
            let base = match (at, self.clocks[at].above) {
                (REAL, _) => dt,
                (_, None) => cut,
                (_, Some(above)) => self.clocks[above].delta,
            };
            let clock = &mut self.clocks[at];
            clock.delta = clock.share_of(base);
            clock.now += clock.delta;
        }
    }

    /// The steps of the last frame that a pause has held back, asked for or not.
    fn held_steps(&mut self) -> u64 {
        let due = (self.clocks[GAME].now - self.fixed) / STEP;
        let paused = self.clocks[GAME].stands_still();
        if std::mem::replace(&mut self.holds_steps, paused) || paused {
            due.min(self.steps_left)
        } else {
            0
        }
    }

    pub(super) fn begin_fixed_step(&mut self) -> bool {
        let game = self.clocks[GAME].now;
        self.in_step = false;
        if self.fixed + STEP > game {
            self.holds_steps = false;
            return false;
        }
        if self.unlimited {
            self.steps_left = u64::MAX;
        }
        if self.steps_left == 0 {
            // Steps beyond the limit of the frame are dropped.
            self.holds_steps = false;
            self.move_fixed((game - self.fixed) / STEP * STEP);
            return false;
        }
        if self.clocks[GAME].stands_still() {
            self.holds_steps = true;
            return false;
        }
        self.in_step = true;
        self.steps_left -= 1;
        self.move_fixed(STEP);
        true
    }

    /// Whether a step would begin now.
    pub(super) fn is_step_due(&self) -> bool {
        let is_owed = self.fixed + STEP <= self.clocks[GAME].now;
        is_owed && (self.unlimited || self.steps_left > 0) && !self.clocks[GAME].stands_still()
    }

    /// Whether a step may begin, now or in a later frame.
    pub(super) fn may_step(&self) -> bool {
        let game = &self.clocks[GAME];
        self.is_step_due() || !game.stands_still() && game.quarters > 0
    }

    pub(super) fn end_fixed_step(&mut self) {
        self.in_step = false;
    }

    /// Each clock below the game clock moves by its share, at the current
    /// scales.
    fn move_fixed(&mut self, by: u64) {
        self.fixed += by;
        for at in 0..self.clocks.len() {
            let share = self.share(at, by);
            self.clocks[at].stepped += share;
        }
    }

    /// The share of a clock in a length of fixed time.
    fn share(&self, clock: usize, of: u64) -> u64 {
        let clock = &self.clocks[clock];
        match clock.above {
            Some(above) => clock.share_of(self.share(above, of)),
            None => of,
        }
    }

    fn is_below_game(&self, clock: usize) -> bool {
        let above = self.clocks[clock].above;
        above.is_some_and(|above| above == GAME || self.is_below_game(above))
    }

    /// A run of a named phase other than the fixed one ends the step. A run of
    /// the fixed phase without a step also reads fixed time.
    pub(super) fn begin_run(&mut self, phase: Phase) {
        if !matches!(phase, Phase::Custom(_)) {
            self.in_step = phase == Phase::FixedUpdate;
        }
    }

    /// What a clock reads in the code of scripts and hosts.
    pub(super) fn read(&self, clock: usize, run: Option<Phase>) -> u64 {
        if self.in_step || run == Some(Phase::FixedUpdate) {
            self.of_waits(clock, Phase::FixedUpdate)
        } else {
            self.clocks[clock].now
        }
    }

    /// The time that a new wait in `phase` counts from. In the fixed phase,
    /// between two steps, that is the last step plus the rest of the frame.
    pub(super) fn begin_for(&self, clock: usize, phase: Phase, run: Option<Phase>) -> u64 {
        let in_step = self.in_step || run == Some(Phase::FixedUpdate);
        let counted = self.of_waits(clock, phase);
        let steps = phase == Phase::FixedUpdate && (clock == GAME || self.is_below_game(clock));
        if steps && !in_step {
            counted + self.share(clock, self.clocks[GAME].now - self.fixed)
        } else {
            counted
        }
    }

    /// The time of waits in `phase` and of their pauses: stepped time in the
    /// fixed phase, else frame time.
    pub(super) fn of_waits(&self, clock: usize, phase: Phase) -> u64 {
        match phase {
            Phase::FixedUpdate if clock == GAME => self.fixed,
            Phase::FixedUpdate if self.is_below_game(clock) => self.clocks[clock].stepped,
            _ => self.clocks[clock].now,
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

    /// A guard of a clock is made or dropped.
    pub(super) fn hold(&mut self, clock: usize, halves: bool, by: i32) {
        let clock = &mut self.clocks[clock];
        *if halves {
            &mut clock.halves
        } else {
            &mut clock.holds
        } += by;
    }
}

impl Clock {
    fn new(above: Option<usize>) -> Self {
        Clock {
            above,
            quarters: 4,
            paused: false,
            holds: 0,
            halves: 0,
            now: 0,
            stepped: 0,
            delta: 0,
        }
    }

    /// docs/contract.md#decided-guards
    fn stands_still(&self) -> bool {
        self.paused || self.holds > 0
    }

    fn share_of(&self, length: u64) -> u64 {
        if self.stands_still() {
            return 0;
        }
        let (quarters, of) = (length * self.quarters, 4 << self.halves);
        assert!(quarters % of == 0, "no program needs to round");
        quarters / of
    }
}
