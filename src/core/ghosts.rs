//! Places in a queue whose wait is gone, see [`queue`](crate::queue).
//!
//! A queue is not searched for a wait that is dropped: its place stays behind.
//! A task counts the ghosts of its own while it lives, and once it has ended
//! all of its places are ghosts. Each of them keeps the task's block, so that
//! no other task can be taken for it.

#![forbid(unsafe_code)]

use crate::phase::PhaseIndex;
use crate::queue::Fresh;
use crate::task::{Flags, TaskRef};
use crate::waiter::{Waiter, Waiting};

use super::Core;

impl Core {
    /// A wait of a living task is gone that had a place in the queue of `phase`.
    #[cold]
    pub(super) fn leave_ghost(&self, task: TaskRef, phase: PhaseIndex) {
        self.tasks.borrow_mut().extra_mut(task).add_ghost(phase);
        self.leave_place(task, phase);
    }

    /// A task is ending that has a place in the queue of `phase`.
    #[cold]
    pub(super) fn leave_place(&self, task: TaskRef, phase: PhaseIndex) {
        // One that has ended could be given back before its end is settled.
        debug_assert!(!task.has_ended());
        task.set(Flags::GHOSTS);
        task.add_handle();
        self.note_ghost(phase);
    }

    /// There is one ghost more in the queue of `phase`.
    pub(super) fn note_ghost(&self, phase: PhaseIndex) {
        let sweep = self.phases.get(phase).queue.borrow_mut().note_ghost();
        if sweep {
            self.sweep_ghosts(phase);
        }
    }

    #[cold]
    fn sweep_ghosts(&self, phase: PhaseIndex) {
        let mut unkept = Vec::new();
        let is_ghost = |waiter: Waiter| match waiter.get() {
            Waiting::Record(index) => self.records.borrow_mut().remove_ghost(index),
            Waiting::Task(task) => {
                let ghost = task.has(Flags::GHOSTS) && self.take_ghost(task, phase);
                if ghost && !task.is_alive() {
                    unkept.push(task);
                }
                ghost
            }
        };
        self.phases.get(phase).queue.borrow_mut().sweep(is_ghost);
        for task in unkept {
            self.drop_handle(task);
        }
    }

    /// A place of the task leaves the queue of `phase`: whether it is a ghost.
    /// One of a task that has ended leaves a handle for the caller to drop.
    fn take_ghost(&self, task: TaskRef, phase: PhaseIndex) -> bool {
        if !task.is_alive() {
            return true;
        }
        let mut tasks = self.tasks.borrow_mut();
        let extra = tasks.extra_mut(task);
        let ghost = extra.remove_ghost(phase);
        if ghost {
            task.remove_handle();
            if !extra.has_ghosts() {
                task.clear(Flags::GHOSTS);
            }
        }
        ghost
    }

    /// The same, for a place that a run has come to.
    pub(super) fn meet_ghost(&self, task: TaskRef, phase: PhaseIndex) -> bool {
        let ghost = self.take_ghost(task, phase);
        if ghost {
            self.phases.get(phase).queue.borrow_mut().let_ghost_go();
            if !task.is_alive() {
                self.drop_handle(task);
            }
        }
        ghost
    }

    /// Whether a waiter for a run that begins now, who began in this frame, is
    /// due in it. A ghost goes wherever its task's latest place does, so that
    /// the order of the two stays.
    pub(super) fn fresh(&self, waiter: Waiter, phase: PhaseIndex) -> Fresh {
        let later = match waiter.get() {
            Waiting::Record(index) => {
                let records = self.records.borrow();
                let ticket = records.ticket_at(index);
                ticket.is_some_and(|ticket| {
                    // What counts frames may have changed hands in the last of
                    // them.
                    let frame = self.clock.frame();
                    let due_frame = records.due_frame(ticket);
                    records.is_frame_bound(ticket) && due_frame.is_none_or(|due| due > frame)
                })
            }
            Waiting::Task(task) => {
                let primary = task.primary.get();
                primary.is_queued() && primary.is_frame_bound() && primary.phase() == phase
            }
        };
        if later { Fresh::Later } else { Fresh::Due }
    }
}
