//! Clocks: all are read when a frame begins.

use super::super::program::Length;

const FIXED_NS: u64 = 125_000_000;
const MAX_DELTA_NS: u64 = 333_333_340;

/// The one that the frames' dt add up to, neither scaled nor cut.
pub(super) const REALTIME: usize = 1;
pub(super) const GAME: usize = 0;

/// A clock that may be scaled: a line through its anchor.
#[derive(Debug)]
struct Scaled {
    /// `None`: it follows the dt that count for the game.
    parent: Option<usize>,
    source_anchor: u64,
    anchor: u64,
    quarters: u64,
    paused: bool,
    rate: u64,
    reading: u64,
}

/// All clocks, by index: game, realtime, the others as they were made.
#[derive(Debug)]
pub(super) struct Clocks {
    pub(super) frame: u64,
    max_delta: u64,
    source: u64,
    real: u64,
    fixed: u64,
    pub(super) in_step: bool,
    scaled: Vec<Scaled>,
}

impl Clocks {
    pub(super) fn new(unlimited: bool) -> Self {
        Clocks {
            frame: 0,
            max_delta: if unlimited { u64::MAX } else { MAX_DELTA_NS },
            source: 0,
            real: 0,
            fixed: 0,
            in_step: false,
            scaled: vec![Scaled::new(None, 0)],
        }
    }

    pub(super) fn begin_frame(&mut self, dt: Length) {
        let dt = match dt {
            Length::Nanos(ns) => ns,
            Length::Negative | Length::NotANumber => 0,
            Length::Infinite => u64::MAX,
        };
        self.frame += 1;
        self.in_step = false;
        self.real = self.real.saturating_add(dt);
        self.source = self.source.saturating_add(dt.min(self.max_delta));
        // Parents are older than their children.
        for at in 0..self.scaled.len() {
            let source = self.source_of(at);
            self.scaled[at].reading = self.scaled[at].at(source);
        }
    }

    pub(super) fn begin_fixed_step(&mut self) -> bool {
        let next = self.fixed.saturating_add(FIXED_NS);
        self.in_step = next <= self.scaled[0].reading;
        if self.in_step {
            self.fixed = next;
        }
        self.in_step
    }

    fn source_of(&self, at: usize) -> u64 {
        let parent = self.scaled[at].parent;
        parent.map_or(self.source, |parent| self.scaled[parent].reading)
    }

    pub(super) fn is_in_step(&self) -> bool {
        self.in_step
    }

    /// What a clock reads now: the game clock the time of a fixed step in one.
    pub(super) fn now(&self, clock: usize) -> u64 {
        match clock {
            GAME if self.in_step => self.fixed,
            GAME => self.scaled[0].reading,
            REALTIME => self.real,
            child => self.scaled[child - 1].reading,
        }
    }

    pub(super) fn readings(&self) -> Vec<u64> {
        (0..=self.scaled.len())
            .map(|clock| self.now(clock))
            .collect()
    }

    /// A new clock that follows another.
    pub(super) fn child(&mut self, clock: usize) -> usize {
        let parent = clock.saturating_sub(1);
        let source = self.scaled[parent].reading;
        self.scaled.push(Scaled::new(Some(parent), source));
        self.scaled.len()
    }

    pub(super) fn set_scale(&mut self, clock: usize, quarters: u64) {
        let at = clock.saturating_sub(1);
        self.scaled[at].quarters = quarters;
        self.shift(at);
    }

    /// `false`: it was so already.
    pub(super) fn set_paused(&mut self, clock: usize, paused: bool) -> bool {
        let at = clock.saturating_sub(1);
        let changed = self.scaled[at].paused != paused;
        self.scaled[at].paused = paused;
        self.shift(at);
        changed
    }

    /// Another rate counts from where the clock stands.
    fn shift(&mut self, at: usize) {
        let source = self.source_of(at);
        let clock = &mut self.scaled[at];
        let rate = if clock.paused { 0 } else { clock.quarters };
        if rate != clock.rate {
            clock.anchor = clock.reading;
            clock.source_anchor = source;
            clock.rate = rate;
        }
    }
}

impl Scaled {
    fn new(parent: Option<usize>, source: u64) -> Self {
        Scaled {
            parent,
            source_anchor: source,
            anchor: 0,
            quarters: 4,
            paused: false,
            rate: 4,
            reading: 0,
        }
    }

    fn at(&self, source: u64) -> u64 {
        let passed = u128::from(source - self.source_anchor);
        let scaled = (passed * u128::from(self.rate) + 2) / 4;
        let reading = u128::from(self.anchor) + scaled;
        u64::try_from(reading).unwrap_or(u64::MAX)
    }
}
