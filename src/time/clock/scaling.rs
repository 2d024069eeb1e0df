//! The relation between the times of two clocks.

use std::cell::Cell;

use crate::image::{Damaged, Reader, Writer};

use super::rate::Rate;

/// Computes the reading of a clock from that of its source:
/// `anchor + (source - source's anchor) * rate`.
///
/// The product is rounded once, not in each frame, so errors do not add up. A
/// change of the rate moves the anchor to the current readings. So these do not
/// change, and later ones continue from there.
#[derive(Debug)]
pub(super) struct Scaling {
    source_anchor_ns: Cell<u64>,
    anchor_ns: Cell<u64>,
    rate: Cell<Rate>,
}

impl Scaling {
    /// A scaling of scale 1, for a clock that begins at zero.
    pub(super) fn new(source_ns: u64) -> Self {
        Scaling {
            source_anchor_ns: Cell::new(source_ns),
            anchor_ns: Cell::new(0),
            rate: Cell::new(Rate::ONE),
        }
    }

    /// The reading of the clock when its source reads `source_ns`, which must not
    /// be before the anchor.
    pub(super) fn reading_at(&self, source_ns: u64) -> u64 {
        debug_assert!(source_ns >= self.source_anchor_ns.get());
        let passed_ns = source_ns - self.source_anchor_ns.get();
        let scaled_ns = self.rate.get().apply(passed_ns);
        self.anchor_ns.get().saturating_add(scaled_ns)
    }

    /// The reading of the clock when its source reads `source_ns`, at the present
    /// rate, even before the anchor.
    pub(super) fn reading_near(&self, source_ns: u64) -> u64 {
        match self.source_anchor_ns.get().checked_sub(source_ns) {
            Some(before_ns) => {
                let scaled_ns = self.rate.get().apply(before_ns);
                self.anchor_ns.get().saturating_sub(scaled_ns)
            }
            None => self.reading_at(source_ns),
        }
    }

    /// The smallest reading of the source for a clock reading of `ns` or more.
    /// `None` if there is none.
    pub(super) fn source_at(&self, ns: u64) -> Option<u64> {
        let missing_ns = ns.saturating_sub(self.anchor_ns.get());
        let passed_ns = self.rate.get().invert(missing_ns)?;
        self.source_anchor_ns.get().checked_add(passed_ns)
    }

    /// The reading of the source when the clock reads `ns` exactly, to the nearest
    /// nanosecond at which the clock has reached it: for people and for hosts that sleep.
    /// `None` if there is none.
    pub(super) fn source_when(&self, ns: u64) -> Option<u64> {
        let missing_ns = ns.saturating_sub(self.anchor_ns.get());
        let passed_ns = self.rate.get().divide(missing_ns)?;
        self.source_anchor_ns.get().checked_add(passed_ns)
    }

    /// Changes to the rate of `factor`, from the present reading of the source on.
    pub(super) fn shift(&self, factor: f64, source_ns: u64) {
        let rate = Rate::new(factor);
        if rate != self.rate.get() {
            self.anchor_ns.set(self.reading_at(source_ns));
            self.source_anchor_ns.set(source_ns);
            self.rate.set(rate);
        }
    }

    /// Writes the anchors to an image. The rate is that of the clock's speed.
    pub(super) fn save(&self, out: &mut Writer) {
        out.put(self.source_anchor_ns.get());
        out.put(self.anchor_ns.get());
    }

    /// Reads what [`save`](Self::save) has written. `factor` is the factor of the speed, and
    /// `source_ns` what the source reads.
    pub(super) fn load(
        &self,
        image: &mut Reader<'_>,
        factor: f64,
        source_ns: u64,
    ) -> Result<(), Damaged> {
        let source_anchor_ns = image.take()?;
        if source_anchor_ns > source_ns {
            return Err(Damaged);
        }
        self.source_anchor_ns.set(source_anchor_ns);
        self.anchor_ns.set(image.take()?);
        self.rate.set(Rate::new(factor));
        Ok(())
    }
}
