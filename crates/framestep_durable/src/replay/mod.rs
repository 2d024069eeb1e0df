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
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use framestep::durable::{phase_of, take_outside_wait};

use crate::bytes::{Content, dispose, message_of, quiet};
use crate::events::Question;
use crate::journal::{Found, Journal, NamedWait, SiteId, Sites};
use crate::places::Difference;
use crate::places::gone_over::Loop;
use crate::replay::compare::compare;
use crate::script::aligned::{Aligned, LoopsThen};
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
        // Other code may have moved, as in a file of another build.
        let compares_lines = compares_lines && image.generation == self.generation.get();
        if let (false, Some(mark), Content::Compact(state)) =
            (compares_lines, code.mark, &image.state)
        {
            if !mark.fits(state.get(), image.mark) {
                return Err(diverged(Found::OtherState {
                    type_name: known.state_name(),
                    why: OTHER_FIELDS.to_owned(),
                }));
            }
        }
        let replay = |reads: Reads| {
            let begin = || known.begin_replayed(image.version, &image.state);
            let (begun, mut typed) = hand_over::reading(begin);
            let begun = begun.ok_or_else(other_state)?;
            let cell = ScriptCell::restored(
                self,
                image.id,
                code,
                home,
                image.owner,
                begun.state,
                journal.clone(),
                begun.future,
            );
            let mut chapter = cell.change();
            chapter.once = image.once.clone();
            chapter.history = image.history;
            chapter.stop_lines = image.stop_lines.clone();
            drop(chapter);
            let mut replayed = Ok(());
            if image.has_begun {
                replayed = match reads {
                    Reads::Exactly => replay_journal(&cell, image, numbers, compares_lines),
                    Reads::Aligned => replay_aligned(&cell, image, numbers, save),
                };
                typed.extend(cell.noted());
                if let (Ok(()), Reads::Exactly, false) = (&replayed, reads, compares_lines) {
                    replayed = compare_loops(&cell, image, numbers);
                }
            }
            let compared = replayed.and_then(|()| compare(&cell, &typed, image, save));
            // The cell is in no list of the runtime yet, so dropping it undoes the replay: the runtime is as it
            // was.
            if let Err(found) = compared {
                if matches!(found, Found::OtherStored { .. }) {
                    self.events.misread.borrow_mut().insert(image.id);
                }
                cell.drop_trial();
                return Err(diverged(found));
            }
            match reads {
                Reads::Exactly if image.has_begun => cell.end_replay(),
                Reads::Exactly => {}
                Reads::Aligned => cell.end_aligned(),
            }
            Ok(cell)
        };
        let has_tables = !(image.statements.list().is_empty() || code.places.list.is_empty());
        let can_align = image.has_begun && has_tables;
        // What is certainly the same code is read exactly: that is faster, and finds what is not recorded.
        if can_align && image.has_new_waits {
            return replay(Reads::Aligned);
        }
        if !can_align || compares_lines {
            return replay(Reads::Exactly);
        }
        if !image.statements.is_like(code.places.all()) {
            return replay(Reads::Aligned);
        }
        // A function without the attribute, or a table of data, may have changed.
        let replayed = replay(Reads::Exactly);
        replayed.or_else(|_| replay(Reads::Aligned))
    }
}

/// How a journal is read.
#[derive(Clone, Copy)]
enum Reads {
    /// To the same code: each entry is the next call.
    Exactly,
    /// To code that has changed: entries are compared by the statements that have made them.
    Aligned,
}

/// Why a compact state that can be read is another one.
const OTHER_FIELDS: &str = "its fields or variants have other names, or another order. Save it described, or \
                            raise the version of the script and migrate it";

/// A waker that does nothing but note its use. The waits of durable scripts have none: what uses it waits for what is not
/// recorded.
#[derive(Default)]
struct NotesUse {
    is_called: AtomicBool,
}

impl NotesUse {
    /// Makes it. The waker is to be used in one poll.
    fn new() -> (Arc<Self>, Waker) {
        let notes = Arc::new(NotesUse::default());
        (Arc::clone(&notes), Waker::from(notes))
    }

    /// Whether something has kept the waker, apart from who has made it, or has called it.
    fn is_used(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 2 || self.is_called.load(Ordering::Relaxed)
    }
}

impl Wake for NotesUse {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_called.store(true, Ordering::Relaxed);
    }
}

/// Replays the journal of a new script. Returns an error if the script does not fit it.
fn replay_journal(
    cell: &Rc<ScriptCell>,
    image: &ScriptImage,
    numbers: &SiteNumbers,
    compares_lines: bool,
) -> Result<(), Found> {
    cell.begin_replay(compares_lines, &image.marks);
    cell.tell_questions_apart(!compares_lines && image.has_like_questions());
    poll_until(cell, &|| cell.goes_on(), &|entry| Found::Returned { entry })?;
    if let Some(found) = other_question(cell, image, numbers) {
        return Err(found);
    }
    // The same entries can lead to other waits, if the code after the last entry has changed. The waits get
    // their deadlines and places from the save by number: they must be the same calls.
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
        return compare(&[numbers.named(saved)], &[now]);
    }
    let mut saved: Vec<_> = image.waits.iter().map(|wait| numbers.named(wait)).collect();
    saved.sort_unstable_by_key(|wait| wait.number);
    compare(&saved, &cell.awaited())
}

/// Compares what the loops in which a script waits have gone over. Both builds have the same statements.
fn compare_loops(
    cell: &ScriptCell,
    image: &ScriptImage,
    numbers: &SiteNumbers,
) -> Result<(), Found> {
    if image.gone_over.all().is_empty() {
        return Ok(());
    }
    let sites = cell.shared().sites.sites();
    let waits = image.waits.iter();
    let places = waits.filter_map(|wait| Some(sites.get(numbers.named(wait).site)?.place));
    let places: Vec<u32> = places.collect();
    let saved = image.gone_over.around(image.statements.list(), &places);
    let now = cell.gone_over();
    let is_same = |of: &Loop| {
        let is_it = |now: Loop| {
            // `Debug` may have been derived since.
            now.turns == of.turns && (of.items == 0 || now.items == of.items)
        };
        now.of(of.place).is_some_and(is_it)
    };
    if saved.all().iter().all(is_same) {
        return Ok(());
    }
    Err(Found::OtherItems {
        entry: cell.replayed(),
    })
}

/// A pending question that says what another one of the save says.
fn other_question(cell: &ScriptCell, image: &ScriptImage, numbers: &SiteNumbers) -> Option<Found> {
    let questions = cell.questions();
    image.questions().find_map(|(wait, saved)| {
        let content = questions.get(&wait.number)?;
        if saved.content.value() == content {
            return None;
        }
        let is_it = |of: &Question| of.name == saved.name && of.content.value() == content;
        let (_, now) = image.questions().find(|(_, of)| is_it(of))?;
        Some(Found::OtherSubject {
            entry: cell.replayed(),
            wait: numbers.named_wait(wait),
            says: [saved, now].map(|of| format!("the question {}", of.id)),
        })
    })
}

/// Replays the journal of a script whose code has changed since. Returns an error if the script does not come
/// to where it was.
fn replay_aligned(
    cell: &Rc<ScriptCell>,
    image: &ScriptImage,
    numbers: &SiteNumbers,
    save: Option<Stored<'_>>,
) -> Result<(), Found> {
    let saved: Vec<NamedWait> = image.waits.iter().map(|wait| numbers.named(wait)).collect();
    let sites = cell.shared().sites.sites();
    let places = saved
        .iter()
        .filter_map(|wait| Some(sites.get(wait.site)?.place));
    let awaited: Vec<u32> = places.collect();
    drop(sites);
    let places = cell.code.places;
    let difference = Difference::of(image.statements.list(), places.all(), &awaited);
    let stop_lines = image.stop_lines.clone();
    let (journal, marks) = (cell.journal(), &image.marks);
    let tables = [image.statements.list(), places.all()];
    let gone_over = &image.gone_over;
    let loops = LoopsThen::of(gone_over, &difference, tables, &awaited);
    let loops = (loops, gone_over);
    let code = (difference, image.statements.list(), places);
    let asked = image.questions();
    let asked = asked.map(|(wait, of)| (wait.number, of.content.value().clone()));
    let asked = asked.collect();
    let aligned = Aligned::new(code, &journal, marks, saved, asked, stop_lines, loops);
    cell.begin_aligned(aligned);
    cell.tell_questions_apart(image.has_like_questions());
    let replayed = poll_until(cell, &|| cell.goes_on_aligned(), &|entry| {
        cell.returned_aligned().unwrap_or(Found::Returned { entry })
    });
    let held = replayed.and_then(|()| match save {
        Some(save) => cell.compare_holds(save.holders),
        None => Ok(()),
    });
    held.map_err(|found| match found {
        Found::Place {
            entry,
            recorded: None,
            found,
        } => Found::Place {
            entry,
            recorded: cell.recorded_aligned(),
            found,
        },
        found => found,
    })
}

/// Polls a replayed script as long as `goes_on` says. Returns an error if it ends, which `returned` describes.
fn poll_until(
    cell: &Rc<ScriptCell>,
    goes_on: &dyn Fn() -> Result<bool, Found>,
    returned: &dyn Fn(u32) -> Found,
) -> Result<(), Found> {
    context::within_replay(cell, || poll_within(cell, goes_on, returned))
}

fn poll_within(
    cell: &Rc<ScriptCell>,
    goes_on: &dyn Fn() -> Result<bool, Found>,
    returned: &dyn Fn(u32) -> Found,
) -> Result<(), Found> {
    let (uses, waker) = NotesUse::new();
    let mut cx = Context::from_waker(&waker);
    let _ = take_outside_wait();
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
            // Each poll takes, passes or skips at least one entry, or `goes_on` fails.
            if !goes_on()? {
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
            Err(cell.divergence().unwrap_or(panicked))
        }
        // Only scripts that wait, or have not begun, are saved: one that returns is another one.
        Ok(Ok(Poll::Ready(()))) => {
            let returned = returned(cell.replayed());
            Err(cell.divergence().unwrap_or(returned))
        }
        // A future that has used the waker is not of this package, and has no entries: that is why the script did not
        // come further.
        Ok(Err(Found::NotReached { .. })) if uses.is_used() => Err(not_recorded()),
        // Or the script waits for more than its save knows, unless that was dropped on the way.
        Ok(Ok(Poll::Pending)) if uses.is_used() && uses_waker_again(cell) => Err(not_recorded()),
        Ok(Ok(Poll::Pending)) => Ok(()),
        Ok(Err(found)) => Err(found),
    }
}

/// Whether a script that was replayed waits for what is not recorded, and not only had something that is dropped by now,
/// and of which something still has the waker. What it waits for uses the waker of a next poll, too.
fn uses_waker_again(cell: &Rc<ScriptCell>) -> bool {
    // A recorded wait would have to be looked for in changed code.
    if cell.is_aligned() || cell.chapter().waits.is_empty() {
        return true;
    }
    let (uses, waker) = NotesUse::new();
    let polled = quiet::catch(|| {
        let mut future = cell.future().borrow_mut();
        let future = future.as_mut().expect("it has been made");
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        polled.map(drop).is_pending()
    });
    match polled {
        Ok(is_pending) => !is_pending || uses.is_used() || cell.divergence().is_some(),
        Err(payload) => {
            dispose(payload);
            true
        }
    }
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

    /// A wait with the number of its site.
    fn named(&self, wait: &WaitImage) -> NamedWait {
        self.named_wait(wait.named)
    }

    fn named_wait(&self, wait: NamedWait) -> NamedWait {
        NamedWait {
            site: self.of(wait.site).unwrap_or(wait.site),
            ..wait
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
