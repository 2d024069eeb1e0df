//! Frames that are run again after a rollback: what a game shows or plays was shown and played before.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::bytes::Bytes;
use crate::context;
use crate::effect::type_name_of;
use crate::ids::ScriptId;
use crate::locals::ChangesNoLocal;
use crate::shared::Shared;
use crate::site::Call;

/// How many frames behind the furthest one it is known what has been done once.
const KEPT: u64 = 1_024;

/// How far a runtime has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    frame: u64,
    /// How many runs of phases there have been in the frame.
    runs: u64,
}

/// How far a runtime has ever come. A rollback takes nothing of this back.
#[derive(Default)]
pub(crate) struct Reached {
    /// The number of the executor's latest run before the frame, as if the frame had not been
    /// interrupted by a rollback.
    runs_before: Cell<u64>,
    furthest: Cell<Position>,
    /// What scripts have done once in a frame, by its number.
    done: RefCell<BTreeMap<u64, BTreeSet<(ScriptId, String)>>>,
}

impl Shared {
    fn position(&self) -> Position {
        Position {
            frame: self.executor.time().map_or(0, |time| time.frame),
            runs: self.runs_in_frame(),
        }
    }

    /// How many runs of phases have begun in the present frame.
    pub(crate) fn runs_in_frame(&self) -> u64 {
        let before = self.reached.runs_before.get();
        self.door.runs().wrapping_sub(before)
    }

    /// Notes how far it has come, between two runs.
    pub(crate) fn note_reached(&self) {
        let reached = &self.reached;
        reached
            .furthest
            .set(reached.furthest.get().max(self.position()));
    }

    /// Notes that a frame is about to begin.
    pub(crate) fn begin_frame(&self) {
        self.note_reached();
        self.reached.runs_before.set(self.door.runs());
    }

    /// Notes that the runtime is as it was after so many runs of a frame.
    pub(crate) fn go_to_run(&self, runs: u64) {
        let before = self.door.runs().wrapping_sub(runs);
        self.reached.runs_before.set(before);
    }

    /// Forgets what was before a file was loaded.
    pub(crate) fn begin_timeline(&self) {
        self.reached.done.take();
        self.forget_future();
    }

    /// Takes the present for the furthest that it has come.
    pub(crate) fn forget_future(&self) {
        let mut present = self.position();
        if self.door.is_in_run() {
            // The run under way is not resimulated, either.
            present.runs = present.runs.saturating_sub(1);
        }
        self.reached.furthest.set(present);
        let mut done = self.reached.done.borrow_mut();
        done.split_off(&(present.frame + 1));
    }

    /// Whether the run under way, or else the next one, was done before.
    pub(crate) fn is_resimulated(&self) -> bool {
        let (position, furthest) = (self.position(), self.reached.furthest.get());
        if self.door.is_in_run() {
            position <= furthest
        } else {
            position < furthest
        }
    }

    fn is_done_in_frame(&self, frame: u64, deed: &(ScriptId, String)) -> bool {
        let done = self.reached.done.borrow();
        done.get(&frame).is_some_and(|done| done.contains(deed))
    }

    fn note_done_in_frame(&self, frame: u64, deed: (ScriptId, String)) {
        let mut done = self.reached.done.borrow_mut();
        done.entry(frame).or_default().insert(deed);
        let furthest = self.reached.furthest.get().frame.max(frame);
        while done
            .first_key_value()
            .is_some_and(|(&first, _)| first + KEPT < furthest)
        {
            done.pop_first();
        }
    }
}

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
/// [`forget_future`](crate::Host::forget_future). In the [sync test](crate::RuntimeBuilder::sync_test),
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
/// let mut runtime = Runtime::new(Registry::new().with::<Walk>());
/// let mut world = World { steps: 0, heard: 0 };
/// runtime.spawn(walk()).detach();
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
    let Some(cell) = context::current() else {
        return false;
    };
    assert!(
        cell.is_in_closure() || !(cell.is_live() || cell.is_replayed()),
        "`is_resimulated` was called in the script `{}`, outside of a closure: its answer is not recorded, \
         so what a script does must not depend on it. Call it in the closure of `effect` or `with`",
        cell.name()
    );
    cell.shared().is_resimulated()
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
/// [`forget_future`](crate::Host::forget_future) for a game that rewinds. Outside of a durable script,
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
/// let mut runtime = Runtime::new(Registry::new().with::<Drum>());
/// runtime.start(drum()).detach();
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
    let Some(script) = context::current() else {
        return f();
    };
    script.effect(call, || {
        let shared = script.shared();
        let frame = shared.position().frame;
        let deed = (script.id, label.as_ref().to_owned());
        if !shared.is_done_in_frame(frame, &deed) {
            script.in_closure(f);
            shared.note_done_in_frame(frame, deed);
        }
        Bytes::EMPTY
    });
}
