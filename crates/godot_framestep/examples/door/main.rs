//! An extension with one class: a door that opens, waits until a body has left the doorway,
//! and closes again.

#![expect(missing_docs, reason = "the classes of a game")]

mod swing;

use godot::classes::Area3D;
use godot::prelude::*;
use godot_framestep::prelude::*;

use swing::{Passed, swing};

struct DoorExtension;

#[gdextension]
// SAFETY: the class library is loaded once, by a Godot with the API level that the
// `.gdextension` file names.
unsafe impl ExtensionLibrary for DoorExtension {}

/// A door. Its child `Doorway` is an area: it emits `body_exited` when a body has passed.
#[derive(GodotClass, Debug)]
#[class(base = Node3D, init)]
pub struct Door {
    /// How far it opens, in degrees.
    #[export]
    #[init(val = 90.0)]
    angle: f32,
    /// How long it stays open if no body comes, in seconds.
    #[export]
    #[init(val = 3.0)]
    patience: f64,
    is_moving: bool,
    #[init(node = "Doorway")]
    doorway: OnReady<Gd<Area3D>>,
    base: Base<Node3D>,
}

#[godot_api]
impl Door {
    /// It has opened, or closed.
    #[signal]
    fn moved(is_open: bool);

    /// Opens the door, unless it is about to.
    #[func]
    fn interact(&mut self) {
        if !self.is_moving {
            self.is_moving = true;
            let door = self.to_gd();
            // It ends with the door, and stands still while the tree is paused.
            let script = door.spawn_script(open_and_close(door.clone()));
            drop(script.named("door"));
        }
    }
}

async fn open_and_close(mut door: Gd<Door>) {
    let (angle, patience) = {
        let door = door.bind();
        (door.angle, door.patience)
    };
    let mut hinge = door.clone();
    let turn = move |part: f32| {
        hinge.set_rotation_degrees(Vector3::new(0.0, angle * part, 0.0));
    };

    let left = {
        let exited = door.bind().doorway.signals().body_exited().emitted();
        async move { exited.await.is_some() }
    };
    let opened = {
        let door = door.clone();
        move || door.signals().moved().emit(true)
    };
    let passed = swing(turn, opened, left, patience).await;
    if passed == Passed::Nobody {
        godot_print!("{}: nobody came", door.get_name());
    }
    door.bind_mut().is_moving = false;
    door.signals().moved().emit(false);
}
