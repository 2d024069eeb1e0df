//! The player of the demo, and its virtual time: only the time that the scripts wait for
//! passes.

use std::time::Duration;

use framestep::prelude::*;

use crate::game::Game;
use crate::world::{Key, World};

const SEED: u64 = 2_026;

/// A limit beyond the end of the demo, which spends an hour behind the menu.
const LONGEST: Duration = Duration::from_secs(2 * 3_600);

/// Plays a game on virtual time and prints some screens.
pub(crate) fn demo() {
    let mut game = Game::new(SEED);
    game.executor.spawn(play()).named("pilot");
    while !game.world.is_over {
        // The loop of the terminal sleeps for so long; here that much passes at once.
        let dt = game.next_frame().expect("the pilot waits for a time");
        game.step(dt);
        assert!(game.executor.time().elapsed < LONGEST, "the pilot is lost");
        for name in std::mem::take(&mut game.world.pictures) {
            println!("{name}, {:.2?}\n", game.executor.time().elapsed);
            println!("{}", game.screen());
        }
    }
}

/// How long a key takes.
const KEY: f32 = 0.125;

async fn play() {
    wait_seconds(1).await;
    take_picture("The title").await;
    press(Key::Enter).await;

    let (wave, lives) = with_ref(|world: &World| (world.wave.clone(), world.lives.clone()));
    let typist = start(type_on()).named("typist").stop_on_drop();
    wave.wait_for(|wave| *wave == 2).await;
    wait_seconds(5).await;
    take_picture("The second wave").await;

    typist.pause();
    look_at_the_menu().await;
    typist.resume();

    // It looks away until a word has landed.
    wave.wait_for(|wave| *wave == 3).await;
    typist.pause();
    lives.changed().await;
    take_picture("The third wave").await;
    typist.resume();

    let (mut half, mut whole) = (false, false);
    while !whole {
        wait_seconds(KEY).await;
        let sentence = with_ref(|world: &World| world.boss.as_ref().map(|boss| boss.sentence));
        match sentence {
            Some(sentence) if !half && sentence.starts_with("every") => {
                half = true;
                wait_seconds(3).await;
                take_picture("The last line").await;
            }
            Some(_) => {}
            None => whole = half,
        }
    }
    wait_seconds(1).await;
    take_picture("The end").await;
    with(|world: &mut World| world.is_over = true);
}

/// Nothing happens behind the menu, however long it is open.
async fn look_at_the_menu() {
    let rows = || -> Vec<usize> {
        with_ref(|world: &World| world.words.iter().map(|word| word.y).collect())
    };
    press(Key::Escape).await;
    press(Key::Down).await;
    take_picture("The menu").await;
    let (before, frame) = (rows(), time().frame);
    wait_seconds(3_600).await;
    assert_eq!(time().frame, frame + 1, "frames behind the menu");
    assert_eq!(rows(), before);
    press(Key::Up).await;
    press(Key::Enter).await;
}

/// Types the next letter.
async fn type_on() {
    loop {
        wait_seconds(KEY).await;
        with(|world: &mut World| {
            if let Some(letter) = next_letter(world) {
                world.press(Key::Letter(letter));
            }
        });
    }
}

/// The next letter of the boss's sentence, else of the word being typed, else of the
/// lowest word.
fn next_letter(world: &World) -> Option<char> {
    if let Some(boss) = &world.boss {
        return boss.sentence[boss.typed..].chars().next();
    }
    let target = world
        .words
        .iter()
        .find(|word| Some(word.id) == world.target);
    let lowest = || world.words.iter().max_by_key(|word| word.y);
    target.or_else(lowest)?.next()
}

async fn press(key: Key) {
    with(|world: &mut World| world.press(key));
    wait_seconds(KEY).await;
}

/// Requests a print of the screen after this frame.
async fn take_picture(name: &'static str) {
    with(|world: &mut World| world.pictures.push(name));
    next_frame().await;
}
