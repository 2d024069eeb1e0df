//! `trace` prints the trace of the scene. `save DIR` plays the game, and writes its saves into
//! a folder. `load DIR` loads each save of a folder and plays to the end: what it saves on the
//! way must be the later files, byte for byte. `run.mjs` does the same on WebAssembly.

use std::path::Path;
use std::{env, fs, io};

use framestep_wasm::saves::Play;
use framestep_wasm::{patched, scene};

fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["trace"] => {
            print!("{}", scene::trace());
            assert!(
                patched::divergences_are_errors(),
                "a changed script is no error"
            );
        }
        ["save", folder] => save(Path::new(folder))?,
        ["load", folder] => load(Path::new(folder))?,
        _ => panic!("usage: trace | save DIR | load DIR"),
    }
    Ok(())
}

/// All that a game saves from now on.
fn rest(mut play: Play) -> Vec<Vec<u8>> {
    let mut files = vec![play.save()];
    while play.play_on() {
        files.push(play.save());
    }
    files
}

fn save(folder: &Path) -> io::Result<()> {
    for (number, file) in (10..).zip(rest(Play::new())) {
        fs::write(folder.join(format!("{number}.save")), file)?;
    }
    Ok(())
}

fn load(folder: &Path) -> io::Result<()> {
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    let files = paths.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    for (from, file) in files.iter().enumerate() {
        let play = Play::load(file).unwrap_or_else(|error| panic!("{:?}: {error}", paths[from]));
        let rest = rest(play);
        let differs = (0..)
            .zip(&rest)
            .find(|(at, file)| files.get(from + at) != Some(file));
        if let Some((at, _)) = differs {
            panic!(
                "loaded from {:?}, the game differs {at} saves later",
                paths[from]
            );
        }
        assert_eq!(from + rest.len(), files.len(), "{:?}", paths[from]);
    }
    Ok(())
}
