//! From the end of a poll to the end of a coroutine, and of its executor.
//!
//! Stopping runs user code in the middle of user code, as [starting](super::spawn)
//! does, so both can nest: a coroutine stops one whose destructor stops another.
//! Beyond [`MAX_DEPTH`] levels the rest waits until the stack has come back to
//! that depth, so that no chain of coroutines, however long, overflows it.

use std::any::Any;
use std::mem;
use std::task::Context;

use crate::context::{self, Level};
use crate::key::TaskKey;
use crate::pending::Pending;
use crate::task::{Flags, Lifecycle, Link, Primary, TaskRef};
use crate::ticket::Ticket;
use crate::{JoinError, Outcome, unwind};

use super::Core;

/// How deep executors and coroutines may run inside one another before starts
/// and stops are put off.
pub(super) const MAX_DEPTH: u32 = 100;

type Payload = Box<dyn Any + Send>;

impl Core {
    /// What is left to do after a poll of a coroutine: it is queued for what it
    /// waits for, or ends.
    #[inline]
    pub(crate) fn after_poll(&self, task: TaskRef, pending: Pending) {
        if let Some(primary) = pending.to_queue() {
            self.queue(task, primary);
        } else if pending == Pending::RETURNED {
            self.finish(task);
        } else if pending == Pending::STOPPING {
            self.end(task, Outcome::Stopped, None);
        }
    }

    /// Stops a coroutine. `false`: there is none to stop.
    pub(crate) fn stop(&self, key: TaskKey) -> bool {
        let task = self.tasks.borrow().get(key);
        let Some(task) = task.filter(|task| task.is_alive()) else {
            return false;
        };
        if let Some(level) = context::level_of(task) {
            self.stop_after_poll(&level, task);
        } else if context::depth() >= MAX_DEPTH {
            self.deferred_stops.borrow_mut().push_back(task.key());
        } else {
            self.end(task, Outcome::Stopped, None);
        }
        true
    }

    /// Drops the future of a task that did not return.
    #[cold]
    pub(crate) fn end(&self, task: TaskRef, outcome: Outcome, payload: Option<Payload>) {
        let deferred = self.deferred_starts.borrow().len();
        let returning = task.lifecycle.replace(Lifecycle::Ending) == Lifecycle::Returning;
        self.leave_queue(task);
        self.tasks.borrow_mut().note_ended();
        let cleared = if returning {
            // A destructor panicked after the future had returned.
            self.clear(task, task.vtable().drop_output)
        } else {
            self.clear(task, task.vtable().drop_future)
        };
        let payload = match (cleared, payload) {
            (Ok(()), payload) => payload,
            (Err(payload), None) => Some(payload),
            (Err(second), Some(first)) => {
                unwind::dispose(second);
                Some(first)
            }
        };
        if payload.is_some() {
            self.tasks.borrow_mut().extra_mut(task).panic = payload;
            self.settle(task, Outcome::Panicked);
        } else {
            self.settle(task, outcome);
        }
        if !self.deferred_stops.borrow().is_empty() {
            self.stop_deferred();
        }
        self.tell_trace();
        self.start_deferred_since(deferred);
    }

    /// Stops those who found the stack too deep, in order: all from one place,
    /// since each may leave another here.
    #[cold]
    fn stop_deferred(&self) {
        if context::depth() >= MAX_DEPTH || self.stopping_deferred.replace(true) {
            return;
        }
        while let Some(key) = { self.deferred_stops.borrow_mut().pop_front() } {
            self.stop(key);
        }
        self.stopping_deferred.set(false);
    }

    /// The task returned; its output stands in the future's place.
    #[inline]
    pub(crate) fn finish(&self, task: TaskRef) {
        self.tasks.borrow_mut().note_ended();
        if !self.finish_plain(task) {
            self.settle(task, Outcome::Finished);
        }
    }

    /// Ends a task that returned, as nearly all do: there is nothing about it but
    /// a handle and a joiner, or not even those. `false`: nothing has happened.
    #[inline]
    fn finish_plain(&self, task: TaskRef) -> bool {
        if task.is_linked() || task.has(Flags::SPECIAL) {
            return false;
        }
        let joined = task.joiner.get() != Ticket::NONE;
        if task.has(Flags::HANDLE) {
            if joined && self.run.get().is_none() {
                return false;
            }
            task.lifecycle.set(Lifecycle::Finished);
            task.pass_ticket();
            if joined {
                self.tell_joiner(task);
            }
            return true;
        }
        if joined || task.handles.get() > 0 || task.vtable().output_needs_drop {
            return false;
        }
        task.pass_ticket();
        self.tasks.borrow_mut().release(task);
        true
    }

    /// The future is gone: tells the joiners, and lets go of what no handle
    /// needs.
    #[inline(never)]
    fn settle(&self, task: TaskRef, outcome: Outcome) {
        if task.primary.get().is_queued() {
            // A wait of it was leaked.
            task.lifecycle.set(Lifecycle::Ending);
            self.leave_queue(task);
        }
        task.lifecycle.set(Lifecycle::ended(outcome));
        task.primary.set(Primary::NONE);
        task.pass_ticket();
        if task.has(Flags::QUEUED) {
            self.unqueue(task);
        }
        self.tell_joiner(task);
        if task.link.get() != Link::NONE {
            self.settle_links(task);
        }
        if !task.has(Flags::HANDLE) {
            if task.vtable().output_needs_drop && outcome == Outcome::Finished {
                self.drop_output(task);
            }
            if task.handles.get() == 0 {
                self.release(task);
            } else if outcome == Outcome::Panicked {
                // Ghosts or waits for its end keep the block, and nobody the
                // payload.
                self.dispose_of_panic(task);
            }
        }
        if self.run.get().is_none() && !self.ended.borrow().is_empty() {
            self.wake_joiners();
        }
    }

    /// The one who joined it is next.
    #[inline(never)]
    fn tell_joiner(&self, task: TaskRef) {
        let joiner = task.joiner.replace(Ticket::NONE);
        if joiner != Ticket::NONE {
            self.ended.borrow_mut().push(joiner);
        }
    }

    #[cold]
    #[inline(never)]
    fn settle_links(&self, task: TaskRef) {
        if self.watch.is_on() {
            self.note_ended(task);
        }
        let waker = {
            let mut tasks = self.tasks.borrow_mut();
            if let Some(member) = tasks.take_member(task) {
                self.owners.borrow_mut().remove_member(member);
            }
            if task.link.get() == Link::NONE {
                return;
            }
            let extra = tasks.extra_mut(task);
            self.ended.borrow_mut().append(&mut extra.joiners);
            if extra.pause.take().is_some() {
                self.pauses.set(self.pauses.get() - 1);
            }
            extra.waker.take()
        };
        task.clear(Flags::OWN_WAKER);
        drop(waker);
    }

    #[cold]
    fn dispose_of_panic(&self, task: TaskRef) {
        let payload = self.tasks.borrow_mut().extra_mut(task).panic.take();
        if let Some(payload) = payload {
            unwind::dispose(payload);
        }
    }

    /// Drops an output that nobody wants.
    #[inline(never)]
    fn drop_output(&self, task: TaskRef) {
        // The output may hold what keeps the block: it must not be given back
        // in the middle of this.
        task.add_handle();
        task.lifecycle.set(Lifecycle::Taken);
        if let Err(payload) = self.clear(task, task.vtable().drop_output) {
            unwind::dispose(payload);
        }
        task.remove_handle();
    }

    /// Whatever a task has queued for that is ending will not be.
    fn leave_queue(&self, task: TaskRef) {
        let primary = task.primary.get();
        if primary.is_queued() {
            task.primary.set(Primary::NONE);
            task.pass_ticket();
            self.leave_place(task, primary.phase());
        }
    }

    /// Has a coroutine dropped as soon as its poll returns. Nothing can
    /// register with it any more.
    fn stop_after_poll(&self, level: &Level, task: TaskRef) {
        let pending = level.pending.replace(Pending::STOPPING);
        let primary = task.primary.replace(Primary::STOPPING);
        // Whatever has registered.
        task.pass_ticket();
        if primary.is_queued() && !pending.is_apart() {
            self.leave_ghost(task, primary.phase());
        }
    }

    /// Drops what a task holds that has ended, or is about to: `drop_content` is
    /// the function of its table for that. Whoever calls this has noted that it
    /// is gone.
    fn clear(&self, task: TaskRef, drop_content: unsafe fn(TaskRef)) -> Result<(), Payload> {
        let _shown = self.show_clock_of(task);
        context::enter(self, Some(task), |_| {
            // SAFETY: CONTENT says that it is there. The future is not being
            // polled, and a task that is not alive is neither polled nor dropped
            // by anybody else.
            unwind::catch(|| unsafe { drop_content(task) })
        })
    }

    /// Gives the block of an ended task back.
    #[inline]
    fn release(&self, task: TaskRef) {
        if task.link.get() != Link::NONE {
            self.release_extra(task);
        }
        self.tasks.borrow_mut().release(task);
    }

    #[cold]
    #[inline(never)]
    fn release_extra(&self, task: TaskRef) {
        let extra = self.tasks.borrow_mut().remove_extra(task);
        if let Some(payload) = extra.and_then(|extra| extra.panic) {
            unwind::dispose(payload);
        }
    }

    /// Outside a run, those who joined what ended are woken like by any other
    /// event from outside.
    #[cold]
    #[inline(never)]
    fn wake_joiners(&self) {
        while !self.ended.borrow().is_empty() {
            let ended = mem::take(&mut *self.ended.borrow_mut());
            for ticket in ended {
                let task = self.task_of(ticket);
                self.fire(ticket);
                if let Some(task) = task.filter(|task| task.is_alive()) {
                    self.make_ready(task);
                }
            }
        }
    }

    /// The task that a ticket stands for, if it still does.
    pub(super) fn task_of(&self, ticket: Ticket) -> Option<TaskRef> {
        if ticket.is_record() {
            let key = self.records.borrow().get(ticket)?.task()?;
            self.tasks.borrow().get(key)
        } else {
            self.tasks.borrow().current(ticket)
        }
    }

    /// The `Coroutine<T>` of a task is gone, and with it whoever wanted the
    /// output.
    #[inline]
    pub(crate) fn drop_coroutine<T>(&self, task: TaskRef) {
        task.clear(Flags::HANDLE);
        if mem::needs_drop::<T>() && task.lifecycle.get() == Lifecycle::Finished {
            self.drop_unread_output(task);
        } else {
            self.drop_handle(task);
        }
    }

    /// The same, of one that has ended and whose output has been taken.
    #[inline]
    pub(crate) fn drop_done_coroutine(&self, task: TaskRef) {
        task.clear(Flags::HANDLE);
        if task.remove_handle() {
            self.release(task);
        }
    }

    #[inline(never)]
    fn drop_unread_output(&self, task: TaskRef) {
        task.lifecycle.set(Lifecycle::Taken);
        let dropped = self.clear(task, task.vtable().drop_output);
        self.drop_handle(task);
        match dropped {
            // Whoever dropped the handle dropped the output.
            Err(payload) if !std::thread::panicking() => std::panic::resume_unwind(payload),
            Err(payload) => unwind::dispose(payload),
            Ok(()) => {}
        }
    }

    /// One handle less needs the task's block.
    #[inline]
    pub(crate) fn drop_handle(&self, task: TaskRef) {
        let unneeded = task.remove_handle();
        if unneeded && task.has_ended() {
            self.release_unneeded(task);
        }
    }

    // Out of line, so that a handle that is dropped at once is taken apart in place.
    #[inline(never)]
    fn release_unneeded(&self, task: TaskRef) {
        self.release(task);
    }

    /// Why an ended task has no output.
    #[cold]
    pub(crate) fn join_error(&self, task: TaskRef) -> JoinError {
        let (id, name) = (self.id_of(task), self.name_of(task));
        let payload = match task.lifecycle.get() {
            Lifecycle::Panicked => self.tasks.borrow_mut().extra_mut(task).panic.take(),
            _ => None,
        };
        match payload {
            Some(payload) => JoinError::panicked(id, name, payload),
            None => JoinError::stopped(id, name),
        }
    }

    /// Ends everything: the executor is being dropped.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        // What was on its way is dropped, on this thread and outside the lock.
        for message in self.inbox.close() {
            if let Err(payload) = unwind::catch(|| drop(message)) {
                unwind::dispose(payload);
            }
        }
        // Nothing is added any more, so this comes to an end.
        let mut indices = 0..self.tasks.borrow().len();
        while let Some(task) = indices.next().map(|index| self.tasks.borrow().at(index)) {
            if task.is_alive() {
                // Being polled is one that `Handle::start` began and that drops
                // the executor itself: it is dropped when its poll returns.
                self.stop(task.key());
            }
        }
        // They may keep what keeps this.
        self.reports.hook.close();
        self.watch.trace.hook.close();
    }
}

/// Polls a task with a context of `level`, resumed by a ticket or by none.
/// `pending` says whether a wait may register with it; then the level's says
/// what came of it.
#[inline(always)]
pub(super) fn poll(
    level: &Level,
    task: TaskRef,
    resumed: Ticket,
    pending: Pending,
    cx: &mut Context<'_>,
) {
    level.current.set(Some(task));
    level.resumed.set(resumed);
    level.pending.set(pending);
    // SAFETY: the task is alive and not being polled (the callers see to that),
    // and its table is the one of the future in its block.
    unsafe { (task.vtable().poll)(task, cx) };
}

/// What there is to say of a task's registration before it is polled: one that
/// is polled for another reason may have one already.
#[inline(always)]
pub(super) fn pending_before(task: TaskRef, free: Pending) -> Pending {
    if task.primary.get() == Primary::NONE {
        free
    } else {
        Pending::ELSEWHERE
    }
}

/// Polls a task, and tells what came of it.
#[inline(always)]
pub(super) fn poll_once(level: &Level, task: TaskRef, resumed: Ticket) -> Pending {
    let pending = pending_before(task, level.free());
    poll_to_end(level, task, resumed, pending, &mut level.context())
}

/// The same, of a task that has never been polled.
#[inline(always)]
pub(super) fn poll_first(level: &Level, task: TaskRef) -> Pending {
    debug_assert!(task.primary.get() == Primary::NONE);
    let pending = level.free();
    poll_to_end(level, task, Ticket::VOID, pending, &mut level.context())
}

/// Like `poll`; after it nobody is being polled.
#[inline(always)]
pub(super) fn poll_to_end(
    level: &Level,
    task: TaskRef,
    resumed: Ticket,
    pending: Pending,
    cx: &mut Context<'_>,
) -> Pending {
    poll(level, task, resumed, pending, cx);
    level.current.set(None);
    level.pending.get()
}

/// Moves the output of a task out that has finished, if it is still there.
///
/// # Safety
///
/// `T` must be the output of the task's future.
pub(crate) unsafe fn take_output<T>(task: TaskRef) -> Option<T> {
    (task.lifecycle.get() == Lifecycle::Finished).then(|| {
        task.lifecycle.set(Lifecycle::Taken);
        let output = task.as_ptr().cast::<u8>();
        // SAFETY: CONTENT: the output was there, and only this takes it; its table
        // says where, and the caller promises the type.
        unsafe { output.add(task.vtable().output_at).cast::<T>().read() }
    })
}
