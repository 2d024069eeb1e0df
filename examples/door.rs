//! A scene: a door, a lever that opens it, and a hero who leaves.

use framestep::prelude::*;
use framestep::scene::{Behaviour, BehaviourHandle, Scene, SceneContext};

fn say(text: &str) {
    println!("frame {:2}: {text}", time().frame);
}

struct Door {
    open: f32,
}

impl Behaviour for Door {
    fn start(&mut self, _: &SceneContext<'_, Self>) {
        say("the door is shut");
    }
}

/// A coroutine of the door. It borrows the door inside closures.
async fn open(door: BehaviourHandle<Door>) {
    while door.with(|door| door.open) < 1.0 {
        next_frame().await;
        let percent = door.with(|door| {
            door.open += delta_seconds();
            100.0 * door.open
        });
        say(&format!("the door is open by {percent} %"));
    }
}

struct Lever;

impl Behaviour for Lever {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        let (this, scene) = (context.this(), context.scene());
        context.start(async move {
            wait_seconds(0.5).await;
            say("somebody pulls the lever");
            let door = scene.find::<Door>().expect("a door in the scene");
            // Started on the door: the script outlives the lever.
            door.start(open(door.clone()));
            this.destroy();
        });
    }

    fn on_destroy(&mut self, _: &SceneContext<'_, Self>) {
        say("the lever breaks off");
    }
}

struct Hero;

impl Behaviour for Hero {
    fn late_update(&mut self, context: &SceneContext<'_, Self>) {
        let door = context.scene().find::<Door>();
        if door.is_none_or(|door| door.with(|door| door.open >= 1.0)) {
            say("the hero is through");
            context.destroy_self();
        }
    }
}

fn main() {
    let mut scene = Scene::new();
    scene.add(Door { open: 0.0 });
    scene.add(Lever);
    let hero = scene.add(Hero);
    while hero.is_alive() {
        scene.run_frame(0.25);
    }
}
