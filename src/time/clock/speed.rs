//! The requested speed of a clock.

use std::cell::{Cell, RefCell};

use crate::image::{Damaged, Reader, Writer};

use super::factors::{Factors, multiply};
use super::guard::Asks;

/// How many factors an image may have room for.
const MAX_LEAVES: usize = 1 << 16;

/// Whether a number can be a scale.
fn is_scale(scale: f64) -> bool {
    scale.is_finite() && scale >= 0.0
}

/// The requests to a clock: calls, the last of which counts, and guards, which add
/// up.
#[derive(Debug)]
pub(super) struct Speed {
    /// The speed that results from all fields below.
    factor: Cell<f64>,
    scale: Cell<f64>,
    is_set_to_pause: Cell<bool>,
    /// How many guards hold the clock.
    holds: Cell<usize>,
    /// The factors of the guards that scale the clock.
    factors: RefCell<Factors>,
}

impl Speed {
    /// The speed of the clock's source.
    pub(super) fn new() -> Self {
        Speed {
            factor: Cell::new(1.0),
            scale: Cell::new(1.0),
            is_set_to_pause: Cell::new(false),
            holds: Cell::new(0),
            factors: RefCell::default(),
        }
    }

    /// How fast the clock runs from the next frame or step on: 0 while it is paused.
    pub(super) fn factor(&self) -> f64 {
        self.factor.get()
    }

    /// The scale that was set.
    pub(super) fn scale(&self) -> f64 {
        self.scale.get()
    }

    /// Whether a call has paused the clock.
    pub(super) fn is_set_to_pause(&self) -> bool {
        self.is_set_to_pause.get()
    }

    /// Whether a call has paused the clock, or a guard holds it.
    pub(super) fn is_paused(&self) -> bool {
        self.is_set_to_pause.get() || self.holds.get() > 0
    }

    pub(super) fn set_scale(&self, scale: f64) {
        self.scale.set(scale);
        self.update();
    }

    pub(super) fn set_paused(&self, paused: bool) {
        self.is_set_to_pause.set(paused);
        self.update();
    }

    /// Counts a guard that holds the clock.
    pub(super) fn hold(&self) {
        self.holds.set(self.holds.get() + 1);
        self.update();
    }

    /// Undoes one [`pause_guard`](Self::hold).
    pub(super) fn release(&self) {
        self.holds.set(self.holds.get() - 1);
        self.update();
    }

    /// Adds the factor of a guard. Returns the index for removing it.
    pub(super) fn add_factor(&self, factor: f64) -> usize {
        let index = self.factors.borrow_mut().add(factor);
        self.update();
        index
    }

    pub(super) fn remove_factor(&self, index: usize) {
        self.factors.borrow_mut().remove(index);
        self.update();
    }

    fn update(&self) {
        let factor = if self.is_paused() {
            0.0
        } else {
            multiply(self.scale.get(), self.factors.borrow().product())
        };
        self.factor.set(factor);
    }

    /// Writes the speed to an image, without guards. Returns how many guards change it.
    pub(super) fn save(&self, out: &mut Writer) -> usize {
        out.put(self.scale.get().to_bits());
        out.put_flag(self.is_set_to_pause.get());
        self.holds.get() + self.factors.borrow().len()
    }

    /// Reads what [`save`](Self::save) has written, for a clock that has no guards but these.
    pub(super) fn load(
        &self,
        guards: impl Iterator<Item = Asks>,
        image: &mut Reader<'_>,
    ) -> Result<(), Damaged> {
        let scale = f64::from_bits(image.take()?);
        if !is_scale(scale) {
            return Err(Damaged);
        }
        self.scale.set(scale);
        self.is_set_to_pause.set(image.take_flag()?);
        let (mut holds, mut factors) = (0, Factors::default());
        for guard in guards {
            match guard {
                Asks::Hold => holds += 1,
                Asks::Scale(factor, index) => {
                    let fits = is_scale(factor) && index < MAX_LEAVES;
                    if !fits || !factors.put(index, factor) {
                        return Err(Damaged);
                    }
                }
            }
        }
        self.holds.set(holds);
        self.factors.replace(factors);
        self.update();
        Ok(())
    }
}
