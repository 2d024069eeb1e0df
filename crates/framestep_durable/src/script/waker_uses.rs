//! What a script does with its waker. The waits that are recorded need none: what uses it is not recorded.

use std::cell::Cell;
use std::task::Context;

use framestep::durable::unrecorded;

use crate::journal::Kind;
use crate::script::ScriptCell;

/// What is known of the present chapter.
#[derive(Debug, Default)]
pub(super) struct WakerUses {
    /// Whether one of its polls has used the waker.
    is_used: Cell<bool>,
    /// How the latest poll has.
    latest: Cell<Use>,
    /// Where the chapter was before the latest poll, if an earlier one has used the waker.
    before: Cell<Option<Before>>,
    /// After how many entries something has resumed the script that is not recorded.
    resumed_after: Cell<Option<u32>>,
}

/// Where a chapter is before a poll.
#[derive(Clone, Copy, Debug)]
struct Before {
    entries: u32,
    /// Where the next entry will be in the journal.
    next: usize,
    waits: u32,
}

/// How a poll has used the waker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Use {
    #[default]
    None,
    /// Something may keep it, and call it later.
    Kept,
    /// It was called: the script is polled again in any case.
    Called,
}

/// Why the chapter of a script cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unrecorded {
    /// The script waits for something that is not recorded.
    Awaited,
    /// Something that is not recorded has resumed it, after so many entries. A replay cannot tell when.
    Resumed(u32),
}

impl WakerUses {
    /// Forgets a chapter that is over. What still has a waker of it is no part of the next one.
    pub(super) fn reset(&self) {
        self.is_used.set(false);
        self.latest.set(Use::None);
        self.before.set(None);
        self.resumed_after.set(None);
    }
}

/// Makes the script be polled once more, for a recorded wait that cannot go on in this poll.
pub(crate) fn poll_again(cx: &Context<'_>) {
    unrecorded(|| cx.waker().wake_by_ref());
}

impl ScriptCell {
    /// Notes that the poll under way uses the waker.
    pub(super) fn note_use_of_waker(&self, is_called: bool) {
        if !self.is_live() {
            return;
        }
        let uses = &self.waker_uses;
        uses.is_used.set(true);
        if is_called {
            uses.latest.set(Use::Called);
        } else if uses.latest.get() == Use::None {
            uses.latest.set(Use::Kept);
        }
        self.look_back_next();
    }

    /// Notes where the chapter is before a poll, if an earlier one has used the waker.
    pub(super) fn look_at_waker_uses(&self) {
        let uses = &self.waker_uses;
        if uses.is_used.get() {
            self.judge_latest_poll();
            let chapter = self.chapter();
            uses.before.set(Some(Before {
                entries: chapter.journal.entries(),
                next: chapter.journal.end(),
                waits: self.next_wait.get(),
            }));
            drop(chapter);
            uses.latest.set(Use::None);
            self.look_back_next();
        }
    }

    /// Finds out what the latest poll has come from. One that goes on because of a recorded wait records the end of that
    /// first. One that was caused by a waker of something dropped does nothing.
    fn judge_latest_poll(&self) {
        let uses = &self.waker_uses;
        let (None, Some(before)) = (uses.resumed_after.get(), uses.before.get()) else {
            return;
        };
        let first = self.chapter().journal.find(before.next);
        let goes_on_by_itself = match first.map(|first| first.word.kind()) {
            Some(Kind::Ended(_) | Kind::Failed(_)) => false,
            Some(Kind::Effect | Kind::Panicked) => true,
            None => self.next_wait.get() != before.waits,
        };
        if goes_on_by_itself {
            uses.resumed_after.set(Some(before.entries));
        }
    }

    /// Why the chapter cannot be restored, if it depends on what is not recorded. Between two polls.
    pub(crate) fn unrecorded(&self) -> Option<Unrecorded> {
        let uses = &self.waker_uses;
        if !uses.is_used.get() {
            return None;
        }
        self.judge_latest_poll();
        if let Some(entries) = uses.resumed_after.get() {
            return Some(Unrecorded::Resumed(entries));
        }
        let is_held = || {
            let id = self.coroutine_id();
            id.is_some_and(|id| self.shared().door.is_waker_held(id))
        };
        let awaits = match uses.latest.get() {
            Use::Called => true,
            Use::Kept => is_held(),
            // A waker of an earlier poll may be that of something dropped. Without a recorded wait, nothing else can
            // resume the script.
            Use::None => self.chapter().waits.is_empty() && is_held(),
        };
        awaits.then_some(Unrecorded::Awaited)
    }
}
