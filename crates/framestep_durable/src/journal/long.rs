//! Chapters that become long: each entry makes saves larger and restores slower.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;

use framestep::durable::{Door, Hook, to_stderr};

use crate::ids::{NamedScript, ScriptId};

/// A chapter that has become long, for [`on_long_chapter`](crate::RuntimeHandle::on_long_chapter).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongChapter {
    /// The script.
    pub script: ScriptId,
    /// Its name.
    pub name: &'static str,
    /// How many entries the chapter has.
    pub entries: u32,
    /// Whether these are more than the runtime [allows](crate::RuntimeBuilder::max_entries): then
    /// the script is stopped.
    pub is_stopped: bool,
}

impl fmt::Display for LongChapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LongChapter {
            script,
            name,
            entries,
            is_stopped,
        } = self;
        write!(
            f,
            "the chapter of the script `{name}` ({script}) has {entries} entries"
        )?;
        f.write_str(if *is_stopped {
            ", more than `max_entries` allows: the script is stopped"
        } else {
            ", and each makes saves larger and restores slower: end it with `Chapter::Next` now \
             and then"
        })
    }
}

/// The fewest entries of a chapter that is reported. The next reports are at its tenfold, and so
/// on.
const FIRST: u32 = 1_000;

/// Which long chapters are reported, and stopped.
pub(crate) struct LongChapters {
    max_entries: u32,
    pub(crate) hook: Hook<LongChapter>,
    /// The entries at which each script was reported last.
    reported: RefCell<HashMap<ScriptId, u32>>,
}

/// The length of a chapter.
#[derive(Debug)]
pub(crate) struct Length {
    /// The next number of entries that matters.
    next: Cell<u32>,
    is_too_long: Cell<bool>,
}

impl Length {
    /// Whether it matters that the chapter has so many entries.
    #[inline]
    pub(crate) fn matters(&self, entries: u32) -> bool {
        entries >= self.next.get()
    }

    /// Begins another chapter.
    pub(crate) fn reset(&self, chapters: &LongChapters) {
        self.next.set(chapters.first());
        self.is_too_long.set(false);
    }

    /// Whether the script must be stopped.
    #[inline]
    pub(crate) fn is_too_long(&self) -> bool {
        self.is_too_long.get()
    }
}

impl LongChapters {
    pub(crate) fn new(max_entries: u32) -> Self {
        LongChapters {
            max_entries,
            hook: Hook::default(),
            reported: RefCell::default(),
        }
    }

    /// The length of a chapter that begins.
    pub(crate) fn begin(&self) -> Length {
        Length {
            next: Cell::new(self.first()),
            is_too_long: Cell::new(false),
        }
    }

    /// The first number of entries that matters.
    fn first(&self) -> u32 {
        FIRST.min(self.max_entries.saturating_add(1))
    }

    /// Forgets reports of scripts that a rollback takes back, or, after a restore of a file, of
    /// all: another script may get their numbers.
    pub(crate) fn keep_reported(&self, kept: impl Fn(ScriptId) -> bool) {
        self.reported.borrow_mut().retain(|&id, _| kept(id));
    }

    /// Looks at a chapter whose number of entries [matters](Length::matters). Each script is
    /// reported once at each power of ten, even if it is rolled back.
    #[cold]
    pub(crate) fn look_at(&self, door: &Door, script: NamedScript, length: &Length, entries: u32) {
        let is_stopped = entries > self.max_entries;
        let reached = 10_u32.checked_pow(entries.ilog10()).unwrap_or(FIRST);
        let is_long = entries >= FIRST;
        let next = reached.max(FIRST / 10).saturating_mul(10);
        length.next.set(if is_stopped {
            u32::MAX
        } else {
            next.min(self.max_entries.saturating_add(1))
        });
        length.is_too_long.set(is_stopped);
        let is_new = is_long && {
            let mut reported = self.reported.borrow_mut();
            let before = reported.entry(script.id).or_default();
            std::mem::replace(before, reached.max(*before)) < reached
        };
        if is_new || is_stopped {
            self.report(
                door,
                &LongChapter {
                    script: script.id,
                    name: script.name,
                    entries,
                    is_stopped,
                },
            );
        }
    }

    fn report(&self, door: &Door, chapter: &LongChapter) {
        if !door.call_hook("on_long_chapter", &self.hook, chapter) && !self.hook.is_closed() {
            to_stderr(&format!(
                "framestep_durable: {chapter} (`Runtime::on_long_chapter` receives this)"
            ));
        }
    }
}
