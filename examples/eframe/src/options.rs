//! The command line.

use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Usage: framestep-eframe [--demo DIR]

  --demo DIR  play by itself for some seconds, check what came of it, and put pictures
              into DIR
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
