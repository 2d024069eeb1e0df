//! Answers where the contract leaves two open.

/// A wake by the destructor of a coroutine is one by that coroutine, and not by
/// the one in whose poll the destructor runs.
pub(super) const DESTRUCTORS_WAKE_AS_THEIR_COROUTINE: bool = true;

/// A timer whose deadline was reached before the pause is due in the runs during
/// the pause, like any wait. If not, it is due in the first run after it.
pub(super) const TIMERS_FALL_DUE_IN_PAUSES: bool = false;

/// A condition makes a paused coroutine due like any wait, and that is remembered,
/// though nobody asks. If not, it is asked from the first run after the pause on.
pub(super) const CONDITIONS_FALL_DUE_IN_PAUSES: bool = true;

/// A coroutine that is paused when its place comes is remembered then; if it is
/// resumed before, nothing has happened. If not so, what makes it due while it is
/// paused is remembered at once, and has its place where it is resumed.
pub(super) const PLACES_OUTLAST_PAUSES: bool = true;
