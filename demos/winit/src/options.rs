//! The command line.

use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Usage: framestep-winit [--demo DIR] [FILE]

  FILE        where the notes are saved; by default in the folder for temporary files
  --demo DIR  play by itself for some seconds, check what came of it, and put pictures
              into DIR
  --help      print this";

#[derive(Default)]
pub(crate) struct Options {
    pub(crate) demo: Option<PathBuf>,
    pub(crate) file: Option<PathBuf>,
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
                _ if arg.starts_with('-') => return Err(format!("unknown argument `{arg}`")),
                _ => options.file = Some(arg.into()),
            }
        }
        Ok(options)
    }

    /// The file that the notes are saved in.
    pub(crate) fn notes(&self) -> PathBuf {
        match (&self.demo, &self.file) {
            (Some(folder), _) => folder.join("notes.txt"),
            (None, Some(file)) => file.clone(),
            (None, None) => std::env::temp_dir().join("framestep-notes.txt"),
        }
    }
}
