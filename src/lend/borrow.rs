//! Borrows of lent state, inside closures.

use std::any::type_name;

use crate::core::scope::{self, recording};
#[cfg(doc)]
use crate::executor::Executor;

use super::error::{LendError, Reason};
use super::key::Lend;
use super::note;
use super::own::Own;

/// Calls `f` with the `S` that the host has [lent](Executor::lend).
///
/// The borrow ends with the closure, so it cannot be held across an `.await`. A
/// coroutine that is [`start`](crate::start)ed inside begins when the outermost
/// closure has returned, because it may borrow the same state. Several begin in
/// order.
///
/// # Panics
///
/// At the caller's line, if no `S` is lent, or if a closure around this call
/// borrows it. A nested `with` on the same type therefore panics. [`try_with`]
/// returns an error instead, and [`with_deferred`](crate::lend::with_deferred) waits until the
/// state is free.
///
/// # Examples
///
/// Two states, and a coroutine that is started inside a closure:
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
    recording::refuse("with");
    match note::borrow_mut::<Own<S>, R>(type_name::<S>(), f) {
        Ok(result) => result,
        Err(error) => refused(error),
    }
}

/// Calls `f` with the `S` that the host has [lent](Executor::lend), or returns an
/// error.
///
/// Use it where the state is optional. In a destructor that needs the state, use
/// [`with_deferred`](crate::lend::with_deferred).
///
/// # Errors
///
/// - [`LendError::NotLent`], if no `S` is lent, or if the call is made outside an
///   executor.
/// - [`LendError::Borrowed`], if a closure around this call borrows the state.
///
/// # Examples
///
/// ```
/// use framestep::lend::LendError;
/// use framestep::prelude::*;
///
/// struct World;
///
/// let executor = Executor::new();
/// let result = executor.enter(|| try_with(|_: &mut World| ()));
/// assert!(matches!(result, Err(LendError::NotLent { .. })));
/// ```
#[track_caller]
pub fn try_with<S: 'static, R>(f: impl FnOnce(&mut S) -> R) -> Result<R, LendError> {
    recording::refuse("try_with");
    note::borrow_mut::<Own<S>, R>(type_name::<S>(), f)
}

/// Calls `f` with a shared reference to the `S` that the host has
/// [lent](Executor::lend). Calls of `with_ref` may nest.
///
/// Otherwise it is like [`with`].
///
/// # Panics
///
/// At the caller's line, if no `S` is lent, or if a closure of [`with`] around this
/// call borrows it. A `with` inside a `with_ref` on the same type also panics.
/// [`try_with_ref`] returns an error instead.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// struct Map {
///     width: u32,
///     height: u32,
/// }
///
/// fn area() -> u32 {
///     with_ref(|map: &Map| map.width * map.height)
/// }
///
/// let mut map = Map { width: 4, height: 3 };
/// let mut executor = Executor::new();
/// let walls = executor.spawn(async { with_ref(|map: &Map| area() - map.width) });
/// executor.lend(&mut map, |executor| executor.run_frame(0.1));
/// assert_eq!(executor.run_until(walls, 0.1).unwrap(), 8);
/// ```
#[track_caller]
pub fn with_ref<S: 'static, R>(f: impl FnOnce(&S) -> R) -> R {
    recording::refuse("with_ref");
    match note::borrow::<Own<S>, R>(type_name::<S>(), f) {
        Ok(result) => result,
        Err(error) => refused(error),
    }
}

/// Calls `f` with a shared reference to the `S` that the host has
/// [lent](Executor::lend), or returns an error.
///
/// # Errors
///
/// - [`LendError::NotLent`], if no `S` is lent, or if the call is made outside an
///   executor.
/// - [`LendError::Borrowed`], if a closure of [`with`] around this call borrows the
///   state.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep::lend::try_with_ref;
///
/// let mut executor = Executor::new();
/// executor.lend(&mut 5_u32, |executor| {
///     executor.enter(|| {
///         let nested = with_ref(|_: &u32| try_with_ref(|number: &u32| *number));
///         assert_eq!(nested, Ok(5));
///         assert!(with(|_: &mut u32| try_with_ref(|_: &u32| ())).is_err());
///     });
/// });
/// ```
#[track_caller]
pub fn try_with_ref<S: 'static, R>(f: impl FnOnce(&S) -> R) -> Result<R, LendError> {
    recording::refuse("try_with_ref");
    note::borrow::<Own<S>, R>(type_name::<S>(), f)
}

/// Calls `f` with the state that the host has [lent as `K`](Executor::lend_as),
/// like [`with`].
///
/// `f` must work for any lifetime of the state. So it can change the state, but it
/// cannot keep a part of it, nor store a reference in it that is not `'static`.
///
/// # Panics
///
/// At the caller's line, if nothing is lent as `K`, or if a closure around this
/// call borrows it. [`try_with_as`] returns an error instead.
///
/// # Examples
///
/// See [`Lend`].
#[track_caller]
pub fn with_as<K: Lend, R>(f: impl FnOnce(&mut K::Of<'_>) -> R) -> R {
    recording::refuse("with_as");
    match note::borrow_mut::<K, R>(type_name::<K>(), f) {
        Ok(result) => result,
        Err(error) => refused(error),
    }
}

/// Calls `f` with the state that the host has [lent as `K`](Executor::lend_as), or
/// returns an error.
///
/// # Errors
///
/// - [`LendError::NotLent`], if nothing is lent as `K`, or if the call is made
///   outside an executor.
/// - [`LendError::Borrowed`], if a closure around this call borrows the state.
///
/// # Examples
///
/// ```
/// use framestep::lend::{Lend, try_with_as};
/// use framestep::prelude::*;
///
/// enum Name {}
///
/// impl Lend for Name {
///     type Of<'a> = &'a str;
/// }
///
/// let mut executor = Executor::new();
/// let name = String::from("door");
/// executor.lend_as::<Name, _>(&mut &*name, |executor| {
///     let length = executor.enter(|| try_with_as::<Name, _>(|name| name.len()));
///     assert_eq!(length, Ok(4));
/// });
/// assert!(executor.enter(|| try_with_as::<Name, _>(|_| ())).is_err());
/// ```
#[track_caller]
pub fn try_with_as<K: Lend, R>(f: impl FnOnce(&mut K::Of<'_>) -> R) -> Result<R, LendError> {
    recording::refuse("try_with_as");
    note::borrow_mut::<K, R>(type_name::<K>(), f)
}

/// Panics at the caller's line. If the state is not lent, the message says which
/// states are.
/// [`try_with`], in a script that records the result itself.
#[track_caller]
pub(crate) fn borrow_mut_here<S: 'static, R>(f: impl FnOnce(&mut S) -> R) -> Result<R, LendError> {
    note::borrow_mut::<Own<S>, R>(type_name::<S>(), f)
}

/// The same of [`try_with_ref`].
#[track_caller]
pub(crate) fn borrow_here<S: 'static, R>(f: impl FnOnce(&S) -> R) -> Result<R, LendError> {
    note::borrow::<Own<S>, R>(type_name::<S>(), f)
}

#[cold]
#[track_caller]
fn refused(error: LendError) -> ! {
    let names = match error {
        LendError::NotLent { .. } => {
            scope::with(|scope| scope.map(|scope| scope.core().lent.names()))
        }
        _ => None,
    };
    match names.as_deref() {
        None => panic!("{error}"),
        Some([]) => panic!("{error} (nothing is lent here)"),
        Some(names) => panic!("{} (lent here: `{}`)", Reason(error), names.join("`, `")),
    }
}
