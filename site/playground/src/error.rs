//! What is wrong with a script, and where.

/// A place in the text of a script. Both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// A mistake in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where it is.
    pub place: Place,
    /// What is wrong, and what to write in its place.
    pub words: String,
}

impl Error {
    pub(crate) fn new(place: Place, words: impl Into<String>) -> Self {
        Error {
            place,
            words: words.into(),
        }
    }
}
