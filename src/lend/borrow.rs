//! Borrows of lent state, for the length of a closure.

#![forbid(unsafe_code)]

use std::any::type_name;
use std::marker::PhantomData;
use std::rc::Rc;

#[cfg(doc)]
use crate::Executor;
use crate::core::{Core, scope};

use super::Lend;
use super::error::WithError;
use super::note::LentRef;
use super::own::Own;
use super::soon;

/// Calls `f` with the `S` that the host has [lent](Executor::lend).
///
/// The borrow ends with the closure: nothing of it can be kept across an
/// await. What is [`start`](crate::start)ed inside begins when the outermost
/// closure has returned, in order, since it might want to borrow the same.
///
/// # Panics
///
/// At the caller's line, if no `S` is lent, or if one is borrowed already, by
/// a closure that this call is made in. [`try_with`] tells instead, and
/// [`with_soon`](crate::with_soon) waits until the state is free.
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
/// For those that can do without the state: a destructor that has to reach it uses
/// [`with_soon`](crate::with_soon).
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
    borrow_mut::<Own<S>, R>(type_name::<S>(), f)
}

/// Calls `f` with the `S` that the host has [lent](Executor::lend), shared: other
/// closures of `with_ref` inside this one may borrow the same.
///
/// In all else it is like [`with`].
///
/// # Panics
///
/// At the caller's line, if no `S` is lent, or if a closure of [`with`] has it. A
/// `with` inside a `with_ref` on the same type panics, too. [`try_with_ref`] tells
/// instead.
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
    match try_with_ref(f) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}

/// Calls `f` with the `S` that the host has [lent](Executor::lend), shared, or says
/// why it cannot.
///
/// # Errors
///
/// If no `S` is lent, or the call is made outside of an executor; or if a closure
/// of [`with`] has the state.
///
/// # Examples
///
/// ```
/// use framestep::{prelude::*, try_with_ref};
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
pub fn try_with_ref<S: 'static, R>(f: impl FnOnce(&S) -> R) -> Result<R, WithError> {
    let type_name = type_name::<S>();
    let (core, note) = find::<Own<S>>(type_name)?;
    if note.is_exclusive() {
        return Err(WithError::Borrowed { type_name });
    }
    Ok(core.hold_starts(|| {
        let _then = ThenWorkOff::<Own<S>>::new(&core, note);
        note.borrow::<Own<S>, R>(f)
    }))
}

/// Calls `f` with what the host has [lent as `K`](Executor::lend_as), like
/// [`with`].
///
/// `f` is good for any lifetime of what it gets. So it can change that, but not keep
/// a part of it, nor put a reference into it that is not `'static`.
///
/// # Panics
///
/// At the caller's line, if nothing is lent as `K`, or if it is borrowed already,
/// by a closure that this call is made in. [`try_with_as`] tells instead.
///
/// # Examples
///
/// See [`Lend`].
#[track_caller]
pub fn with_as<K: Lend, R>(f: impl FnOnce(&mut K::Of<'_>) -> R) -> R {
    match try_with_as::<K, R>(f) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}

/// Calls `f` with what the host has [lent as `K`](Executor::lend_as), or says why it
/// cannot.
///
/// # Errors
///
/// If nothing is lent as `K`, or the call is made outside of an executor; or if it
/// is borrowed already.
///
/// # Examples
///
/// ```
/// use framestep::{Lend, try_with_as, prelude::*};
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
pub fn try_with_as<K: Lend, R>(f: impl FnOnce(&mut K::Of<'_>) -> R) -> Result<R, WithError> {
    borrow_mut::<K, R>(type_name::<K>(), f)
}

fn borrow_mut<K: Lend, R>(
    type_name: &'static str,
    f: impl FnOnce(&mut K::Of<'_>) -> R,
) -> Result<R, WithError> {
    let (core, note) = find::<K>(type_name)?;
    if !note.is_free() {
        return Err(WithError::Borrowed { type_name });
    }
    Ok(core.hold_starts(|| {
        let _then = ThenWorkOff::<K>::new(&core, note);
        note.borrow_mut::<K, R>(f)
    }))
}

/// The executor around the caller, and what is lent to it as `K`.
fn find<K: Lend>(type_name: &'static str) -> Result<(Rc<Core>, LentRef), WithError> {
    let core = scope::with(|scope| scope.map(|scope| scope.core().rc()));
    let core = core.ok_or(WithError::NotLent {
        type_name,
        started_at: None,
    })?;
    match core.lent.find::<K>() {
        Some(note) => Ok((core, note)),
        None => Err(WithError::NotLent {
            type_name,
            started_at: core.started_from_host(),
        }),
    }
}

/// Calls the closures that wait for a state once a borrow of it has ended, also when
/// unwinding.
struct ThenWorkOff<'a, K: Lend> {
    core: &'a Core,
    note: LentRef,
    of: PhantomData<K>,
}

impl<'a, K: Lend> ThenWorkOff<'a, K> {
    fn new(core: &'a Core, note: LentRef) -> Self {
        ThenWorkOff {
            core,
            note,
            of: PhantomData,
        }
    }
}

impl<K: Lend> Drop for ThenWorkOff<'_, K> {
    fn drop(&mut self) {
        soon::work_off::<K>(self.core, self.note);
    }
}
