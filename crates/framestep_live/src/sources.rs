//! What the sources contain: a file that is written with the same content has not changed.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The content of each source, as it was seen last.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    seen: HashMap<PathBuf, u64>,
}

impl Sources {
    /// Notes what a file contains. Returns whether it was something else before, or was not there.
    pub(crate) fn has_changed(&mut self, file: &Path) -> bool {
        if file.is_dir() {
            // What is in it is told by itself.
            return false;
        }
        match fs::read(file) {
            Ok(content) => {
                let mut hasher = DefaultHasher::new();
                content.hash(&mut hasher);
                let now = hasher.finish();
                self.seen.insert(file.to_owned(), now) != Some(now)
            }
            Err(_) => self.seen.remove(file).is_some(),
        }
    }
}

/// All files in a folder, and those below it if they are asked for.
pub(crate) fn files(folder: &Path, with_those_below: bool) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if !path.is_dir() {
                files.push(path);
            } else if with_those_below {
                open.push(path);
            }
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Sources, files};

    #[test]
    fn a_file_has_changed_if_its_content_has() {
        // The unit tests of a package have no folder of their own.
        let folder = std::env::temp_dir().join(format!("framestep-live-{}", std::process::id()));
        fs::create_dir_all(folder.join("below")).unwrap();
        let file = folder.join("below/lib.rs");
        let mut sources = Sources::default();
        let mut write = |text: &str| {
            fs::write(&file, text).unwrap();
            sources.has_changed(&file)
        };
        assert!(write("a"), "it is new");
        assert!(!write("a"), "it was touched");
        assert!(write("b"));
        assert!(write("a"));
        assert_eq!(files(&folder, false), Vec::<&Path>::new());
        assert_eq!(files(&folder, true), [&*file]);
        assert!(!sources.has_changed(&folder));
        fs::remove_dir_all(&folder).unwrap();
        assert!(sources.has_changed(&file), "it is gone");
        assert!(!sources.has_changed(&file));
    }
}
