//! The game: a step, saving, loading.

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;

use framestep_durable::prelude::*;

use crate::fight::{fight, torch};
use crate::stage::Stage;
use crate::story::scenes;
use crate::story::{Choice, ENTER};

#[derive(Debug)]
pub(crate) struct Game {
    pub(crate) stage: Stage,
    runtime: Runtime,
    /// The open choice of the player.
    pub(crate) choice: Option<(RequestId<Choice>, Choice)>,
}

/// What the player does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Enter,
    /// The number of an option, from 1.
    Number(usize),
}

fn registry() -> Registry {
    Registry::new()
        .script(scenes::gate)
        .script(fight)
        .script(torch)
        .for_build(env!("CARGO_PKG_VERSION"))
}

impl Game {
    /// A new game.
    pub(crate) fn new() -> Self {
        let mut game = Game::empty(Stage::default());
        let Game { stage, runtime, .. } = &mut game;
        runtime.lend(stage, |runtime| runtime.start(scenes::gate()).detach());
        game
    }

    fn empty(stage: Stage) -> Self {
        Game {
            stage,
            runtime: Runtime::new(registry()),
            choice: None,
        }
    }

    /// Moves on by `dt` seconds.
    pub(crate) fn step(&mut self, dt: f64) {
        self.runtime.run_frame_with(&mut self.stage, dt);
        if let Some(asked) = self.runtime.requests().pop() {
            self.choice = Some(asked);
        }
    }

    pub(crate) fn input(&mut self, input: Input) {
        match input {
            Input::Enter => self.runtime.named(&ENTER).emit(()),
            Input::Number(number) => {
                let is_option =
                    |asked: &mut (_, Choice)| (1..=asked.1.options.len()).contains(&number);
                if let Some((id, _)) = self.choice.take_if(is_option) {
                    self.runtime.answer(id, &(number - 1));
                }
            }
        }
    }

    /// The game as a file: the world, and beside it the scripts at their current waits.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, SaveError> {
        Ok(self.runtime.save()?.to_bytes_with(&self.stage))
    }

    /// Reads a game from a file.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, RestoreError> {
        let (scripts, stage) = SaveState::from_bytes_with(bytes)?;
        let mut game = Game::empty(stage);
        // A scene whose code has changed since is restarted.
        game.runtime.restore(&scripts, Policy::Restart)?;
        // An open choice is asked again.
        game.choice = game.runtime.requests().pop();
        Ok(game)
    }

    /// Saves. There is a complete file at any time, the old one or the new one.
    pub(crate) fn save(&self, path: &Path) -> Result<usize, Box<dyn Error>> {
        let bytes = self.to_bytes()?;
        let new = path.with_extension("new");
        fs::write(&new, &bytes)?;
        fs::rename(new, path)?;
        Ok(bytes.len())
    }

    /// Loads, or begins a new game if there is no file.
    pub(crate) fn load(path: &Path) -> Result<Self, Box<dyn Error>> {
        match fs::read(path) {
            Ok(bytes) => Ok(Self::from_bytes(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::new()),
            Err(error) => Err(error.into()),
        }
    }
}
