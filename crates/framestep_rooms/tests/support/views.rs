//! Waiting for what the watchers of a room see.

use framestep_rooms::{Room, RoomClient};

use crate::patience::patient;

/// In so many frames of the room what a test waits for has to be seen: minutes at full speed.
const FRAMES: u64 = 20_000;

/// Waits for a view that fits. The room has to go on until then.
pub(crate) async fn until<R: Room>(
    room: &RoomClient<R>,
    fits: impl Fn(&R::View) -> bool,
) -> R::View {
    let mut views = room.watch().await.unwrap();
    let mut first = None;
    loop {
        let next = patient(views.next()).await.expect("the room goes on");
        let seen = next.unwrap().expect("it is not over");
        if fits(&seen.view) {
            return seen.view;
        }
        let began = *first.get_or_insert(seen.frame);
        assert!(
            seen.frame < began + FRAMES,
            "no view fits since frame {began}"
        );
    }
}
