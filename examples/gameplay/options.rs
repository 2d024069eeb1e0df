//! The command line.

pub(crate) const USAGE: &str = "\
Usage: gameplay [--headless] [--fps N]

  --headless  run on virtual time, at once; prints the same bytes every time
  --fps N     frames a second, 4 to 1000 (60)
  --help      print this";

pub(crate) struct Options {
    pub(crate) headless: bool,
    pub(crate) fps: u32,
    pub(crate) help: bool,
}

impl Options {
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            headless: false,
            fps: 60,
            help: false,
        };
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--headless" => options.headless = true,
                "--fps" => options.fps = parse_fps(args.next())?,
                "--help" | "-h" => options.help = true,
                _ => return Err(format!("unknown argument `{arg}`")),
            }
        }
        Ok(options)
    }
}

fn parse_fps(value: Option<String>) -> Result<u32, String> {
    let value = value.ok_or("`--fps` needs a number")?;
    match value.parse() {
        Ok(fps @ 4..=1000) => Ok(fps),
        _ => Err(format!(
            "`--fps` must be a number from 4 to 1000, not `{value}`"
        )),
    }
}
