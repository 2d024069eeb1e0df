//! The journal of a signal: its events, and how far each reader has read.
//!
//! Nothing here calls user code. The functions return the values to drop and the
//! wakers to call, and the caller does so outside the borrow.
//!
//! Each event counts the readers that *stand* at it: those that read it next, or
//! are cloning its value. All other readers have read it or subscribed later. So an
//! event can be removed when no reader stands at it or before it. Removing a reader
//! decrements one count, however many events it has not read.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::core::wake::kept::{Grant, GrantKind};
use crate::waiters::{Waiters, Waiting};

/// A stored value. Readers share it while they clone it. It is `None` only in a
/// block that is kept for reuse.
pub(super) type Stored<T> = Rc<Option<T>>;

pub(super) struct Journal<T> {
    /// The events that a reader has yet to read, oldest first.
    events: VecDeque<Event<T>>,
    /// The number of the first event.
    first: u64,
    limit: usize,
    /// The readers, which are also the waiters.
    pub(super) readers: Waiters<Reader>,
    /// How many readers stand after the last event, at the one to come.
    at_end: usize,
    emitters: usize,
    /// Events for one reader each.
    directs: Vec<Direct<T>>,
    /// Blocks of removed values, for reuse.
    spare: Vec<Stored<T>>,
}

/// An event for the reader that has waited longest. It has yet to be read.
pub(super) struct Direct<T> {
    reader: usize,
    pub(super) value: T,
    /// If the reader does not take it, it goes to one that began to wait before this.
    pub(super) began_before: u64,
    /// The note of it, for the executor of the reader.
    _grant: Option<Grant>,
}

struct Event<T> {
    value: Stored<T>,
    /// How many readers stand at it.
    here: usize,
}

pub(super) struct Reader {
    /// The number of the event that it reads next. The reader stands there; or at
    /// the previous event, while it clones that event's value; or at the first
    /// event, if that is later.
    next: u64,
    /// How many events it has lost.
    missed: u64,
}

/// The result of emitting a value.
pub(super) struct Emitted<T> {
    /// A value that no reader receives (any more).
    pub(super) discarded: Option<T>,
    /// The waiters that began to wait before this are woken.
    pub(super) began_before: u64,
}

/// The result of a read.
pub(super) enum Read<T> {
    /// The value, if this is its last reader.
    Last(T),
    /// The value, if it has other readers: clone it, and pass the number to
    /// `finish_read`.
    Shared(Stored<T>, u64),
    Nothing,
    /// Nothing, and no emitter is left.
    Ended,
}

impl<T> Journal<T> {
    pub(super) fn new(limit: usize) -> Self {
        Journal {
            events: VecDeque::new(),
            first: 0,
            limit,
            readers: Waiters::new(),
            at_end: 0,
            emitters: 1,
            directs: Vec::new(),
            spare: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn add_emitter(&mut self) {
        self.emitters += 1;
    }

    /// Returns whether it was the last emitter.
    pub(super) fn remove_emitter(&mut self) -> bool {
        self.emitters -= 1;
        self.emitters == 0
    }

    pub(super) fn add_reader(&mut self) -> usize {
        self.at_end += 1;
        let next = self.end();
        self.readers.add(Reader { next, missed: 0 })
    }

    /// Removes a reader. Returns its `Waiting`, which the caller drops.
    pub(super) fn remove_reader(&mut self, reader: usize) -> Option<Waiting> {
        let (Reader { next, .. }, waiting) = self.readers.remove(reader);
        *self.standing_at(next) -= 1;
        waiting
    }

    /// The count of readers that stand at the event of that number, or at the first
    /// event if that one was removed.
    fn standing_at(&mut self, number: u64) -> &mut usize {
        let index = usize::try_from(number.saturating_sub(self.first)).unwrap_or(usize::MAX);
        match self.events.get_mut(index) {
            Some(event) => &mut event.here,
            None => &mut self.at_end,
        }
    }

    pub(super) fn missed(&self, reader: usize) -> u64 {
        let reader = self.readers.data(reader);
        reader.missed + self.first.saturating_sub(reader.next)
    }

    /// The number of the event to come.
    pub(super) fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    pub(super) fn push(&mut self, value: T) -> Emitted<T> {
        let discarded = if self.readers.len() == 0 {
            Some(value)
        } else {
            let full = self.events.len() >= self.limit;
            let oldest = if full { self.pop() } else { None };
            let value = self.store(value);
            let here = std::mem::take(&mut self.at_end);
            self.events.push_back(Event { value, here });
            oldest
        };
        Emitted {
            discarded,
            began_before: self.readers.began(),
        }
    }

    /// Gives a value to the reader that has waited longest, if that began to wait before
    /// `limit`. Returns the reader to wake, or the value.
    pub(super) fn give(&mut self, value: T, limit: u64) -> Result<Waiting, T> {
        let Some((reader, waiting)) = self.readers.next_waiter(limit) else {
            return Err(value);
        };
        let grant = waiting.grant(GrantKind::Event, self.readers.source());
        self.directs.push(Direct {
            reader,
            value,
            began_before: limit,
            _grant: grant,
        });
        Ok(waiting)
    }

    /// Takes the value that was given to a reader.
    pub(super) fn take_given(&mut self, reader: usize) -> Option<Direct<T>> {
        let mut directs = self.directs.iter();
        let index = directs.position(|direct| direct.reader == reader)?;
        Some(self.directs.remove(index))
    }

    fn store(&mut self, value: T) -> Stored<T> {
        if let Some(mut stored) = self.spare.pop() {
            if let Some(vacant) = Rc::get_mut(&mut stored) {
                *vacant = Some(value);
                return stored;
            }
        }
        Rc::new(Some(value))
    }

    /// Removes the oldest event and returns its value. Returns `None` if a reader
    /// is cloning the value: that reader drops it.
    fn pop(&mut self) -> Option<T> {
        let mut event = self.events.pop_front()?;
        self.first += 1;
        *self.standing_at(self.first) += event.here;
        let value = Rc::get_mut(&mut event.value)?.take();
        self.spare.push(event.value);
        value
    }

    /// Removes the oldest event if all readers have read it.
    pub(super) fn pop_read(&mut self) -> Option<T> {
        let is_read = self.events.front().is_some_and(|event| event.here == 0);
        if is_read { self.pop() } else { None }
    }

    pub(super) fn read(&mut self, reader: usize) -> Read<T> {
        if let Some(given) = self.take_given(reader) {
            return Read::Last(given.value);
        }
        let (first, end) = (self.first, self.end());
        let reader = self.readers.data_mut(reader);
        reader.missed += first.saturating_sub(reader.next);
        reader.next = reader.next.max(first);
        if reader.next == end {
            return match self.emitters {
                0 => Read::Ended,
                _ => Read::Nothing,
            };
        }
        let number = reader.next;
        reader.next += 1;
        let event = &self.events[usize::try_from(number - first).unwrap_or(usize::MAX)];
        if event.here == 1 && number == first {
            if let Some(value) = self.pop() {
                return Read::Last(value);
            }
            debug_assert!(false, "a reader that clones a value stands at it");
            return Read::Nothing;
        }
        Read::Shared(event.value.clone(), number)
    }

    /// Ends a read: the reader has cloned the value of this event, or the clone
    /// panicked.
    pub(super) fn finish_read(&mut self, number: u64) {
        // If the event was removed during the clone because the journal was full,
        // its readers have already moved to the next event.
        if number >= self.first {
            *self.standing_at(number) -= 1;
            *self.standing_at(number + 1) += 1;
        }
    }

    /// Whether a reader that found nothing would find something now.
    pub(super) fn has_news(&self, reader: usize) -> bool {
        self.readers.data(reader).next < self.end()
            || self.emitters == 0
            || self.directs.iter().any(|direct| direct.reader == reader)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.emitters == 0
    }

    /// Whether the reader has yet to read an event before `end`.
    pub(super) fn is_before(&self, reader: usize, end: u64) -> bool {
        self.readers.data(reader).next < end
    }
}
