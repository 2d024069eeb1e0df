//! Replaying the journal of a script with a new future.

pub(crate) mod after_wait;
pub(crate) mod again;
pub(crate) mod compare;
pub(crate) mod divergence;
pub(crate) mod error;

pub(crate) use self::compare::Stored;
pub(crate) use self::divergence::Divergence;
pub(crate) use self::error::{RestoreError, SaveError};

use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use framestep::durable::{phase_of, take_outside_wait};

use crate::bytes::{dispose, message_of, quiet};
use crate::journal::{Found, Journal, NamedWait, SiteId, Sites};
use crate::replay::compare::compare;
use crate::script::{ScriptCell, ScriptImage, Shared, WaitImage, context, hand_over};

impl Shared {
    /// Makes a script and replays its journal. With `save`, also reads the values for it that are stored
    /// outside of its image.
    pub(crate) fn replay(
        self: &Rc<Self>,
        image: &ScriptImage,
        save: Option<Stored<'_>>,
        numbers: &SiteNumbers,
        compares_lines: bool,
    ) -> Result<Rc<ScriptCell>, RestoreError> {
        let known = self.registry().find(&image.name);
        let known = known.ok_or_else(|| RestoreError::UnknownScript {
            name: image.name.clone().into_owned(),
        })?;
        let code = known.code;
        let home = phase_of(image.home).map_err(|_| RestoreError::Damaged)?;
        let journal = numbers.translate(&image.journal, &self.sites.sites());
        let journal = journal.ok_or(RestoreError::Damaged)?;
        let diverged = |found: Found| {
            let sites = self.sites.sites();
            RestoreError::Diverged(found.of(image.id, code.name, &sites, &journal))
        };
        let other_state = || {
            let (type_name, why) = self.registry().why_no_state(code.name, &image.state);
            diverged(Found::OtherState { type_name, why })
        };
        // Before the state is read: of another version, its bytes may be readable and mean something else.
        if image.version != code.version {
            return Err(diverged(Found::OtherVersion {
                saved: image.version,
                now: code.version,
            }));
        }
        // Its journal is of code that is not there any more. It waits on as its save says, whatever the code
        // is now.
        if image.restarts_after_wait {
            let cell = self.begin_after_wait(image, numbers);
            return cell.ok_or_else(other_state);
        }
        let begin = || known.begin_replayed(image.version, &image.state);
        let (begun, mut typed) = hand_over::reading(begin);
        let begun = begun.ok_or_else(other_state)?;
        let cell = Rc::new(ScriptCell::restored(
            self,
            image.id,
            code,
            home,
            image.owner,
            begun.state,
            journal.clone(),
            begun.future,
        ));
        let mut chapter = cell.change();
        chapter.once = image.once.clone();
        chapter.history = image.history;
        chapter.stop_lines = image.stop_lines.clone();
        drop(chapter);
        // Other code may have moved, as in a file of another build.
        let compares_lines = compares_lines && image.generation == self.generation.get();
        let mut replayed = Ok(());
        if image.has_begun {
            replayed = replay_journal(&cell, image, numbers, compares_lines);
            typed.extend(cell.noted());
        }
        let compared = replayed.and_then(|()| compare(&cell, &typed, image, save));
        // The cell is in no list of the runtime yet, so dropping it undoes the replay: the runtime is as it was.
        if let Err(found) = compared {
            if matches!(found, Found::OtherStored { .. }) {
                self.events.misread.borrow_mut().insert(image.id);
            }
            cell.drop_trial();
            return Err(diverged(found));
        }
        if image.has_begun {
            cell.end_replay();
        }
        Ok(cell)
    }
}

/// A waker that does nothing, and whose clones are counted.
struct CountsClones;

impl Wake for CountsClones {
    fn wake(self: Arc<Self>) {}
}

/// Replays the journal of a new script. Returns an error if the script does not fit it.
fn replay_journal(
    cell: &Rc<ScriptCell>,
    image: &ScriptImage,
    numbers: &SiteNumbers,
    compares_lines: bool,
) -> Result<(), Found> {
    cell.begin_replay(compares_lines);
    context::within_replay(cell, || read_journal(cell, image, numbers))
}

fn read_journal(
    cell: &ScriptCell,
    image: &ScriptImage,
    numbers: &SiteNumbers,
) -> Result<(), Found> {
    let clones = Arc::new(CountsClones);
    let waker = Waker::from(Arc::clone(&clones));
    let mut cx = Context::from_waker(&waker);
    let _ = take_outside_wait();
    // The waits of durable scripts keep no waker: what keeps one waits for what is not recorded.
    let is_kept = || Arc::strong_count(&clones) > 2;
    let not_recorded = || Found::NotRecorded {
        entry: cell.replayed(),
        at: take_outside_wait(),
    };
    let polled = quiet::catch(|| {
        let mut future = cell.future().borrow_mut();
        let future = future.as_mut().expect("it has been made");
        loop {
            // A next chapter that is dropped may panic.
            if future.as_mut().poll(&mut cx).map(drop).is_ready() {
                return Ok(Poll::Ready(()));
            }
            // As many polls as were recorded: each takes at least one entry, or `goes_on` fails.
            if !cell.goes_on()? {
                return Ok(Poll::Pending);
            }
        }
    });
    match polled {
        // Either the replay has unwound out of a script that did something else, and has noted what; or
        // the script panics by itself, where the recorded one did not.
        Err(payload) => {
            let entry = cell.replayed();
            let message = message_of(&*payload);
            dispose(payload);
            let panicked = Found::Panicked { entry, message };
            return Err(cell.divergence().unwrap_or(panicked));
        }
        // Only scripts that wait, or have not begun, are saved: one that returns is another one.
        Ok(Ok(Poll::Ready(()))) => {
            let entry = cell.replayed();
            return Err(cell.divergence().unwrap_or(Found::Returned { entry }));
        }
        // A future that kept the waker is not of this package, and has no entries: that is why the script did
        // not come further, or waits for more than its save knows.
        Ok(Ok(Poll::Pending) | Err(Found::NotReached { .. })) if is_kept() => {
            return Err(not_recorded());
        }
        // All entries are taken, and the script waits.
        Ok(Ok(Poll::Pending)) => {}
        Ok(Err(found)) => return Err(found),
    }
    // The same entries can lead to other waits, if the code after the last entry has changed. The waits get
    // their deadlines and places from the save by number: they must be the same calls.
    let named = |wait: &WaitImage| NamedWait {
        site: numbers.of(wait.named.site).unwrap_or(wait.named.site),
        ..wait.named
    };
    let compare = |saved: &[NamedWait], now: &[NamedWait]| match cell.other_waits(saved, now) {
        None => Ok(()),
        Some(why) => Err(Found::OtherWaits {
            entry: cell.replayed(),
            saved: saved.to_vec(),
            now: now.to_vec(),
            why,
        }),
    };
    // The usual case, without a list.
    if let ([saved], Some(now)) = (&*image.waits, cell.awaited_alone()) {
        return compare(&[named(saved)], &[now]);
    }
    let mut saved: Vec<_> = image.waits.iter().map(named).collect();
    saved.sort_unstable_by_key(|wait| wait.number);
    compare(&saved, &cell.awaited())
}

/// Translates the numbers of sites in a save state into those of the runtime.
pub(crate) struct SiteNumbers {
    /// `None` if they are the same.
    numbers: Option<Vec<SiteId>>,
}

impl SiteNumbers {
    /// Those of the runtime itself.
    pub(crate) fn same() -> Self {
        SiteNumbers { numbers: None }
    }

    pub(crate) fn of_save(shared: &Shared, saved: &Sites) -> Self {
        if shared.sites.sites().is_of(saved) {
            return Self::same();
        }
        let numbers = saved.iter().map(|site| shared.sites.number(site));
        let numbers: Vec<SiteId> = numbers.collect();
        let mut counted = numbers.iter().zip(0..);
        let is_same = counted.all(|(number, count)| number.0 == count);
        SiteNumbers {
            numbers: (!is_same).then_some(numbers),
        }
    }

    /// A journal with the same entries.
    fn translate(&self, journal: &Journal, sites: &Sites) -> Option<Journal> {
        match self.numbers {
            None => Some(journal.clone()),
            Some(_) => journal.map_sites(|site| sites.known(self.of(site)?)),
        }
    }

    /// The same site. `None` if there is none.
    pub(crate) fn of(&self, site: SiteId) -> Option<SiteId> {
        match &self.numbers {
            None => Some(site),
            Some(numbers) => numbers.get(site.0 as usize).copied(),
        }
    }
}
