//! The terminal: a thread reads the input, and text is printed when it becomes visible.

use std::error::Error;
use std::io::{Write, stdin, stdout};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::game::{Game, Input};
use crate::stage::Stage;
use crate::story::Choice;

/// What has been printed.
#[derive(Debug)]
pub(crate) struct Screen {
    printed: usize,
    choice: Option<Choice>,
}

impl Screen {
    /// A screen that shows the last line again.
    pub(crate) fn of(stage: &Stage) -> Self {
        Screen {
            printed: stage.line_start(),
            choice: None,
        }
    }

    /// The text to print since then.
    pub(crate) fn news(&mut self, game: &Game) -> String {
        let mut news = game.stage.visible_from(self.printed);
        self.printed = self.printed.max(game.stage.visible);
        let choice = game.choice.as_ref().map(|(_, choice)| choice);
        if self.choice.as_ref() != choice {
            let options = choice.map_or(&[][..], |choice| &choice.options);
            let options = (1..).zip(options);
            let options = options.map(|(number, option)| format!("  {number}  {option}\n"));
            news.extend(options);
            self.choice = choice.cloned();
        }
        news
    }
}

/// Plays in the terminal. The save file is written by `s` and at the end.
pub(crate) fn play(save: &Path) -> Result<(), Box<dyn Error>> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in stdin().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let mut game = Game::load(save)?;
    let mut screen = Screen::of(&game.stage);
    let mut then = Instant::now();
    while !game.stage.is_over {
        print!("{}", screen.news(&game));
        stdout().flush()?;
        thread::sleep(Duration::from_millis(16));
        match lines.try_recv() {
            Ok(line) => match line.trim() {
                "s" => drop(game.save(save)?),
                "q" => return game.save(save).map(drop),
                line => game.input(line.parse().map_or(Input::Enter, Input::Number)),
            },
            Err(mpsc::TryRecvError::Disconnected) => return game.save(save).map(drop),
            Err(mpsc::TryRecvError::Empty) => {}
        }
        let now = Instant::now();
        game.step((now - then).as_secs_f64());
        then = now;
    }
    print!("{}", screen.news(&game));
    // The story has ended: the next start begins a new game.
    std::fs::remove_file(save).ok();
    Ok(())
}
