//! The player's typing, and the end of completely typed words.

use framestep::prelude::*;

use crate::word::Word;
use crate::world::{Key, Sparks, World};

pub(crate) async fn words() {
    let mut keys = with_ref(|world: &World| world.keys.subscribe());
    while let Some(key) = keys.next().await {
        if let Key::Letter(letter) = key {
            with(|world: &mut World| hit(world, letter));
        }
    }
}

/// Types a letter of the target. Without one, of the lowest word that begins with it.
fn hit(world: &mut World, letter: char) {
    let id = world.target.or_else(|| {
        let words = world
            .words
            .iter()
            .filter(|word| word.next() == Some(letter));
        words.max_by_key(|word| word.y).map(|word| word.id)
    });
    let Some(word) = world.words.iter_mut().find(|word| Some(word.id) == id) else {
        return;
    };
    if word.next() != Some(letter) {
        return;
    }
    word.typed += 1;
    let (id, is_whole) = (word.id, word.next().is_none());
    world.target = Some(id);
    if is_whole {
        if let Some(word) = world.remove(id) {
            world.score += 10 * word.text.len();
            spray(world, &word);
        }
    }
}

impl Word {
    /// The letter to type next.
    pub(crate) fn next(&self) -> Option<char> {
        self.text[self.typed..].chars().next()
    }
}

fn spray(world: &mut World, word: &Word) {
    let id = world.new_id();
    world.sparks.push(Sparks {
        id,
        x: word.x,
        y: word.y,
        width: word.text.len(),
        age: 0,
    });
    world.scripts.start(async move {
        for age in 0..4 {
            with(|world: &mut World| {
                for sparks in world.sparks.iter_mut().filter(|sparks| sparks.id == id) {
                    sparks.age = age;
                }
            });
            wait_seconds(0.08).await;
        }
        with(|world: &mut World| world.sparks.retain(|sparks| sparks.id != id));
    });
}
