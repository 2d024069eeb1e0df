//! The world: what the player has read so far. Plain data, saved with serde.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stage {
    /// Everything that has been said, including text that is not typed yet.
    pub(crate) text: String,
    /// How many characters of it are visible.
    pub(crate) visible: usize,
    pub(crate) is_over: bool,
}

impl Stage {
    /// Adds a line below the others. Returns the number of characters before it, and including
    /// it.
    pub(crate) fn add(&mut self, line: &str) -> (usize, usize) {
        let from = self.text.chars().count();
        self.text.push_str(line);
        self.text.push('\n');
        (from, from + line.chars().count() + 1)
    }

    /// Shows a part of the characters between two places, from 0 to 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share of a line"
    )]
    pub(crate) fn type_share(&mut self, from: usize, to: usize, share: f32) {
        self.visible = from + ((to - from) as f32 * share) as usize;
    }

    /// The visible text after the first `from` characters.
    pub(crate) fn visible_from(&self, from: usize) -> String {
        let to = self.visible.max(from);
        self.text.chars().skip(from).take(to - from).collect()
    }

    /// The number of characters before the line that is being typed, or was typed last.
    pub(crate) fn line_start(&self) -> usize {
        let typed: Vec<char> = self.text.chars().take(self.visible).collect();
        let before = typed.len().saturating_sub(1);
        let end = typed[..before].iter().rposition(|&typed| typed == '\n');
        end.map_or(0, |end| end + 1)
    }
}
