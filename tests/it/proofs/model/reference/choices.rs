//! Answers where the contract can be read in two ways: each is the one that stands
//! here, and the other one is a word away.

/// A wake by the destructor of a coroutine is one by that coroutine. If not, it is
/// one by the coroutine in whose poll the destructor runs: "woken while it is
/// itself the innermost coroutine being polled".
pub(super) const DESTRUCTORS_WAKE_AS_THEIR_COROUTINE: bool = false;

/// The innermost coroutine is that of the executor, also while it runs another
/// executor. If not, there is one on the thread.
pub(super) const EACH_EXECUTOR_HAS_AN_INNERMOST: bool = true;

/// A timer whose deadline was reached before the pause is due in the runs during
/// the pause, like any wait. If not, it is due in the first run after it.
pub(super) const TIMERS_FALL_DUE_IN_PAUSES: bool = true;

/// A condition makes a paused coroutine due like any wait, and that is remembered,
/// though nobody asks. If not, it is asked from the first run after the pause on.
pub(super) const CONDITIONS_FALL_DUE_IN_PAUSES: bool = true;

/// What is remembered of a pause is the first wait, and a wake or a join only
/// where there is no wait. If not so, it is what came first of all.
pub(super) const WAITS_ARE_REMEMBERED_BEFORE_WAKES: bool = false;

/// A coroutine that is paused when a run begins in which a wait of it is due, or when
/// what it joins ends, and resumed before its place has come, is polled in that
/// place. If not, it is polled where it is resumed, as for any wake that comes in a
/// pause.
pub(super) const WAITS_KEEP_THEIR_PLACE: bool = true;

/// A coroutine that is polled for a join, and does not look at another one that was
/// over by then, is polled for that as well. If not, one poll is for all joins that
/// are over.
pub(super) const EACH_JOIN_COUNTS: bool = true;

/// What a coroutine begins on an owner is at home where that coroutine is, as what
/// it begins with the free functions. If not, in Update, as what it begins with a
/// handle.
pub(super) const WHAT_OWNERS_BEGIN_INHERITS_HOME: bool = true;

/// What is spawned outside a run begins in the next run of its home phase. If
/// not, of Update.
pub(super) const SPAWNED_OUTSIDE_BEGINS_AT_HOME: bool = true;

/// What is spawned on a paused owner begins in a run of its home phase. If not, of
/// the phase in which it was spawned.
pub(super) const SPAWNED_IN_A_PAUSE_RESUMES_AT_HOME: bool = true;

/// `spawn_in` of the phase of the run under way is for the next run of it. If not,
/// for this one.
pub(super) const SPAWN_IN_IS_FOR_THE_NEXT_RUN: bool = true;
