//! The clocks that the waits and futures of a task have named.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use crate::time::{ClockIndex, ClockState};

/// The clocks on which a task has or had timers and futures, except the executor's clocks
/// and that of its owner. A pause of the task has to read them.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    /// By index. Timers in stepped time have an index of their own: if timers count in
    /// both times, the clock is here under two indices.
    known: BTreeMap<ClockIndex, Weak<ClockState>>,
    /// How many clocks there may be before those without waits are removed.
    sweep_at: usize,
}

impl Clocks {
    /// Notes that a timer or future of the task counts on `clock`.
    pub(crate) fn note(&mut self, index: ClockIndex, clock: &Rc<ClockState>) {
        if self.known.contains_key(&index) {
            return;
        }
        if self.known.len() >= self.sweep_at.max(8) {
            let has_waits = |clock: &Weak<ClockState>| {
                let clock = clock.upgrade();
                clock.is_some_and(|clock| clock.has_waits())
            };
            self.known.retain(|_, clock| has_waits(clock));
            self.sweep_at = 2 * self.known.len();
        }
        self.known.insert(index, Rc::downgrade(clock));
    }

    /// The same for a task that is restored: futures that count on the clock are polled later.
    pub(crate) fn restore(&mut self, index: ClockIndex, clock: &Rc<ClockState>) {
        self.known.insert(index, Rc::downgrade(clock));
    }

    /// Calls `f` with each clock that still exists.
    pub(crate) fn each(&self, mut f: impl FnMut(ClockIndex, &Rc<ClockState>)) {
        for (&index, clock) in &self.known {
            if let Some(clock) = clock.upgrade() {
                f(index, &clock);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::Clocks;
    use crate::time::{Clock, FrameClock};

    #[test]
    fn clocks_without_waits_do_not_pile_up_and_clocks_with_waits_stay() {
        let frames = Rc::new(FrameClock::new(20, u64::MAX));
        let game = Clock::game(&frames);
        let mut clocks = Clocks::default();
        let kept: Vec<_> = (0..20).map(|_| game.child().awaited()).collect();
        for awaited in &kept {
            clocks.note(awaited.state().index(), awaited.state());
        }
        for _ in 0..1_000 {
            let awaited = game.child().awaited();
            clocks.note(awaited.state().index(), awaited.state());
            assert!(clocks.known.len() <= 2 * kept.len());
        }
        let mut found = Vec::new();
        clocks.each(|index, _| found.push(index));
        let expected: Vec<_> = kept.iter().map(|awaited| awaited.state().index()).collect();
        assert_eq!(found[..kept.len()], expected);
    }
}
