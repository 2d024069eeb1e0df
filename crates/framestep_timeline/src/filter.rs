//! Which scripts are recorded, or shown.

use crate::text;

/// Chooses scripts by name and by owner.
///
/// In a pattern, `*` stands for any characters. A script is chosen if one of the names
/// matches, and one of the owners. Without a pattern for names, all names match; the same
/// holds for owners. A name that is the path of a function matches with and without its
/// modules.
///
/// # Examples
///
/// ```
/// use framestep_timeline::Filter;
///
/// let filter = Filter::new().name("goblin*").name("boss").owner("level 1/*");
/// assert!(filter.chooses("goblin 7", "level 1/cave"));
/// assert!(!filter.chooses("goblin 7", "level 2/cave"));
/// assert!(!filter.chooses("door", "level 1/cave"));
/// assert!(Filter::new().chooses("door", ""));
/// assert!(Filter::new().name("roar").chooses("game::boss::roar", ""));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Filter {
    names: Vec<String>,
    owners: Vec<String>,
}

impl Filter {
    /// Chooses all scripts.
    pub fn new() -> Self {
        Filter::default()
    }

    /// Adds a pattern for names.
    #[must_use]
    pub fn name(mut self, pattern: impl Into<String>) -> Self {
        self.names.push(pattern.into());
        self
    }

    /// Adds a pattern for the names of owners. The pattern `""` chooses the scripts
    /// without an owner.
    #[must_use]
    pub fn owner(mut self, pattern: impl Into<String>) -> Self {
        self.owners.push(pattern.into());
        self
    }

    /// Whether it chooses a script with this name and this owner.
    pub fn chooses(&self, name: &str, owner: &str) -> bool {
        let is_one = |patterns: &[String], text: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| text::matches(pattern, text))
        };
        is_one(&self.owners, owner)
            && (is_one(&self.names, name) || is_one(&self.names, &text::without_path(name)))
    }

    pub(crate) fn chooses_all(&self) -> bool {
        self.names.is_empty() && self.owners.is_empty()
    }
}
