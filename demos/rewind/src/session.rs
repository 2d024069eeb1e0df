//! A running game, with its past, the place of its save, and a line for the player.

use std::error::Error;
use std::fmt::Display;

use crate::game::Game;
use crate::history::History;
use crate::platform::{Store, tell};
use crate::world::Push;

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) game: Game,
    pub(crate) history: History,
    pub(crate) notice: Option<Notice>,
    store: Store,
}

/// What the player reads after a save or a load.
#[derive(Debug)]
pub(crate) struct Notice {
    pub(crate) words: String,
    pub(crate) is_bad: bool,
    frames_left: u16,
}

impl Notice {
    /// From 1 to 0, as it fades.
    pub(crate) fn strength(&self) -> f32 {
        (f32::from(self.frames_left) / 60.0).min(1.0)
    }
}

impl Session {
    /// Continues the game that was saved, or begins a new one.
    pub(crate) fn begin(store: Store) -> Self {
        let mut session = Session {
            game: Game::new(1),
            history: History::default(),
            notice: None,
            store,
        };
        match session.saved() {
            Ok(Some(game)) => session.go_on_with(game, "continued"),
            Ok(None) => {}
            Err(error) => session.complain("cannot continue", &error),
        }
        session
    }

    pub(crate) fn step(&mut self, push: Push) {
        self.history.note(&self.game);
        self.game.step(push);
    }

    /// Goes back by a step. Returns `false` if nothing earlier is remembered.
    pub(crate) fn rewind(&mut self) -> bool {
        self.history.rewind(&mut self.game)
    }

    pub(crate) fn save(&mut self) {
        let saved = self.game.to_bytes().and_then(|file| {
            self.store.write(&file)?;
            Ok(file.len())
        });
        match saved {
            Ok(length) => self.say(format!(
                "saved at step {}: {length} bytes in {}",
                self.game.steps(),
                self.store
            )),
            Err(error) => self.complain("cannot save", &error),
        }
    }

    pub(crate) fn load(&mut self) {
        match self.saved() {
            Ok(Some(game)) => self.go_on_with(game, "loaded"),
            Ok(None) => self.complain("cannot load", &"there is no save yet"),
            Err(error) => self.complain("cannot load", &error),
        }
    }

    pub(crate) fn begin_anew(&mut self) {
        self.game = Game::new(1);
        self.history = History::default();
        self.say("a new game; the save is still there".to_owned());
    }

    /// The notice fades.
    pub(crate) fn end_frame(&mut self) {
        self.notice = self.notice.take().filter(|notice| notice.frames_left > 1);
        if let Some(notice) = &mut self.notice {
            notice.frames_left -= 1;
        }
    }

    fn saved(&self) -> Result<Option<Game>, Box<dyn Error>> {
        let file = self.store.read()?;
        file.map(|file| Game::from_bytes(&file)).transpose()
    }

    fn go_on_with(&mut self, game: Game, what: &str) {
        self.game = game;
        // Save states belong to the runtime that took them.
        self.history = History::default();
        self.say(format!(
            "{what} from {}, at step {}",
            self.store,
            self.game.steps()
        ));
    }

    fn complain(&mut self, what: &str, why: &dyn Display) {
        self.notify(format!("{what}: {why}"), true);
    }

    fn say(&mut self, words: String) {
        self.notify(words, false);
    }

    fn notify(&mut self, words: String, is_bad: bool) {
        tell(&words);
        self.notice = Some(Notice {
            words,
            is_bad,
            frames_left: 300,
        });
    }
}
