//! Plays a list of inputs on virtual time.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use crate::game::{Game, Input};
use crate::terminal::Screen;

/// The length of a frame in seconds: exact in binary, about 30 frames a second.
pub(crate) const FRAME: f64 = 1.0 / 32.0;

/// An input after this many frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cue {
    pub(crate) frames: u32,
    pub(crate) act: Act,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Input(Input),
    Save,
    /// The game is killed, and starts again from its file.
    Kill,
}

/// Reads lines such as `1.5 enter`: a time to wait in seconds, and an input.
pub(crate) fn read(script: &str) -> Result<Vec<Cue>, Box<dyn Error>> {
    let lines = script
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""));
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines.map(read_line).collect()
}

fn read_line(line: &str) -> Result<Cue, Box<dyn Error>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [seconds, act] = words[..] else {
        return Err(format!("not a time and an input: `{line}`").into());
    };
    let act = match act {
        "enter" => Act::Input(Input::Enter),
        "save" => Act::Save,
        "kill" => Act::Kill,
        number => Act::Input(Input::Number(number.parse()?)),
    };
    let frames = seconds.parse::<f64>()? / FRAME;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "few frames"
    )]
    Ok(Cue {
        frames: frames.round() as u32,
        act,
    })
}

/// Plays, and returns what was printed.
pub(crate) fn play(cues: &[Cue], save: &Path) -> Result<String, Box<dyn Error>> {
    let mut game = Game::new();
    let mut screen = Screen::of(&game.stage);
    let mut printed = String::new();
    for cue in cues {
        for _ in 0..cue.frames {
            game.step(FRAME);
            printed += &screen.news(&game);
        }
        match cue.act {
            Act::Input(input) => game.input(input),
            Act::Save => {
                let length = game.save(save)?;
                writeln!(printed, "[saved: {length} bytes]")?;
            }
            Act::Kill => {
                game = Game::load(save)?;
                screen = Screen::of(&game.stage);
                printed += "[killed, and started again]\n";
                printed += &screen.news(&game);
            }
        }
    }
    Ok(printed)
}
