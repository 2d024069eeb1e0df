//! A game for the view in the editor.

use std::future::pending;

use godot::classes::INode;
use godot::classes::node::ProcessMode;
use godot::prelude::*;
use godot_framestep::prelude::*;

/// Three rooms, each with a script, and a script without a node.
#[derive(GodotClass)]
#[class(base = Node, init)]
struct Game {
    base: Base<Node>,
}

#[godot_api]
impl INode for Game {
    fn ready(&mut self) {
        let gate = self.add("Gate");
        gate.clone().add_user_signal("knocked");
        drop(gate.spawn_script(guard(gate.clone())));
        drop(self.add("Tower").spawn_script(sleeper()));
        drop(scripts().spawn(walker()));
        let mut cellar = self.add("Cellar");
        drop(cellar.spawn_script(paused()));
        cellar.set_process_mode(ProcessMode::DISABLED);
    }
}

impl Game {
    fn add(&mut self, name: &str) -> Gd<Node> {
        let mut room = Node::new_alloc();
        room.set_name(name);
        self.base_mut().add_child(&room);
        room
    }
}

async fn guard(gate: Gd<Node>) {
    Signal::from_object_signal(&gate, "knocked").emitted().await;
}

async fn sleeper() {
    wait_seconds(1_000_000).await;
}

async fn walker() {
    loop {
        next_frame().await;
    }
}

async fn paused() {
    pending::<()>().await;
}
