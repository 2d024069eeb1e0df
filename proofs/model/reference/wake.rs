//! Wakes: which coroutine becomes ready, and for which run.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};
use std::thread::ThreadId;

use framestep::Phase;

use super::Core;
use super::choices::EACH_EXECUTOR_HAS_AN_INNERMOST;
use super::state::{Arrival, Cause, State};

/// Wakes from other threads, in the order they came.
pub(super) type Inbox = Arc<Mutex<Vec<usize>>>;

thread_local! {
    /// The executors of this thread, by number.
    static CORES: RefCell<Vec<Weak<Core>>> = const { RefCell::new(Vec::new()) };
    /// The coroutines that are being polled, with the numbers of their
    /// executors, from the outermost one on.
    static POLLED: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
    /// The same, and those whose destructors run.
    static CODE: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
}

/// Assigns an executor its number.
pub(super) fn register(core: &Rc<Core>) -> usize {
    CORES.with_borrow_mut(|cores| {
        cores.push(Rc::downgrade(core));
        cores.len() - 1
    })
}

/// Forgets all executors, if none is left.
pub(super) fn forget_the_dead() {
    CORES.with_borrow_mut(|cores| {
        if cores.iter().all(|core| core.strong_count() == 0) {
            cores.clear();
        }
    });
}

pub(super) fn core_of(number: usize) -> Option<Rc<Core>> {
    CORES.with_borrow(|cores| cores.get(number)?.upgrade())
}

pub(super) fn enter_poll(executor: usize, coroutine: usize) {
    POLLED.with_borrow_mut(|polled| polled.push((executor, coroutine)));
}

pub(super) fn leave_poll() {
    POLLED.with_borrow_mut(Vec::pop);
}

pub(super) fn enter_code(executor: usize, coroutine: usize) {
    CODE.with_borrow_mut(|code| code.push((executor, coroutine)));
}

pub(super) fn leave_code() {
    CODE.with_borrow_mut(Vec::pop);
}

/// The calling coroutine, if it is one of `executor`: docs/contract.md#rule-4-home
pub(super) fn calling(executor: usize) -> Option<usize> {
    let last = CODE.with_borrow(|code| code.last().copied());
    last.filter(|&(of, _)| of == executor)
        .map(|(_, coroutine)| coroutine)
}

/// Whether a coroutine is the innermost one, for wakes.
pub(super) fn is_innermost(executor: usize, coroutine: usize) -> bool {
    POLLED.with_borrow(|polled| {
        let mut polled = polled.iter().rev();
        let last = if EACH_EXECUTOR_HAS_AN_INNERMOST {
            polled.find(|(of, _)| *of == executor)
        } else {
            polled.next()
        };
        last == Some(&(executor, coroutine))
    })
}

/// The coroutine that is being polled, of whichever executor.
pub(super) fn innermost() -> Option<(usize, usize)> {
    POLLED.with_borrow(|polled| polled.last().copied())
}

struct Caller {
    executor: usize,
    coroutine: usize,
    home: ThreadId,
    inbox: Inbox,
}

pub(super) fn waker(executor: usize, coroutine: usize, inbox: &Inbox) -> Waker {
    Waker::from(Arc::new(Caller {
        executor,
        coroutine,
        home: std::thread::current().id(),
        inbox: inbox.clone(),
    }))
}

impl Wake for Caller {
    fn wake(self: Arc<Self>) {
        if std::thread::current().id() != self.home {
            let mut inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
            inbox.push(self.coroutine);
        } else if let Some(core) = core_of(self.executor) {
            core.wake(self.coroutine);
        }
    }
}

impl Core {
    /// A wake on the executor's own thread.
    pub(super) fn wake(&self, coroutine: usize) {
        let innermost = is_innermost(self.number(), coroutine);
        let mut state = self.state.borrow_mut();
        state.take_over();
        state.wake(coroutine, innermost);
    }
}

impl State {
    /// Takes over wakes from other threads, between runs and when a run begins: they
    /// count for runs that have not begun.
    pub(super) fn take_over(&mut self) {
        if self.run.is_some() {
            return;
        }
        let messages = {
            let inbox = self.inbox.lock();
            std::mem::take(&mut *inbox.unwrap_or_else(PoisonError::into_inner))
        };
        for coroutine in messages {
            if self.is_alive(coroutine) {
                let phase = self.coroutines[coroutine].home;
                self.make_ready(coroutine, phase, Cause::Wake, true);
            }
        }
    }

    fn wake(&mut self, coroutine: usize, innermost: bool) {
        if !self.is_alive(coroutine) {
            return;
        }
        // The waker of a wait that is due counts for this run. The wait has an earlier place, if it
        // still exists at its turn: docs/contract.md#rule-8-acts
        let fired = self.phase().filter(|_| self.firing == Some(coroutine));
        let phase = fired.unwrap_or(self.coroutines[coroutine].home);
        let cause = if innermost { Cause::Other } else { Cause::Wake };
        self.make_ready(coroutine, phase, cause, innermost);
    }

    /// Makes a coroutine ready in a phase: later in the current run, if it is of
    /// that phase and not excluded, else in the next one. A paused coroutine is
    /// ready once it is resumed.
    pub(super) fn make_ready(&mut self, coroutine: usize, phase: Phase, cause: Cause, next: bool) {
        if self.is_paused(coroutine) {
            self.remember(coroutine, phase, cause);
            return;
        }
        match &mut self.run {
            Some(run) if run.phase == phase && !next => run.queue(coroutine, phase, cause),
            _ => self.arrive(coroutine, phase),
        }
    }

    /// Makes a coroutine ready in the next run of a phase, after the wakes that have
    /// already arrived from other threads.
    pub(super) fn arrive(&mut self, coroutine: usize, phase: Phase) {
        self.take_over();
        let mut arrivals = self.arrivals.iter();
        if !arrivals.any(|arrival| arrival.coroutine == coroutine && arrival.phase == phase) {
            let order = self.number();
            self.arrivals.push(Arrival {
                order,
                coroutine,
                phase,
            });
        }
    }

    /// A poll serves everything that made the coroutine due before.
    pub(super) fn forget_readiness(&mut self, coroutine: usize) {
        self.coroutines[coroutine].remembered = None;
        self.arrivals
            .retain(|arrival| arrival.coroutine != coroutine);
        if let Some(run) = &mut self.run {
            run.drop_place(coroutine);
        }
    }
}
