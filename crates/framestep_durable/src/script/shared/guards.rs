//! The guards of clocks that scripts have taken, by number.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use framestep::durable::SavedGuard;
use serde::{Deserialize, Serialize};

use crate::ids::{ClockId, ScriptId};
use crate::script::Clocks;

/// The guards of a runtime.
pub(crate) struct Guards {
    all: RefCell<BTreeMap<u64, Guard>>,
    /// The number of the next one.
    pub(crate) next: Cell<u64>,
}

impl Default for Guards {
    fn default() -> Self {
        let next = Cell::new(1);
        Guards {
            all: RefCell::default(),
            next,
        }
    }
}

/// A guard that a script has taken.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) script: ScriptId,
    pub(crate) clock: ClockId,
    pub(crate) held: framestep::time::ClockGuard,
}

/// A guard in a save state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GuardImage {
    pub(crate) number: u64,
    pub(crate) script: ScriptId,
    pub(crate) clock: ClockId,
    /// The bits of the factor, and the number that the clock knows it by. `None` if the guard
    /// holds the clock.
    pub(crate) factor: Option<(u64, u64)>,
}

impl Guards {
    pub(crate) fn add(&self, guard: Guard) -> u64 {
        let number = self.next.get();
        self.next.set(number + 1);
        self.all.borrow_mut().insert(number, guard);
        number
    }

    pub(crate) fn end(&self, number: u64) {
        let ended = self.all.borrow_mut().remove(&number);
        // The clock may call the host's waker.
        drop(ended);
    }

    pub(crate) fn save(&self, clocks: &Clocks) -> Vec<GuardImage> {
        let guards = self.all.borrow();
        let guards = guards.iter().map(|(&number, guard)| {
            let saved = SavedGuard::of(&guard.held, clocks.expect(guard.clock));
            GuardImage {
                number,
                script: guard.script,
                clock: guard.clock,
                factor: saved
                    .factor
                    .map(|(factor, index)| (factor.to_bits(), index)),
            }
        });
        guards.collect()
    }

    /// What [`save`](Self::save) has saved, for the clocks. `None` if there is no such clock.
    pub(crate) fn of_clocks(guards: &[GuardImage], clocks: &Clocks) -> Option<Vec<SavedGuard>> {
        let guards = guards.iter().map(|image| {
            Some(SavedGuard {
                clock: clocks.get(image.clock)?,
                factor: image
                    .factor
                    .map(|(bits, index)| (f64::from_bits(bits), index)),
            })
        });
        guards.collect()
    }

    /// Puts back the guards that the clocks have now.
    pub(crate) fn load(&self, images: &[GuardImage], guards: Vec<framestep::time::ClockGuard>) {
        let guards = images.iter().zip(guards).map(|(image, held)| {
            let GuardImage { script, clock, .. } = *image;
            let guard = Guard {
                script,
                clock,
                held,
            };
            (image.number, guard)
        });
        self.all.replace(guards.collect());
    }

    /// Ends the guards of a script that does not continue where it was.
    pub(crate) fn end_all_of(&self, script: ScriptId) {
        let guards = self.all.borrow();
        let of_script = guards.iter().filter(|(_, guard)| guard.script == script);
        let numbers: Vec<u64> = of_script.map(|(&number, _)| number).collect();
        drop(guards);
        for number in numbers {
            self.end(number);
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.all.borrow().len()
    }

    /// Forgets all of them.
    pub(crate) fn clear(&self) {
        let guards = self.all.take();
        drop(guards);
    }
}
