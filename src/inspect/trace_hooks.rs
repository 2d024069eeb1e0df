//! The hooks of a trace, and the events that have yet to be sent to them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;

use crate::core::base::call::{self, Payload};

use super::trace::{TraceEvent, TraceKind};

/// A hook: user code.
pub(crate) type TraceClosure = Box<dyn FnMut(&TraceEvent)>;

/// The hooks of an executor, in the order in which they were added.
///
/// Events are stored where no user code may run, and sent before another coroutine is
/// polled.
#[derive(Default)]
pub(crate) struct TraceHooks {
    hooks: RefCell<Vec<Hook>>,
    /// How many hooks have been added.
    added: Cell<u64>,
    /// Whether there is a hook.
    is_set: Cell<bool>,
    /// Whether a hook receives all events.
    is_full: Cell<bool>,
    /// Whether the hooks are being called. They do not receive what they cause.
    is_calling: Cell<bool>,
    /// Whether a hook has been removed while they were called.
    is_any_removed: Cell<bool>,
    /// Whether the executor has ended.
    is_closed: Cell<bool>,
    /// The frame of the latest event of a full trace.
    frame: Cell<u64>,
    unsent: RefCell<VecDeque<TraceEvent>>,
    /// How many events have been stored.
    stored: Cell<u64>,
}

struct Hook {
    id: u64,
    /// Whether it receives all events.
    is_full: bool,
    /// The number of the first event that it receives.
    from: u64,
    /// The begin of the frame in which it was added, which it receives first.
    begin: Option<TraceEvent>,
    /// Taken out while it is called, so that it may add and remove hooks.
    closure: Option<TraceClosure>,
    /// Whether it has been removed while the hooks were called: it keeps its place
    /// until they have returned.
    is_removed: bool,
}

/// A hook that has been removed. To drop it is a call of user code. One that is being called
/// is dropped when it returns.
pub(crate) struct RemovedHook {
    _closure: Option<TraceClosure>,
}

impl TraceHooks {
    /// Adds a hook, and returns its number. A full one first receives `begin`, the begin
    /// of the frame under way. The caller turns the instruments on.
    pub(crate) fn add(
        &self,
        closure: TraceClosure,
        is_full: bool,
        begin: Option<TraceEvent>,
    ) -> u64 {
        let id = self.added.get() + 1;
        self.added.set(id);
        if self.is_closed.get() {
            call::quietly(|| drop(closure));
            return id;
        }
        self.hooks.borrow_mut().push(Hook {
            id,
            is_full,
            from: self.stored.get(),
            begin,
            closure: Some(closure),
            is_removed: false,
        });
        self.update();
        id
    }

    /// Removes a hook, if there is one with this number. The caller drops the result.
    pub(crate) fn remove(&self, id: u64) -> Option<RemovedHook> {
        let mut hooks = self.hooks.borrow_mut();
        let at = hooks
            .iter()
            .position(|hook| hook.id == id && !hook.is_removed)?;
        let closure = if self.is_calling.get() {
            hooks[at].is_removed = true;
            self.is_any_removed.set(true);
            hooks[at].closure.take()
        } else {
            hooks.remove(at).closure
        };
        drop(hooks);
        self.update();
        Some(RemovedHook { _closure: closure })
    }

    fn update(&self) {
        let hooks = self.hooks.borrow();
        let mut present = hooks.iter().filter(|hook| !hook.is_removed).peekable();
        self.is_set.set(present.peek().is_some());
        self.is_full.set(present.any(|hook| hook.is_full));
        if !self.is_set.get() {
            self.unsent.borrow_mut().clear();
        }
    }

    /// Drops the hooks when the executor ends.
    pub(crate) fn close(&self) {
        self.is_closed.set(true);
        let hooks = self.hooks.take();
        self.update();
        for hook in hooks {
            call::quietly(|| drop(hook.closure));
        }
    }

    /// Whether there is a hook, and the executor has not ended.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.get()
    }

    /// Whether there is a hook, and none is being called.
    pub(crate) fn is_listening(&self) -> bool {
        self.is_set.get() && !self.is_calling.get()
    }

    /// Whether a hook would receive an event of a full trace now.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.get() && !self.is_calling.get()
    }

    /// Whether `frame` is another one than at the last call. Frame 0 is none: no frame
    /// has begun.
    pub(crate) fn enters(&self, frame: u64) -> bool {
        self.frame.replace(frame) != frame
    }

    /// Whether the begin of `frame` has been stored.
    pub(crate) fn has_entered(&self, frame: u64) -> bool {
        frame != 0 && self.frame.get() == frame
    }

    /// Stores an event, if a hook receives it.
    pub(crate) fn note(&self, event: impl FnOnce() -> TraceEvent) {
        if self.is_listening() {
            let event = event();
            if self.is_full.get() || event.kind.is_life() {
                self.unsent.borrow_mut().push_back(event);
                self.stored.set(self.stored.get() + 1);
            }
        }
    }

    /// The next event to send, and its number, if no hook is being called.
    pub(crate) fn next(&self) -> Option<(u64, TraceEvent)> {
        if !self.is_listening() {
            return None;
        }
        let mut unsent = self.unsent.borrow_mut();
        let number = self.stored.get() - unsent.len() as u64;
        Some((number, unsent.pop_front()?))
    }

    /// Calls the hooks with an event. They are user code: nothing may be borrowed.
    /// Returns the payloads of those that panic.
    #[cold]
    pub(crate) fn call(&self, number: u64, event: &TraceEvent) -> Vec<Payload> {
        self.is_calling.set(true);
        let mut payloads = Vec::new();
        let count = self.hooks.borrow().len();
        for at in 0..count {
            let Some((mut closure, begin)) = self.take(at, number, event) else {
                continue;
            };
            let called = call::catch(|| {
                if let Some(begin) = begin {
                    closure(&begin);
                }
                closure(event);
            });
            payloads.extend(called.err());
            let mut hooks = self.hooks.borrow_mut();
            match hooks.get_mut(at) {
                Some(hook) if !hook.is_removed => hook.closure = Some(closure),
                // Removed, or the executor has ended.
                _ => {
                    drop(hooks);
                    call::quietly(|| drop(closure));
                }
            }
        }
        self.is_calling.set(false);
        if self.is_any_removed.take() {
            self.hooks.borrow_mut().retain(|hook| !hook.is_removed);
        }
        payloads
    }

    /// Takes the closure of a hook that receives an event, and what it receives before.
    fn take(
        &self,
        at: usize,
        number: u64,
        event: &TraceEvent,
    ) -> Option<(TraceClosure, Option<TraceEvent>)> {
        let mut hooks = self.hooks.borrow_mut();
        // There is none if the executor has ended.
        let hook = hooks.get_mut(at)?;
        if number < hook.from || !(hook.is_full || event.kind.is_life()) {
            return None;
        }
        let closure = hook.closure.take()?;
        let begin = hook.begin.take();
        let is_in_frame = !matches!(event.kind, TraceKind::FrameBegan { .. });
        Some((closure, begin.filter(|_| is_in_frame)))
    }
}

impl fmt::Debug for TraceHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceHooks")
            .field("is_set", &self.is_set.get())
            .field("is_full", &self.is_full.get())
            .finish_non_exhaustive()
    }
}
