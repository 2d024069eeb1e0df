//! Which scripts are listed, and in which order.

use super::kind::Kind;
use super::listener::Heard;
use super::script::Script;

/// Which scripts the panel lists. All parts must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// A part of the name, owner, description, id or file, of what it waits for, or of a
    /// signal that it has emitted lately. Case does not matter.
    pub text: String,
    /// Kinds to list. Empty: all.
    pub kinds: Vec<Kind>,
    /// Only scripts of the [entity that is selected](super::Panel::select_entity) in the
    /// game.
    pub only_entity: bool,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// Below owners, and below the script that spawned it.
    #[default]
    Tree,
    /// By time spent in polls, the most first.
    Slowest,
    /// By the last poll, the least recent first.
    Longest,
}

impl Order {
    /// All orders.
    pub const ALL: [Order; 3] = [Order::Tree, Order::Slowest, Order::Longest];

    /// Its name on a button.
    pub fn word(self) -> &'static str {
        match self {
            Order::Tree => "tree",
            Order::Slowest => "slowest first",
            Order::Longest => "longest wait first",
        }
    }

    /// The next order; the first one follows the last.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Order::Tree => Order::Slowest,
            Order::Slowest => Order::Longest,
            Order::Longest => Order::Tree,
        }
    }
}

impl Filter {
    /// Whether it lists all scripts.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.kinds.is_empty() && !self.only_entity
    }

    /// Adds or removes a kind.
    pub fn toggle(&mut self, kind: Kind) {
        match self.kinds.iter().position(|known| *known == kind) {
            Some(at) => drop(self.kinds.remove(at)),
            None => self.kinds.push(kind),
        }
    }

    /// `needle` is the text in lower case.
    pub(crate) fn lets(
        &self,
        script: &Script,
        needle: &str,
        entity: Option<&str>,
        heard: &Heard,
    ) -> bool {
        if !self.kinds.is_empty() && !self.kinds.contains(&script.kind) {
            return false;
        }
        if self.only_entity && (entity.is_none() || script.full_owner() != entity) {
            return false;
        }
        needle.is_empty() || Self::has(script, needle) || Self::emits(script, needle, heard)
    }

    fn emits(script: &Script, needle: &str, heard: &Heard) -> bool {
        let emissions = heard.emissions.get(&script.who.id);
        emissions.is_some_and(|all| all.iter().any(|one| contains(&one.name, needle)))
    }

    fn has(script: &Script, needle: &str) -> bool {
        let has = |text: &str| contains(text, needle);
        has(script.name())
            || has(script.full_name())
            || script.owner().is_some_and(has)
            || script.description().is_some_and(has)
            || script.who.id.to_string().starts_with(needle)
            || script.waits.iter().any(|waiting| {
                waiting.at.is_some_and(|at| has(at.file())) || has(&waiting.wait.to_string())
            })
    }
}

/// Whether `text` contains `needle`, which is in lower case.
fn contains(text: &str, needle: &str) -> bool {
    if text.is_ascii() && needle.is_ascii() {
        let (text, needle) = (text.as_bytes(), needle.as_bytes());
        return text
            .windows(needle.len())
            .any(|part| part.eq_ignore_ascii_case(needle));
    }
    text.to_lowercase().contains(needle)
}
