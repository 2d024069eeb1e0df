//! What a signal keeps: events, who has read how far, and who waits.
//!
//! Nothing in here calls user code. Values go in and out whole; what has to be
//! dropped or called is handed to the caller, who has no borrow by then.

use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Waker;

use slab::Slab;

/// A stored value. Readers share it while they clone it; it is `None` only in
/// one that is kept for the next event.
type Stored<T> = Rc<Option<T>>;

pub(super) struct Journal<T> {
    /// What somebody has still to read, oldest first.
    events: VecDeque<Event<T>>,
    /// The number of the first of them.
    first: u64,
    limit: usize,
    readers: Slab<Reader>,
    /// Who waits, in the order in which they began to; some have stopped since.
    waiting: VecDeque<Waiting>,
    /// How many have stopped.
    stale: usize,
    /// Counts beginnings.
    began: u64,
    emitters: usize,
    /// Blocks of values that are gone, for those to come.
    spare: Vec<Stored<T>>,
}

struct Event<T> {
    value: Stored<T>,
    /// How many have not read it to the end.
    unread: usize,
}

struct Reader {
    /// The number of the event that it reads next.
    next: u64,
    /// Set while it waits.
    waker: Option<Waker>,
    /// When it last began to.
    began: u64,
    /// How many events it has lost.
    missed: u64,
}

#[derive(Clone, Copy)]
struct Waiting {
    reader: usize,
    began: u64,
}

/// What became of an emitted value.
pub(super) struct Emitted<T> {
    /// A value that nobody gets (any more).
    pub(super) discarded: Option<T>,
    /// Whom to wake: those who began to wait before this.
    pub(super) began_before: u64,
}

/// What there is to read.
pub(super) enum Read<T> {
    /// For this reader alone.
    Last(T),
    /// For others as well: to be cloned, and given back with this number.
    Shared(Stored<T>, u64),
    Nothing,
    /// And nobody is left to emit.
    Ended,
}

impl<T> Journal<T> {
    pub(super) fn new(limit: usize) -> Self {
        Journal {
            events: VecDeque::new(),
            first: 0,
            limit,
            readers: Slab::new(),
            waiting: VecDeque::new(),
            stale: 0,
            began: 0,
            emitters: 1,
            spare: Vec::new(),
        }
    }

    pub(super) fn subscribers(&self) -> usize {
        self.readers.len()
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn add_emitter(&mut self) {
        self.emitters += 1;
    }

    /// `true`: it was the last one.
    pub(super) fn remove_emitter(&mut self) -> bool {
        self.emitters -= 1;
        self.emitters == 0
    }

    pub(super) fn add_reader(&mut self) -> usize {
        self.readers.insert(Reader {
            next: self.end(),
            waker: None,
            began: 0,
            missed: 0,
        })
    }

    /// Its waker is for the caller to drop.
    pub(super) fn remove_reader(&mut self, reader: usize) -> Option<Waker> {
        let Reader { next, waker, .. } = self.readers.remove(reader);
        if waker.is_some() {
            self.note_stale();
        }
        let read = usize::try_from(next.saturating_sub(self.first)).unwrap_or(usize::MAX);
        for event in self.events.iter_mut().skip(read) {
            event.unread -= 1;
        }
        waker
    }

    pub(super) fn missed(&self, reader: usize) -> u64 {
        let reader = &self.readers[reader];
        reader.missed + self.first.saturating_sub(reader.next)
    }

    /// The number of the event to come.
    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    pub(super) fn push(&mut self, value: T) -> Emitted<T> {
        let unread = self.readers.len();
        let discarded = if unread == 0 {
            Some(value)
        } else {
            let full = self.events.len() >= self.limit;
            let oldest = if full { self.pop() } else { None };
            let value = self.store(value);
            self.events.push_back(Event { value, unread });
            oldest
        };
        Emitted {
            discarded,
            began_before: self.began,
        }
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

    /// Takes the oldest event out. `None`: one who is cloning its value drops it.
    fn pop(&mut self) -> Option<T> {
        let mut event = self.events.pop_front()?;
        self.first += 1;
        let value = Rc::get_mut(&mut event.value)?.take();
        self.spare.push(event.value);
        value
    }

    /// Takes the oldest event out if all have read it.
    pub(super) fn pop_read(&mut self) -> Option<T> {
        let is_read = self.events.front().is_some_and(|event| event.unread == 0);
        if is_read { self.pop() } else { None }
    }

    pub(super) fn read(&mut self, reader: usize) -> Read<T> {
        let (first, end) = (self.first, self.end());
        let reader = &mut self.readers[reader];
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
        if event.unread == 1 && number == first {
            if let Some(value) = self.pop() {
                return Read::Last(value);
            }
            debug_assert!(false, "whoever clones a value has not read it");
            return Read::Nothing;
        }
        Read::Shared(event.value.clone(), number)
    }

    /// A reader has cloned the value of this event, or has failed to.
    pub(super) fn finish_read(&mut self, number: u64) {
        // It may have been dropped meanwhile, for want of room.
        if let Some(index) = number.checked_sub(self.first) {
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            if let Some(event) = self.events.get_mut(index) {
                event.unread -= 1;
            }
        }
    }

    /// Whether a reader that found nothing would find something now.
    pub(super) fn has_news(&self, reader: usize) -> bool {
        self.readers[reader].next < self.end() || self.emitters == 0
    }

    /// Whether the reader waits, and would wake the same with `waker`.
    pub(super) fn waits_with(&self, reader: usize, waker: &Waker) -> bool {
        let current = &self.readers[reader].waker;
        current.as_ref().is_some_and(|w| w.will_wake(waker))
    }

    /// The reader waits with `waker`; gives back the one before. It keeps its
    /// place if it waited already.
    pub(super) fn wait(&mut self, reader: usize, waker: Waker) -> Option<Waker> {
        let entry = &mut self.readers[reader];
        let previous = entry.waker.replace(waker);
        if previous.is_none() {
            entry.began = self.began;
            self.began += 1;
            let began = entry.began;
            self.waiting.push_back(Waiting { reader, began });
        }
        previous
    }

    /// The reader has read something, and waits no longer.
    pub(super) fn stop_waiting(&mut self, reader: usize) -> Option<Waker> {
        let waker = self.readers[reader].waker.take();
        if waker.is_some() {
            self.note_stale();
        }
        waker
    }

    /// Takes the waker of the first who began to wait before `limit`.
    pub(super) fn next_waiter(&mut self, limit: u64) -> Option<Waker> {
        while let Some(&waiting) = self.waiting.front() {
            if waiting.began >= limit {
                return None;
            }
            self.waiting.pop_front();
            if self.is_waiting(waiting) {
                return self.readers[waiting.reader].waker.take();
            }
            self.stale -= 1;
        }
        None
    }

    fn is_waiting(&self, waiting: Waiting) -> bool {
        let reader = self.readers.get(waiting.reader);
        reader.is_some_and(|reader| reader.waker.is_some() && reader.began == waiting.began)
    }

    /// One who stands in the list waits no longer.
    fn note_stale(&mut self) {
        self.stale += 1;
        if self.stale > 8 + self.waiting.len() / 2 {
            let mut waiting = std::mem::take(&mut self.waiting);
            waiting.retain(|&waiting| self.is_waiting(waiting));
            self.waiting = waiting;
            self.stale = 0;
        }
    }
}
