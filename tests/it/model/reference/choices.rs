//! Answers where the contract leaves two open.

/// A wake by the destructor of a coroutine is one by that coroutine, and not by
/// the one in whose poll the destructor runs.
pub(super) const DESTRUCTORS_WAKE_AS_THEIR_COROUTINE: bool = true;

/// What becomes of a coroutine that was ready when it was paused.
pub(super) const PAUSED: Paused = Paused::KeepsItsPlace;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Paused {
    /// It keeps its place, for the case that it is resumed before that has come;
    /// if it is not, it is remembered then. What becomes due when it is paused
    /// already is remembered, and has the place of the resume.
    KeepsItsPlace,
    /// The same, but a wait that becomes due in a run keeps its place in it even
    /// if the coroutine was paused before: only wakes are remembered at once.
    WaitsKeepTheirPlace,
    /// It is remembered at once, and has the place of the resume.
    LosesItsPlace,
}
