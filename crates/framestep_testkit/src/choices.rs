//! What a random program chooses from.

use framestep::Phase;

use crate::{PHASES, Random};

impl Random {
    /// Up to two seconds, in sixteenths.
    pub fn seconds(&mut self) -> f64 {
        f64::from(u32::try_from(self.below(33)).expect("a small number")) / 16.0
    }

    /// One of the first five phases of a frame.
    pub fn phase(&mut self) -> Phase {
        PHASES[usize::try_from(self.below(5)).expect("a small number")]
    }

    /// Once in so many times.
    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    /// Random numbers of somebody's own.
    #[must_use]
    pub fn fork(&mut self) -> Random {
        Random(self.next())
    }
}
