//! Clean-up in time: the closures of scripts that have ended are called as soon as the world can
//! be lent.
//!
//! A hook of Bevy ends the scripts of an entity, and has no `&mut World`. So it queues a command
//! for the closures that wait for the world: Bevy applies it before the call that has ended the
//! scripts returns. Where scripts end without a hook, the closures are called in the next run of
//! scripts, or between the exit and the enter schedules of a state transition.

use bevy_app::AppExit;
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use framestep::Handle;
use framestep::inspect::Snapshot;

#[cfg(feature = "durable")]
use crate::durable::DurableRuntime;
use crate::executor::Shared;

/// Has the closures called that wait for the world, if there are any, when commands are applied.
/// For hooks, on the thread of the app.
pub(crate) fn queue(world: &mut DeferredWorld<'_>, of: &Handle) {
    if of.has_clean_up::<World>() {
        world.commands().queue(|world: &mut World| {
            each_executor(world, |world, scripts| scripts.clean_up(world));
        });
    }
}

/// Calls what waits for the world: the closures of [`defer`](framestep::lend::defer) and
/// [`with_deferred`](framestep::lend::with_deferred()) of scripts that have ended, and before that the calls of
/// [`ScriptHandle`](crate::ScriptHandle) and [`RemoteHandle`](framestep::task::RemoteHandle), such as `stop`. Applies the
/// commands that they queue.
///
/// The plugins call it in `StateTransition` (with the feature `state`): between the exit
/// schedules and the transition schedules, between these and the enter schedules, and at the end. Runs of
/// scripts do it, too, and commands do it that end the scripts of an entity. Call it in
/// transitions of your own.
///
/// In code that a script calls with the world borrowed, the calls are left to the next run.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::clean_up_scripts;
/// use bevy_framestep::prelude::*;
/// use bevy_time::TimePlugin;
///
/// #[derive(Resource)]
/// struct Music(&'static str);
///
/// async fn battle() {
///     let _silence = defer(|world: &mut World| world.resource_mut::<Music>().0 = "silence");
///     wait_seconds(60).await;
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.insert_resource(Music("battle"));
/// let battle = app.world_mut().commands().start_script(battle);
/// app.update();
///
/// battle.stop();
/// clean_up_scripts(app.world_mut());
/// app.insert_resource(Music("menu"));
/// app.update();
/// assert_eq!(app.world().resource::<Music>().0, "menu");
/// ```
pub fn clean_up_scripts(world: &mut World) {
    each_executor(world, |world, scripts| {
        scripts.lend(world, Handle::make_calls);
        scripts.clean_up(world);
    });
    world.flush();
}

/// Calls `f` with each executor of the world, the durable one first, as in a run.
fn each_executor(world: &mut World, f: fn(&mut World, &Handle)) {
    #[cfg(feature = "durable")]
    if let Some(durable) = DurableRuntime::get(world) {
        f(world, durable.executor());
    }
    if let Some(plain) = Shared::get(world) {
        f(world, plain.handle());
    }
}

/// Ends all scripts in the frame in which the app exits, while their destructors have a world.
pub(crate) fn end_at_exit(world: &mut World) {
    let exits = world.get_resource::<Messages<AppExit>>();
    if exits.is_none_or(Messages::is_empty) {
        return;
    }
    let Some(shared) = Shared::get(world) else {
        return;
    };
    let scripts = shared.handle();
    scripts.lend(world, |scripts| {
        for script in scripts.snapshot().iter().flat_map(Snapshot::iter) {
            scripts.stop(script.id());
        }
    });
    world.flush();
}
