//! The command line. In a browser there is none.

use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Usage: framestep-macroquad [--demo DIR]

  --demo DIR  play by itself, on frames of a 60th of a second, put pictures
              into DIR, print figures and end
  --help      print this";

#[derive(Default)]
pub(crate) struct Options {
    pub(crate) demo: Option<PathBuf>,
    pub(crate) help: bool,
}

impl Options {
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options::default();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--demo" => {
                    let folder = args.next().ok_or("`--demo` needs a folder")?;
                    options.demo = Some(folder.into());
                }
                "--help" | "-h" => options.help = true,
                _ => return Err(format!("unknown argument `{arg}`")),
            }
        }
        Ok(options)
    }
}
