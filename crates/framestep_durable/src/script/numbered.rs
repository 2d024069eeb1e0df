//! What all waits of scripts have in common.

use std::mem;
use std::panic::Location;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::rc::{Rc, Weak};
use std::task::Poll;

use framestep::durable::{Event, EventNote, in_line};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, Contains, Mark, dispose, message_of, quiet};
use crate::events::{Loss, Question, Typed};
use crate::journal::{Call, Known};
use crate::script::caller::{expect_script, in_script_of};
use crate::script::recorder::Polling;
use crate::script::slot::Shown;
use crate::script::{Awaited, Pending, ScriptCell, Slot};

/// The part that all waits have in common: the number of a wait in its chapter.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    state: State,
    /// How its value describes itself. `None` if it has none.
    mark: Option<Mark>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    New,
    /// It has begun in a script, under this number.
    Begun(Weak<ScriptCell>, u32),
    Done,
}

/// Makes the state of a wait if there is none, and polls it.
type PollSlot<'a> = dyn FnMut(&ScriptCell, &mut Option<Slot>) -> Poll<Bytes> + 'a;

impl Numbered {
    /// Whether it has been polled.
    pub(crate) fn has_begun(&self) -> bool {
        !matches!(self.state, State::New)
    }

    /// Another wait for the same.
    pub(crate) fn again(&self) -> Self {
        Numbered {
            state: State::New,
            mark: self.mark,
        }
    }

    /// A wait for a value that has no description.
    pub(crate) const fn giving() -> Self {
        Numbered {
            state: State::New,
            mark: Some(Mark::of::<()>()),
        }
    }

    /// A wait for a value. That of no bytes is none.
    pub(crate) const fn reading<T: Serialize + DeserializeOwned>() -> Self {
        let has_value = size_of::<T>() != 0;
        Numbered {
            state: State::New,
            mark: if has_value {
                Some(Mark::of::<T>())
            } else {
                None
            },
        }
    }

    /// A wait for a `W`, which may have a value in it.
    pub(crate) const fn reading_within<W: Contains, T: Serialize + DeserializeOwned>() -> Self {
        let has_value = size_of::<T>() != 0;
        Numbered {
            state: State::New,
            mark: Some(if has_value {
                Mark::within::<W, T>()
            } else {
                Mark::of::<()>()
            }),
        }
    }

    /// The same, begun in a script under a number.
    pub(crate) fn begun(self, cell: &Rc<ScriptCell>, number: u32) -> Self {
        Numbered {
            state: State::Begun(Rc::downgrade(cell), number),
            mark: self.mark,
        }
    }

    /// The number of a pending wait, which goes on without this.
    pub(crate) fn into_number(mut self) -> Option<u32> {
        match mem::replace(&mut self.state, State::Done) {
            State::Begun(_, number) => Some(number),
            _ => None,
        }
    }

    /// Notes what a pending wait is about, in a replay: that is compared with the save.
    #[inline]
    pub(crate) fn note(&self, typed: impl FnOnce(u32) -> Typed) {
        if let State::Begun(cell, number) = &self.state {
            let cell = cell.upgrade().filter(|cell| cell.is_replayed());
            if let Some(cell) = cell {
                cell.note_wait(*number, typed(*number));
            }
        }
    }

    /// The same of a wait for an event that is read as a `T`, if it is pending.
    pub(crate) fn note_event<T: Serialize + DeserializeOwned + 'static>(
        &self,
        polled: Poll<Bytes>,
    ) -> Poll<Bytes> {
        if polled.is_pending() {
            self.note(|number| Typed::Event(number, Mark::of::<T>()));
        }
        polled
    }

    /// Notes in a replay what a pending question says, if that tells it apart from others.
    pub(crate) fn note_question(&self, content: impl FnOnce(&ScriptCell) -> Option<Bytes>) {
        if let State::Begun(cell, number) = &self.state {
            let cell = cell.upgrade();
            if let Some(cell) = cell.filter(|cell| cell.tells_questions_apart()) {
                match quiet::catch(|| content(&cell)) {
                    Ok(Some(content)) => cell.note_question(*number, content),
                    Ok(None) => {}
                    Err(payload) => dispose(payload),
                }
            }
        }
    }

    /// Polls the wait, which a call of `kind` has made. `begin` makes its state at the first
    /// poll, and `poll` polls that state. What `poll` returns is recorded; a panic of either ends
    /// the wait, and is recorded, too.
    #[track_caller]
    pub(crate) fn poll(
        &mut self,
        kind: &'static str,
        event: Option<Event>,
        begin: impl FnOnce(&ScriptCell) -> Slot,
        poll: impl FnOnce(&ScriptCell, &mut Slot) -> Poll<Bytes>,
    ) -> Poll<Bytes> {
        let cell = self.expect_script(kind, Location::caller());
        self.poll_known(&cell, kind, event, begin, poll)
    }

    /// The same in a known script.
    #[track_caller]
    pub(crate) fn poll_known(
        &mut self,
        cell: &Rc<ScriptCell>,
        kind: &'static str,
        event: Option<Event>,
        begin: impl FnOnce(&ScriptCell) -> Slot,
        poll: impl FnOnce(&ScriptCell, &mut Slot) -> Poll<Bytes>,
    ) -> Poll<Bytes> {
        self.poll_at(cell, Awaited::new(kind, event), begin, poll)
    }

    /// The same in a known line.
    #[track_caller]
    pub(crate) fn poll_at(
        &mut self,
        cell: &Rc<ScriptCell>,
        awaited: Awaited,
        begin: impl FnOnce(&ScriptCell) -> Slot,
        poll: impl FnOnce(&ScriptCell, &mut Slot) -> Poll<Bytes>,
    ) -> Poll<Bytes> {
        let mut parts = Some((begin, poll));
        self.poll_in(cell, awaited, &mut |cell, slot| {
            let Some((begin, poll)) = parts.take() else {
                return Poll::Pending;
            };
            let slot = slot.get_or_insert_with(|| begin(cell));
            if cell.only_begins() {
                return Poll::Pending;
            }
            poll(cell, slot)
        })
    }

    /// Polls it in a script.
    #[track_caller]
    fn poll_in(
        &mut self,
        cell: &Rc<ScriptCell>,
        awaited: Awaited,
        poll: &mut PollSlot<'_>,
    ) -> Poll<Bytes> {
        let (number, site, is_new) = self.number(cell, &awaited);
        let value = match cell.polling(number, site) {
            Polling::Live => {
                // Taken out meanwhile, because `poll` may drop other waits. What has lost its
                // state is not made anew.
                let mut slot = if is_new {
                    None
                } else {
                    Some(cell.take_slot(number).unwrap_or(Slot::Polled))
                };
                let poll = || in_line(awaited.at, || poll(cell, &mut slot));
                let polled = catch_unwind(AssertUnwindSafe(poll));
                match (polled, slot) {
                    (Ok(Poll::Pending), Some(slot)) if is_new => {
                        let shown = awaited.event.map(|event| {
                            let note = EventNote::begin(event, slot.full_name(), awaited.at);
                            Box::new(Shown { event, note })
                        });
                        cell.add_wait(Pending {
                            number,
                            site,
                            slot,
                            shown,
                        });
                        return Poll::Pending;
                    }
                    (Ok(Poll::Pending), slot) => {
                        cell.put_slot(number, slot.unwrap_or(Slot::Polled));
                        return Poll::Pending;
                    }
                    (Ok(Poll::Ready(value)), slot) => {
                        drop(slot);
                        cell.record_end(number, value.get(), site);
                        value
                    }
                    (Err(payload), slot) => {
                        cell.record_failure(number, &message_of(&*payload), site);
                        drop(slot);
                        self.end(cell, number);
                        resume_unwind(payload);
                    }
                }
            }
            Polling::Ended(value) => value,
            Polling::Failed(message) => {
                self.end(cell, number);
                resume_unwind(Box::new(message));
            }
            Polling::Pending => {
                if is_new {
                    let mut slot = None;
                    if cell.only_begins() {
                        let begun = poll(cell, &mut slot);
                        debug_assert!(begun.is_pending(), "it only begins");
                    }
                    let shown = awaited.event.map(|event| {
                        let note = slot.as_ref().and_then(|slot| cell.note_event(event, slot));
                        Box::new(Shown { event, note })
                    });
                    cell.add_wait(Pending {
                        number,
                        site,
                        // In a replay, it gets its state when that ends.
                        slot: slot.unwrap_or(Slot::Replayed),
                        shown,
                    });
                }
                return Poll::Pending;
            }
        };
        self.end(cell, number);
        Poll::Ready(value)
    }

    /// The script that polls the wait, at `at`.
    ///
    /// # Panics
    ///
    /// If there is none, or the wait is over.
    #[inline]
    pub(crate) fn expect_script(
        &self,
        name: &str,
        at: &'static Location<'static>,
    ) -> Rc<ScriptCell> {
        if let State::Done = self.state {
            panic!("`{name}` was polled again after it had finished");
        }
        expect_script(name, at)
    }

    /// The script that polls the wait, which only scripts have.
    ///
    /// # Errors
    ///
    /// If it is not its own, or polls it in a closure.
    #[inline]
    pub(crate) fn own_script(&self, name: &str) -> Result<Rc<ScriptCell>, String> {
        let cell = in_script_of(name)?;
        match &self.state {
            State::Begun(of, _) if !ptr::eq(of.as_ptr(), Rc::as_ptr(&cell)) => {
                Err(of_another_script(name))
            }
            _ => Ok(cell),
        }
    }

    #[inline]
    fn end(&mut self, cell: &ScriptCell, number: u32) {
        drop(cell.remove_wait(number));
        self.state = State::Done;
    }

    /// Its number and its site in the script, and whether it begins now.
    #[inline]
    #[track_caller]
    fn number(&mut self, cell: &Rc<ScriptCell>, awaited: &Awaited) -> (u32, Known, bool) {
        let mark = self.mark;
        let site = || {
            let call = Call {
                mark,
                ..awaited.call()
            };
            cell.shared().sites.of(&call)
        };
        if let State::Begun(of, number) = &self.state {
            expect_of(of, cell, awaited.call);
            let known = cell.site_of(*number);
            // One that code has which was changed since a save has been dropped by the load: it begins now.
            let is_new = known.is_none() && cell.begins_new_wait(*number, awaited.event);
            return (*number, known.unwrap_or_else(site), is_new);
        }
        let number = cell.take_number();
        cell.latest_wait.set(number);
        self.state = State::Begun(Rc::downgrade(cell), number);
        (number, site(), true)
    }
}

#[inline]
#[track_caller]
fn expect_of(of: &Weak<ScriptCell>, cell: &Rc<ScriptCell>, name: &str) {
    assert!(
        ptr::eq(of.as_ptr(), Rc::as_ptr(cell)),
        "{} (the call is at {})",
        of_another_script(name),
        Location::caller()
    );
}

#[cold]
fn of_another_script(name: &str) -> String {
    format!(
        "`{name}` was begun by one script and polled by another: durable scripts cannot share waits. Make a new one \
         in the script that awaits it"
    )
}

/// Reports that a script which goes on has dropped a question with its answer.
#[cold]
fn note_unread_answer(cell: &ScriptCell, request: &Question) {
    if request.answer.is_some() && cell.is_live() {
        cell.shared().losses.report(&Loss::AnswerUnread {
            script: cell.id,
            name: cell.name(),
            request: request.name.clone(),
        });
    }
}

impl Drop for Numbered {
    #[inline]
    fn drop(&mut self) {
        if let State::Begun(cell, number) = &self.state {
            let Some(cell) = cell.upgrade() else {
                return;
            };
            let pending = cell.remove_wait(*number);
            if let Some(Slot::Request(request)) = pending.as_ref().map(|pending| &pending.slot) {
                note_unread_answer(&cell, request);
            }
            drop(pending);
        }
    }
}
