//! The state of the game, which the host lends to the scripts.

use framestep::prelude::*;

use crate::boss::Boss;
use crate::word::{Random, Word};

pub(crate) const LIVES: usize = 3;
/// The row that words land on.
pub(crate) const GROUND: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Letter(char),
    Enter,
    Escape,
    Up,
    Down,
    Quit,
}

/// Text in the middle of the screen.
pub(crate) struct Banner {
    pub(crate) title: String,
    pub(crate) text: String,
    /// How much of the title has been written, from 0 to 1.
    pub(crate) shown: f32,
}

/// The remains of a word, shown for a moment.
pub(crate) struct Sparks {
    pub(crate) id: u64,
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) width: usize,
    pub(crate) age: usize,
}

pub(crate) struct Menu {
    pub(crate) chosen: usize,
}

pub(crate) struct World {
    /// Owns all scripts of a game: a new game stops them, the menu pauses them.
    pub(crate) scripts: Owner,
    /// What is typed.
    pub(crate) keys: Signal<Key>,
    /// The keys of the menu, and the one that opens it.
    pub(crate) menu_keys: Signal<Key>,
    pub(crate) restart: Signal<()>,
    pub(crate) words: Vec<Word>,
    /// The word that is being typed.
    pub(crate) target: Option<u64>,
    /// How many words are on the screen.
    pub(crate) left: Watch<usize>,
    pub(crate) sparks: Vec<Sparks>,
    pub(crate) boss: Option<Boss>,
    pub(crate) banner: Option<Banner>,
    pub(crate) menu: Option<Menu>,
    pub(crate) lives: Watch<usize>,
    /// Whether a life has just been lost.
    pub(crate) is_hurt: bool,
    pub(crate) score: usize,
    pub(crate) wave: Watch<usize>,
    pub(crate) random: Random,
    next_id: u64,
    /// Screens to print after this frame: for the demo.
    pub(crate) pictures: Vec<&'static str>,
    /// The terminal has another size.
    pub(crate) is_resized: bool,
    pub(crate) is_over: bool,
}

impl World {
    pub(crate) fn new(executor: &Executor, seed: u64) -> Self {
        World {
            scripts: executor.owner(),
            keys: Signal::new().named("key"),
            menu_keys: Signal::new().named("menu key"),
            restart: Signal::new().named("restart"),
            words: Vec::new(),
            target: None,
            left: Watch::new(0).named("words left"),
            sparks: Vec::new(),
            boss: None,
            banner: None,
            menu: None,
            lives: Watch::new(LIVES).named("lives"),
            is_hurt: false,
            score: 0,
            wave: Watch::new(0).named("wave"),
            random: Random::new(seed),
            next_id: 0,
            pictures: Vec::new(),
            is_resized: false,
            is_over: false,
        }
    }

    /// Ends what is left of a game.
    pub(crate) fn clear(&mut self) {
        self.scripts.stop_all();
        self.words.clear();
        self.left.set(0);
        self.target = None;
        self.sparks.clear();
        self.boss = None;
        self.banner = None;
        self.is_hurt = false;
    }

    /// Passes a key on to the menu, or to the game.
    pub(crate) fn press(&mut self, key: Key) {
        match key {
            Key::Quit => self.is_over = true,
            _ if self.menu.is_some() || key == Key::Escape => self.menu_keys.emit(key),
            _ => self.keys.emit(key),
        }
    }

    pub(crate) fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Takes a word off the screen. Its script ends with it.
    pub(crate) fn remove(&mut self, id: u64) -> Option<Word> {
        if self.target == Some(id) {
            self.target = None;
        }
        let index = self.words.iter().position(|word| word.id == id)?;
        let word = self.words.remove(index);
        self.left.set(self.words.len());
        Some(word)
    }
}
