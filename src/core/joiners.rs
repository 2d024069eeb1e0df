//! Those who wait for the end of another go on right after it, depth first.

#![forbid(unsafe_code)]

use crate::task::Primary;
use crate::ticket::Ticket;

use super::Core;
use super::run::Run;

impl Core {
    /// Polls those who joined what ended in the last poll, and those who joined
    /// what ends in theirs, depth first.
    #[inline]
    pub(super) fn poll_joiners(&self, run: &Run<'_>) {
        if !self.ended.borrow().is_empty() {
            self.poll_waiting_joiners(run);
        }
    }

    #[inline(never)]
    pub(super) fn poll_waiting_joiners(&self, run: &Run<'_>) {
        let mut cx = run.level.context();
        while let Some(ticket) = self.next_joiner(run) {
            if !self.spend() {
                self.postpone_joiner(ticket);
            } else if ticket.is_record() {
                self.resume_joiner_behind(run, ticket);
            } else {
                let task = self.tasks.borrow().at(ticket.index());
                if task.ticket() == ticket {
                    task.pass_ticket();
                    task.primary.set(Primary::NONE);
                    self.resume_joiner(run, task, ticket, &mut cx);
                }
            }
        }
    }

    /// Resumes the joiner that a record stands for.
    #[cold]
    #[inline(never)]
    fn resume_joiner_behind(&self, run: &Run<'_>, ticket: Ticket) {
        self.take_record(ticket, |task| {
            self.resume_joiner(run, task, ticket, &mut run.level.context());
        });
    }

    #[inline]
    fn next_joiner(&self, run: &Run<'_>) -> Option<Ticket> {
        let alone = matches!(self.ended.borrow()[..], [joiner] if !joiner.is_record());
        if alone {
            // Moved to the front, it would be taken from there.
            run.level.current.set(None);
            return self.ended.borrow_mut().pop();
        }
        if !self.ended.borrow().is_empty() {
            self.take_ended(run);
        }
        self.lists.front.borrow_mut().pop()
    }

    /// Moves the joiners of what ended to the front, the first one uppermost.
    fn take_ended(&self, run: &Run<'_>) {
        run.level.current.set(None);
        let (from, records) = {
            let mut front = self.lists.front.borrow_mut();
            let from = front.len();
            front.append(&mut self.ended.borrow_mut());
            front[from..].reverse();
            let records = front[from..].iter().any(|ticket| ticket.is_record());
            (from, records)
        };
        if records {
            self.fire_joiners(from);
        }
    }

    #[cold]
    fn fire_joiners(&self, from: usize) {
        let mut fire = self.lists.fire.take();
        fire.extend(self.lists.front.borrow()[from..].iter().rev());
        for ticket in fire.drain(..) {
            if ticket.is_record() {
                self.fire(ticket);
            }
        }
        self.lists.fire.replace(fire);
    }
}
