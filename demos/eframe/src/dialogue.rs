//! The settings: a script opens a dialogue and awaits the answer.

use framestep::prelude::*;

use crate::world::{Settings, World};

pub(crate) struct Dialogue {
    /// The user's changes so far.
    pub(crate) draft: Settings,
    /// Whether to keep it.
    pub(crate) answered: Signal<bool>,
    /// How far it has faded in, from 0 to 1.
    pub(crate) shown: f32,
}

pub(crate) async fn settings() {
    let present = with_ref(|world: &World| world.settings);
    match ask(present).await {
        Some(settings) if settings != present => with(|world: &mut World| {
            world.apply(settings);
            world.toast("The settings have changed".to_owned());
        }),
        _ => {}
    }
}

/// Opens the dialogue. Returns the user's version of `draft`, or `None` if they
/// cancelled.
async fn ask(draft: Settings) -> Option<Settings> {
    let answered = Signal::new().named("answer");
    // Counts from here: a click while it fades in is not lost.
    let answer = answered.wait();
    with(|world: &mut World| {
        world.dialogue = Some(Dialogue {
            draft,
            answered,
            shown: 0.0,
        });
    });
    fade(0.0, 1.0).await;
    let keep = answer.await;
    fade(1.0, 0.0).await;
    let dialogue = with(|world: &mut World| world.dialogue.take());
    dialogue.filter(|_| keep).map(|dialogue| dialogue.draft)
}

async fn fade(from: f32, to: f32) {
    animate(0.15, |t| {
        with(|world: &mut World| {
            if let Some(dialogue) = &mut world.dialogue {
                dialogue.shown = from + (to - from) * t;
            }
        });
    })
    .await;
}
