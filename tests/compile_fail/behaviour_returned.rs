//! Nor can a closure return it.

use framestep::scene::{Behaviour, Scene};

struct Door {
    open: bool,
}

impl Behaviour for Door {}

fn main() {
    let scene = Scene::new();
    let this = scene.add(Door { open: false });
    let door: &mut Door = this.with(|door| door);
    door.open = true;
}
