//! What a coroutine carries through its waits.

use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

use crate::random::Random;

/// Units of game time in a second. One is a whole number of nanoseconds
/// (1 953 125) and exact in binary, whatever the type.
const UNITS_PER_SECOND: u64 = 512;

/// A frame of 1/64 s.
pub(crate) const UNITS_PER_FRAME: u64 = 8;

/// Nanoseconds of one unit.
pub(crate) const UNIT_NS: u64 = 1_000_000_000 / UNITS_PER_SECOND;

/// The length of a frame.
pub(crate) const FRAME: Duration = Duration::from_nanos(UNITS_PER_FRAME * UNIT_NS);

/// From where to where the waits of a workload go.
#[derive(Clone, Copy)]
pub(crate) enum Waits {
    /// 0.5 s up to 5 s.
    Seconds,
    /// 12 to 24 days: never due in a benchmark.
    Weeks,
}

impl Waits {
    /// The next length, in units.
    pub(crate) fn draw(self, random: &mut Random) -> u64 {
        let second = UNITS_PER_SECOND;
        match self {
            Self::Seconds => second / 2 + random.below(second * 9 / 2),
            Self::Weeks => second * 1_000_000 + random.below(second * 1_000_000),
        }
    }
}

thread_local! {
    static TALLY: Cell<u64> = const { Cell::new(0) };
}

/// What all actors that have been dropped had counted; starts anew from zero.
pub(crate) fn take_tally() -> u64 {
    TALLY.take()
}

/// Adds what actors in another language had counted.
#[cfg(cpp)]
pub(crate) fn add_to_tally(count: u64) {
    TALLY.set(TALLY.get() + count);
}

/// The state of one coroutine: 40 bytes that live across its waits. It counts
/// in its own memory, as a script would, and adds up only when dropped.
pub(crate) struct Actor {
    resumes: u64,
    random: Random,
    ballast: [u64; 3],
}

impl Actor {
    pub(crate) fn new(index: usize) -> Self {
        Self {
            resumes: 0,
            random: Random::new(index as u64),
            ballast: [index as u64; 3],
        }
    }

    /// What it was made with.
    pub(crate) fn index(&self) -> usize {
        self.ballast[0] as usize
    }

    /// Counts one wait that is over.
    pub(crate) fn resumed(&mut self) {
        self.resumes += 1;
    }

    /// Counts what a joined child has returned.
    pub(crate) fn add(&mut self, count: u64) {
        self.resumes += count;
    }

    /// The length of the next wait, in units.
    pub(crate) fn next_units(&mut self, waits: Waits) -> u64 {
        waits.draw(&mut self.random)
    }

    /// The length of the next wait.
    pub(crate) fn next_wait(&mut self, waits: Waits) -> Duration {
        Duration::from_nanos(self.next_units(waits) * UNIT_NS)
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        black_box(&self.ballast);
        TALLY.set(TALLY.get() + self.resumes);
    }
}

/// The child of W4a: 48 bytes that end at the first poll and return one.
pub(crate) fn child(index: usize) -> impl Future<Output = u64> {
    let ballast = [index as u64; 5];
    async move {
        black_box(&ballast);
        1
    }
}
