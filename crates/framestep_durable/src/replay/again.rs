//! Beginning the chapter of a save state again.

use std::rc::Rc;

use framestep::durable::phase_of;

use crate::replay::SiteNumbers;
use crate::replay::after_wait::after_wait;
use crate::script::{Begun, Pending, ScriptCell, ScriptImage, Shared, Slot, Waits, hand_over};

impl Shared {
    /// A script that restarts its chapter.
    pub(crate) fn begin_again(self: &Rc<Self>, image: &ScriptImage) -> Option<Rc<ScriptCell>> {
        let home = phase_of(image.home).ok()?;
        let known = self.registry().find(&image.name)?;
        let make = || known.begin_again(image.version, &image.state);
        let (begun, read) =
            hand_over::reading(|| hand_over::for_restored(&self.events, image.id, make));
        let mut begun = begun?;
        hand_over::note_types(&mut begun.carried, &read);
        let cell = ScriptCell::new(
            self,
            image.id,
            known.code,
            home,
            image.owner,
            begun.state,
            begun.future,
        );
        let mut chapter = cell.change();
        chapter.once = image.once.clone();
        chapter.history = image.history;
        drop(chapter);
        cell.carried.replace(begun.carried);
        Some(cell)
    }

    /// A script that waits as its save says, and restarts its chapter then.
    pub(crate) fn begin_after_wait(
        self: &Rc<Self>,
        image: &ScriptImage,
        numbers: &SiteNumbers,
    ) -> Option<Rc<ScriptCell>> {
        let cell = self.begin_again(image)?;
        let sites = self.sites.sites();
        let waits = image.waits.iter().map(|wait| {
            Some(Pending {
                number: wait.named.number,
                // The code that began the wait is not there any more.
                site: sites.known(numbers.of(wait.named.site)?)?,
                slot: Slot::Replayed,
                shown: None,
            })
        });
        let waits = waits.collect::<Option<Waits>>()?;
        let begun = Begun {
            future: cell.future().take()?,
            state: cell.chapter().state.clone(),
            carried: cell.carried.borrow().clone(),
        };
        cell.future().replace(Some(after_wait(begun)));
        cell.begin_wait_of_save(waits);
        Some(cell)
    }
}
