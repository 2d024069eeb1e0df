//! Loops of frames that wait for the end of a coroutine, and what ends them if it never comes.

use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use crate::core::Core;
use crate::core::phase::idle;
use crate::core::task::Flags;
use crate::core::wake::waker::TaskWaker;
use crate::core::wake::waker::sync::Arc;
use crate::task::coroutine::CoroutineId;

use super::Executor;

/// How often a loop looks whether anything is due at all.
const LOOK_EVERY: u64 = 64;

/// How many frames a sleep counts as.
const SLEEP_AS_FRAMES: u64 = 1_000;

/// How long a sleep is.
const SLEEP: Duration = Duration::from_millis(1);

/// Counts the frames of a loop that waits for the end of a coroutine.
pub(crate) struct Patience {
    id: CoroutineId,
    /// Whether only coroutines run in its frames. Otherwise code of the host may wake one of them
    /// in any frame.
    is_alone: bool,
    frames: u64,
    /// The frames, and those as which the sleeps count.
    spent: u64,
}

/// Why a coroutine does not end.
enum Verdict {
    /// Nothing can resume it.
    Never,
    /// The limit is reached.
    Limit,
}

impl Patience {
    /// For a loop whose frames run nothing but coroutines, if no hook of a trace is set.
    pub(crate) fn alone(id: CoroutineId) -> Self {
        Patience {
            id,
            is_alone: true,
            frames: 0,
            spent: 0,
        }
    }

    /// For a loop whose frames run code of the host, too.
    pub(crate) fn with_host(id: CoroutineId) -> Self {
        Patience {
            is_alone: false,
            ..Self::alone(id)
        }
    }

    /// A frame is over, and the coroutine has not ended.
    ///
    /// # Panics
    ///
    /// If it never will, or if the limit on frames is reached.
    #[inline]
    #[track_caller]
    pub(crate) fn end_frame(&mut self, executor: &Executor) {
        self.frames += 1;
        self.spent += 1;
        if self.frames % LOOK_EVERY == 0 && self.is_alone {
            self.look(executor);
        }
        if self.spent >= executor.core().max_frames {
            self.give_up(executor, &Verdict::Limit);
        }
    }

    #[track_caller]
    fn look(&mut self, executor: &Executor) {
        let core = executor.core();
        if core.instruments.trace.is_set() || !is_idle(core) {
            return;
        }
        if !may_be_woken(core) {
            self.give_up(executor, &Verdict::Never);
        }
        self.spent = self.spent.saturating_add(SLEEP_AS_FRAMES);
        if self.spent < core.max_frames && cfg!(not(target_family = "wasm")) {
            // Another thread may need the processor to get ready.
            thread::sleep(SLEEP);
        }
    }

    #[cold]
    #[track_caller]
    fn give_up(&self, executor: &Executor, verdict: &Verdict) -> ! {
        panic!("{}", self.message(executor, verdict));
    }

    fn message(&self, executor: &Executor, verdict: &Verdict) -> String {
        let snapshot = executor.snapshot();
        let mut text = String::from("`run_until` ");
        // Writing to a string does not fail.
        let _ = match verdict {
            Verdict::Never => write!(
                text,
                "would never return: after {} frames nothing is due, and nothing can wake a \
                 coroutine",
                self.frames
            ),
            Verdict::Limit => write!(
                text,
                "has not returned after {} frames, the limit that `Builder::max_frames` sets",
                self.frames
            ),
        };
        if let Some(awaited) = snapshot.get(self.id) {
            let _ = write!(text, ". It awaits {awaited}");
            match awaited.waits_at().find_map(|(_, at)| at) {
                Some(at) => drop(write!(text, ", at {at}")),
                None => text.push_str(" (`Builder::inspect` shows the line)"),
            }
        }
        let _ = write!(text, "\n{snapshot}");
        text
    }
}

/// Whether no coroutine is due in any later frame unless something wakes one.
fn is_idle(core: &Core) -> bool {
    !idle::has_ready(core) && idle::next_deadline(core).is_none()
}

/// Whether something outside of the executor may wake a coroutine: something has a waker that
/// is not a wait for an event of this thread, or a handle for other threads exists. Waits for
/// events are served by coroutines, and none of them is due.
fn may_be_woken(core: &Core) -> bool {
    let (mut held, mut made) = (0, 0);
    for index in 0..core.tasks.len() {
        let task = core.tasks.at(index);
        if !task.is_alive() || !task.has(Flags::TASK_WAKER) {
            continue;
        }
        let wakers = core
            .colds
            .of(task, |cold| cold.waker.as_ref().map(TaskWaker::held));
        if let Some(wakers) = wakers.flatten() {
            held += wakers;
            made += 1;
        }
    }
    // The executor itself and each task waker have one, too.
    let remotes = Arc::strong_count(&core.host.injected) - 1 - made;
    remotes > 0 || held != core.keepers.count()
}
