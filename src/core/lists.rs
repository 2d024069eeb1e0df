//! What a run works through, list by list.

#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};

use crate::shared::Shared;
use crate::task::Wakeup;
use crate::ticket::Ticket;
use crate::wheel::Due;

use super::phases::ticket_of;

/// What a run works through, kept between runs for their memory.
#[derive(Default)]
pub(super) struct RunLists {
    pub(super) arrivals: Shared<Vec<Wakeup>>,
    pub(super) next_arrival: Cell<usize>,
    /// Waits of coroutines that were paused when they fell due.
    pub(super) returned: Shared<Vec<Ticket>>,
    pub(super) next_returned: Cell<usize>,
    /// Waits over several frames whose place in the queue is long gone.
    pub(super) early: Shared<Vec<Ticket>>,
    pub(super) next_early: Cell<usize>,
    pub(super) frames: RefCell<Vec<Due>>,
    pub(super) timers: Shared<Vec<Due>>,
    pub(super) next_timer: Cell<usize>,
    /// Those who joined what has ended, the next one last.
    pub(super) front: Shared<Vec<Ticket>>,
    /// Records to fire before the run.
    pub(super) fire: RefCell<Vec<Ticket>>,
}

impl RunLists {
    /// Shows those who wait, and are still to come in the run under way, to `f`.
    pub(super) fn each_left(&self, mut f: impl FnMut(Ticket)) {
        let left = |list: &[Ticket], next: &Cell<usize>| list.get(next.get()..).map(<[_]>::to_vec);
        let returned = left(&self.returned.borrow(), &self.next_returned);
        let early = left(&self.early.borrow(), &self.next_early);
        returned.into_iter().chain(early).flatten().for_each(&mut f);
        let timers = self.timers.borrow();
        let timers = timers.iter().skip(self.next_timer.get());
        timers.map(ticket_of).for_each(&mut f);
        self.front.borrow().iter().copied().for_each(f);
    }

    /// Whether there is nothing to work through.
    pub(super) fn is_empty(&self) -> bool {
        self.arrivals.borrow().is_empty()
            && self.returned.borrow().is_empty()
            && self.early.borrow().is_empty()
            && self.timers.borrow().is_empty()
            && self.front.borrow().is_empty()
    }

    /// Forgets what the run has worked through.
    pub(super) fn clear(&self) {
        self.arrivals.borrow_mut().clear();
        self.next_arrival.set(0);
        self.returned.borrow_mut().clear();
        self.next_returned.set(0);
        self.early.borrow_mut().clear();
        self.next_early.set(0);
        self.timers.borrow_mut().clear();
        self.next_timer.set(0);
    }
}

/// Takes the entry at the cursor.
#[inline(always)]
pub(super) fn next<T: Copy>(list: &Shared<Vec<T>>, cursor: &Cell<usize>) -> Option<T> {
    let item = list.borrow().get(cursor.get()).copied()?;
    cursor.set(cursor.get() + 1);
    Some(item)
}
