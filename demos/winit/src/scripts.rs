//! Everything that moves by itself.

use std::fs;
use std::thread;

use framestep::prelude::*;
use futures::channel::oneshot;

use crate::proofread::proofread;
use crate::world::{Button, Card, Saving, World};

/// Blinks while the window has the keyboard. Without it, this script sleeps.
pub(crate) async fn blink() {
    let (focused, typed) = with_ref(|world: &World| (world.focused.clone(), world.typed.clone()));
    loop {
        focused.wait_for(|focused| *focused).await;
        for shows in [true, false] {
            with(|world: &mut World| world.shows_cursor = shows);
            select! {
                () = wait_seconds(0.5) => {}
                // Begins again, so that the cursor is visible during typing.
                () = typed.wait() => break,
                _ = focused.wait_for(|focused| !focused) => break,
            }
        }
    }
}

/// Saves the text after a second without typing.
pub(crate) async fn autosave() {
    // A subscription misses no key, not even one typed while a thread writes.
    let mut keys = with_ref(|world: &World| world.typed.subscribe());
    while keys.next().await.is_some() {
        note(Saving::Edited);
        // Each key restarts the second.
        while timeout(1, keys.next()).await.is_ok() {}

        note(Saving::Writing);
        let (path, text) = with_ref(|world: &World| (world.path.clone(), world.text.clone()));
        match on_thread(move || fs::write(path, text)).await {
            Ok(()) => note(Saving::Saved),
            Err(error) => note(Saving::Failed(error.to_string())),
        }
        start(animate(0.8, |t| {
            with(|world: &mut World| world.saving_glow = 1.0 - t);
        }))
        .named("saved");
    }
}

fn note(saving: Saving) {
    with(|world: &mut World| world.saving.set(saving));
}

/// Calls `f` on a separate thread and waits for the result.
async fn on_thread<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let (answer, answered) = oneshot::channel();
    // An error means that the script was stopped.
    thread::spawn(move || drop(answer.send(f())));
    answered.await.expect("the thread does not panic")
}

pub(crate) async fn buttons() {
    let mut clicks = with_ref(|world: &World| world.clicked.subscribe());
    while let Some(button) = clicks.next().await {
        start(glow(button)).named("glow");
        match button {
            Button::Proofread => start_proofreader(),
            Button::Light => drop(start(fade()).named("fade")),
        }
    }
}

async fn glow(button: Button) {
    animate(0.5, |t| {
        with(|world: &mut World| world.button_glow[button as usize] = 1.0 - t);
    })
    .await;
}

/// From dark to light, or back.
async fn fade() {
    let from = with_ref(|world: &World| world.light);
    let to = if from < 0.5 { 1.0 } else { 0.0 };
    animate(0.8, |t| {
        // Slow at both ends.
        let eased = t * t * (3.0 - 2.0 * t);
        with(|world: &mut World| world.light = from + (to - from) * eased);
    })
    .await;
}

/// The thread answers several times, through a [`RemoteHandle`](framestep::task::RemoteHandle).
fn start_proofreader() {
    with(|world: &mut World| {
        if world.proofreading.get().is_some() {
            return;
        }
        world.marks.clear();
        world.proofreading.set(Some(0.0));
        let (text, remote) = (world.text.clone(), world.remote.clone());
        thread::spawn(move || proofread(&text, &remote));
    });
}

/// Shows a card in the place of the one before.
pub(crate) fn announce(text: String) {
    with(|world: &mut World| {
        world.cards.stop_all();
        world.cards.start(card(text)).named("card");
    });
}

async fn card(text: String) {
    with(|world: &mut World| world.card = Some(Card { text, shown: 0.0 }));
    let slide = |shown: f32| {
        with(|world: &mut World| {
            if let Some(card) = &mut world.card {
                card.shown = shown;
            }
        });
    };
    animate(0.3, |t| slide(1.0 - (1.0 - t) * (1.0 - t))).await;
    wait_seconds(3).await;
    animate(0.3, |t| slide(1.0 - t * t)).await;
    with(|world: &mut World| world.card = None);
}
