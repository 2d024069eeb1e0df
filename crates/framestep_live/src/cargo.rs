//! What cargo says about a build, and what follows from it. Nothing here runs cargo.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use serde::Deserialize;

/// A line of `cargo build --message-format=json`.
#[derive(Debug, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line {
    CompilerArtifact(Artifact),
    CompilerMessage {
        message: Diagnostic,
    },
    #[serde(other)]
    Other,
}

/// What cargo has built, or found to be up to date.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Artifact {
    pub(crate) package_id: String,
    pub(crate) target: Target,
    /// Whether it was up to date.
    pub(crate) fresh: bool,
    pub(crate) filenames: Vec<PathBuf>,
    pub(crate) executable: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
}

/// What a build has said so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) artifacts: Vec<Artifact>,
    /// The compiler's messages about errors, as it would print them.
    pub(crate) errors: Vec<String>,
}

impl Output {
    /// Reads a line. What is not cargo's is ignored: build scripts and wrappers may print, too.
    pub(crate) fn read(&mut self, line: &str) {
        match serde_json::from_str(line) {
            Ok(Line::CompilerArtifact(artifact)) => self.artifacts.push(artifact),
            Ok(Line::CompilerMessage { message }) if message.level.starts_with("error") => {
                let rendered = message.rendered.unwrap_or_default();
                // "aborting due to 2 previous errors", without a place.
                if rendered.contains("-->") || self.errors.is_empty() {
                    self.errors.push(rendered.trim_end().to_owned());
                }
            }
            Ok(Line::CompilerMessage { .. } | Line::Other) | Err(_) => {}
        }
    }
}

/// A library of the scripts that was built against the crates that this process contains. Only
/// [`Running::judge`] makes one, in this process or in one of the same program, which is why the loader trusts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Library {
    path: PathBuf,
}

impl Library {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// One that a process of the same program has used.
    pub(crate) fn of_earlier_process(path: PathBuf) -> Self {
        Library { path }
    }

    /// A copy of it.
    pub(crate) fn copy(&self, to: PathBuf) -> io::Result<Self> {
        fs::copy(&self.path, &to)?;
        Ok(Library { path: to })
    }
}

/// What is to be done after a build of the scripts that has succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// This library has new code.
    Load(Library),
    /// The code in use is up to date.
    Unchanged,
    /// Another crate than the scripts has changed, and the process contains the earlier one.
    Replace(Changed),
    /// There is no library to load.
    NoLibrary,
}

/// A crate that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) name: String,
    /// Whether this build has built it. Otherwise, another one has, since the process was built.
    pub(crate) in_this_build: bool,
}

/// What a process is made of.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// The package ids of the scripts, of further packages of scripts, and of the game.
    pub(crate) scripts: String,
    pub(crate) parts: Vec<String>,
    pub(crate) game: String,
    /// When the program was built.
    pub(crate) built: SystemTime,
    /// When the library in use was built; at first, the same.
    pub(crate) loaded: SystemTime,
}

impl Running {
    /// Judges a build of the scripts. Every other crate must be the one that is in the process:
    /// its types and functions are compiled into both sides.
    pub(crate) fn judge(
        &self,
        output: &Output,
        modified: impl Fn(&Path) -> Option<SystemTime>,
    ) -> Verdict {
        // The library target of the game, if it has one, is made from the scripts.
        let artifacts = || {
            output
                .artifacts
                .iter()
                .filter(|it| it.package_id != self.game)
        };
        // The executable code of a build script is in neither side.
        let others = artifacts().filter(|it| {
            it.package_id != self.scripts
                && !self.parts.contains(&it.package_id)
                && !it.target.kind.iter().any(|kind| kind == "custom-build")
        });
        let mut newer = None;
        for other in others {
            let changed = |in_this_build| Changed {
                name: other.target.name.clone(),
                in_this_build,
            };
            if !other.fresh {
                return Verdict::Replace(changed(true));
            }
            let times = other.filenames.iter().filter_map(|file| modified(file));
            if newer.is_none() && times.max() > Some(self.built) {
                newer = Some(changed(false));
            }
        }
        if let Some(newer) = newer {
            return Verdict::Replace(newer);
        }
        let mut files = artifacts()
            .filter(|it| it.package_id == self.scripts)
            .flat_map(|it| &it.filenames);
        let is_library = |file: &&PathBuf| {
            let extension = file.extension().and_then(|it| it.to_str());
            extension == Some(std::env::consts::DLL_EXTENSION)
        };
        let Some(library) = files.find(is_library) else {
            return Verdict::NoLibrary;
        };
        if modified(library) > Some(self.loaded) {
            Verdict::Load(Library {
                path: library.clone(),
            })
        } else {
            Verdict::Unchanged
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    use super::{Changed, Library, Output, Running, Verdict};

    fn artifact(package: &str, kind: &str, fresh: bool, file: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"path+file:///g/{package}#0.1.0","manifest_path":"/g/{package}/Cargo.toml","target":{{"kind":["{kind}"],"crate_types":["{kind}"],"name":"{package}","src_path":"/g/{package}/src/lib.rs","edition":"2024","doc":true,"doctest":true,"test":true}},"profile":{{"opt_level":"0","debuginfo":2,"debug_assertions":true,"overflow_checks":true,"test":false}},"features":[],"filenames":["{file}"],"executable":null,"fresh":{fresh}}}"#
        )
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// A process that was built at 100, with a library of 200 in use.
    fn running() -> Running {
        let id = |package| format!("path+file:///g/{package}#0.1.0");
        Running {
            scripts: id("scripts"),
            parts: vec![id("bosses")],
            game: id("game"),
            built: at(100),
            loaded: at(200),
        }
    }

    fn judge(lines: &[String], modified: impl Fn(&str) -> u64) -> Verdict {
        let mut output = Output::default();
        for line in lines {
            output.read(line);
        }
        running().judge(&output, |file: &Path| {
            Some(at(modified(file.to_str().unwrap())))
        })
    }

    #[test]
    fn a_new_library_beside_fresh_crates_is_loaded() {
        let dll = std::env::consts::DLL_EXTENSION;
        let lines = [
            artifact("world", "lib", true, "world.rlib"),
            "warning: printed by a wrapper".to_owned(),
            artifact("build", "custom-build", false, "build"),
            artifact("bosses", "lib", false, "bosses.rlib"),
            artifact("scripts", "lib", false, &format!("scripts.{dll}")),
            artifact("game", "lib", false, "game.rlib"),
        ];
        let times = |file: &str| if file.starts_with("world") { 90 } else { 300 };
        let expected = Verdict::Load(Library {
            path: PathBuf::from(format!("scripts.{dll}")),
        });
        assert_eq!(judge(&lines, times), expected);
        // The same again, or the code with which the process began.
        assert_eq!(judge(&lines, |_| 90), Verdict::Unchanged);
        let without = [artifact("scripts", "lib", false, "libscripts.rlib")];
        assert_eq!(judge(&without, |_| 90), Verdict::NoLibrary);
    }

    #[test]
    fn another_crate_that_was_built_anew_or_is_newer_than_the_process_is_refused() {
        let dll = std::env::consts::DLL_EXTENSION;
        let lines = |fresh| {
            [
                artifact("serde", "lib", true, "serde.rlib"),
                artifact("world", "lib", fresh, "world.rlib"),
                artifact("scripts", "lib", false, &format!("scripts.{dll}")),
            ]
        };
        let world = |in_this_build| {
            Verdict::Replace(Changed {
                name: "world".to_owned(),
                in_this_build,
            })
        };
        let times = |file: &str| match file {
            "serde.rlib" => 90,
            "world.rlib" => 101,
            _ => 300,
        };
        assert_eq!(judge(&lines(true), times), world(false));
        assert_eq!(judge(&lines(false), |_| 90), world(true));
    }

    #[test]
    fn errors_are_the_words_of_the_compiler_and_warnings_are_left_out() {
        let message = |level: &str, rendered: &str| {
            format!(
                r#"{{"reason":"compiler-message","package_id":"x","target":{{"name":"x","kind":["lib"]}},"message":{{"rendered":"{rendered}","level":"{level}","message":"m","spans":[],"children":[],"code":null}}}}"#
            )
        };
        let mut output = Output::default();
        output.read(&message(
            "warning",
            "warning: unused\\n --> src/lib.rs:1:1\\n",
        ));
        output.read(&message(
            "error",
            "error[E0308]: mismatched types\\n --> src/lib.rs:2:3\\n\\n",
        ));
        output.read(&message(
            "error",
            "error: aborting due to 1 previous error\\n",
        ));
        output.read(r#"{"reason":"build-finished","success":false}"#);
        output.read(r#"{"reason":"a reason of a later cargo","x":1}"#);
        let expected = ["error[E0308]: mismatched types\n --> src/lib.rs:2:3"];
        assert_eq!(output.errors, expected);
        assert!(output.artifacts.is_empty());
    }
}
