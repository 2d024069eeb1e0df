//! Closures that borrow lent state as soon as it is free: for destructors.

use std::any::type_name;
use std::panic::Location;

use crate::core::Core;
use crate::core::base::call::{self, Foreign};
use crate::core::life::start;
use crate::core::life::start::refuse;
use crate::core::report;
use crate::core::report::panics;
use crate::core::run::limits::{self, Reached};
use crate::core::scope;
use crate::core::scope::recording;
use crate::inspect::Report;

use super::kept::{Deferred, Origin};
use super::key::Lend;
use super::note::LentRef;
use super::own::Own;

/// Calls `f` with the `S` that the host [lends](crate::Executor::lend), at once or
/// as soon as the state is free. Use it in destructors.
///
/// A destructor runs wherever its script ends: between two waits, inside a
/// [`with`](crate::with) of another script that stops it, or between two frames,
/// when the host stops it. `f` is called:
///
/// 1. at once, if an `S` is lent and no closure borrows it;
/// 2. if an `S` is lent and borrowed, when the outermost closure that borrows it has
///    returned, and before scripts begin that were started in that closure;
/// 3. if no `S` is lent, at the beginning of the next lend of an `S`.
///
/// A host can call it earlier, in the cases 2 and 3: see
/// [`Handle::clean_up`](crate::Handle::clean_up).
///
/// Closures for the same state are called in the order of the calls of `with_deferred`. `f`
/// may call `with_deferred`, spawn, start and stop, as inside
/// [`Executor::enter`](crate::Executor::enter). A coroutine that it starts has no
/// owner, and begins when the state is free.
///
/// In a durable script, the call is a part of the script, as that of a guard of [`defer`](crate::lend::defer()): it is not
/// repeated when the script is restored.
///
/// Returns whether `f` was called or kept. Outside an executor, `f` is dropped, and
/// `with_deferred` returns `false`. The same happens if the executor is being dropped and no
/// `S` is lent. If a closure still waits for a lend when the executor is dropped, the
/// closure is dropped, too. The destructors of coroutines always run inside their
/// executor.
///
/// # Panics
///
/// `with_deferred` does not panic. A panic of `f` is
/// [reported](Report::WithDeferredPanicked), or passed [on to the
/// host](crate::Builder::propagate_panics). Later closures are called all the same.
///
/// # Examples
///
/// A bullet returns to its pool when its script ends, even if the script is
/// stopped:
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
///         with_deferred(move |world: &mut World| world.pool.push(bullet));
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
/// assert_eq!(world.pool, [1]); // the first bullet's script has ended
/// stopped.stop(); // nothing is lent here
/// executor.lend(&mut world, |executor| executor.run_frame(1));
/// assert_eq!(world.pool, [1, 2]);
/// ```
#[track_caller]
pub fn with_deferred<S: 'static>(f: impl FnOnce(&mut S) + 'static) -> bool {
    let origin = Origin::new("with_deferred", type_name::<S>(), Location::caller());
    defer_now::<Own<S>>(f, origin)
}

/// Calls `f` with the state that the host [lends as `K`](crate::Executor::lend_as),
/// at once or as soon as the state is free, like [`with_deferred`].
///
/// # Examples
///
/// See [`Lend`].
#[track_caller]
pub fn with_deferred_as<K: Lend>(f: impl FnOnce(&mut K::Of<'_>) + 'static) -> bool {
    let origin = Origin::new("with_deferred_as", type_name::<K>(), Location::caller());
    defer_now::<K>(f, origin)
}

/// Calls `f`, or keeps it. In a coroutine that records what it does, it is a part of that, as what
/// [`defer`](crate::lend::defer()) calls: a replay, which has been through it, only drops `f`.
fn defer_now<K: Lend>(f: impl FnOnce(&mut K::Of<'_>) + 'static, origin: Origin) -> bool {
    let mut is_kept = true;
    recording::deferred(false, || is_kept = call_deferred::<K>(f, origin));
    is_kept
}

pub(super) fn call_deferred<K: Lend>(
    f: impl FnOnce(&mut K::Of<'_>) + 'static,
    origin: Origin,
) -> bool {
    call_or_keep(Deferred::new::<K>(f, origin))
}

/// Calls a closure, or keeps it until its state is free. Returns `false` if it is dropped
/// instead.
fn call_or_keep(deferred: Deferred) -> bool {
    let core = scope::with(|scope| scope.map(|scope| scope.core().rc()));
    let Some(core) = core else {
        call::quietly(|| refuse(deferred));
        return false;
    };
    core.lent.with_innermost(deferred.of, |note| {
        match note {
            Some(note) => {
                note.keep(deferred);
                work_off(&core, note);
            }
            None if core.is_closed() => {
                call::quietly(|| refuse(deferred));
                return false;
            }
            None => core.lent.keep(deferred),
        }
        true
    })
}

/// Calls the closures that wait for a state, if it is free.
#[inline]
pub(super) fn work_off(core: &Core, note: LentRef<'_>) {
    if note.is_free() && note.has_deferred() {
        start::hold_starts(core, || work_off_waiting(core, note));
    }
}

#[cold]
#[inline(never)]
fn work_off_waiting(core: &Core, note: LentRef<'_>) {
    // Each closure may keep another one, without end. So there is a limit: the other
    // closures are called after the next borrow or in the next lend.
    for _ in 0..core.runs.limits.most_in_sequence(core.tasks.alive()) {
        let Some(deferred) = note.next_deferred() else {
            return;
        };
        let call = deferred.call.into_inner();
        call_alone(core, || call(note), deferred.origin);
    }
    if note.has_deferred() {
        limits::report_runaway(core, Reached::Polls);
    }
}

/// Calls a closure outside of any coroutine, on the game clock. A panic is reported, or
/// passed on to the host.
pub(super) fn call_alone(core: &Core, f: impl FnOnce(), origin: Origin) {
    let called = report::as_host(core, || call::catch(f));
    if let Err(payload) = called {
        core.panics.note();
        let report = Report::WithDeferredPanicked {
            function: origin.function,
            state: origin.state,
            place: origin.place,
            frame: core.clock.frame(),
            phase: core.running_phase(),
            message: call::message(&*payload),
        };
        panics::pass_on(core, report, Foreign::new(payload));
    }
}
