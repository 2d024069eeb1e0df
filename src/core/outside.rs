//! Telling a host that sleeps: something has become due outside of a run.
//!
//! What makes something due notes it, in the one place where tasks become ready
//! ([`Core::enlist`]) and where waits and timers begin or go on outside of a run.
//! When the call that led there is about to return, it tells the host. What happens
//! in a run is for the host to see after it.

#![forbid(unsafe_code)]

use std::cell::Cell;

use crate::coroutine::TaskKey;

use super::Core;
use super::call;

/// What the host has to be told.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// Whether something has become due since the host last looked or was told.
    is_due: Cell<bool>,
    /// Whether the host wants to be told: not during a run, nor once it has been
    /// told, until it looks.
    listens: Cell<bool>,
    has_host: Cell<bool>,
}

impl Outside {
    /// A run begins.
    #[inline]
    pub(super) fn begin_run(&self) {
        self.listens.set(false);
    }

    /// The host is about to look, or a run has ended, after which it does.
    #[inline]
    pub(super) fn look(&self) {
        self.is_due.set(false);
        self.listens.set(self.has_host.get());
    }

    /// The host wants to be told from now on.
    pub(super) fn set_host(&self) {
        self.has_host.set(true);
        self.look();
    }
}

/// Tells the host when it is dropped, also by a panic.
pub(crate) struct Telling<'a>(pub(crate) &'a Core);

impl Drop for Telling<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.tell_host();
    }
}

impl Core {
    /// Something has become due. A function that calls this, or calls one that does, calls
    /// [`tell_host`](Core::tell_host) when it is done.
    #[inline]
    pub(super) fn note_due(&self) {
        self.outside.is_due.set(true);
    }

    /// Tells the host if something has become due outside of a run. Calls user code,
    /// which may do anything but unwind.
    #[inline]
    pub(crate) fn tell_host(&self) {
        if self.outside.listens.get() && self.outside.is_due.get() {
            call::quietly(|| self.call_host());
        }
    }

    /// The same for a wake, whose panics are its caller's.
    pub(super) fn tell_host_of_wake(&self) {
        if self.outside.listens.get() && self.outside.is_due.get() {
            self.call_host();
        }
    }

    /// The same after a start: its coroutine may have begun to wait for something of
    /// the executor's own.
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

    /// The host is about to look at what is due: from now on it is to be told anew.
    pub(super) fn look(&self) {
        self.inbox.acknowledge();
        if self.runs.phase().is_none() {
            self.outside.look();
        }
    }
}
