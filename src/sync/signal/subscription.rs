//! The subscriber of a signal.

use std::fmt;
use std::panic::{Location, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::stream::{FusedStream, Stream};

use crate::core::base::call::{self, Foreign, Value};
use crate::core::report;
use crate::durable::RuntimeEvents;
use crate::sync::closed::{OfSource, Removals};
use crate::sync::source::expect_called;
use crate::sync::waiters::Waiting;
use crate::wait::NextItem;

use super::Shared;
use super::journal::{Gift, Read, ReaderKind, Stored};

/// A [`Stream`] of all events of a [`Signal`](super::Signal) after the call of
/// [`subscribe`](super::Signal::subscribe).
///
/// Each subscription remembers which events it has read. An event that is emitted
/// between two items is not lost, up to the limit of the signal. What is lost beyond it is
/// reported with the next item, and [`missed`](Subscription::missed) counts it. The stream ends
/// when the last `Signal` has been dropped and all events are read.
///
/// # Resumes
///
/// See [`Signal`](super::Signal).
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing. Dropping the subscription loses
/// the events that it has not read.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
///
/// let mut executor = Executor::new();
/// let score = Signal::new();
/// let mut scores = score.subscribe();
/// let total = executor.start(async move {
///     let mut total = 0;
///     while let Some(points) = scores.next().await {
///         total += points;
///         wait_seconds(1).await; // during this, more events may be emitted
///     }
///     total
/// });
/// for points in [10, 20, 30] {
///     score.emit(points);
/// }
/// drop(score);
/// assert_eq!(executor.run_until(total, 0.25).unwrap(), 60);
/// ```
#[must_use = "streams do nothing unless they are polled"]
pub struct Subscription<T> {
    inner: Inner<T>,
}

enum Inner<T> {
    Executor(Reading<T>),
    /// A runtime of durable scripts has the events.
    Runtime(Box<dyn RuntimeEvents<T>>),
}

/// A reader of a signal.
struct Reading<T> {
    shared: Rc<Shared<T>>,
    reader: usize,
    ended: bool,
}

impl<T> Subscription<T> {
    pub(super) fn new(shared: &Rc<Shared<T>>, kind: ReaderKind) -> Self {
        let reader = shared.journal.borrow_mut().add_reader(kind);
        Subscription {
            inner: Inner::Executor(Reading {
                shared: shared.clone(),
                reader,
                ended: false,
            }),
        }
    }

    pub(crate) fn of_runtime(events: Box<dyn RuntimeEvents<T>>) -> Self {
        Subscription {
            inner: Inner::Runtime(events),
        }
    }

    /// What it has in a runtime.
    pub(crate) fn in_runtime(&self) -> Option<&dyn RuntimeEvents<T>> {
        match &self.inner {
            Inner::Executor(_) => None,
            Inner::Runtime(events) => Some(&**events),
        }
    }

    /// Returns how many events this subscription has lost so far, because the signal was
    /// at its limit. The script hears of it here, the host in
    /// [`Report::EventsMissed`](crate::inspect::Report::EventsMissed).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let signal = Signal::with_limit(2);
    /// let subscription = signal.subscribe();
    /// for i in 0..5 {
    ///     signal.emit(i);
    /// }
    /// assert_eq!(subscription.missed(), 3);
    /// ```
    ///
    /// # Panics
    ///
    /// In a closure of a durable script.
    #[track_caller]
    pub fn missed(&self) -> u64 {
        match &self.inner {
            Inner::Executor(reading) => reading.missed(),
            Inner::Runtime(events) => expect_called(events.missed(Location::caller())),
        }
    }

    /// Whether it has read all events up to now.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let signal = Signal::new();
    /// let subscription = signal.subscribe();
    /// assert!(subscription.is_empty());
    /// signal.emit(1);
    /// assert!(!subscription.is_empty());
    /// ```
    ///
    /// # Panics
    ///
    /// In a closure of a durable script.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        match &self.inner {
            Inner::Executor(reading) => !reading.shared.journal.borrow().has_news(reading.reader),
            Inner::Runtime(events) => expect_called(events.is_empty(Location::caller())),
        }
    }
}

impl<T> Reading<T> {
    fn missed(&self) -> u64 {
        self.shared.journal.borrow().missed(self.reader)
    }

    fn is_closed(&self) -> bool {
        let journal = self.shared.journal.borrow();
        journal.has_ended() && !journal.is_before(self.reader, journal.end())
    }

    /// Waits with the waker in `cx`. Returns `false` if there is now something to
    /// read.
    #[track_caller]
    fn wait(&self, cx: &Context<'_>) -> bool {
        let journal = &self.shared.journal;
        let noted = {
            let readers = &journal.borrow().readers;
            if readers.waits_with(self.reader, cx.waker()) {
                return true;
            }
            readers.note()
        };
        let waiting = Waiting::new(cx, noted);
        let previous = journal.borrow_mut().readers.wait(self.reader, waiting);
        drop(previous);
        // Cloning and dropping a waker runs user code, which may emit.
        !journal.borrow().has_news(self.reader)
    }

    #[track_caller]
    fn read(&self, cx: &Context<'_>) -> Read<Value<T>> {
        loop {
            let read = self.shared.journal.borrow_mut().read(self.reader);
            match read {
                Read::Missed(missed) => self.report_missed(missed),
                Read::Nothing if !self.wait(cx) => {}
                read => return read,
            }
        }
    }

    /// Reports that this reader has lost events. Calls user code.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn report_missed(&self, missed: u64) {
        let (source, limit) = {
            let journal = self.shared.journal.borrow();
            (journal.readers.source(), journal.limit())
        };
        let signal = source.map(|source| source.name().to_owned());
        report::events_missed(signal, missed, limit);
    }
}

impl<T: Clone> Subscription<T> {
    /// Waits for the next event, and returns its value. Returns `None` if the last
    /// `Signal` has been dropped and all events are read.
    ///
    /// It is `StreamExt::next` of the `futures` crate, without the import. Dropping
    /// the wait loses nothing.
    ///
    /// At once if an event is stored. So a script that emits in each round of a loop around its own
    /// subscription never ends its frame: let it await [`next_frame`](crate::next_frame()), too.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        NextItem::new(self)
    }

    /// Polls for the next event that `accept` accepts, and reads the events before it.
    #[track_caller]
    pub(super) fn poll_for(
        &mut self,
        cx: &mut Context<'_>,
        accept: &mut dyn FnMut(&T) -> bool,
    ) -> Poll<T> {
        match &mut self.inner {
            Inner::Executor(reading) => reading.poll_for(cx, accept),
            Inner::Runtime(events) => poll_in_runtime(&mut **events, cx, accept),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn poll_in_runtime<T>(
    events: &mut dyn RuntimeEvents<T>,
    cx: &mut Context<'_>,
    accept: &mut dyn FnMut(&T) -> bool,
) -> Poll<T> {
    expect_called(events.poll(Location::caller(), cx, accept))
}

impl<T: Clone> Reading<T> {
    /// Polls for the next event that `accept` accepts, and reads the events before
    /// it.
    ///
    /// It checks the events that are stored when it begins. An event that `accept`
    /// emits is checked in a later poll, so that it cannot block a frame.
    #[track_caller]
    pub(super) fn poll_for(
        &mut self,
        cx: &Context<'_>,
        accept: &mut dyn FnMut(&T) -> bool,
    ) -> Poll<T> {
        if let Some(given) = self.shared.given_to(self.reader) {
            if let Some(value) = given.take_if(&mut *accept) {
                self.stop_waiting();
                return Poll::Ready(value.into_inner());
            }
        }
        let end = self.shared.journal.borrow().end();
        while self.shared.journal.borrow().is_before(self.reader, end) {
            let read = self.shared.journal.borrow_mut().read(self.reader);
            let accepted = match read {
                Read::Last(value) => call::out(|| accept(value.get())).then_some(value),
                Read::Shared(value, number) => self.read_shared(value, number, &mut *accept),
                Read::Missed(missed) => {
                    self.report_missed(missed);
                    None
                }
                Read::Nothing | Read::Ended => None,
            };
            if let Some(value) = accepted {
                self.stop_waiting();
                return Poll::Ready(value.into_inner());
            }
        }
        self.wait(cx);
        let journal = self.shared.journal.borrow();
        let has_more = journal.is_before(self.reader, journal.end())
            || journal.has_news(self.reader) && !journal.has_ended();
        drop(journal);
        if has_more {
            call::out(|| cx.waker().wake_by_ref());
        }
        Poll::Pending
    }

    /// Clones a value that has other readers, if `accept` accepts it.
    fn read_shared(
        &self,
        value: Stored<Value<T>>,
        number: Option<u64>,
        accept: impl FnOnce(&T) -> bool,
    ) -> Option<Value<T>> {
        let reading = Cloning {
            shared: &self.shared,
            number,
        };
        let clone = || {
            let value = (*value).as_ref()?.get();
            accept(value).then(|| Value::new(value.clone()))
        };
        let item = call::out(clone);
        // Dropped first, so that the last reader finds the value unshared.
        drop(value);
        drop(reading);
        item
    }

    fn stop_waiting(&self) {
        let waiting = self.shared.journal.borrow_mut().readers.stop(self.reader);
        drop(waiting);
    }
}

impl<T: Clone> Stream for Subscription<T> {
    type Item = T;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let reading = match &mut self.inner {
            Inner::Executor(reading) => reading,
            Inner::Runtime(events) => {
                return poll_in_runtime(&mut **events, cx, &mut |_| true).map(Some);
            }
        };
        if reading.ended {
            return Poll::Ready(None);
        }
        let item = match reading.read(cx) {
            Read::Last(value) => Some(value),
            Read::Shared(value, number) => reading.read_shared(value, number, |_| true),
            // `read` has reported what was missed, and read on.
            Read::Nothing | Read::Missed(_) => return Poll::Pending,
            Read::Ended => {
                reading.ended = true;
                None
            }
        };
        reading.stop_waiting();
        Poll::Ready(item.map(Value::into_inner))
    }
}

/// A read in progress. Dropping it ends the read, even if the value's `clone`
/// panics.
struct Cloning<'a, T> {
    shared: &'a Shared<T>,
    /// The event, if the reader goes on to the next one.
    number: Option<u64>,
}

impl<T> Drop for Cloning<'_, T> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.shared.journal.borrow_mut().finish_read(number);
            self.shared.drop_read();
        }
    }
}

/// A value that was given to a reader. Dropping it gives it to the next one that waits, even if
/// a filter panics.
struct Given<'a, T> {
    shared: &'a Shared<T>,
    gift: Option<Gift<Value<T>>>,
}

impl<T> Given<'_, T> {
    fn take_if(mut self, accept: impl FnOnce(&T) -> bool) -> Option<Value<T>> {
        let value = &self.gift.as_ref()?.value;
        let accepts = call::out(|| accept(value.get()));
        let gift = if accepts { self.gift.take() } else { None };
        gift.map(|gift| gift.value)
    }
}

impl<T> Drop for Given<'_, T> {
    fn drop(&mut self) {
        if let Some(gift) = self.gift.take() {
            self.shared.give_on(gift);
        }
    }
}

impl<T> Shared<T> {
    fn given_to(&self, reader: usize) -> Option<Given<'_, T>> {
        let gift = self.journal.borrow_mut().take_gift(reader)?;
        Some(Given {
            shared: self,
            gift: Some(gift),
        })
    }

    /// Gives an event to the next reader that waits, because the one before has not taken it.
    /// Reports it if none has waited since it was emitted.
    fn give_on(&self, gift: Gift<Value<T>>) {
        let Some(Gift { value, place, .. }) = self.give(gift) else {
            return;
        };
        let source = self.journal.borrow().readers.source();
        let signal = source.map(|source| source.name().to_owned());
        report::event_untaken(signal, place);
        drop(value);
    }

    /// Drops the events that all readers have read, one by one, because each
    /// destructor may emit. If one panics, the others are still dropped.
    fn drop_read(&self) {
        let mut panicked = None;
        loop {
            let value = self.journal.borrow_mut().pop_read();
            let Some(value) = value else {
                break;
            };
            if let Err(payload) = call::catch(|| drop(value)) {
                panicked.get_or_insert(Foreign::new(payload));
            }
        }
        if let Some(payload) = panicked.filter(|_| !std::thread::panicking()) {
            resume_unwind(payload.into_inner());
        }
    }
}

impl<T> Drop for Reading<T> {
    fn drop(&mut self) {
        // Dropped last: it goes to the next reader.
        let _given = self.shared.given_to(self.reader);
        // A value without a reader is dropped after the waker, too.
        let (waiting, _unread) = self.shared.journal.borrow_mut().remove_reader(self.reader);
        drop(waiting);
        self.shared.drop_read();
    }
}

impl<T> OfSource for Subscription<T> {
    const REMOVAL_FIRST: bool = false;

    /// Whether it has read all events, and none will follow. A runtime does not end its signals.
    fn is_closed(&self) -> bool {
        match &self.inner {
            Inner::Executor(reading) => reading.is_closed(),
            Inner::Runtime(_) => false,
        }
    }

    fn removals(&self) -> Option<Removals> {
        match &self.inner {
            Inner::Executor(reading) => {
                let removals = reading.shared.journal.borrow().readers.removals();
                Some(Removals::Executor(removals))
            }
            Inner::Runtime(events) => events.removals().map(Removals::Runtime),
        }
    }
}

impl<T> Unpin for Subscription<T> {}

impl<T: Clone> FusedStream for Subscription<T> {
    fn is_terminated(&self) -> bool {
        matches!(&self.inner, Inner::Executor(reading) if reading.ended)
    }
}

impl<T> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Subscription");
        if let Inner::Executor(reading) = &self.inner {
            shown.field("missed", &reading.missed());
            shown.field("ended", &reading.ended);
        }
        shown.finish_non_exhaustive()
    }
}
