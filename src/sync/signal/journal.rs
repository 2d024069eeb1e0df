//! The journal of a signal: its events, and how far each reader has read.
//!
//! Nothing here calls user code. The functions return the values to drop and the
//! wakers to call, and the caller does so outside the borrow.
//!
//! A *stream* reads all events, a *wait* only the first. Each event counts the streams and the
//! waits that *stand* at it: those that read it next, or are cloning its value. A stream that does
//! not stand there or before it has read it, or subscribed later. So an event can leave the list
//! when no stream stands at it or before it. Removing a reader decrements one count, however many
//! events it has not read.
//!
//! The list has a limit, so a stream may lose events. A wait never loses its event: when the event
//! leaves the list, it is *kept* as long as a wait stands at it. There are at most as many kept
//! events as waits.

use std::collections::VecDeque;
use std::mem;
use std::panic::Location;
use std::rc::Rc;

use slab::Slab;

use crate::core::wake::kept::{Grant, GrantKind};
use crate::sync::waiters::{Waiters, Waiting};

/// A stored value. Readers share it while they clone it. It is `None` only in a
/// block that is kept for reuse.
pub(super) type Stored<T> = Rc<Option<T>>;

pub(super) struct Journal<T> {
    /// The events that a stream has yet to read, oldest first. A stream stands at the first.
    events: VecDeque<Event<T>>,
    /// The number of the first event.
    first: u64,
    limit: usize,
    /// Older events, for waits: by number. Those at which no wait stands are over.
    kept: VecDeque<Kept<T>>,
    /// How many kept events are over.
    over: usize,
    /// The readers, which are also the waiters.
    pub(super) readers: Waiters<Reader>,
    /// How many of the readers are streams.
    streams: usize,
    /// How many readers stand after the last event, at the one to come.
    at_end: Standing,
    emitters: usize,
    /// Events for one reader each.
    gifts: Slab<Gift<T>>,
    /// Blocks of removed values, for reuse.
    spare: Vec<Stored<T>>,
}

/// An event for the reader that has waited longest. It has yet to be read.
pub(super) struct Gift<T> {
    pub(super) value: T,
    /// If the reader does not take it, it goes to one that began to wait before this.
    pub(super) began_before: u64,
    /// The note of it, for the executor of the reader that it was sent to.
    pub(super) grant: Option<Grant>,
    /// Where it was emitted.
    pub(super) place: &'static Location<'static>,
}

/// How many readers stand at an event.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    streams: usize,
    waits: usize,
}

impl Standing {
    fn of(&mut self, kind: ReaderKind) -> &mut usize {
        match kind {
            ReaderKind::Stream => &mut self.streams,
            ReaderKind::Wait => &mut self.waits,
        }
    }
}

struct Event<T> {
    value: Stored<T>,
    here: Standing,
}

struct Kept<T> {
    number: u64,
    /// `None` once it is over.
    value: Option<Stored<T>>,
    /// How many waits stand at it.
    waits: usize,
}

/// What a reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReaderKind {
    /// All events.
    Stream,
    /// The first event.
    Wait,
}

pub(super) struct Reader {
    kind: ReaderKind,
    /// The number of the event that it reads next. The reader stands there. A stream stands at
    /// the previous event while it clones that event's value, and at the first event if that is
    /// later.
    next: u64,
    /// How many events it has lost.
    missed: u64,
    /// The event that was given to it.
    gift: Option<usize>,
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
    /// The value, if it has other readers: clone it, and pass the number, if there is one, to
    /// `finish_read`.
    Shared(Stored<T>, Option<u64>),
    /// So many events were lost. Read again.
    Missed(u64),
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
            kept: VecDeque::new(),
            over: 0,
            readers: Waiters::new(),
            streams: 0,
            at_end: Standing::default(),
            emitters: 1,
            gifts: Slab::new(),
            spare: Vec::new(),
        }
    }

    /// How many events are stored.
    pub(super) fn len(&self) -> usize {
        self.events.len() + self.kept.len() - self.over
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn add_emitter(&mut self) {
        self.emitters += 1;
    }

    /// Returns whether it was the last emitter.
    pub(super) fn remove_emitter(&mut self) -> bool {
        self.emitters -= 1;
        self.emitters == 0
    }

    pub(super) fn add_reader(&mut self, kind: ReaderKind) -> usize {
        *self.at_end.of(kind) += 1;
        self.streams += usize::from(kind == ReaderKind::Stream);
        let next = self.end();
        self.readers.add(Reader {
            kind,
            next,
            missed: 0,
            gift: None,
        })
    }

    /// Removes a reader. Returns its `Waiting`, and a value that has no reader any more: the
    /// caller drops both.
    pub(super) fn remove_reader(&mut self, reader: usize) -> (Option<Waiting>, Option<T>) {
        let (Reader { kind, next, .. }, waiting) = self.readers.remove(reader);
        self.streams -= usize::from(kind == ReaderKind::Stream);
        let unread = match kind {
            ReaderKind::Wait if next < self.first => self.leave_kept(next),
            _ => {
                *self.standing_at(next).of(kind) -= 1;
                None
            }
        };
        (waiting, unread)
    }

    /// The readers that stand at the event of that number, or at the first event if that one has
    /// left the list.
    fn standing_at(&mut self, number: u64) -> &mut Standing {
        let index = usize::try_from(number.saturating_sub(self.first)).unwrap_or(usize::MAX);
        match self.events.get_mut(index) {
            Some(event) => &mut event.here,
            None => &mut self.at_end,
        }
    }

    pub(super) fn missed(&self, reader: usize) -> u64 {
        let reader = self.readers.data(reader);
        reader.missed + self.lost_by(reader)
    }

    /// How many events a reader has lost since its last read.
    fn lost_by(&self, reader: &Reader) -> u64 {
        match reader.kind {
            ReaderKind::Stream => self.first.saturating_sub(reader.next),
            ReaderKind::Wait => 0,
        }
    }

    /// The number of the event to come.
    pub(super) fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    pub(super) fn push(&mut self, value: T) -> Emitted<T> {
        // The list may still have events when the last stream has just been removed.
        let discarded = if self.streams > 0 || !self.events.is_empty() {
            let full = self.events.len() >= self.limit;
            let oldest = if full { self.pop_unread() } else { None };
            let value = self.store(value);
            let here = mem::take(&mut self.at_end);
            self.events.push_back(Event { value, here });
            oldest
        } else if self.at_end.waits > 0 {
            let value = self.store(value);
            let waits = mem::take(&mut self.at_end.waits);
            self.keep(value, waits);
            None
        } else {
            // All waits have their event.
            Some(value)
        };
        Emitted {
            discarded,
            began_before: self.readers.began(),
        }
    }

    /// Keeps the event of number `first`, which is in the list no more, for its waits.
    fn keep(&mut self, value: Stored<T>, waits: usize) {
        let number = self.first;
        self.first += 1;
        self.kept.push_back(Kept {
            number,
            value: Some(value),
            waits,
        });
    }

    /// Gives a value to the reader that has waited longest, if that began to wait before
    /// the limit of the gift. Returns the reader to wake, or the gift.
    pub(super) fn give(&mut self, mut gift: Gift<T>) -> Result<Waiting, Gift<T>> {
        let Some((reader, waiting)) = self.readers.next_waiter(gift.began_before) else {
            return Err(gift);
        };
        gift.grant = waiting.grant(GrantKind::Event, self.readers.source());
        let gift = self.gifts.insert(gift);
        // A reader that waits has taken the gift before.
        let before = self.readers.data_mut(reader).gift.replace(gift);
        debug_assert!(before.is_none());
        Ok(waiting)
    }

    /// Takes the value that was given to a reader.
    pub(super) fn take_gift(&mut self, reader: usize) -> Option<Gift<T>> {
        let gift = self.readers.data_mut(reader).gift.take()?;
        self.gifts.try_remove(gift)
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

    /// Takes the value out of an event that is over. Returns `None` if a reader is cloning the
    /// value: that reader drops it.
    fn take_value(&mut self, mut stored: Stored<T>) -> Option<T> {
        let value = Rc::get_mut(&mut stored)?.take();
        self.spare.push(stored);
        value
    }

    /// Removes the oldest event, which streams have not read, and returns its value unless waits
    /// stand at it.
    fn pop_unread(&mut self) -> Option<T> {
        let Event { value, here } = self.events.pop_front()?;
        if here.waits > 0 {
            self.keep(value, here.waits);
            self.standing_at(self.first).streams += here.streams;
            return None;
        }
        self.first += 1;
        self.standing_at(self.first).streams += here.streams;
        self.take_value(value)
    }

    /// Removes the oldest event if all streams have read it. Returns a value that has no reader.
    pub(super) fn pop_read(&mut self) -> Option<T> {
        while self.events.front()?.here.streams == 0 {
            let Event { value, here } = self.events.pop_front()?;
            if here.waits > 0 {
                self.keep(value, here.waits);
                continue;
            }
            self.first += 1;
            if let Some(value) = self.take_value(value) {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn read(&mut self, reader: usize) -> Read<T> {
        if let Some(gift) = self.take_gift(reader) {
            return Read::Last(gift.value);
        }
        let (first, end) = (self.first, self.end());
        let data = self.readers.data_mut(reader);
        if data.next == end {
            return match self.emitters {
                0 => Read::Ended,
                _ => Read::Nothing,
            };
        }
        match data.kind {
            ReaderKind::Wait => self.read_first(reader),
            ReaderKind::Stream if data.next < first => {
                let lost = first - data.next;
                data.missed += lost;
                data.next = first;
                Read::Missed(lost)
            }
            ReaderKind::Stream => {
                let number = data.next;
                data.next += 1;
                self.read_event(number)
            }
        }
    }

    /// Reads an event for a stream that stands there.
    fn read_event(&mut self, number: u64) -> Read<T> {
        let first = self.first;
        let event = &mut self.events[usize::try_from(number - first).unwrap_or(usize::MAX)];
        let is_last = event.here.streams == 1 && event.here.waits == 0;
        if !is_last || number > first {
            return Read::Shared(event.value.clone(), Some(number));
        }
        let unread = self.pop_unread();
        debug_assert!(
            unread.is_some(),
            "a reader that clones a value stands at it"
        );
        unread.map_or(Read::Nothing, Read::Last)
    }

    /// Reads an event for a wait that stands there. It stands there until it is removed, unless
    /// it takes the value.
    fn read_first(&mut self, reader: usize) -> Read<T> {
        let number = self.readers.data(reader).next;
        if number >= self.first {
            let index = usize::try_from(number - self.first).unwrap_or(usize::MAX);
            return Read::Shared(self.events[index].value.clone(), None);
        }
        let Some(kept) = self.find_kept(number) else {
            debug_assert!(false, "an event is kept as long as a wait stands at it");
            return Read::Nothing;
        };
        let is_last = kept.waits == 1;
        match &kept.value {
            // A stream may still be cloning it.
            Some(value) if !is_last || Rc::strong_count(value) > 1 => {
                return Read::Shared(value.clone(), None);
            }
            _ => {}
        }
        let value = self.leave_kept(number);
        let end = self.end();
        self.readers.data_mut(reader).next = end;
        self.at_end.waits += 1;
        value.map_or(Read::Nothing, Read::Last)
    }

    fn find_kept(&mut self, number: u64) -> Option<&mut Kept<T>> {
        // Usually it is the only one.
        let index = match self.kept.front() {
            Some(kept) if kept.number == number => 0,
            _ => self
                .kept
                .binary_search_by_key(&number, |kept| kept.number)
                .ok()?,
        };
        self.kept.get_mut(index)
    }

    /// Takes a wait from a kept event. Returns the value if it was the last one.
    fn leave_kept(&mut self, number: u64) -> Option<T> {
        let kept = self.find_kept(number)?;
        kept.waits -= 1;
        if kept.waits > 0 {
            return None;
        }
        let stored = kept.value.take();
        self.over += 1;
        self.sweep_kept();
        self.take_value(stored?)
    }

    /// Removes kept events that are over: those at the front, and all if they are many.
    fn sweep_kept(&mut self) {
        while self.kept.front().is_some_and(|kept| kept.waits == 0) {
            self.kept.pop_front();
            self.over -= 1;
        }
        if self.over > 8 + self.kept.len() / 2 {
            self.kept.retain(|kept| kept.waits > 0);
            self.over = 0;
        }
    }

    /// Ends a read: the stream has cloned the value of this event, or the clone
    /// panicked.
    pub(super) fn finish_read(&mut self, number: u64) {
        // If the event was removed during the clone because the journal was full,
        // its streams have already moved to the next event.
        if number >= self.first {
            self.standing_at(number).streams -= 1;
            self.standing_at(number + 1).streams += 1;
        }
    }

    /// Whether a reader that found nothing would find something now.
    pub(super) fn has_news(&self, reader: usize) -> bool {
        let data = self.readers.data(reader);
        data.next < self.end() || self.emitters == 0 || data.gift.is_some()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.emitters == 0
    }

    /// Whether the reader has yet to read an event before `end`.
    pub(super) fn is_before(&self, reader: usize, end: u64) -> bool {
        self.readers.data(reader).next < end
    }
}
