//! The clock of all foes, which magic slows down.

use bevy::prelude::*;
use bevy_framestep::Framestep;
use bevy_framestep::prelude::*;

/// A non-send resource: clocks stay on the thread of the app.
pub(crate) struct FoesClock(Clock);

/// A system that must run before the first foe is spawned.
pub(crate) fn set_up(world: &mut World) {
    let game = world.non_send::<Framestep>().handle().clock();
    let foes = game.expect("the app is there").child();
    world.insert_non_send(FoesClock(foes));
}

pub(crate) fn foes_clock() -> Clock {
    with_ref(|world: &World| world.non_send::<FoesClock>().0.clone())
}

/// The component of a foe: its scripts count on that clock.
pub(crate) fn on_foes_clock(world: &World) -> Scripts {
    let handle = world.non_send::<Framestep>().handle();
    let clock = &world.non_send::<FoesClock>().0;
    Scripts::on_clock(handle, clock).expect("the app is there")
}
