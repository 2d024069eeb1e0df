//! What the user says about the game.

use std::path::{Path, PathBuf};

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

    /// Prints nothing: the game shows [`Live::status`](crate::Live::status) itself.
    pub fn quiet(mut self) -> Self {
        self.prints = false;
        self
    }
}
