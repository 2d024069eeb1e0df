//! State of the host that coroutines borrow, a closure at a time.
//!
//! [`Executor::lend`] puts a note on its stack that says where the state is,
//! and links it into the executor; [`with`] finds it by type. Two things make
//! that sound. The note is taken out again before the host's `&mut` ends, also
//! by a panic. And while a closure has the state, the note says so and nobody
//! else gets it (invariant LENT).

use std::any::{TypeId, type_name};
use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::core::Core;
use crate::core::scope;
use crate::executor::Executor;

/// What one call of [`Executor::lend`] lends.
struct Lent {
    of: TypeId,
    state: NonNull<()>,
    in_use: Cell<bool>,
    outer: Option<LentRef>,
}

/// A note of a call of [`Executor::lend`] further up the stack.
#[derive(Clone, Copy)]
pub(crate) struct LentRef(NonNull<Lent>);

impl LentRef {
    /// Good for the length of a call that finds it linked into its executor:
    /// who linked it, takes it out before the note is gone.
    fn get(&self) -> &Lent {
        // SAFETY: LENT: what is linked into an executor is alive, and the calls
        // of `lend` are nested, so what it leads to is, too.
        unsafe { self.0.as_ref() }
    }
}

/// Takes the note out, also when unwinding.
struct TakeBack {
    // Not the `Executor`, which the closure may put elsewhere.
    core: Rc<Core>,
    outer: Option<LentRef>,
}

impl Drop for TakeBack {
    fn drop(&mut self) {
        self.core.lent.set(self.outer);
    }
}

impl Executor {
    /// Lends `state` to the coroutines that `f` runs: they borrow it with
    /// [`with`], by its type, for the length of a closure.
    ///
    /// The game's state stays where it is and needs no cell, no reference
    /// counting and no lock. Calls nest, to lend several types; of two states of
    /// one type the inner one is found.
    ///
    /// Host code that holds the state itself, `f` among it, uses
    /// [`spawn`](Executor::spawn): a script that it `start`s runs at once, and
    /// may borrow what is lent to it like any other.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// struct World {
    ///     gold: u32,
    /// }
    ///
    /// async fn dig() {
    ///     for _ in 0..3 {
    ///         wait_seconds(1).await;
    ///         with(|world: &mut World| world.gold += 10);
    ///     }
    /// }
    ///
    /// let mut world = World { gold: 0 };
    /// let mut executor = Executor::builder().max_delta(1).build();
    /// executor.spawn(dig());
    /// for _ in 0..5 {
    ///     executor.lend(&mut world, |executor| executor.run_frame(1));
    /// }
    /// assert_eq!(world.gold, 30);
    /// ```
    pub fn lend<S: 'static, R>(&mut self, state: &mut S, f: impl FnOnce(&mut Executor) -> R) -> R {
        lend(self.core().clone(), state, || f(self))
    }
}

/// Links `state` into an executor for the length of `f`.
pub(crate) fn lend<S: 'static, R>(core: Rc<Core>, state: &mut S, f: impl FnOnce() -> R) -> R {
    let outer = core.lent.get();
    let lent = Lent {
        of: TypeId::of::<S>(),
        state: NonNull::from(state).cast(),
        in_use: Cell::new(false),
        outer,
    };
    core.lent.set(Some(LentRef(NonNull::from(&lent))));
    let _take_back = TakeBack { core, outer };
    f()
}

/// Calls `f` with the `S` that the host has [lent](Executor::lend).
///
/// The borrow ends with the closure: nothing of it can be kept across an
/// await. What is [`start`](crate::start)ed inside begins when the outermost
/// closure has returned, in order, since it might want to borrow the same.
///
/// # Panics
///
/// At the caller's line, if no `S` is lent, or if one is borrowed already, by
/// a closure that this call is made in. [`try_with`] tells instead.
///
/// # Examples
///
/// Several states, and a coroutine that is started inside:
///
/// ```
/// use framestep::prelude::*;
///
/// #[derive(Default)]
/// struct Score(u32);
/// #[derive(Default)]
/// struct Log(Vec<String>);
///
/// async fn celebrate() {
///     with(|log: &mut Log| log.0.push(format!("hooray in frame {}", time().frame)));
/// }
///
/// let (mut score, mut log) = (Score::default(), Log::default());
/// let mut executor = Executor::new();
/// executor.spawn(async {
///     with(|score: &mut Score| {
///         score.0 += 1;
///         start(celebrate()); // begins after the closure
///         with(|log: &mut Log| log.0.push("a point".to_string()));
///     });
/// });
/// executor.lend(&mut score, |executor| {
///     executor.lend(&mut log, |executor| executor.run_frame(0.1));
/// });
/// assert_eq!(score.0, 1);
/// assert_eq!(log.0, ["a point", "hooray in frame 1"]);
/// ```
#[track_caller]
pub fn with<S: 'static, R>(f: impl FnOnce(&mut S) -> R) -> R {
    match try_with(f) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}

/// Calls `f` with the `S` that the host has [lent](Executor::lend), or says why
/// it cannot.
///
/// For destructors, which may run while the state is borrowed or when none is
/// lent, and must not panic.
///
/// # Errors
///
/// If no `S` is lent, or the call is made outside of an executor; or if the
/// state is borrowed already.
///
/// # Examples
///
/// ```
/// use framestep::{WithError, prelude::*};
///
/// struct World;
///
/// let executor = Executor::new();
/// let result = executor.enter(|| try_with(|_: &mut World| ()));
/// assert!(matches!(result, Err(WithError::NotLent { .. })));
/// ```
pub fn try_with<S: 'static, R>(f: impl FnOnce(&mut S) -> R) -> Result<R, WithError> {
    let type_name = type_name::<S>();
    let core = scope::with(|scope| scope.map(|scope| scope.core().rc()));
    let core = core.ok_or(WithError::NotLent {
        type_name,
        started_at: None,
    })?;
    let mut lents = std::iter::successors(core.lent.get(), |lent| lent.get().outer);
    let lent = lents
        .find(|lent| lent.get().of == TypeId::of::<S>())
        .ok_or(WithError::NotLent {
            type_name,
            started_at: core.started_from_host(),
        })?;
    if lent.get().in_use.get() {
        return Err(WithError::Borrowed { type_name });
    }
    Ok(core.hold_starts(|| {
        lent.get().in_use.set(true);
        let _give_back = GiveBack(lent);
        // SAFETY: LENT: `lend` made the pointer of a `&mut S`, as the type
        // tells, that it holds until this note is gone, and which nobody uses
        // meanwhile but closures in here, one at a time, as `in_use` tells.
        f(unsafe { lent.get().state.cast::<S>().as_mut() })
    }))
}

/// Ends a borrow, also when unwinding.
struct GiveBack(LentRef);

impl Drop for GiveBack {
    fn drop(&mut self) {
        self.0.get().in_use.set(false);
    }
}

/// Why [`try_with`] or [`This::try_with`](crate::This::try_with) could not borrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WithError {
    /// The host has not lent a state of this type.
    #[non_exhaustive]
    NotLent {
        /// The type that was asked for.
        type_name: &'static str,
        /// Where the host has called `start`, if it has started the coroutine
        /// outside of a run, and so outside of the lend of this type.
        started_at: Option<&'static Location<'static>>,
    },
    /// The call was made inside of a closure or callback that has the state.
    #[non_exhaustive]
    Borrowed {
        /// The type that was asked for.
        type_name: &'static str,
    },
    /// The behaviour of a [`This`](crate::This) has been removed from its scene.
    #[non_exhaustive]
    Destroyed {
        /// The type of the behaviour.
        type_name: &'static str,
    },
}

impl fmt::Display for WithError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WithError::NotLent {
                type_name,
                started_at: Some(place),
            } => write!(
                f,
                "no `{type_name}` is lent to the coroutine started at {place}: it was started \
                 outside of `lend`: use `spawn`, or start it inside the `lend`"
            ),
            WithError::NotLent { type_name, .. } => write!(
                f,
                "no `{type_name}` is lent: the host has to run the executor inside \
                 `executor.lend(&mut state, |executor| ..)`"
            ),
            WithError::Borrowed { type_name } => write!(
                f,
                "the `{type_name}` is borrowed by a closure or callback around this call: use the \
                 reference which that one has, or `spawn` what needs the state"
            ),
            WithError::Destroyed { type_name } => write!(
                f,
                "the `{type_name}` has been destroyed: ask `is_alive` first, or use `try_with`"
            ),
        }
    }
}

impl Error for WithError {}
