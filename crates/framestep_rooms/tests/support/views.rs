//! Waiting for what the watchers of a room see.

use std::time::Duration;

use framestep_rooms::{Room, RoomClient};
use tokio::time::timeout;

/// Waits for a view that fits. It has to come within seconds.
pub(crate) async fn until<R: Room>(
    room: &RoomClient<R>,
    fits: impl Fn(&R::View) -> bool,
) -> R::View {
    let mut views = room.watch().await.unwrap();
    let look = async {
        loop {
            let view = views.next().await.unwrap().expect("it is not over").view;
            if fits(&view) {
                return view;
            }
        }
    };
    timeout(Duration::from_secs(30), look)
        .await
        .expect("the view comes")
}
