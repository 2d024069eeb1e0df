//! Which inputs of a player were applied.

use serde::{Deserialize, Serialize};

/// Remembers numbers that were used, of the newest session of a sender: each may be used once.
///
/// A log forgets message ids after a while. This does not, as long as a sender has at most
/// [`WINDOW`](Self::WINDOW) messages under way: earlier numbers count as used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Doubles {
    session: u64,
    highest: u64,
    /// Bit n: whether `highest - n` was used.
    used: u64,
}

impl Doubles {
    pub(crate) const WINDOW: u64 = 64;

    /// Uses a number, from 1. Returns whether it is the first time. Sessions are numbered upwards:
    /// those before the newest one have ended.
    pub(crate) fn is_first(&mut self, session: u64, number: u64) -> bool {
        if number == 0 || session < self.session {
            return false;
        }
        if session > self.session {
            *self = Doubles {
                session,
                ..Doubles::default()
            };
        }
        if number > self.highest {
            let by = number - self.highest;
            self.used = if by < Doubles::WINDOW { self.used << by } else { 0 };
            self.highest = number;
            self.used |= 1;
            return true;
        }
        let age = self.highest - number;
        if age >= Doubles::WINDOW || self.used >> age & 1 == 1 {
            return false;
        }
        self.used |= 1 << age;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_used_once_in_any_order_within_the_window() {
        let mut doubles = Doubles::default();
        for number in [3, 1, 2, 70, 10, 7] {
            assert!(doubles.is_first(5, number), "{number}");
            assert!(!doubles.is_first(5, number), "{number}");
        }
        assert!(!doubles.is_first(5, 6)); // too long ago to know
        assert!(!doubles.is_first(5, 0));
        assert!(doubles.is_first(6, 1) && !doubles.is_first(5, 71) && !doubles.is_first(6, 1));
        assert!(doubles.is_first(6, u64::MAX) && !doubles.is_first(6, 1));
    }
}
