//! Closures that borrow lent state as soon as they can: for destructors.

#![forbid(unsafe_code)]

use std::any::{Any, TypeId, type_name};
use std::panic::Location;

use crate::core::call::{self, Foreign};
use crate::core::{Core, scope};
use crate::inspect::Report;

use super::Lend;
use super::note::LentRef;
use super::own::Own;

/// What a closure for a `K` is stored as.
type Closure<K> = Box<dyn FnOnce(&mut <K as Lend>::Of<'_>)>;

/// A closure that waits.
pub(super) struct Soon {
    of: TypeId,
    /// A [`Closure`] of that type.
    closure: Foreign<Box<dyn Any>>,
    origin: Origin,
}

/// What is said of a closure that panics.
#[derive(Clone, Copy)]
struct Origin {
    state: &'static str,
    place: &'static Location<'static>,
}

impl Soon {
    fn new<K: Lend>(f: impl FnOnce(&mut K::Of<'_>) + 'static, origin: Origin) -> Self {
        let closure: Closure<K> = Box::new(f);
        Soon {
            of: TypeId::of::<K>(),
            closure: Foreign::new(Box::new(closure)),
            origin,
        }
    }

    pub(super) fn is_for(&self, key: TypeId) -> bool {
        self.of == key
    }
}

/// Calls `f` with the `S` that the host [lends](crate::Executor::lend), now if it
/// is free, or as soon as it is: for destructors.
///
/// A destructor runs wherever its script happens to end: between two waits of the
/// script, by a `stop` inside the [`with`](crate::with) of another script, or by a
/// stop of the host between two frames. `f` is called
///
/// 1. at once, if an `S` is lent and no closure borrows it;
/// 2. else, if an `S` is lent, when the outermost closure that borrows it has
///    returned, before the scripts that were started in it begin;
/// 3. else at the beginning of the next lend of an `S`.
///
/// Closures for one state are called in the order of the calls of `with_soon`. `f`
/// may do the same again, spawn, start and stop, as inside
/// [`Executor::enter`](crate::Executor::enter): what it starts has no owner, and
/// begins when the state is free.
///
/// It returns `false`, and `f` is dropped, outside of an executor; and if no `S`
/// is lent to an executor that is being dropped. Closures that still wait for a
/// lend when the executor is dropped are dropped with it. Destructors of coroutines
/// always run inside their executor.
///
/// # Panics
///
/// It does not. If `f` panics, that is a
/// [`Report::WithSoonPanicked`], or is let
/// [through to the host](crate::Builder::propagate_panics). The closures after it
/// are called.
///
/// # Examples
///
/// A bullet goes back into its pool, however its script ends:
///
/// ```
/// use framestep::prelude::*;
///
/// #[derive(Default)]
/// struct World {
///     pool: Vec<u32>,
/// }
///
/// struct Bullet(u32);
///
/// impl Drop for Bullet {
///     fn drop(&mut self) {
///         let bullet = self.0;
///         with_soon(move |world: &mut World| world.pool.push(bullet));
///     }
/// }
///
/// async fn fly(bullet: Bullet) {
///     wait_seconds(bullet.0).await;
/// }
///
/// let mut world = World::default();
/// let mut executor = Executor::builder().max_delta(1).build();
/// executor.spawn(fly(Bullet(1)));
/// let stopped = executor.spawn(fly(Bullet(2)));
/// executor.lend(&mut world, |executor| executor.run_frame(1));
/// executor.lend(&mut world, |executor| executor.run_frame(1));
/// assert_eq!(world.pool, [1]); // it has hit something
/// stopped.stop(); // nothing is lent here
/// executor.lend(&mut world, |executor| executor.run_frame(1));
/// assert_eq!(world.pool, [1, 2]);
/// ```
#[track_caller]
pub fn with_soon<S: 'static>(f: impl FnOnce(&mut S) + 'static) -> bool {
    let origin = Origin {
        state: type_name::<S>(),
        place: Location::caller(),
    };
    call_soon::<Own<S>>(f, origin)
}

/// Calls `f` with what the host [lends as `K`](crate::Executor::lend_as), now if it
/// is free, or as soon as it is, like [`with_soon`].
///
/// # Examples
///
/// See [`Lend`].
#[track_caller]
pub fn with_soon_as<K: Lend>(f: impl FnOnce(&mut K::Of<'_>) + 'static) -> bool {
    let origin = Origin {
        state: type_name::<K>(),
        place: Location::caller(),
    };
    call_soon::<K>(f, origin)
}

fn call_soon<K: Lend>(f: impl FnOnce(&mut K::Of<'_>) + 'static, origin: Origin) -> bool {
    let core = scope::with(|scope| scope.map(|scope| scope.core().rc()));
    let Some(core) = core else {
        return false;
    };
    match core.lent.find::<K>() {
        Some(note) if note.is_free() && !note.has_soon() => core.hold_starts(|| {
            call_now::<K>(&core, note, f, origin);
            work_off::<K>(&core, note);
        }),
        Some(note) => {
            note.keep(Soon::new::<K>(f, origin));
            work_off::<K>(&core, note);
        }
        None if core.is_closed() => return false,
        None => core.lent.keep(Soon::new::<K>(f, origin)),
    }
    true
}

/// Calls the closures that wait for a state, if it is free.
pub(super) fn work_off<K: Lend>(core: &Core, note: LentRef) {
    if note.is_free() && note.has_soon() {
        core.hold_starts(|| work_off_waiting::<K>(core, note));
    }
}

#[cold]
fn work_off_waiting<K: Lend>(core: &Core, note: LentRef) {
    // Each may keep another one without end: what is left comes with the next
    // borrow or lend.
    for _ in 0..core.most_starts() {
        let Some(soon) = note.next_soon() else {
            return;
        };
        let closure = soon.closure.into_inner().downcast::<Closure<K>>();
        let closure = closure.expect("it was kept for this type");
        call_now::<K>(core, note, closure, soon.origin);
    }
    if note.has_soon() {
        core.report_runaway();
    }
}

/// Calls a closure, outside of any coroutine.
fn call_now<K: Lend>(core: &Core, note: LentRef, f: impl FnOnce(&mut K::Of<'_>), origin: Origin) {
    let called = scope::enter(core, |_| call::catch(|| note.borrow_mut::<K, ()>(f)));
    if let Err(payload) = called {
        let report = Report::WithSoonPanicked {
            state: origin.state,
            place: origin.place,
            frame: core.clock.frame(),
            phase: core.running_phase(),
            message: call::message(&*payload),
        };
        core.pass_on(report, Foreign::new(payload));
    }
}
