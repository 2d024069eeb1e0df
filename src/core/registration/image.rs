//! Waits in images.

use crate::core::Core;
use crate::core::base::key::WaitKey;
use crate::core::registration::Registration;
use crate::core::registration::tag::{Bound, Tag};
use crate::core::task::{Flags, Task};
use crate::image::{Damaged, Reader, Writer};
use crate::time::PhaseIndex;

impl Registration {
    /// Writes the wait to an image, if it has begun.
    pub(crate) fn save(&self, core: &Core, out: &mut Writer) {
        self.save_begun(out);
        save_registered(core, self.key, out);
    }

    /// The same of a wait that no run ends.
    pub(crate) fn save_endless(&self, out: &mut Writer) {
        self.save_begun(out);
        out.put_flag(false);
    }

    fn save_begun(&self, out: &mut Writer) {
        // A join has no phase.
        let phase = match self.tag.phase {
            PhaseIndex::HOME => 0,
            phase => phase.as_usize() as u64 + 1,
        };
        let begun = [self.began, phase, u64::from(self.is_frame_bound())];
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
        Ok(Registration {
            began,
            tag: Tag::begun(core.id, phase, bound),
            key: load_registered(core, task, image)?,
            _home: [],
        })
    }
}

/// Writes how a wait is registered to an image: whether it is, whether it must wait for a later
/// frame, whether it checks a condition, and whether it has an entry.
fn save_registered(core: &Core, key: WaitKey, out: &mut Writer) {
    let waits = core.waits();
    if !waits.is_live(key) {
        out.put_flag(false);
    } else if key.is_entry() {
        let later = u64::from(waits.is_for_later_frame(key));
        let asks = u64::from(waits.asks_condition(key));
        out.put_each([1, later, asks, 1]);
    } else if let Some(task) = core.tasks.waiting(key) {
        let later = u64::from(task.is_frame_bound());
        out.put_each([1, later, u64::from(task.asks_condition()), 0]);
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
    let (is_later, asks) = (image.take_flag()?, image.take_flag()?);
    let key = if image.take_flag()? {
        task.set(Flags::ENTRIES);
        let mut entries = core.entries.borrow_mut();
        let key = entries.insert(task.task_key(), None, is_later);
        if asks {
            entries.note_condition(key);
        }
        key
    } else if task.is_registered() {
        return Err(Damaged);
    } else {
        let key = task.free_key().register(is_later);
        if asks {
            task.note_condition();
        }
        key
    };
    Ok(key)
}
