//! The names that the crate exports, read from its sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The public modules in which users find what is not in the root.
pub const MODULES: [&str; 9] = [
    "combine", "inspect", "lend", "scene", "sync", "task", "testing", "time", "wait",
];

/// The file of a module.
pub fn source(module: &str) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src");
    let folder = sources.join(module).join("mod.rs");
    if folder.exists() {
        folder
    } else {
        sources.join(module).with_extension("rs")
    }
}

/// The names that a file of a module exports, without those of macros.
fn names_in(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).expect("the file is there");
    let mut names = BTreeSet::new();
    for export in text.split("\npub use ").skip(1) {
        let export = export.split_once(';').expect("an export ends").0;
        let list = export.split_once('{').map_or(export, |(_, list)| list);
        for name in list.trim_end_matches('}').split(',') {
            let name = name.rsplit("::").next().expect("there is one").trim();
            let name = name.rsplit(' ').next().expect("there is one");
            if !name.is_empty() && !name.starts_with("__") {
                names.insert(name.to_owned());
            }
        }
    }
    // What stands in the file itself.
    for kind in ["struct", "enum", "trait", "fn", "const"] {
        let begins = format!("\npub {kind} ");
        names.extend(text.split(&begins).skip(1).map(|item| {
            let is_name = |char: &char| char.is_alphanumeric() || *char == '_';
            item.chars().take_while(is_name).collect::<String>()
        }));
    }
    names
}

/// The names that a module of the crate exports.
pub fn exported_by(module: &str) -> BTreeSet<String> {
    names_in(&source(module))
}

/// The functions among them.
pub fn functions_of(module: &str) -> BTreeSet<String> {
    let mut names = exported_by(module);
    names.retain(|name| name.starts_with(char::is_lowercase));
    names
}

/// The names that the root of the crate exports.
pub fn exported_by_root() -> BTreeSet<String> {
    names_in(&source("lib"))
}

/// The names that the crate exports, in the root or in a module.
pub fn exported() -> BTreeSet<String> {
    let mut names = exported_by_root();
    names.extend(MODULES.iter().flat_map(|module| exported_by(module)));
    assert!(names.contains("NextFrame") && names.contains("wait_seconds"));
    names
}
