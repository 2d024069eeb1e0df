//! The state of a task that is paused or has been paused.

use crate::core::pause::timers::HeldTimers;
use crate::image::{Damaged, Reader, Writer};
use crate::time::PhaseIndex;

/// The wake and the timers that the task receives when it is resumed.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// Whether the task itself is paused, regardless of its owner.
    pub(crate) own: bool,
    /// The one wake that is remembered.
    pub(crate) wake: Option<Wake>,
    /// The timers that stand still.
    pub(crate) held: HeldTimers,
}

/// What has made a paused task ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wake {
    /// The phase in which the task will be ready when the pause ends.
    pub(crate) phase: PhaseIndex,
    /// The last run that had begun.
    pub(crate) run: u64,
}

impl Pause {
    /// Writes the pause without its timers to an image.
    pub(crate) fn save(&self, out: &mut Writer) {
        out.put_flag(self.own);
        out.put(self.wake.map_or(0, |wake| wake.phase.as_usize() as u64 + 1));
    }

    /// Reads what [`save`](Self::save) has written.
    pub(crate) fn load(&mut self, image: &mut Reader<'_>) -> Result<(), Damaged> {
        self.own = image.take_flag()?;
        let number = image.take()?;
        let phase = |number| PhaseIndex::from_number(number).ok_or(Damaged);
        let phase = number.checked_sub(1).map(phase).transpose()?;
        // No run to come has this number.
        self.wake = phase.map(|phase| Wake { phase, run: 0 });
        Ok(())
    }
}
