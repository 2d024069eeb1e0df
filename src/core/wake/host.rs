//! Notifying a sleeping host that something has become due outside of a run.
//!
//! Code that makes something due notes that: where tasks become ready
//! ([`ready`](crate::core::phase::ready)), and where waits and timers begin or continue
//! outside of a run. The outermost call notifies the host before it returns. In a run no
//! notification is needed: the host looks after the run.

use std::cell::Cell;
use std::task::Waker;

use crate::core::base::call;
use crate::core::base::cell::Restore;
use crate::core::task::Task;
use crate::core::wake::waker::InjectionQueue;
use crate::core::wake::waker::sync::Arc;

/// Whether and how to notify the host.
#[derive(Default)]
pub(crate) struct Host {
    /// Whether something has become due since the host last looked or was notified.
    is_due: Cell<bool>,
    /// Whether to notify the host. `false` during a run, and from a notification
    /// until the host looks.
    listens: Cell<bool>,
    has_waker: Cell<bool>,
    /// Whether the hooks of the host have to wait: while messages are being taken, or several
    /// changes are made that belong together.
    is_silenced: Cell<bool>,
    /// Messages from other threads, and the waker of the host.
    pub(crate) injected: Arc<InjectionQueue>,
}

/// Notifies the host when it is dropped, even when unwinding.
pub(crate) struct Notifies<'a>(&'a Host);

impl Drop for Notifies<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.notify();
    }
}

impl Host {
    /// Notes that a run begins.
    #[inline]
    pub(crate) fn begin_run(&self) {
        self.listens.set(false);
    }

    /// Notes that the host looks at what is due, or that a run has ended. From now on
    /// the host is notified again.
    #[inline]
    pub(crate) fn rearm(&self) {
        self.is_due.set(false);
        self.listens.set(self.has_waker.get());
    }

    /// Notes that the host is about to look at what is due, maybe during a run.
    pub(crate) fn look(&self, in_run: bool) {
        self.injected.acknowledge();
        if !in_run {
            self.rearm();
        }
    }

    /// Sets the waker that is called when something becomes due outside of a run.
    pub(crate) fn set_waker(&self, waker: Waker) {
        self.has_waker.set(true);
        self.rearm();
        self.injected.set_host(waker);
    }

    /// Calls `f`, which takes messages, or makes several changes that belong together. The
    /// host is not notified meanwhile.
    pub(crate) fn silenced<R>(&self, f: impl FnOnce() -> R) -> R {
        let _silenced = Restore::after_setting(&self.is_silenced, true);
        f()
    }

    /// Whether the hooks of the host have to wait.
    #[inline]
    pub(crate) fn is_silenced(&self) -> bool {
        self.is_silenced.get()
    }

    /// Notes that something has become due. The outermost call that leads here must call
    /// [`notify`](Host::notify) before it returns.
    #[inline]
    pub(crate) fn note_due(&self) {
        self.is_due.set(true);
    }

    /// Notifies the host when the result is dropped.
    #[inline]
    pub(crate) fn notifies(&self) -> Notifies<'_> {
        Notifies(self)
    }

    /// Notifies the host if something has become due outside of a run. Calls user
    /// code, and catches its panic.
    #[inline]
    pub(crate) fn notify(&self) {
        if self.listens.get() && self.is_due.get() && !self.is_silenced.get() {
            call::quietly(|| self.call());
        }
    }

    /// Notifies the host after a wake. A panic of the host's waker is passed on to
    /// the caller of the wake.
    pub(crate) fn notify_of_wake(&self) {
        if self.listens.get() && self.is_due.get() && !self.is_silenced.get() {
            self.call();
        }
    }

    /// Notifies the host after a start, whose coroutine may have registered a wait.
    #[inline]
    pub(crate) fn notify_of_start(&self, task: Task<'_>) {
        if self.listens.get() {
            self.note_start(task);
            self.notify();
        }
    }

    /// Notes that something is due if the started coroutine has registered a wait.
    #[cold]
    pub(crate) fn note_start(&self, task: Task<'_>) {
        if task.is_registered() {
            self.note_due();
        }
    }

    #[cold]
    #[inline(never)]
    fn call(&self) {
        // Before the call: the host's waker may make something due, and must not be called from its own call.
        self.is_due.set(false);
        self.listens.set(false);
        // The host's waker may drop the executor.
        let injected = self.injected.clone();
        injected.notify_host();
    }
}
