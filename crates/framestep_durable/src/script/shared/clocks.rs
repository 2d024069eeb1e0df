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

    /// The number of a clock. `None` if the runtime does not have it.
    pub(crate) fn id_of(&self, clock: &Clock) -> Option<ClockId> {
        let is_it = |of: Option<Clock>| of.as_ref() == Some(clock);
        if let Some(id) = [ClockId::GAME, ClockId::REALTIME]
            .into_iter()
            .find(|id| is_it(self.get(*id)))
        {
            return Some(id);
        }
        let at = self
            .own
            .borrow()
            .iter()
            .position(|entry| entry.clock == *clock)?;
        Some(ClockId(u32::try_from(at).ok()? + ClockId::FIRST))
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

    /// Replaces the clocks by those that follow these, for scripts that are replayed: a script that waits on a clock
    /// asks for it then. The result takes that back, unless it is [told not to](ClocksOfSave::keep). `None` if the
    /// numbers are damaged.
    pub(crate) fn of_save(&self, parents: &[ClockId]) -> Option<ClocksOfSave<'_>> {
        let before = self.own.borrow().clone();
        let clocks = ClocksOfSave {
            clocks: self,
            before: Some(before),
        };
        let same = self.keep(parents);
        let mut others = parents[same..].iter();
        others.try_for_each(|&parent| self.make(parent).map(drop))?;
        Some(clocks)
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

/// The clocks of a save state, while its scripts are replayed.
pub(crate) struct ClocksOfSave<'a> {
    clocks: &'a Clocks,
    /// `None` if the runtime keeps those of the save state.
    before: Option<Vec<ClockEntry>>,
}

impl ClocksOfSave<'_> {
    /// The runtime goes on with these clocks.
    pub(crate) fn keep(mut self) {
        self.before = None;
    }
}

impl Drop for ClocksOfSave<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            drop(self.clocks.own.replace(before));
        }
    }
}

#[derive(Clone)]
struct ClockEntry {
    clock: Clock,
    parent: ClockId,
}

#[track_caller]
fn refuse(id: ClockId) -> ! {
    panic!("the runtime has no clock {id:?}: it was made by another runtime")
}
