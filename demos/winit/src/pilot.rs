//! The user of the demo: types, clicks, waits, and checks the results.

use std::fs;
use std::future::Future;
use std::time::Duration;

use framestep::prelude::*;

use crate::world::{Button, Edit, Saving, World};

const NOTES: &str = "\
Notes on a window that sleeps

The cursor blinks, twice a second: that is all
that runs now. When you stop to type, the
the notes are saved by a thread. A click on
Proofread sends them to another thread,
which finds words that are are written twice.";

/// No answer of a thread takes this long, on any machine.
const TOO_LONG: Duration = Duration::from_secs(600);

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
    // Nothing blinks: the answer of the thread must end the sleep.
    set_focus(false);
    let saving = with_ref(|world: &World| world.saving.clone());
    soon(saving.wait_for(|saving| *saving == Saving::Saved)).await;
    let path = with_ref(|world: &World| world.path.clone());
    let saved = fs::read_to_string(path).expect("the file is there");
    assert_eq!(saved, NOTES);
}

/// Still without the keyboard, so the only timer is that of this script.
async fn sleep_without_a_timer() {
    wait_seconds(1).await; // the fade of the sign has ended
    let before = time().frame;
    wait_seconds(1.5).await;
    assert_eq!(time().frame, before + 1, "frames while asleep");
}

async fn sleep_between_blinks() {
    set_focus(true);
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
    set_focus(false);
    click(Button::Proofread);
    let proofreading = with_ref(|world: &World| world.proofreading.clone());
    // The script of the button has set it in this frame, before the thread could.
    proofreading.wait_for(Option::is_some).await;
    let nearly = proofreading.wait_for(|share| share.is_none_or(|share| share > 0.8));
    soon(nearly).await;
    take_picture("proofreading").await;
    soon(proofreading.wait_for(Option::is_none)).await;
    let marks = with_ref(|world: &World| world.marks.clone());
    let found: Vec<&str> = marks.into_iter().map(|mark| &NOTES[mark]).collect();
    assert_eq!(found, ["the", "are"]);
    wait_seconds(0.75).await; // the card has slid in
    take_picture("answer").await;
}

async fn fade() {
    set_focus(true);
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

/// Waits for an answer of a thread. Without its wake, this would time out.
async fn soon<T>(answer: impl Future<Output = T>) {
    let began = time().elapsed;
    let result = timeout(TOO_LONG, answer).await;
    result.expect("the thread answers");
    assert!(
        time().elapsed < began + TOO_LONG,
        "the answer wakes the loop"
    );
}

fn set_focus(focused: bool) {
    with(|world: &mut World| world.focused.set(focused));
}

fn click(button: Button) {
    with(|world: &mut World| world.clicked.emit(button));
}

/// Requests a picture of this frame from the host.
async fn take_picture(name: &'static str) {
    with(|world: &mut World| world.pictures.push(name));
    wait_seconds(0.1).await;
}
