//! A toast: slides in, stays for some seconds, fades out. A click removes it earlier.

use framestep::prelude::*;

use crate::world::World;

pub(crate) struct Toast {
    id: u64,
    pub(crate) text: String,
    /// From 0 to 1.
    pub(crate) shown: f32,
    /// How much of its place it takes, from 0 to 1: the toasts above sink when it is
    /// removed.
    pub(crate) room: f32,
    pub(crate) clicked: Signal<()>,
}

pub(crate) async fn show(text: String) {
    let clicked = Signal::new().named("a click");
    let click = clicked.wait();
    let (id, seconds) = with(|world: &mut World| {
        world.toasted += 1;
        let id = world.toasted;
        world.toasts.push(Toast {
            id,
            text,
            shown: 0.0,
            room: 1.0,
            clicked,
        });
        (id, world.settings.toasts)
    });
    let set = |shown: f32, room: f32| {
        with(|world: &mut World| {
            for toast in world.toasts.iter_mut().filter(|toast| toast.id == id) {
                toast.shown = shown;
                toast.room = room;
            }
        });
    };
    animate(0.2, |t| set(1.0 - (1.0 - t) * (1.0 - t), 1.0)).await;
    select! {
        () = click => {}
        () = wait_seconds(seconds) => {}
    }
    animate(0.4, |t| set(1.0 - t, 1.0 - t)).await;
    with(|world: &mut World| world.toasts.retain(|toast| toast.id != id));
}
