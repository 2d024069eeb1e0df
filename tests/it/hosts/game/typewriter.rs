//! A text box that types its text, until a key shows the rest.

use framestep::prelude::*;

use super::Game;

#[derive(Default)]
struct World {
    key_pressed: bool,
    text: String,
}

fn key_pressed() -> bool {
    with_ref(|world: &World| world.key_pressed)
}

/// Shows `text` until a key closes the box.
async fn text_box(text: &str) {
    select! {
        () = wait_until(key_pressed) => {}
        () = type_out(text) => {}
    }
    with(|world: &mut World| world.text = text.to_string());
    wait_until(key_pressed).await;
    with(|world: &mut World| world.text.clear());
}

async fn type_out(text: &str) {
    let mut keys = interval(0.25);
    for letter in text.chars() {
        with(|world: &mut World| world.text.push(letter));
        keys.tick().await;
    }
}

async fn talk() {
    text_box("Hello").await;
    text_box("Bye").await;
}

/// How many letters stand in the box, frame by frame; `K` is a key.
fn letters(keys: &str) -> String {
    let mut game = Game::new(World::default());
    game.executor.spawn(talk());
    game.film(
        keys,
        |world, key| world.key_pressed = key == 'K',
        |world| char::from(b"012345"[world.text.len()]),
    )
}

#[test]
fn a_key_shows_the_rest_and_another_one_continues() {
    //                   Hello     Bye
    assert_eq!(letters("..K..K....K."), "125551233300");
}

#[test]
fn without_a_key_the_text_types_itself_and_waits() {
    assert_eq!(letters(".........K"), "1234555551");
}
