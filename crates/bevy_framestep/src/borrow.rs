//! Borrows of the world by the functions of this crate, and why one is refused, in Bevy's words.

use std::panic::Location;

use bevy_ecs::world::World;
use framestep::lend::{LendError, try_with, try_with_ref};

/// A line of a script, or of the system that starts one.
pub(crate) type Place = &'static Location<'static>;

/// A function that borrows the world, for messages.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    name: &'static str,
    /// What a system does instead.
    in_system: &'static str,
}

impl Call {
    pub(crate) const fn new(name: &'static str, in_system: &'static str) -> Self {
        Call { name, in_system }
    }

    /// A wait, which a system does not have.
    pub(crate) const fn wait(name: &'static str) -> Self {
        Call::new(
            name,
            "start a script that waits: `commands.start_script(..)`",
        )
    }
}

/// Calls `f` with the world.
///
/// # Panics
///
/// At the caller's line: outside of scripts, inside a closure that borrows the world, and in a
/// durable script that would not record it.
#[track_caller]
pub(crate) fn with<R>(call: Call, f: impl FnOnce(&mut World) -> R) -> R {
    expect_recorded(call);
    match try_with(f) {
        Ok(result) => result,
        Err(error) => refused(call, error),
    }
}

/// The same with a shared borrow, which can be in others.
#[track_caller]
pub(crate) fn with_ref<R>(call: Call, f: impl FnOnce(&World) -> R) -> R {
    expect_recorded(call);
    match try_with_ref(f) {
        Ok(result) => result,
        Err(error) => refused(call, error),
    }
}

/// Calls `f` with the world, for a condition that a script waits for.
///
/// Without `#[track_caller]`: the line of this file marks the borrow as that of a condition.
pub(crate) fn with_condition<R>(f: impl FnOnce(&World) -> R) -> Result<R, LendError> {
    try_with_ref(f)
}

/// A durable script records what it does and reads, or it cannot be restored.
#[cfg(feature = "durable")]
#[inline]
#[track_caller]
fn expect_recorded(call: Call) {
    if let Some(script) = framestep_durable::unrecorded()
        && !std::thread::panicking()
    {
        not_recorded(call, script);
    }
}

#[cfg(not(feature = "durable"))]
fn expect_recorded(_: Call) {}

#[cfg(feature = "durable")]
#[cold]
#[track_caller]
fn not_recorded(Call { name, .. }: Call, script: &str) -> ! {
    panic!(
        "`{name}` was called in the durable script `{script}`, which does not record it: the save \
         could not be loaded. Call it in `effect(|| ..)`, or use \
         `durable::prelude::with(|world: &mut World| ..)` or the methods of `DurableId`"
    )
}

#[cold]
#[track_caller]
pub(crate) fn refused(Call { name, in_system }: Call, error: LendError) -> ! {
    match error {
        LendError::NotLent {
            started_at: Some(place),
            ..
        } => panic!(
            "`{name}` has no world in the script started at {place}, up to its first wait: it was \
             started with a handle alone. Start it on `Commands` or on the `World`, or use `spawn` \
             of the handle"
        ),
        LendError::NotLent { .. } => panic!(
            "`{name}` was called outside of a script: call it in a script; in a system, \
             {in_system}; in a destructor, use `with_deferred`"
        ),
        LendError::Borrowed {
            borrowed_at: Some(place),
            ..
        } if is_of_condition(place) => panic!(
            "`{name}` was called in a condition that a script waits for, which can only read the \
             world: change it after the wait, or wait with `wait_until(|| ..)`, whose condition can"
        ),
        LendError::Borrowed {
            borrowed_at: Some(place),
            ..
        } => panic!(
            "`{name}` was called inside of the closure at {place}, which borrows the world: use \
             the world or the component that the closure has, or call it after the closure; in a \
             destructor, use `with_deferred`"
        ),
        error => panic!("`{name}`: {error}"),
    }
}

/// Whether a condition borrows the world there: this file, or the run that checks all of them.
fn is_of_condition(place: &Location<'_>) -> bool {
    let this = file!();
    let folder = this.strip_suffix("borrow.rs").unwrap_or(this);
    let file = place.file().strip_prefix(folder);
    file.is_some_and(|file| matches!(file, "borrow.rs" | "executor.rs"))
}
