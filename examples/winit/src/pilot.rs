//! The user of the demo: types, clicks, waits, and checks what came of it.

use std::fs;

use framestep::prelude::*;

use crate::world::{Button, Edit, Saving, World};

const NOTES: &str = "\
Notes on a window that sleeps

The cursor blinks, twice a second: that is all
that runs now. When you stop to type, the
the notes are saved by a thread. A click on
Proofread sends them to another thread,
which finds words that are are written twice.";

/// No step of the demo takes this long, in seconds, on any machine.
const TOO_LONG: i32 = 30;

pub(crate) async fn play() {
    write().await;
    sleep_without_a_timer().await;
    sleep_between_blinks().await;
    proofread().await;
    fade().await;
    with(|world: &mut World| world.is_over = true);
}

async fn write() {
    wait_seconds(0.25).await;
    for character in NOTES.chars() {
        let text = Edit::Insert(character.to_string());
        with(|world: &mut World| world.edit(&text));
        wait_seconds(0.01).await;
    }
    let saving = with_ref(|world: &World| world.saving.clone());
    let saved = saving.wait_for(|saving| *saving == Saving::Saved);
    timeout(TOO_LONG, saved).await.expect("the autosave writes");
    let path = with_ref(|world: &World| world.path.clone());
    let saved = fs::read_to_string(path).expect("the file is there");
    assert_eq!(saved, NOTES);
}

/// Without the keyboard there is no blinking: the only timer is that of this script.
async fn sleep_without_a_timer() {
    with(|world: &mut World| world.focused.set(false));
    wait_seconds(1).await; // the fade of the sign has ended
    let before = time().frame;
    wait_seconds(1.5).await;
    assert_eq!(time().frame, before + 1, "frames while asleep");
}

async fn sleep_between_blinks() {
    with(|world: &mut World| world.focused.set(true));
    let before = time().frame;
    wait_seconds(2.25).await;
    // One for each change of the cursor. They are fewer if the machine is busy.
    let frames = time().frame - before;
    assert!(
        (1..=6).contains(&frames),
        "{frames} frames in 2.25 s of blinking"
    );
    take_picture("asleep").await;
}

async fn proofread() {
    click(Button::Proofread);
    let proofreading = with_ref(|world: &World| world.proofreading.clone());
    let half = proofreading.wait_for(|share| share.is_some_and(|share| share > 0.8));
    timeout(TOO_LONG, half).await.expect("the thread reports");
    take_picture("proofreading").await;
    let done = proofreading.wait_for(Option::is_none);
    timeout(TOO_LONG, done).await.expect("the thread answers");
    let marks = with_ref(|world: &World| world.marks.clone());
    let found: Vec<&str> = marks.into_iter().map(|mark| &NOTES[mark]).collect();
    assert_eq!(found, ["the", "are"]);
    wait_seconds(0.75).await; // the card has slid in
    take_picture("answer").await;
}

async fn fade() {
    click(Button::Light);
    wait_seconds(0.4).await;
    take_picture("fade").await;
    wait_seconds(1.5).await;
    assert!(
        with_ref(|world: &World| world.light) > 0.99,
        "the fade ends"
    );
    take_picture("light").await;
}

fn click(button: Button) {
    with(|world: &mut World| world.clicked.emit(button));
}

/// Has the host take a picture of this frame.
async fn take_picture(name: &'static str) {
    with(|world: &mut World| world.pictures.push(name));
    wait_seconds(0.1).await;
}
