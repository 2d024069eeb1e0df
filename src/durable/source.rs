//! What a runtime has instead of the named signals, watches and semaphores of its executor.
//!
//! A handle that is declared for both worlds asks at each call whether a runtime has what the caller means. It calls
//! user code.

use std::any::Any;
use std::fmt::Debug;
use std::task::{Context, Poll};

use crate::Phase;
use crate::inspect::Line;
use crate::sync::{Named, Promise, Semaphore, Signal, Subscription, Watch};
use crate::task::{Ended, StopWithin};
use crate::wait::ChangesOf;

pub use crate::sync::semaphore::report_excess;
pub use crate::sync::source::{Refused, SourceName};
pub use crate::sync::watch::being_changed;

/// A runtime that may be there, for all signals of `T`.
pub trait SignalsOf<T>: RuntimeHere {
    /// Its signals.
    fn signals() -> Box<dyn RuntimeSignals<T>>;
}

/// A runtime that may be there.
pub trait RuntimeHere: 'static {
    /// Whether it has what the caller means: the caller is a script of it, or its host.
    fn is_here() -> bool;
}

/// The signals of a runtime, by name.
pub trait RuntimeSignals<T> {
    /// Emits an event.
    ///
    /// # Errors
    ///
    /// As all of these: if it cannot be done here.
    fn emit(&self, signal: SourceName<'_>, at: Line, value: T) -> Result<(), Refused>;

    /// Emits an event to the wait that has waited longest. Returns it if there is none.
    fn emit_one(&self, signal: SourceName<'_>, at: Line, value: T) -> Result<Option<T>, Refused>;

    /// Removes a signal: ends the waits for its removal.
    ///
    /// # Errors
    ///
    /// As all of these.
    fn remove(&self, signal: SourceName<'_>, at: Line) -> Result<(), Refused>;

    /// A wait for the next event.
    fn wait(&self, signal: SourceName<'_>) -> Result<Box<dyn RuntimeEvents<T>>, Refused>;

    /// A wait for the next event that a condition accepts.
    fn wait_for(&self, signal: SourceName<'_>) -> Result<Box<dyn RuntimeEvents<T>>, Refused>;

    /// All events from now on. It stores at most `limit` of them.
    fn subscribe(
        &self,
        signal: SourceName<'_>,
        limit: usize,
        at: Line,
    ) -> Result<Box<dyn RuntimeEvents<T>>, Refused>;
}

/// The events of a wait, or of a subscription.
pub trait RuntimeEvents<T> {
    /// Polls for the next event. A wait that has a condition takes the first that `accept` accepts.
    ///
    /// # Errors
    ///
    /// As all of these: if it cannot be done here.
    fn poll(
        &mut self,
        at: Line,
        cx: &mut Context<'_>,
        accept: &mut dyn FnMut(&T) -> bool,
    ) -> Result<Poll<T>, Refused>;

    /// A wait for the removal of the signal. `None` if there is none: this is one, or does nothing now.
    fn removals(&self) -> Option<Box<dyn RuntimeEvents<()>>> {
        None
    }

    /// How many events it has lost. A wait loses none.
    ///
    /// # Errors
    ///
    /// As those of [`poll`](Self::poll).
    fn missed(&self, _at: Line) -> Result<u64, Refused> {
        Ok(0)
    }

    /// Whether it has read all events. A wait stores none.
    ///
    /// # Errors
    ///
    /// As those of [`poll`](Self::poll).
    fn is_empty(&self, _at: Line) -> Result<bool, Refused> {
        Ok(true)
    }

    /// The subscription, if it is one.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}

/// A runtime that may be there, for all watches of a `T`.
pub trait WatchesOf<T>: RuntimeHere {
    /// Its watches.
    fn watches() -> Box<dyn RuntimeWatches<T>>;
}

/// What a watch has as long as it is not set.
pub type Start<T> = fn() -> T;

/// The watches of a runtime, by name.
pub trait RuntimeWatches<T> {
    /// The value.
    ///
    /// # Errors
    ///
    /// As all of these: if it cannot be done here.
    fn get(&self, watch: SourceName<'_>, start: Start<T>, at: Line) -> Result<T, Refused>;

    /// Sets it.
    fn set(&self, watch: SourceName<'_>, at: Line, value: T) -> Result<(), Refused>;

    /// Calls `change` once with the value, and sets it if that returns `true`.
    fn change(
        &self,
        watch: SourceName<'_>,
        start: Start<T>,
        at: Line,
        change: &mut dyn FnMut(&mut T) -> bool,
    ) -> Result<(), Refused>;

    /// Removes it. Returns whether it was set.
    fn remove(&self, watch: SourceName<'_>, at: Line) -> Result<bool, Refused>;

    /// A wait for a value that a condition accepts. If it skips the present, for a change.
    fn wait(
        &self,
        watch: SourceName<'_>,
        start: Start<T>,
        skips_present: bool,
    ) -> Result<Box<dyn RuntimeChanges<T>>, Refused>;

    /// All changes from now on.
    fn subscribe(
        &self,
        watch: SourceName<'_>,
        start: Start<T>,
        at: Line,
    ) -> Result<Box<dyn RuntimeChanges<T>>, Refused>;
}

/// The changes of a watch, for a wait or a stream.
pub trait RuntimeChanges<T> {
    /// Polls for the next value that `accept` accepts.
    ///
    /// # Errors
    ///
    /// If it cannot be done here.
    fn poll(
        &mut self,
        at: Line,
        cx: &mut Context<'_>,
        accept: &mut dyn FnMut(&T) -> bool,
    ) -> Result<Poll<T>, Refused>;

    /// A wait for the removal of the watch.
    fn removals(&self) -> Box<dyn RuntimeEvents<()>>;

    /// Makes the present value the next one of a stream.
    fn unsee(&mut self);
}

/// A runtime that may be there, for semaphores.
pub trait SemaphoresOf: RuntimeHere {
    /// Its semaphores.
    fn semaphores() -> Box<dyn RuntimeSemaphores>;
}

/// The semaphores of a runtime, by name. `declared` is how many permits the code says.
pub trait RuntimeSemaphores {
    /// A wait for `wanted` permits.
    ///
    /// # Errors
    ///
    /// As all of these: if it cannot be done here.
    fn acquire(
        &self,
        semaphore: SourceName<'_>,
        declared: usize,
        wanted: usize,
    ) -> Result<Box<dyn RuntimeAcquire>, Refused>;

    /// Takes a permit, if there is one.
    fn try_acquire(
        &self,
        semaphore: SourceName<'_>,
        declared: usize,
        at: Line,
    ) -> Result<Option<RuntimePermit>, Refused>;

    /// How many are free.
    fn available(
        &self,
        semaphore: SourceName<'_>,
        declared: usize,
        at: Line,
    ) -> Result<usize, Refused>;

    /// How many there are.
    fn count(&self, semaphore: SourceName<'_>, declared: usize, at: Line)
    -> Result<usize, Refused>;

    /// Adds so many.
    fn add(
        &self,
        semaphore: SourceName<'_>,
        declared: usize,
        at: Line,
        more: usize,
    ) -> Result<(), Refused>;

    /// Sets how many there are.
    fn set_count(
        &self,
        semaphore: SourceName<'_>,
        declared: usize,
        at: Line,
        count: usize,
    ) -> Result<(), Refused>;
}

/// A wait for permits of a runtime.
pub trait RuntimeAcquire {
    /// Polls it.
    ///
    /// # Errors
    ///
    /// If it cannot be done here.
    fn poll(&mut self, at: Line, cx: &mut Context<'_>) -> Result<Poll<RuntimePermit>, Refused>;
}

/// Permits of a runtime. Dropping this returns them.
pub type RuntimePermit = Box<dyn Debug>;

/// A value that a script of a runtime reads in each frame.
pub trait RuntimeReads<T> {
    /// Reads it for the first time. `within` is the type of the closure.
    ///
    /// # Errors
    ///
    /// As all of these: if it cannot be done here.
    fn first(
        &mut self,
        at: Line,
        within: &'static str,
        read: &mut dyn FnMut() -> T,
    ) -> Result<T, Refused>;

    /// Polls for a run of the phase, or of the home phase, in which `changed` returns a value.
    fn poll(
        &mut self,
        at: Line,
        cx: &mut Context<'_>,
        phase: Option<Phase>,
        changed: &mut dyn FnMut() -> Option<T>,
    ) -> Result<Poll<T>, Refused>;
}

/// Makes the stream of the changes of a value. `find` has the runtime of the script that polls it.
pub fn changes_for<T, F>(
    read: F,
    find: fn() -> Option<Box<dyn RuntimeReads<T>>>,
) -> ChangesOf<T, F> {
    ChangesOf::declared_for(read, find)
}

/// A promise of a script of a runtime. It may go to another thread, as any promise, and is refused there.
pub trait RuntimePromise<T>: Send + Sync {
    /// Polls for its value. `None` if it is cancelled.
    ///
    /// # Errors
    ///
    /// As all of these: if it cannot be done here.
    fn poll(&mut self, at: Line, cx: &mut Context<'_>) -> Result<Poll<Option<T>>, Refused>;

    /// Takes what it is settled with, without a wait.
    fn try_take(&mut self, at: Line) -> Result<Poll<Option<T>>, Refused>;
}

/// A promise of a runtime.
pub fn promise_of<T>(promise: Box<dyn RuntimePromise<T>>) -> Promise<T> {
    Promise::of_runtime(promise)
}

/// The end of an owner of a runtime.
pub trait RuntimeEnd {
    /// Polls for the end. Returns how many scripts were stopped for it.
    ///
    /// # Errors
    ///
    /// If it cannot be done here.
    fn poll(&mut self, at: Line, cx: &mut Context<'_>) -> Result<Poll<usize>, Refused>;

    /// What the runtime has made.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// The wait for the end of an owner of a runtime.
pub fn ended_of(end: Box<dyn RuntimeEnd>) -> Ended {
    Ended::of_runtime(end)
}

/// The same of one whose scripts were requested to stop.
pub fn stop_within_of(end: Box<dyn RuntimeEnd>) -> StopWithin {
    StopWithin::of_runtime(end)
}

/// What a runtime has of such a request. `None` if it is that of an executor, or has been awaited to its end.
#[must_use]
pub fn request_of_runtime(stop: StopWithin) -> Option<Box<dyn Any>> {
    stop.into_runtime().map(RuntimeEnd::into_any)
}

/// Declares a signal that code finds by its name: in the runtime that has the caller, else in the executor.
#[track_caller]
pub const fn signal_for<T: 'static, R: SignalsOf<T>>(
    name: &'static str,
    events: usize,
) -> Signal<T> {
    Signal::declared_for::<R>(name, events)
}

/// The same of a name with its key.
#[must_use]
#[track_caller]
pub fn signal_of_name<T: 'static, R: SignalsOf<T>>(
    name: SourceName<'_>,
    events: usize,
) -> Signal<T> {
    Signal::of_name::<R>(name, events)
}

/// The name of a signal, a watch or a semaphore, if code finds it by one.
#[must_use]
pub fn name_of<N: Named>(source: &N) -> Option<SourceName<'_>> {
    source.source_name()
}

/// How many events a signal with a name stores for each subscription.
#[must_use]
pub fn limit_of_signal<T>(signal: &Signal<T>) -> usize {
    signal.declared_limit()
}

/// What a subscription has in a runtime. `None` of one of an executor.
#[must_use]
pub fn in_runtime<T>(subscription: &Subscription<T>) -> Option<&dyn RuntimeEvents<T>> {
    subscription.in_runtime()
}

/// A subscription of a runtime.
pub fn subscription<T>(events: Box<dyn RuntimeEvents<T>>) -> Subscription<T> {
    Subscription::of_runtime(events)
}

/// Declares a watch that code finds by its name: in the runtime that has the caller, else in the executor.
#[track_caller]
pub const fn watch_for<T: 'static, R: WatchesOf<T>>(
    name: &'static str,
    start: Start<T>,
) -> Watch<T> {
    Watch::declared_for::<R>(name, start)
}

/// Declares a semaphore in the same way.
#[track_caller]
pub const fn semaphore_for<R: SemaphoresOf>(name: &'static str, count: usize) -> Semaphore {
    Semaphore::declared_for::<R>(name, count)
}
