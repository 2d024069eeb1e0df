//! Frames for executors that have none: a list of wakers for each phase, all
//! of which are called when the phase begins. Systems take turns, so each has
//! lists of its own.

use std::cell::RefCell;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::random;

/// The phases of W5; everything else happens in the first.
pub(crate) const PHASES: usize = 4;

struct Waiting {
    next: [Vec<Waker>; PHASES],
    /// Those being woken; empty in between, but keeps its memory.
    current: Vec<Waker>,
}

impl Waiting {
    const NONE: Self = Self {
        next: [const { Vec::new() }; PHASES],
        current: Vec::new(),
    };
}

/// Whose lists they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lists {
    Tokio,
    AsyncTask,
    AsyncExecutor,
    LocalPool,
}

thread_local! {
    static WAITING: [RefCell<Waiting>; 4] = const { [const { RefCell::new(Waiting::NONE) }; 4] };
}

impl Lists {
    #[inline]
    fn with<R>(self, f: impl FnOnce(&mut Waiting) -> R) -> R {
        WAITING.with(|waiting| f(&mut waiting[self as usize].borrow_mut()))
    }

    #[inline]
    pub(crate) fn next_frame(self) -> NextFrame {
        self.next_run_of(0)
    }

    #[inline]
    pub(crate) fn next_run_of(self, phase: u8) -> NextFrame {
        NextFrame {
            registered: false,
            lists: self,
            phase,
        }
    }

    /// Wakes all who wait. A wake only queues its task, so none registers
    /// while the list is lent.
    pub(crate) fn begin(self, phase: usize) {
        self.with(|waiting| {
            std::mem::swap(&mut waiting.next[phase], &mut waiting.current);
            waiting.current.drain(..).for_each(Waker::wake);
        });
    }

    /// Shuffles those who wait for the next frame.
    pub(crate) fn shuffle(self) {
        self.with(|waiting| random::shuffle(&mut waiting.next[0]));
    }

    /// Forgets the tasks that still wait when a world ends.
    pub(crate) fn clear(self) {
        let forgotten = self.with(|waiting| std::mem::take(&mut waiting.next));
        drop(forgotten);
    }
}

/// Ready when polled for the second time: only the list has its waker.
pub(crate) struct NextFrame {
    registered: bool,
    lists: Lists,
    phase: u8,
}

impl Future for NextFrame {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.registered {
            return Poll::Ready(());
        }
        self.registered = true;
        let phase = usize::from(self.phase);
        self.lists
            .with(|waiting| waiting.next[phase].push(cx.waker().clone()));
        Poll::Pending
    }
}
