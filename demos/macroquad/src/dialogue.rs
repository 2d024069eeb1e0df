//! Dialogue: text that is typed, and choices.

use framestep::prelude::*;
use macroquad::prelude::*;

use crate::input::Key;
use crate::numbers::{count, real};
use crate::world::World;

/// The content of the dialogue's box.
#[derive(Default)]
pub(crate) struct Speech {
    pub(crate) speaker: &'static str,
    pub(crate) text: &'static str,
    /// How many letters of the text have been typed.
    pub(crate) typed: usize,
    /// The whole text is typed: it waits for the player.
    pub(crate) waits: bool,
    pub(crate) choices: &'static [&'static str],
    pub(crate) chosen: usize,
}

/// While there is one, the box is open and the foes stand still.
struct Open {
    foes: Clock,
}

impl Open {
    fn new(speech: Speech) -> Self {
        with(|world: &mut World| {
            world.speech = Some(speech);
            world.clocks.drama.pause();
            Open {
                foes: world.clocks.drama.clone(),
            }
        })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.foes.resume();
        with_deferred(|world: &mut World| world.speech = None);
    }
}

fn with_speech<R>(f: impl FnOnce(&mut Speech) -> R) -> R {
    with(|world: &mut World| f(world.speech.get_or_insert_default()))
}

async fn key() -> Key {
    with_ref(|world: &World| world.keys.wait()).await
}

async fn confirm() {
    while key().await != Key::Confirm {}
}

/// Types the text; a key shows the rest at once.
async fn type_out(text: &str) {
    let letters = real(text.len());
    let typing = animate(letters / 45.0, |t| {
        with_speech(|speech| speech.typed = count(t * letters));
    });
    select! {
        () = typing => {}
        () = confirm() => with_speech(|speech| speech.typed = text.len()),
    }
    with_speech(|speech| speech.waits = true);
}

/// Shows a text until the player has read it.
pub(crate) async fn say(speaker: &'static str, text: &'static str) {
    let _open = Open::new(Speech {
        speaker,
        text,
        ..Speech::default()
    });
    type_out(text).await;
    confirm().await;
}

/// Asks, and returns the player's choice.
pub(crate) async fn ask(
    speaker: &'static str,
    text: &'static str,
    choices: &'static [&'static str],
) -> usize {
    let _open = Open::new(Speech {
        speaker,
        text,
        choices,
        ..Speech::default()
    });
    type_out(text).await;
    let last = choices.len() - 1;
    let mut chosen = 0;
    loop {
        match key().await {
            Key::Confirm => return chosen,
            key => chosen = key.choose(chosen, last),
        }
        with_speech(|speech| speech.chosen = chosen);
    }
}
