//! What the user says about the game.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Describes the game to [`Live::watch`](crate::Live::watch). [`game!`](crate::game) makes it.
#[derive(Clone, Debug)]
#[must_use = "it is given to `Live::watch`"]
pub struct Game {
    pub(crate) folder: PathBuf,
    pub(crate) package: String,
    pub(crate) scripts: String,
    pub(crate) parts: Vec<String>,
    pub(crate) features: Vec<String>,
    pub(crate) cargo: Vec<String>,
    pub(crate) more_folders: Vec<PathBuf>,
    pub(crate) prints: bool,
    pub(crate) hangs_after: Duration,
}

impl Game {
    /// A game in the package `package` in `folder`, with scripts in the package `scripts`.
    /// [`game!`](crate::game) fills in the first two.
    pub fn new(folder: &str, package: &str, scripts: &str) -> Self {
        Game {
            folder: PathBuf::from(folder),
            package: package.to_owned(),
            scripts: scripts.to_owned(),
            parts: Vec::new(),
            features: vec!["live".to_owned()],
            cargo: Vec::new(),
            more_folders: Vec::new(),
            prints: true,
            hangs_after: Duration::from_secs(5),
        }
    }

    /// Further packages of scripts, on which the package of the scripts depends: they change while the
    /// game runs, as it does. The compiler builds a package as a whole, so with a hundred types of
    /// scripts, new code runs sooner if they are in several packages. What holds for types and
    /// statics of the scripts holds for theirs.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_live::game;
    ///
    /// let game = game!("scripts").parts(["bosses", "village"]);
    /// ```
    pub fn parts<'a>(mut self, packages: impl IntoIterator<Item = &'a str>) -> Self {
        self.parts = packages.into_iter().map(str::to_owned).collect();
        self
    }

    /// The features with which the game is built, as for `cargo run --features`. Without this call:
    /// `live`. They must be those of the running game: with others, cargo builds other copies of
    /// its crates.
    pub fn features<'a>(mut self, features: impl IntoIterator<Item = &'a str>) -> Self {
        self.features = features.into_iter().map(str::to_owned).collect();
        self
    }

    /// Further arguments with which the game is built, such as `--no-default-features`.
    pub fn cargo_args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.cargo = args.into_iter().map(str::to_owned).collect();
        self
    }

    /// Also watches a folder below that of the game, for files that scripts include: `assets`, for
    /// `include_str!("../assets/lines.txt")`.
    pub fn watch_folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.more_folders.push(self.folder.join(folder));
        self
    }

    /// How long a script may run without a wait, once code was exchanged, until the game counts as standing still. By
    /// default, five seconds.
    ///
    /// It is printed which statement of which script runs, unless the game is [quiet](Self::quiet). If no
    /// [update](crate::Live::update_game) has begun since the exchange, the process is started again at once, and goes
    /// on from the save before the exchange in the earlier code; under a debugger, only when the mended code has been
    /// built. If the loop came later, so that frames since the exchange would be lost, also then. Ended by hand, the
    /// game goes on from that save when it is started the next time.
    ///
    /// What the game does outside of scripts may last as long as it likes.
    pub fn hangs_after(mut self, limit: Duration) -> Self {
        self.hangs_after = limit;
        self
    }

    /// Prints nothing: the game shows [`Live::status`](crate::Live::status) itself.
    pub fn quiet(mut self) -> Self {
        self.prints = false;
        self
    }
}
