//! Waits in images.

use crate::core::Core;
use crate::core::base::key::WaitKey;
use crate::core::registration::waits::Registered;
use crate::core::registration::{Bound, Registration};
use crate::core::restore;
use crate::core::task::Task;
use crate::core::view::View;
use crate::image::{Damaged, Reader, Writer};
use crate::time::PhaseIndex;

impl Registration {
    /// Writes the wait to an image, if it has begun.
    pub(crate) fn save(&self, core: &Core, out: &mut Writer) {
        self.save_begun(out);
        save_registered(View::new(core), self.key(), out);
    }

    /// The same of a wait that no run ends.
    pub(crate) fn save_endless(&self, out: &mut Writer) {
        self.save_begun(out);
        out.put_flag(false);
    }

    fn save_begun(&self, out: &mut Writer) {
        // A join has no phase.
        let phase = match self.phase() {
            PhaseIndex::HOME => 0,
            phase => phase.as_usize() as u64 + 1,
        };
        let begun = [self.began(), phase, u64::from(self.is_frame_bound())];
        out.put_each(begun);
    }

    /// Reads the phase from what [`save`](Self::save) has written, and no more.
    pub(crate) fn skip(image: &mut Reader<'_>) -> Result<Option<PhaseIndex>, Damaged> {
        image.take()?;
        let phase = match image.take()? {
            0 => None,
            phase => Some(PhaseIndex::from_number(phase - 1).ok_or(Damaged)?),
        };
        image.take_flag()?;
        if image.take_flag()? {
            (0..3).try_for_each(|_| image.take().map(drop))?;
        }
        Ok(phase)
    }

    /// Makes a wait of a new task from what [`save`](Self::save) has written, and registers
    /// it. Its key is in no list yet.
    pub(crate) fn load(
        core: &Core,
        task: Task<'_>,
        image: &mut Reader<'_>,
        is_join: bool,
    ) -> Result<Self, Damaged> {
        let began = image.take()?;
        let phase = match image.take()? {
            0 if is_join => PhaseIndex::HOME,
            0 => return Err(Damaged),
            phase => PhaseIndex::from_number(phase - 1).ok_or(Damaged)?,
        };
        let bound = if image.take_flag()? {
            Bound::Frame
        } else {
            Bound::Run
        };
        let key = load_registered(core, task, image)?;
        Ok(Registration::restored(core, key, began, phase, bound))
    }
}

/// Writes how a wait is registered to an image: whether it is, whether it must wait for a later
/// frame, whether it checks a condition, and whether it has an entry.
fn save_registered(view: View<'_>, key: WaitKey, out: &mut Writer) {
    match view.registered(key) {
        None => out.put_flag(false),
        Some(of) => out.put_each([
            1,
            u64::from(of.is_for_later_frame),
            u64::from(of.asks_condition),
            u64::from(of.has_entry),
        ]),
    }
}

/// Registers a wait of a new task as [`save_registered`] has written it. Returns its key.
fn load_registered(
    core: &Core,
    task: Task<'_>,
    image: &mut Reader<'_>,
) -> Result<WaitKey, Damaged> {
    if !image.take_flag()? {
        return Ok(WaitKey::NONE);
    }
    let how = Registered {
        is_for_later_frame: image.take_flag()?,
        asks_condition: image.take_flag()?,
        has_entry: image.take_flag()?,
    };
    restore::register(core, task, how).ok_or(Damaged)
}
