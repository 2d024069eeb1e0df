//! Checking a folder of saves: a test of a game, with saves of its releases.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::restore::dry_run::DryRun;
use crate::save::SaveState;
use crate::script::Registry;
use crate::script::aligned::ChangeKind;

/// What a build would make of the saves in a folder: made by
/// [`Registry::check_folder`](crate::Registry::check_folder). It prints as a line for each file, and a report of
/// those that do not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderCheck {
    /// The files, in the order of their names.
    pub files: Vec<FileCheck>,
}

/// What a build would make of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileCheck {
    /// Where it is.
    pub path: PathBuf,
    /// What policies would do. An error says why the file could not be read.
    pub result: Result<DryRun, String>,
}

impl FileCheck {
    /// Whether it can be read and everything in it fits.
    #[must_use]
    pub fn is_compatible(&self) -> bool {
        self.result.as_ref().is_ok_and(DryRun::is_compatible)
    }
}

/// One line: whether it fits, and what a load goes past; or why it is refused.
impl fmt::Display for FileCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        let dry_run = match &self.result {
            Ok(dry_run) => dry_run,
            Err(why) => return write!(f, "refused: {why}"),
        };
        if !dry_run.is_compatible() {
            let scripts = dry_run
                .incompatibilities
                .iter()
                .map(|it| it.error.to_string());
            let others = dry_run.errors.iter().map(ToString::to_string);
            let why: Vec<String> = scripts.chain(others).collect();
            return write!(f, "refused: {}", why.join("; "));
        }
        f.write_str("fits")?;
        let changes = || dry_run.passed.iter().flat_map(|passed| &passed.changes);
        let counts = [
            (ChangeKind::Inserted, "inserted before, passed"),
            (ChangeKind::Removed, "removed, skipped"),
            (ChangeKind::Released, "removed, released"),
            (ChangeKind::Moved, "moved, done"),
            (ChangeKind::Reworded, "with another text, done"),
            (
                ChangeKind::Turned,
                "with a loop that goes round in another way",
            ),
        ];
        let mut begin = ": ";
        for (kind, what) in counts {
            // A helper of one line may do several things.
            let of_kind = changes().filter(|change| change.kind == kind);
            let lines: BTreeSet<_> = of_kind.map(|it| (it.line_then, &it.at)).collect();
            match lines.len() {
                0 => continue,
                1 => write!(f, "{begin}1 line {what}")?,
                count => write!(f, "{begin}{count} lines {what}")?,
            }
            begin = ", ";
        }
        Ok(())
    }
}

impl FolderCheck {
    /// Whether all files fit.
    #[must_use]
    pub fn is_compatible(&self) -> bool {
        self.files.iter().all(FileCheck::is_compatible)
    }
}

impl Registry {
    /// Tries all saves in a folder and in the folders below it, without a runtime and without
    /// effects: for a test of the game, which keeps saves of each release there.
    ///
    /// `read` reads a file: [`SaveState::from_bytes`], or a closure that also reads the world beside
    /// it, or a format of the game. Files whose names begin with a dot or end with `.md` are skipped.
    ///
    /// # Errors
    ///
    /// If the folder or a file cannot be opened, or there is no file in it. A file that is not a save,
    /// or does not fit, is in the result.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use framestep_durable::prelude::*;
    /// # fn registry() -> Registry { Registry::new() }
    /// let saves = registry().check_folder("tests/saves", SaveState::from_bytes).unwrap();
    /// println!("{saves}"); // tests/saves/1.0/inn.save: fits: 3 lines inserted before, passed
    /// ```
    pub fn check_folder<E: fmt::Display>(
        &self,
        folder: impl AsRef<Path>,
        read: impl Fn(&[u8]) -> Result<SaveState, E>,
    ) -> io::Result<FolderCheck> {
        let read = |bytes: &[u8]| match read(bytes) {
            Ok(save) => Ok(self.dry_run(&save)),
            Err(why) => Err(why.to_string()),
        };
        check(folder.as_ref(), &read)
    }

    /// The same as a test of the game: each save in the folder loads.
    ///
    /// # Panics
    ///
    /// If a save is refused, with a line for each file that says why, where and what to do; or if the folder
    /// cannot be read, or has no save.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use framestep_durable::prelude::*;
    /// # #[derive(Serialize, Deserialize)]
    /// # struct World;
    /// # fn registry() -> Registry { Registry::new() }
    /// #[test]
    /// fn saves_of_all_releases_load() {
    ///     let read = |file: &[u8]| SaveState::from_bytes_with::<World>(file).map(|(save, _)| save);
    ///     registry().assert_folder("tests/saves", read);
    /// }
    /// ```
    #[track_caller]
    pub fn assert_folder<E: fmt::Display>(
        &self,
        folder: impl AsRef<Path>,
        read: impl Fn(&[u8]) -> Result<SaveState, E>,
    ) {
        match self.check_folder(folder, read) {
            Ok(saves) => assert!(saves.is_compatible(), "{saves}"),
            Err(error) => panic!("{error}"),
        }
    }
}

fn check(folder: &Path, read: &dyn Fn(&[u8]) -> Result<DryRun, String>) -> io::Result<FolderCheck> {
    let mut paths = Vec::new();
    add_files(folder, &mut paths)?;
    if paths.is_empty() {
        let why = format!("there is no save in `{}`", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    paths.sort();
    let files = paths.into_iter().map(|path| {
        let bytes = fs::read(&path).map_err(|error| at(&path, &error))?;
        let result = read(&bytes);
        Ok(FileCheck { path, result })
    });
    let files = files.collect::<io::Result<_>>()?;
    Ok(FolderCheck { files })
}

fn add_files(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| at(folder, &error))?;
    for entry in entries {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if name.starts_with('.') || name.ends_with(".md") {
            continue;
        }
        if path.is_dir() {
            add_files(&path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

/// The error with the path, which the error of the system does not name.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl fmt::Display for FolderCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            writeln!(f, "{file}")?;
        }
        let mut end = "";
        for file in self.files.iter().filter(|file| !file.is_compatible()) {
            if let Ok(dry_run) = &file.result {
                write!(f, "\n{}:\n{dry_run}", file.path.display())?;
                end = "\n";
            }
        }
        f.write_str(end)?;
        let fit = self
            .files
            .iter()
            .filter(|file| file.is_compatible())
            .count();
        write!(f, "{fit} of {} saves fit", self.files.len())
    }
}
