//! A visual novel in a terminal that can be saved anywhere: in the middle of a line, before a
//! choice, in the middle of a fight.
//!
//! - `story.rs` and `fight.rs` are the scripts. They contain no code for saves.
//! - `stage.rs` is the world: plain data, saved with serde.
//! - `game.rs` saves and loads. That is the file to copy.
//! - `terminal.rs` plays in a terminal, `player.rs` plays a list of inputs on virtual time.
//!
//! Enter shows the rest of a line, and continues. A number chooses. `s` saves, `q` saves and
//! quits, and the next start continues from there.

mod fight;
mod game;
#[cfg(test)]
mod patched;
mod player;
mod stage;
mod story;
mod terminal;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: framestep-novel [SAVE | --script FILE]

  SAVE           the file to save to and to go on from, `novel.save` if not given
  --script FILE  play the inputs of a file on virtual time
  --help         print this";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let played = match args[..] {
        [] => terminal::play(Path::new("novel.save")),
        ["--script", file] => play_script(Path::new(file)),
        ["--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [save] if !save.starts_with('-') => terminal::play(Path::new(save)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if let Err(error) = played {
        eprintln!("framestep-novel: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn play_script(file: &Path) -> Result<(), Box<dyn Error>> {
    let inputs = player::read(&std::fs::read_to_string(file)?)?;
    let save = std::env::temp_dir().join(format!("novel-{}.save", std::process::id()));
    let played = player::play(&inputs, &save);
    std::fs::remove_file(save).ok();
    print!("{}", played?);
    Ok(())
}
