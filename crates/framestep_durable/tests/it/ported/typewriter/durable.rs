use framestep_durable::prelude::*;

const KEY: Signal<()> = Signal::new("key");

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    text: String,
}

async fn say(text: &str) {
    let key = KEY;
    let _text_box = defer(|world: &mut World| world.text.clear());
    select! {
        () = key.wait() => with(|world: &mut World| world.text = text.to_string()),
        () = type_out(text) => {}
    }
    key.wait().await; // it closes the box
}

async fn type_out(text: &str) {
    let mut strokes = interval(0.25);
    for letter in text.chars() {
        strokes.tick().await;
        with(|world: &mut World| world.text.push(letter));
    }
}

// The host.

#[durable]
async fn talk() {
    say("Hello").await;
    say("Bye").await;
}

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Talk>())
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.spawn(talk()).detach();
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, world: &mut World) {
    if [4, 6, 11].contains(&frame) {
        runtime.emit(&KEY, ());
    }
    runtime.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    world.text.clone()
}
