//! The clocks of a runtime, by number.

use std::cell::RefCell;

use framestep::Handle;
use framestep::time::Clock;

use crate::ids::ClockId;

/// The clocks that a runtime has made, beside those of its executor.
pub(crate) struct Clocks {
    executor: Handle,
    own: RefCell<Vec<ClockEntry>>,
}

impl Clocks {
    pub(crate) fn new(executor: Handle) -> Self {
        let own = RefCell::default();
        Clocks { executor, own }
    }

    /// A clock by its number.
    pub(crate) fn get(&self, id: ClockId) -> Option<Clock> {
        match id {
            ClockId::GAME => self.executor.clock(),
            ClockId::REALTIME => self.executor.realtime(),
            ClockId(number) => {
                let own = self.own.borrow();
                let at = (number - ClockId::FIRST) as usize;
                own.get(at).map(|entry| entry.clock.clone())
            }
        }
    }

    /// A clock by its number.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub(crate) fn expect(&self, id: ClockId) -> Clock {
        match self.get(id) {
            Some(clock) => clock,
            None => refuse(id),
        }
    }

    /// Makes a clock that follows another one. `None` if there is no such clock.
    pub(crate) fn make(&self, parent: ClockId) -> Option<ClockId> {
        let clock = self.get(parent)?.child();
        let mut own = self.own.borrow_mut();
        own.push(ClockEntry { clock, parent });
        let number = u32::try_from(own.len()).expect("fewer than 2^31 clocks");
        Some(ClockId(number - 1 + ClockId::FIRST))
    }

    /// Keeps the first clocks that follow these, and drops the others. Returns how many are kept: handles of
    /// them stay valid.
    pub(crate) fn keep(&self, parents: &[ClockId]) -> usize {
        let mut own = self.own.take();
        let same = own.iter().zip(parents);
        let same = same.take_while(|(clock, parent)| clock.parent == **parent);
        let same = same.count();
        own.truncate(same);
        self.own.replace(own);
        same
    }

    pub(crate) fn all(&self) -> Vec<Clock> {
        let own = self.own.borrow();
        own.iter().map(|entry| entry.clock.clone()).collect()
    }

    /// What each of them follows.
    pub(crate) fn parents(&self) -> Vec<ClockId> {
        let own = self.own.borrow();
        own.iter().map(|entry| entry.parent).collect()
    }
}

struct ClockEntry {
    clock: Clock,
    parent: ClockId,
}

#[track_caller]
fn refuse(id: ClockId) -> ! {
    panic!("the runtime has no clock {id:?}: it was made by another runtime")
}
