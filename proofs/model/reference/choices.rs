//! Answers where the contract can be read in two ways: each constant selects one, and
//! changing it selects the other.

/// A wake by the destructor of a coroutine is a wake by that coroutine. If not, it is
/// a wake by the coroutine being polled around the destructor: "woken while it is
/// itself the innermost coroutine being polled".
pub(super) const DESTRUCTORS_WAKE_AS_THEIR_COROUTINE: bool = false;

/// Each executor has an innermost coroutine, even while it runs another executor. If
/// not, there is only one for the thread.
pub(super) const EACH_EXECUTOR_HAS_AN_INNERMOST: bool = true;

/// A timer whose deadline was reached before the pause is due in the runs during
/// the pause, like any wait. If not, it is due in the first run after it.
pub(super) const TIMERS_FALL_DUE_IN_PAUSES: bool = true;

/// A condition makes a paused coroutine due like any wait, and that is remembered,
/// although it is not checked. If not, it is checked from the first run after the
/// pause on.
pub(super) const CONDITIONS_FALL_DUE_IN_PAUSES: bool = true;

/// A pause remembers the first wait, and a wake or a join only if there is no wait.
/// If not, it remembers the first event of any kind.
pub(super) const WAITS_ARE_REMEMBERED_BEFORE_WAKES: bool = false;

/// A wait that is due in a run came before what woke the paused coroutine in that run. If
/// not, the wait comes when its turn comes.
pub(super) const WAITS_OF_THE_RUN_COME_FIRST: bool = true;

/// A coroutine may be paused at the beginning of a run that one of its waits is due
/// in, or when the coroutine that it joins ends. If it is resumed before its turn, it
/// keeps its place. If not, it is polled after the resume, as for any wake in a
/// pause.
pub(super) const WAITS_KEEP_THEIR_PLACE: bool = true;

/// If a coroutine is polled for a join, and does not poll another join that was
/// already over, it is polled again for that one. If not, one poll serves all joins
/// that are over.
pub(super) const EACH_JOIN_COUNTS: bool = true;

/// A coroutine begun by another on an owner has the home of that other one, as with
/// the free functions. If not, its home is Update, as with a handle.
pub(super) const WHAT_OWNERS_BEGIN_INHERITS_HOME: bool = true;

/// A coroutine spawned outside a run begins in the next run of its home phase. If
/// not, of Update.
pub(super) const SPAWNED_OUTSIDE_BEGINS_AT_HOME: bool = true;

/// A coroutine spawned on a paused owner begins in a run of its home phase. If not,
/// of the phase that it was spawned in.
pub(super) const SPAWNED_IN_A_PAUSE_RESUMES_AT_HOME: bool = true;

/// `spawn_in` for the phase of the current run takes the next run of it. If not, the
/// current one.
pub(super) const SPAWN_IN_IS_FOR_THE_NEXT_RUN: bool = true;
