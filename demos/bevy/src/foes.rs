//! The clock of all foes, which magic slows down.

use bevy::prelude::*;
use bevy_framestep::durable::DurableRuntime;
use bevy_framestep::durable::framestep_durable::ClockId;
use bevy_framestep::prelude::*;
use serde::{Deserialize, Serialize};

/// A non-send resource: clocks stay on the thread of the app.
pub(crate) struct FoesClock(Clock);

/// The clock of the durable scripts of foes. It is saved.
#[derive(Resource, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct DurableFoesClock(pub(crate) ClockId);

/// A system that must run before the first foe is spawned.
pub(crate) fn set_up(world: &mut World) {
    let game = world.non_send::<Framestep>().handle().clock();
    let foes = game.expect("the app is there").child();
    world.insert_non_send(FoesClock(foes));
    let foes = enter(world, || ClockId::GAME.child());
    world.insert_resource(DurableFoesClock(foes));
}

/// Calls `f` inside of the runtime of durable scripts, where its clocks are.
fn enter<R>(world: &World, f: impl FnOnce() -> R) -> R {
    let scripts = world.non_send::<DurableRuntime>();
    scripts.with_runtime(|runtime| runtime.enter(f))
}

/// Slows down all foes until it is dropped.
#[must_use]
pub(crate) fn slow_foes(scale: f64) -> impl Sized {
    let clocks = with_ref(|world: &World| {
        let durable = world.resource::<DurableFoesClock>().0;
        let durable = enter(world, || durable.clock());
        [world.non_send::<FoesClock>().0.clone(), durable]
    });
    clocks.map(|clock| clock.scaled(scale))
}

/// The component of a foe: its scripts count on that clock.
pub(crate) fn on_foes_clock(world: &World) -> Scripts {
    let handle = world.non_send::<Framestep>().handle();
    let clock = &world.non_send::<FoesClock>().0;
    Scripts::on_clock(handle, clock).expect("the app is there")
}
