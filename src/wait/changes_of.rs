//! The stream of changes of a value that is read in each frame.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::stream::{FusedStream, Stream};

use crate::core::base::call;
use crate::core::scope::recording;
use crate::time::{Phase, PhaseIndex};

use super::next_item::NextItem;
use super::polled;
use super::until::Asked;

/// Returns a [`Stream`] of the values that `read` returns, each time it returns another one.
///
/// `read` is called once in each run of the home phase, for a value that nothing tells of: a field of the
/// lent world, the state of a button. For a value that scripts set themselves, a
/// [`Watch`](crate::sync::Watch) costs nothing in between.
///
/// The first value is what `read` returns at the first poll. It is not an item, unless
/// [`with_present`](ChangesOf::with_present) says so. If a script does not poll the stream for
/// some frames, the next item compares with the last value that was read: a value that has
/// changed and changed back is not seen. The stream does not end.
///
/// # Resumes
///
/// Like [`wait_until`](crate::wait_until()): in the home phase of the first later frame in
/// which the value is another one, or in another phase with
/// [`in_phase`](ChangesOf::in_phase). In [`Phase::FixedUpdate`], steps count instead of
/// frames.
///
/// # Output
///
/// The new value.
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing.
///
/// # Panics
///
/// If polled outside an [`Executor`](crate::Executor). A panic of `read` is a panic of the
/// coroutine.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// struct World {
///     level: u32,
///     shown: Vec<u32>,
/// }
///
/// async fn level_up() {
///     let mut levels = changes_of(|| with_ref(|world: &World| world.level));
///     while let Some(level) = levels.next().await {
///         with(|world: &mut World| world.shown.push(level));
///     }
/// }
///
/// let mut world = World { level: 1, shown: Vec::new() };
/// let mut executor = Executor::new();
/// executor.spawn(level_up());
/// for level in [1, 1, 2, 2, 5] {
///     world.level = level;
///     executor.lend(&mut world, |executor| executor.run_frame(0.25));
/// }
/// assert_eq!(world.shown, [2, 5]);
/// ```
///
/// # Source
///
/// `UniTask.EveryValueChanged`; `Observable.EveryValueChanged` of R3.
pub fn changes_of<T: PartialEq + Clone, F: Fn() -> T>(read: F) -> ChangesOf<T, F> {
    ChangesOf {
        read,
        known: None,
        yields_present: false,
        phase: PhaseIndex::HOME,
        change: None,
    }
}

/// The stream of [`changes_of`].
#[must_use = "streams do nothing unless they are polled"]
pub struct ChangesOf<T, F> {
    read: F,
    /// The last value that was read. `None` before the first poll.
    known: Option<T>,
    yields_present: bool,
    /// The phase in which it reads.
    phase: PhaseIndex,
    /// The wait for the next change.
    change: Option<Asked>,
}

impl<T, F> ChangesOf<T, F> {
    /// Reads in the runs of `phase`.
    ///
    /// # Panics
    ///
    /// If the stream has been polled.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            self.known.is_none(),
            "`in_phase` was called on a `changes_of()` that has begun: call it before the first \
             item is awaited"
        );
        self.phase = PhaseIndex::new(phase);
        self
    }

    /// Makes the value of the first poll the first item. It is ready at once.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let mut frames = changes_of(|| time().frame / 2).with_present();
    /// let seen = executor.run_until(async move { [frames.next().await, frames.next().await] }, 0.25);
    /// assert_eq!(seen, [Some(0), Some(1)]);
    /// assert_eq!(executor.time().frame, 2);
    /// ```
    pub fn with_present(mut self) -> Self {
        self.yields_present = true;
        self
    }
}

impl<T, F> ChangesOf<T, F>
where
    T: PartialEq + Clone,
    F: Fn() -> T,
{
    /// Waits for the next change.
    ///
    /// It is `StreamExt::next` of the `futures` crate, without the import. Dropping
    /// the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        NextItem::new(self)
    }
}

impl<T, F> Stream for ChangesOf<T, F>
where
    T: PartialEq + Clone,
    F: Fn() -> T,
{
    type Item = T;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        recording::refuse("changes_of");
        let this = &mut *self;
        if this.known.is_none() {
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "the method is of one lifetime"
            )]
            let home = polled("changes_of()", |scope| scope.home());
            if this.phase == PhaseIndex::HOME {
                this.phase = home;
            }
            let present = call::out(&mut this.read);
            this.known = Some(present.clone());
            if this.yields_present {
                return Poll::Ready(Some(present));
            }
        }
        let change = this.change.get_or_insert_with(|| Asked::new(this.phase));
        let (read, known) = (&mut this.read, &mut this.known);
        let mut changed = None;
        let has_changed = || {
            let value = call::out(&mut *read);
            if known.as_ref() != Some(&value) {
                *known = Some(value.clone());
                changed = Some(value);
            }
            changed.is_some()
        };
        ready!(change.poll(cx, "changes_of()", has_changed));
        this.change = None;
        Poll::Ready(changed)
    }
}

// Neither the closure nor the value is ever pinned.
impl<T, F> Unpin for ChangesOf<T, F> {}

impl<T, F> FusedStream for ChangesOf<T, F>
where
    T: PartialEq + Clone,
    F: Fn() -> T,
{
    fn is_terminated(&self) -> bool {
        false
    }
}

impl<T, F> fmt::Debug for ChangesOf<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangesOf")
            .field("begun", &self.known.is_some())
            .finish_non_exhaustive()
    }
}
