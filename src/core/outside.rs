//! Notifying a sleeping host that something has become due outside of a run.
//!
//! Code that makes something due notes it. This is the one place where tasks
//! become ready ([`Core::enlist`]), and the places where waits and timers begin
//! or continue outside of a run. The outermost call notifies the host before it
//! returns. What becomes due in a run needs no notification: the host looks
//! after the run.

#![forbid(unsafe_code)]

use std::cell::Cell;

use crate::core::task::TaskKey;

use super::Core;
use super::call;

/// What the host has to be notified of.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// Whether something has become due since the host last looked or was notified.
    is_due: Cell<bool>,
    /// Whether to notify the host. `false` during a run, and from a notification
    /// until the host looks.
    listens: Cell<bool>,
    has_host: Cell<bool>,
}

impl Outside {
    /// A run begins.
    #[inline]
    pub(super) fn begin_run(&self) {
        self.listens.set(false);
    }

    /// Notes that the host is about to look, or that a run has ended.
    #[inline]
    pub(super) fn look(&self) {
        self.is_due.set(false);
        self.listens.set(self.has_host.get());
    }

    /// Notes that the host wants notifications from now on.
    pub(super) fn set_host(&self) {
        self.has_host.set(true);
        self.look();
    }
}

/// Notifies the host when it is dropped, also by a panic.
pub(crate) struct Telling<'a>(pub(crate) &'a Core);

impl Drop for Telling<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.tell_host();
    }
}

impl Core {
    /// Notes that something has become due. A function that calls this, also
    /// indirectly, calls [`tell_host`](Core::tell_host) before it returns.
    #[inline]
    pub(super) fn note_due(&self) {
        self.outside.is_due.set(true);
    }

    /// Notifies the host if something has become due outside of a run. Calls user
    /// code, and catches its panic.
    #[inline]
    pub(crate) fn tell_host(&self) {
        if self.outside.listens.get() && self.outside.is_due.get() && !self.arrivals.are_taken() {
            call::quietly(|| self.call_host());
        }
    }

    /// Notifies the host after a wake. A panic of the host's waker is passed on to
    /// the caller of the wake.
    pub(super) fn tell_host_of_wake(&self) {
        if self.outside.listens.get() && self.outside.is_due.get() {
            self.call_host();
        }
    }

    /// Notifies the host after a start, whose coroutine may have registered a wait.
    #[inline]
    pub(super) fn tell_host_of_start(&self, key: TaskKey) {
        if self.outside.listens.get() {
            self.note_start(key);
            self.tell_host();
        }
    }

    #[cold]
    pub(super) fn note_start(&self, key: TaskKey) {
        if self.tasks.get(key).is_some_and(|task| task.is_registered()) {
            self.note_due();
        }
    }

    #[cold]
    #[inline(never)]
    fn call_host(&self) {
        self.outside.is_due.set(false);
        self.outside.listens.set(false);
        // The host's waker may drop the executor.
        let core = self.rc();
        core.inbox.announce();
    }

    /// Notes that the host is about to look at what is due, and wants a new
    /// notification after that.
    pub(super) fn look(&self) {
        self.inbox.acknowledge();
        if self.runs.phase().is_none() {
            self.outside.look();
        }
    }
}
