//! The stream of changes of a value that is read in each frame.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::stream::{FusedStream, Stream};

use crate::core::base::call;
use crate::core::scope::recording;
use crate::durable::RuntimeReads;
use crate::sync::source::expect_called;
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
    ChangesOf::of(read, Change::Own(None))
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
    change: Change<T>,
}

/// A runtime that reads the value, if it has the script that polls the stream.
pub(crate) type FindReads<T> = fn() -> Option<Box<dyn RuntimeReads<T>>>;

/// Who waits for the next change.
enum Change<T> {
    Own(Option<Asked>),
    /// The first poll finds that out.
    Unknown(FindReads<T>),
    Runtime(Box<dyn RuntimeReads<T>>),
}

impl<T, F> ChangesOf<T, F> {
    fn of(read: F, change: Change<T>) -> Self {
        ChangesOf {
            read,
            known: None,
            yields_present: false,
            phase: PhaseIndex::HOME,
            change,
        }
    }

    /// One that a runtime can save.
    pub(crate) fn declared_for(read: F, find: FindReads<T>) -> Self {
        ChangesOf::of(read, Change::Unknown(find))
    }

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
        let this = &mut *self;
        if let Change::Unknown(find) = this.change {
            this.change = find().map_or(Change::Own(None), Change::Runtime);
        }
        match &this.change {
            Change::Runtime(_) => this.poll_in_runtime(cx),
            _ => this.poll_in_executor(cx),
        }
    }
}

impl<T, F> ChangesOf<T, F>
where
    T: PartialEq + Clone,
    F: Fn() -> T,
{
    #[track_caller]
    fn poll_in_executor(&mut self, cx: &Context<'_>) -> Poll<Option<T>> {
        recording::refuse("changes_of");
        if self.known.is_none() {
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "the method is of one lifetime"
            )]
            let home = polled("changes_of()", |scope| scope.home());
            if self.phase == PhaseIndex::HOME {
                self.phase = home;
            }
            let present = call::out(&mut self.read);
            self.known = Some(present.clone());
            if self.yields_present {
                return Poll::Ready(Some(present));
            }
        }
        let Change::Own(change) = &mut self.change else {
            return Poll::Pending;
        };
        let (read, known) = (&mut self.read, &mut self.known);
        let mut changed = None;
        let has_changed = || {
            let value = call::out(&mut *read);
            if known.as_ref() != Some(&value) {
                *known = Some(value.clone());
                changed = Some(value);
            }
            changed.is_some()
        };
        let asked = change.get_or_insert_with(|| Asked::new(self.phase));
        ready!(asked.poll(cx, "changes_of()", has_changed));
        *change = None;
        Poll::Ready(changed)
    }

    #[cold]
    #[track_caller]
    fn poll_in_runtime(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Change::Runtime(reads) = &mut self.change else {
            return Poll::Pending;
        };
        let (at, read) = (Location::caller(), &self.read);
        if self.known.is_none() {
            let first = reads.first(at, std::any::type_name::<F>(), &mut || read());
            let present = expect_called(first);
            self.known = Some(present.clone());
            if self.yields_present {
                return Poll::Ready(Some(present));
            }
        }
        let known = &self.known;
        let mut changed = || Some(read()).filter(|value| known.as_ref() != Some(value));
        let phase = (self.phase != PhaseIndex::HOME).then(|| self.phase.phase());
        let value = ready!(expect_called(reads.poll(at, cx, phase, &mut changed)));
        self.known = Some(value.clone());
        Poll::Ready(Some(value))
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
