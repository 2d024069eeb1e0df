//! The stream of changes of a value that is read in each frame.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::Phase;
use framestep::durable::{DurableWait, Stream, next_item};
use framestep::wait::NextItem;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::Bytes;
use crate::script::effect::records;
use crate::script::{Numbered, ScriptCell, Slot, expect_read, in_closure, type_name_of};

/// Returns a stream of the values that `read` returns, each time it returns another one. See
/// [`framestep::wait::changes_of`].
///
/// `read` is called once in each frame, for a value that nothing tells of: a field of the lent world.
/// For a value that scripts set themselves, [`Watch::changed`](crate::Watch::changed) costs nothing in
/// between. Only the values of items are recorded, and the first one.
///
/// The first value is what `read` returns at the first poll. It is not an item, unless
/// [`with_present`](ChangesOf::with_present) says so. The stream does not end. `read` is an
/// `Fn`, and keeps nothing from one call to the next: after a restore, it is a new closure.
///
/// # Resumes
///
/// Like [`wait_until`](crate::wait_until): in the home phase of the first later frame in which the
/// value is another one, or in another phase with [`in_phase`](ChangesOf::in_phase).
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
/// If polled outside of an executor, or inside of a [`with`](crate::with()); or if the value does not
/// serialise.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// struct World {
///     level: u32,
///     shown: Vec<u32>,
/// }
///
/// #[durable]
/// async fn level_up() {
///     let mut levels = changes_of(|| with_ref(|world: &World| world.level));
///     while let Some(level) = levels.next().await {
///         with(move |world: &mut World| world.shown.push(level));
///     }
/// }
///
/// let mut world = World { level: 1, shown: Vec::new() };
/// let mut runtime = Runtime::new(Registry::new().script(level_up));
/// runtime.spawn(level_up());
/// for level in [1, 1, 2, 2, 5] {
///     world.level = level;
///     runtime.run_frame_with(&mut world, 0.25);
/// }
/// assert_eq!(world.shown, [2, 5]);
/// ```
///
/// # Source
///
/// [`framestep::wait::changes_of`].
pub fn changes_of<T, F>(read: F) -> ChangesOf<T, F>
where
    T: Serialize + DeserializeOwned + PartialEq + Clone,
    F: Fn() -> T,
{
    ChangesOf {
        read,
        known: None,
        yields_present: false,
        phase: None,
        numbered: Numbered::reading::<T>(),
    }
}

/// The stream of [`changes_of`].
#[must_use = "streams do nothing unless they are polled"]
pub struct ChangesOf<T, F> {
    read: F,
    /// The last value that was the first, or an item.
    known: Option<T>,
    yields_present: bool,
    phase: Option<Phase>,
    numbered: Numbered,
}

impl<T, F> ChangesOf<T, F> {
    /// Reads the value, and yields the items, in `phase`.
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
        self.phase = Some(phase);
        self
    }

    /// Makes the value of the first poll the first item. It is ready at once.
    pub fn with_present(mut self) -> Self {
        self.yields_present = true;
        self
    }
}

impl<T, F> ChangesOf<T, F>
where
    T: Serialize + DeserializeOwned + PartialEq + Clone,
    F: Fn() -> T,
{
    /// Waits for the next change. Dropping the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        next_item(self)
    }
}

/// Polls for a run in which `changed` returns bytes. It is compiled once.
#[track_caller]
fn poll_change(
    numbered: &mut Numbered,
    cx: &mut Context<'_>,
    phase: Option<Phase>,
    changed: &mut dyn FnMut() -> Option<Bytes>,
) -> Poll<Bytes> {
    let kind = "changes_of()";
    let begin = |_: Option<&ScriptCell>| Slot::Plain(DurableWait::condition(phase));
    let polled = numbered.poll_anywhere(kind, begin, |cell, slot| {
        let Slot::Plain(wait) = slot else {
            return Poll::Pending;
        };
        let mut found = None;
        let mut asked = |_| {
            found = in_closure(cell, &mut *changed);
            found.is_some()
        };
        let polled = wait.poll_asking(cx, kind, &mut asked);
        polled.map(|()| found.unwrap_or(Bytes::EMPTY))
    });
    if polled.is_ready() {
        *numbered = numbered.again();
    }
    polled
}

impl<T, F> Stream for ChangesOf<T, F>
where
    T: Serialize + DeserializeOwned + PartialEq + Clone,
    F: Fn() -> T,
{
    type Item = T;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = &mut *self;
        if this.known.is_none() {
            let within = type_name_of(&this.read);
            let present = records("changes_of()", within, &mut || Ok((this.read)()));
            this.known = Some(T::clone(&present));
            if this.yields_present {
                return Poll::Ready(Some(present));
            }
        }
        let (known, read) = (&this.known, &this.read);
        let mut changed = || {
            let value = read();
            (known.as_ref() != Some(&value)).then(|| Bytes::of(&value))
        };
        match poll_change(&mut this.numbered, cx, this.phase, &mut changed) {
            Poll::Ready(value) => {
                let value: T = expect_read(&value);
                this.known = Some(value.clone());
                Poll::Ready(Some(value))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

// Neither the closure nor the value is ever pinned.
impl<T, F> Unpin for ChangesOf<T, F> {}

impl<T, F> fmt::Debug for ChangesOf<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangesOf")
            .field("begun", &self.known.is_some())
            .finish_non_exhaustive()
    }
}
