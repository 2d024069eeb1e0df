//! A behaviour is borrowed for the length of a closure, not longer.

use framestep::scene::{Behaviour, BehaviourHandle};

struct Door {
    open: bool,
}

impl Behaviour for Door {}

async fn open(this: BehaviourHandle<Door>) {
    let mut kept: Option<&mut Door> = None;
    this.with(|door| kept = Some(door));
    framestep::next_frame().await;
    kept.unwrap().open = true;
}

fn main() {
    let _ = open;
}
