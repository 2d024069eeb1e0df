use framestep::prelude::*;

#[derive(Default)]
pub(crate) struct World {
    key: Signal<()>,
    text: String,
}

async fn say(text: &str) {
    let key = with_ref(|world: &World| world.key.clone());
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

pub(crate) fn begin(_: &mut World) -> Executor {
    let executor = Executor::new();
    executor.spawn(async {
        say("Hello").await;
        say("Bye").await;
    });
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, world: &mut World) {
    if [4, 6, 11].contains(&frame) {
        world.key.emit(());
    }
    executor.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    world.text.clone()
}
