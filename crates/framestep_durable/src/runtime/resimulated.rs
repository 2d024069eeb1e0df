//! Frames that are run again after a rollback: what a game shows or plays was shown and played before.

use crate::bytes::Bytes;
use crate::journal::Call;
use crate::script::caller::{Caller, caller};
use crate::script::{ChangesNoLocal, context, type_name_of};

/// Whether the run under way was done before: a rollback has gone back behind it. For effects that a
/// player hears or sees, in closures of scripts.
///
/// In a game with rollbacks, a frame is run again with other inputs, and so are the effects of its
/// scripts. What belongs to the world has to happen again. A sound must not, and the closure of an
/// [`effect`](crate::effect) can leave it out. If the other inputs have other sounds,
/// [`effect_once_per_frame`] is better: it plays those that have not been played.
///
/// A run is resimulated until the runtime is where it was before the rollback. It is none after a
/// [restore](crate::Runtime::restore) of a file, and none after
/// [`forget_future`](crate::RuntimeHandle::forget_future). In the [sync test](crate::RuntimeBuilder::sync_test),
/// the second run is one. Outside of durable scripts, the answer is no.
///
/// The answer differs between peers, and is not recorded. So nothing that is recorded or in the world may
/// depend on it.
///
/// # Panics
///
/// In a durable script, outside of a closure of an effect.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// struct World {
///     steps: u32,
///     heard: u32,
/// }
///
/// #[durable]
/// async fn walk() {
///     loop {
///         with(|world: &mut World| {
///             world.steps += 1;
///             if !is_resimulated() {
///                 world.heard += 1;
///             }
///         });
///         next_frame().await;
///     }
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(walk));
/// let mut world = World { steps: 0, heard: 0 };
/// runtime.spawn(walk());
/// let save = runtime.save_state().unwrap();
/// for _ in 0..3 {
///     runtime.run_frame_with(&mut world, 0.1);
/// }
/// runtime.rollback(&save).unwrap();
/// world.steps = 0;
/// for _ in 0..4 {
///     runtime.run_frame_with(&mut world, 0.1);
/// }
/// assert_eq!((world.steps, world.heard), (4, 4));
/// ```
#[track_caller]
pub fn is_resimulated() -> bool {
    let cell = match caller() {
        Some(Caller::Host(shared)) => return shared.reached.is_resimulated(),
        Some(Caller::Script(cell)) => cell,
        None => return false,
    };
    assert!(
        cell.is_in_closure() || !(cell.is_live() || cell.is_replayed()),
        "`is_resimulated` was called in the script `{}`, outside of a closure: its answer is not recorded, \
         so what a script does must not depend on it. Call it in the closure of `effect` or `with`",
        cell.name()
    );
    cell.shared().reached.is_resimulated()
}

/// Calls `f` at most once for each label in each frame, however often a rollback has the frame run
/// again: for a sound, or a flash on the screen. It is an [`effect`](crate::effect) that returns nothing.
///
/// If a frame is run again with other inputs, what its scripts have not done in it before is done: the
/// sound of a hit that only the other inputs have. What they have done is not done again. It cannot be
/// taken back: a sound of a hit that was predicted wrongly has been heard.
///
/// Another script with the same label is another deed, and so is another frame. A script that does
/// something twice in a frame, such as in two fixed steps, needs two labels: `format!("hit {number}")`.
/// The labels of the last 1,024 frames are known. If `f` panics, it counts as not done.
///
/// After a [restore](crate::Runtime::restore) of a file, nothing counts as done. See
/// [`forget_future`](crate::RuntimeHandle::forget_future) for a game that rewinds. Outside of a durable script,
/// this only calls `f`.
///
/// # Examples
///
/// ```
/// use std::cell::Cell;
///
/// use framestep_durable::prelude::*;
///
/// thread_local! {
///     static SOUNDS: Cell<u32> = const { Cell::new(0) };
/// }
///
/// #[durable]
/// async fn drum() {
///     loop {
///         wait_frames(2).await;
///         effect_once_per_frame("beat", || SOUNDS.set(SOUNDS.get() + 1));
///     }
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(drum));
/// runtime.start(drum());
/// let save = runtime.save_state().unwrap();
/// for _ in 0..5 {
///     runtime.rollback(&save).unwrap();
///     for _ in 0..6 {
///         runtime.run_frame(0.1);
///     }
/// }
/// assert_eq!(SOUNDS.get(), 3);
/// ```
#[track_caller]
pub fn effect_once_per_frame(label: impl AsRef<str>, f: impl FnOnce() + ChangesNoLocal) {
    let call = Call {
        within: type_name_of(&f),
        ..Call::new("effect_once_per_frame", "")
    };
    let call = call.giving::<()>();
    let Some(script) = context::current() else {
        return f();
    };
    script.effect(call, || {
        let reached = &script.shared().reached;
        let frame = reached.frame();
        let deed = (script.id, label.as_ref().to_owned());
        if !reached.is_done_in_frame(frame, &deed) {
            script.in_closure(f);
            reached.note_done_in_frame(frame, deed);
        }
        Bytes::EMPTY
    });
}
