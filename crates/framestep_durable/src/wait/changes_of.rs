//! The stream of changes of a value that is read in each frame, in a runtime.

use std::marker::PhantomData;
use std::panic::Location;
use std::task::{Context, Poll};

use framestep::Phase;
use framestep::durable::{DurableWait, Refused, RuntimeReads, changes_for};
use framestep::wait::ChangesOf;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::Bytes;
use crate::journal::Call;
use crate::script::caller::{Caller, caller, in_script_of};
use crate::script::effect::records_in;
use crate::script::{Awaited, Numbered, ScriptCell, Slot, expect_read};

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
    T: Serialize + DeserializeOwned + PartialEq + Clone + 'static,
    F: Fn() -> T,
{
    changes_for(read, find_reads::<T>)
}

fn find_reads<T>() -> Option<Box<dyn RuntimeReads<T>>>
where
    T: Serialize + DeserializeOwned + 'static,
{
    let Some(Caller::Script(_)) = caller() else {
        return None;
    };
    Some(Box::new(Reads {
        numbered: Numbered::reading::<T>(),
        value: PhantomData,
    }))
}

/// What a script reads, and the wait for its next change.
struct Reads<T> {
    numbered: Numbered,
    value: PhantomData<fn() -> T>,
}

const KIND: &str = "changes_of()";

/// Polls for a run in which `changed` returns bytes. It is compiled once.
fn poll_change(
    numbered: &mut Numbered,
    at: &'static Location<'static>,
    cx: &mut Context<'_>,
    phase: Option<Phase>,
    changed: &mut dyn FnMut() -> Option<Bytes>,
) -> Result<Poll<Bytes>, Refused> {
    let cell = numbered.own_script(KIND)?;
    let awaited = Awaited {
        call: KIND,
        event: None,
        at,
    };
    let begin = |_: &ScriptCell| Slot::Plain(DurableWait::condition(phase));
    let polled = numbered.poll_at(&cell, awaited, begin, |cell, slot| {
        let Slot::Plain(wait) = slot else {
            return Poll::Pending;
        };
        let mut found = None;
        let mut asked = |_| {
            found = cell.in_closure(&mut *changed);
            found.is_some()
        };
        let polled = wait.poll_asking(cx, KIND, &mut asked);
        polled.map(|()| found.unwrap_or(Bytes::EMPTY))
    });
    if polled.is_ready() {
        *numbered = numbered.again();
    }
    Ok(polled)
}

impl<T: Serialize + DeserializeOwned + 'static> RuntimeReads<T> for Reads<T> {
    fn first(
        &mut self,
        at: &'static Location<'static>,
        within: &'static str,
        read: &mut dyn FnMut() -> T,
    ) -> Result<T, Refused> {
        in_script_of(KIND)?;
        let call = Call {
            within,
            ..Call::at(KIND, "", at)
        };
        Ok(records_in(call, &mut || Ok(read())))
    }

    fn poll(
        &mut self,
        at: &'static Location<'static>,
        cx: &mut Context<'_>,
        phase: Option<Phase>,
        changed: &mut dyn FnMut() -> Option<T>,
    ) -> Result<Poll<T>, Refused> {
        let mut bytes = || changed().map(|value| Bytes::of(&value));
        let polled = poll_change(&mut self.numbered, at, cx, phase, &mut bytes)?;
        Ok(polled.map(|value| expect_read(&value)))
    }
}
