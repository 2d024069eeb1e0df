//! What the numbers of clocks in an image refer to.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::time::{ClockIndex, ClockRef, ClockState};

use super::Damaged;

/// The clocks of an executor that were made by `child`, parents before children. Their
/// places are their numbers.
#[derive(Debug)]
pub struct ClockNames {
    clocks: Vec<Rc<ClockState>>,
    /// The place of each clock.
    places: BTreeMap<ClockIndex, usize>,
}

/// The clocks before those that were made by `child`: the game clock and realtime.
const OWN_CLOCKS: u64 = 2;
/// The same for clocks that own time measures, which include fixed time.
const OWN_MEASURES: u64 = 3;

impl ClockNames {
    pub(crate) fn new(clocks: Vec<Rc<ClockState>>) -> Self {
        let places = clocks.iter().enumerate();
        let places = places.map(|(place, clock)| (clock.index().stepped(), place));
        ClockNames {
            places: places.collect(),
            clocks,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Rc<ClockState>> {
        self.clocks.iter()
    }

    fn place(&self, clock: ClockIndex) -> Option<u64> {
        self.places.get(&clock.stepped()).map(|&place| place as u64)
    }

    fn at(&self, place: u64) -> Result<&Rc<ClockState>, Damaged> {
        let place = usize::try_from(place).map_err(|_| Damaged)?;
        self.clocks.get(place).ok_or(Damaged)
    }

    /// The number of a clock that timers count on.
    pub(crate) fn number(&self, clock: ClockIndex) -> Option<u64> {
        match clock {
            ClockIndex::GAME => Some(0),
            ClockIndex::REALTIME => Some(1),
            _ => Some(self.place(clock)? + OWN_CLOCKS),
        }
    }

    /// The clock with this number.
    pub(crate) fn clock(&self, number: u64) -> Result<ClockRef<'_>, Damaged> {
        match number {
            0 => Ok(ClockRef::Game),
            1 => Ok(ClockRef::Realtime),
            _ => self.at(number - OWN_CLOCKS).map(ClockRef::Child),
        }
    }

    /// The number of a clock that own time measures, in frame time or in stepped time.
    pub(crate) fn measure_number(&self, clock: ClockIndex) -> Option<u64> {
        match clock {
            ClockIndex::GAME => Some(0),
            ClockIndex::REALTIME => Some(1),
            ClockIndex::FIXED => Some(2),
            _ => Some(OWN_MEASURES + 2 * self.place(clock)? + u64::from(clock.is_stepped())),
        }
    }

    /// The clock with this number, and as what own time measures it.
    pub(crate) fn measured(&self, number: u64) -> Result<(ClockIndex, ClockRef<'_>), Damaged> {
        Ok(match number {
            0 => (ClockIndex::GAME, ClockRef::Game),
            1 => (ClockIndex::REALTIME, ClockRef::Realtime),
            2 => (ClockIndex::FIXED, ClockRef::Game),
            _ => {
                let number = number - OWN_MEASURES;
                let clock = self.at(number / 2)?;
                let index = match number % 2 {
                    0 => clock.index(),
                    _ => clock.index().stepped(),
                };
                (index, ClockRef::Child(clock))
            }
        })
    }
}
