//! A durable script in the engine: saved, loaded, rewound.

use std::cell::RefCell;

use framestep_durable::prelude::*;
use godot::classes::INode;
use godot::prelude::*;
use godot_framestep::{Durable, Moment};

use crate::log::note;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct World {
    lines: Vec<String>,
    steps: u32,
}

#[durable]
async fn meeting(name: String) {
    let says = |line: String| with(move |world: &mut World| world.lines.push(line));
    says(format!("{name}: halt"));
    wait_seconds(0.1).await;
    says("a friend".to_owned());
    wait_seconds(0.1).await;
    says("move along".to_owned());
}

#[durable]
async fn count() -> Chapter {
    fixed_update().await;
    with(|world: &mut World| world.steps += 1);
    Chapter::Next(count())
}

#[derive(GodotClass)]
#[class(base = Node, init)]
struct Story {
    game: Option<Durable<World>>,
    past: Vec<Moment<World>>,
    base: Base<Node>,
}

#[godot_api]
impl INode for Story {
    fn ready(&mut self) {
        let registry = Registry::new()
            .script(meeting)
            .script(count)
            .script(saves_itself);
        self.game = Some(Durable::new(Runtime::new(registry), World::default()));
    }

    /// Keeps a moment of each frame.
    fn process(&mut self, _delta: f64) {
        let moment = self.game().moment();
        self.past.push(moment.expect("all of it can be saved"));
    }
}

#[godot_api]
impl Story {
    #[func]
    fn begin(&self, name: String) {
        let host = self.game().host();
        host.spawn(meeting(name)).detach();
        host.spawn(count()).detach();
    }

    /// The lines, and the number of steps.
    #[func]
    fn told(&self) -> GString {
        let text = self
            .game()
            .with(|world| format!("{}, {}", world.lines.join(", "), world.steps));
        GString::from(&text)
    }

    #[func]
    fn save(&self) -> PackedByteArray {
        PackedByteArray::from(self.game().save().expect("it can be saved").as_slice())
    }

    /// An error, or nothing.
    #[func]
    fn load(&self, bytes: PackedByteArray) -> GString {
        let loaded = self.game().load(bytes.as_slice(), Policy::Fail);
        GString::from(
            &loaded
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default(),
        )
    }

    #[func]
    fn rewind(&mut self, frames: u32) {
        let at = self.past.len() - frames as usize;
        let moment = self.past[at].clone();
        self.past.truncate(at);
        self.game().go_back(&moment).expect("it fits");
    }

    #[func]
    fn hold(&self, is_held: bool) {
        self.game().set_active(!is_held);
    }

    /// Saves in the middle of a plain script's poll, which is fine.
    #[func]
    fn save_in_a_script(&self) {
        let story = self.to_gd();
        godot_framestep::scripts().start(async move {
            note(format!(
                "{} bytes",
                if story.bind().save().len() > 40 {
                    "some"
                } else {
                    "no"
                }
            ));
        });
    }
}

/// Calls what a `with` of a script may call in a game.
#[durable]
async fn saves_itself() {
    with(|_: &mut World| SAVE.with_borrow(|save| save()));
}

thread_local! {
    static SAVE: RefCell<Box<dyn Fn()>> = RefCell::new(Box::new(|| ()));
}

#[godot_api(secondary)]
impl Story {
    /// Saves in the middle of a script of its own, which panics.
    #[func]
    fn save_in_its_own_script(&self) {
        let story = self.to_gd();
        SAVE.set(Box::new(move || drop(story.bind().game().save())));
        self.game().host().spawn(saves_itself()).detach();
    }
}

impl Story {
    fn game(&self) -> &Durable<World> {
        self.game.as_ref().expect("it is ready")
    }
}
