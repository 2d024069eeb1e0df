//! Saves at every moment.

use crate::game::{Game, Input};
use crate::player::{self, Act, Cue, FRAME};
use crate::stage::Stage;

fn demo() -> Vec<Cue> {
    let cues = player::read(include_str!("../demo.txt")).unwrap();
    let cues = cues.into_iter();
    cues.filter(|cue| matches!(cue.act, Act::Input(_)))
        .collect()
}

/// Plays the inputs of the demo, and calls `between` after every frame with its number.
fn play(mut between: impl FnMut(u32, &mut Game)) -> Stage {
    let mut game = Game::new();
    let mut frame = 0;
    for cue in demo() {
        for _ in 0..cue.frames {
            game.step(FRAME);
            between(frame, &mut game);
            frame += 1;
        }
        if let Act::Input(input) = cue.act {
            game.input(input);
        }
    }
    game.stage
}

#[test]
fn a_game_that_is_saved_and_killed_after_every_frame_ends_like_one_that_is_not() {
    let expected = play(|_, _| ());
    assert!(expected.is_over && expected.text.contains("follows you home"));
    let stage = play(|_, game| {
        *game = Game::from_bytes(&game.to_bytes().unwrap()).unwrap();
    });
    assert_eq!(stage, expected);
}

#[test]
fn an_open_choice_is_asked_again_after_a_load() {
    let mut game = Game::new();
    for _ in 0..3 {
        game.input(Input::Enter);
        game.step(FRAME);
    }
    let asked = game.choice.clone();
    assert!(asked.is_some());
    let loaded = Game::from_bytes(&game.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.choice, asked);
}

#[test]
fn a_truncated_or_changed_file_is_an_error() {
    let mut game = Game::new();
    game.step(FRAME);
    let bytes = game.to_bytes().unwrap();
    for len in 0..bytes.len() {
        assert!(Game::from_bytes(&bytes[..len]).is_err(), "{len} bytes");
        let mut changed = bytes.clone();
        changed[len] ^= 4;
        assert!(Game::from_bytes(&changed).is_err(), "byte {len}");
    }
}
