//! What `cargo metadata` says about the game: which folders to watch, and what is in them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::builder::Kind;

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Option<Resolve>,
    target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: PathBuf,
    /// `None` for packages in local folders.
    source: Option<String>,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    src_path: PathBuf,
}

impl Target {
    fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|it| it == kind)
    }
}

fn folder_of(package: &Package) -> PathBuf {
    let folder = package.manifest_path.parent();
    folder.unwrap_or(Path::new("/")).to_owned()
}

fn is_library(target: &Target) -> bool {
    ["lib", "rlib", "cdylib"].iter().any(|kind| target.is(kind))
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    dependencies: Vec<String>,
}

/// A folder that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) with_those_below: bool,
}

/// How the game is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The package ids.
    pub(crate) game: String,
    pub(crate) scripts: String,
    /// The package ids of further packages of scripts.
    pub(crate) parts: Vec<String>,
    /// The names of all of them as crates.
    pub(crate) scripts_crates: Vec<String>,
    scripts_folders: Vec<PathBuf>,
    /// The folders of the packages that use the scripts.
    users_folders: Vec<PathBuf>,
    pub(crate) target_directory: PathBuf,
    pub(crate) folders: Vec<Folder>,
}

/// Reads the output of `cargo metadata` for the package in this folder.
///
/// # Errors
///
/// A sentence that says what is to be changed.
pub(crate) fn read(
    json: &str,
    game_folder: &Path,
    scripts: &str,
    parts: &[String],
) -> Result<Layout, String> {
    let metadata: Metadata = serde_json::from_str(json)
        .map_err(|error| format!("`cargo metadata` of another version than is known: {error}"))?;
    let by_id: HashMap<&str, &Package> = metadata.packages.iter().map(|it| (&*it.id, it)).collect();
    let game = metadata
        .packages
        .iter()
        .find(|it| folder_of(it) == game_folder);
    let game = game.ok_or_else(|| format!("there is no package in {}", game_folder.display()))?;

    // The packages that the game is made of, as far as they are in local folders.
    let nodes = metadata.resolve.as_ref().map_or(&[][..], |it| &it.nodes);
    let depends: HashMap<&str, &[String]> = nodes
        .iter()
        .map(|it| (&*it.id, &*it.dependencies))
        .collect();
    let local_below = |id| {
        let (mut local, mut seen, mut open) = (Vec::new(), HashSet::new(), vec![id]);
        while let Some(id) = open.pop() {
            let Some(package) = by_id.get(id).filter(|it| it.source.is_none()) else {
                continue;
            };
            if seen.insert(id) {
                local.push(*package);
                let depends = depends.get(id).copied().unwrap_or_default();
                open.extend(depends.iter().map(|it| &**it));
            }
        }
        local
    };
    let local = local_below(&*game.id);

    let Some(found) = local.iter().find(|it| it.name == scripts) else {
        let local: Vec<_> = local.iter().map(|it| format!("`{}`", it.name)).collect();
        return Err(format!(
            "the game has no dependency named `{scripts}` in a local folder, only {}: name the \
             package of the scripts in `game!(..)`",
            local.join(", ")
        ));
    };
    let library = found.targets.iter().find(|it| is_library(it));
    let library = library.ok_or_else(|| format!("the package `{scripts}` has no library"))?;
    if !library.is("cdylib") {
        return Err(format!(
            "the scripts are built as a library to load as well: put `crate-type = [\"rlib\", \
             \"cdylib\"]` below `[lib]` in {}",
            found.manifest_path.display()
        ));
    }
    let below = local_below(&*found.id);
    let mut all_scripts = vec![(*found, library)];
    for part in parts {
        let package = below
            .iter()
            .find(|it| it.name == *part && it.id != found.id);
        let library =
            package.and_then(|it| Some((*it, it.targets.iter().find(|it| is_library(it))?)));
        all_scripts.push(library.ok_or_else(|| {
            format!(
                "the package `{scripts}` has no dependency named `{part}` with a library in a local \
                 folder: `game!(..).parts(..)` names further packages of scripts, on which it depends"
            )
        })?);
    }
    let mut users_folders = Vec::new();
    for package in &local {
        let below = local_below(&*package.id);
        if package.id != found.id && below.iter().any(|it| it.id == found.id) {
            users_folders.push(folder_of(package));
        }
    }
    Ok(Layout {
        users_folders,
        game: game.id.clone(),
        scripts: found.id.clone(),
        parts: all_scripts[1..]
            .iter()
            .map(|(it, _)| it.id.clone())
            .collect(),
        scripts_crates: all_scripts
            .iter()
            .map(|(_, library)| library.name.replace('-', "_"))
            .collect(),
        scripts_folders: all_scripts.iter().map(|(it, _)| folder_of(it)).collect(),
        target_directory: metadata.target_directory.clone(),
        folders: folders_of(&local, game),
    })
}

/// The folders with the sources of these packages.
fn folders_of(local: &[&Package], game: &Package) -> Vec<Folder> {
    let mut folders: Vec<Folder> = Vec::new();
    for package in local {
        let root = folder_of(package);
        let is_of_game = |it: &&Target| it.is("bin") && package.id == game.id;
        let targets = package
            .targets
            .iter()
            .filter(|it| is_library(it) || is_of_game(it) || it.is("proc-macro") || it.is("dylib"));
        let sources = targets.filter_map(|it| it.src_path.parent());
        // Other folders may be in that of the package: `target`, with thousands of files.
        let sources = sources
            .filter(|it| *it != root)
            .map(|it| (it.to_owned(), true));
        for (path, with_those_below) in [(root.clone(), false)].into_iter().chain(sources) {
            let folder = Folder {
                path,
                with_those_below,
            };
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    folders
}

impl Layout {
    /// Whether a file is in a package that uses the scripts.
    pub(crate) fn uses_scripts(&self, file: &Path) -> bool {
        self.users_folders.iter().any(|it| file.starts_with(it))
    }

    /// What is to be built when a file has changed. `None` if it is not a source: the notes of an
    /// editor, what cargo writes.
    pub(crate) fn kind_of(&self, path: &Path) -> Option<Kind> {
        if path.starts_with(&self.target_directory) {
            return None;
        }
        let name = path.file_name()?.to_str()?;
        let is_of_editor = name.starts_with(['.', '#'])
            || name.ends_with('~')
            || name == "4913"
            || [".swp", ".swx", ".tmp", ".bak", ".orig"]
                .iter()
                .any(|it| name.ends_with(it));
        if is_of_editor || name == "Cargo.lock" {
            return None;
        }
        let folders = self.folders.iter().filter(|it| path.starts_with(&it.path));
        let innermost = folders.max_by_key(|it| it.path.as_os_str().len())?;
        // Beside the sources in the folder of a package: a README, notes, a screenshot.
        let extension = path.extension().and_then(|it| it.to_str());
        if !innermost.with_those_below && !matches!(extension, Some("rs" | "toml")) {
            return None;
        }
        let is_of_scripts = self
            .scripts_folders
            .iter()
            .any(|it| innermost.path.starts_with(it));
        Some(if is_of_scripts {
            Kind::Scripts
        } else {
            Kind::Game
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Folder, Kind, read};

    fn package(name: &str, folder: &str, source: &str, kinds: &str, src: &str) -> String {
        format!(
            r#"{{"name":"{name}","version":"0.1.0","id":"{name}-id","source":{source},"targets":[{{"kind":[{kinds}],"crate_types":[{kinds}],"name":"{name}","src_path":"{folder}/{src}"}},{{"kind":["test"],"name":"t","src_path":"{folder}/tests/t.rs"}}],"features":{{}},"manifest_path":"{folder}/Cargo.toml"}}"#
        )
    }

    fn metadata(scripts_kinds: &str) -> String {
        let packages = [
            package("game", "/g", "null", r#""bin""#, "src/main.rs"),
            package(
                "my-scripts",
                "/g/scripts",
                "null",
                scripts_kinds,
                "src/lib.rs",
            ),
            package("world", "/g/world", "null", r#""lib""#, "lib.rs"),
            package(
                "serde",
                "/r/serde",
                r#""registry+x""#,
                r#""lib""#,
                "src/lib.rs",
            ),
            package("other", "/g/other", "null", r#""lib""#, "src/lib.rs"),
        ];
        let node = |id: &str, on: &str| format!(r#"{{"id":"{id}-id","dependencies":[{on}]}}"#);
        let nodes = [
            node("game", r#""my-scripts-id","serde-id""#),
            node("my-scripts", r#""world-id""#),
            node("world", ""),
            node("serde", r#""other-id""#),
        ];
        format!(
            r#"{{"packages":[{}],"resolve":{{"nodes":[{}],"root":null}},"target_directory":"/g/target","version":1}}"#,
            packages.join(","),
            nodes.join(",")
        )
    }

    #[test]
    fn the_sources_of_the_game_and_of_its_local_dependencies_are_watched() {
        let json = metadata(r#""rlib","cdylib""#);
        let layout = read(&json, Path::new("/g"), "my-scripts", &[]).unwrap();
        assert_eq!(layout.scripts_crates, ["my_scripts"]);
        let folder = |path: &str, with_those_below| Folder {
            path: path.into(),
            with_those_below,
        };
        let expected = [
            folder("/g", false),
            folder("/g/src", true),
            folder("/g/scripts", false),
            folder("/g/scripts/src", true),
            folder("/g/world", false),
        ];
        assert_eq!(layout.folders, expected);

        assert!(layout.uses_scripts(Path::new("/g/src/main.rs")));
        assert!(!layout.uses_scripts(Path::new("/framestep/src/lib.rs")));

        let kinds = [
            ("/g/scripts/src/fight.rs", Some(Kind::Scripts)),
            ("/g/scripts/Cargo.toml", Some(Kind::Scripts)),
            ("/g/src/main.rs", Some(Kind::Game)),
            ("/g/world/lib.rs", Some(Kind::Game)),
            ("/g/scripts/src/.fight.rs.swp", None),
            ("/g/scripts/src/fight.rs~", None),
            ("/g/scripts/src/4913", None),
            ("/g/Cargo.lock", None),
            ("/g/build.rs", Some(Kind::Game)),
            ("/g/CHANGELOG.md", None),
            ("/g/scripts/notes.txt", None),
            ("/g/scripts/src/words.txt", Some(Kind::Scripts)),
            ("/g/target/debug/game", None),
            ("/elsewhere/lib.rs", None),
        ];
        for (path, kind) in kinds {
            assert_eq!(layout.kind_of(Path::new(path)), kind, "{path}");
        }
    }

    #[test]
    fn further_packages_of_scripts_are_those_on_which_the_scripts_depend() {
        let json = metadata(r#""rlib","cdylib""#);
        let read = |part: &str| read(&json, Path::new("/g"), "my-scripts", &[part.to_owned()]);
        let layout = read("world").unwrap();
        assert_eq!(layout.scripts, "my-scripts-id");
        assert_eq!(layout.parts, ["world-id"]);
        assert_eq!(layout.scripts_crates, ["my_scripts", "world"]);
        let kind = |path: &str| layout.kind_of(Path::new(path));
        assert_eq!(kind("/g/world/lib.rs"), Some(Kind::Scripts));
        assert_eq!(kind("/g/src/main.rs"), Some(Kind::Game));
        for part in ["game", "my-scripts", "serde", "other"] {
            let expected = format!(
                "the package `my-scripts` has no dependency named `{part}` with a library in a \
                 local folder: `game!(..).parts(..)` names further packages of scripts, on which it \
                 depends"
            );
            assert_eq!(read(part).unwrap_err(), expected);
        }
    }

    #[test]
    fn what_is_missing_is_said_with_the_line_to_write() {
        let json = metadata(r#""lib""#);
        let error =
            |folder: &str, scripts| read(&json, Path::new(folder), scripts, &[]).unwrap_err();
        let expected = "the scripts are built as a library to load as well: put `crate-type = \
                        [\"rlib\", \"cdylib\"]` below `[lib]` in /g/scripts/Cargo.toml";
        assert_eq!(error("/g", "my-scripts"), expected);
        let expected = "the game has no dependency named `scripts` in a local folder, only `game`, \
                        `my-scripts`, `world`: name the package of the scripts in `game!(..)`";
        assert_eq!(error("/g", "scripts"), expected);
        assert_eq!(error("/h", "scripts"), "there is no package in /h");
        let error = read("{}", Path::new("/g"), "x", &[]).unwrap_err();
        assert!(
            error.starts_with("`cargo metadata` of another version"),
            "{error}"
        );
    }
}
