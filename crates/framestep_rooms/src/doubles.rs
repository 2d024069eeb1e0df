//! Which inputs of a player were applied.

use serde::{Deserialize, Serialize};

/// Remembers which numbers of a sender were used, in each of its newest sessions. Each may be used
/// once.
///
/// A log forgets message ids after a while. This does not, as long as a session has at most
/// [`WINDOW`](Self::WINDOW) messages under way: earlier numbers count as used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Doubles {
    /// In order.
    sessions: Vec<Session>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    number: u64,
    highest: u64,
    /// Bit n: whether `highest - n` was used.
    used: u64,
}

impl Doubles {
    pub(crate) const WINDOW: u64 = 64;
    /// How many sessions may send at the same time, such as one on the phone.
    pub(crate) const SESSIONS: usize = 4;

    /// Uses a number, from 1. Returns whether it is the first time. A session that is lower than the
    /// newest ones has ended.
    pub(crate) fn is_first(&mut self, session: u64, number: u64) -> bool {
        if number == 0 {
            return false;
        }
        let place = match self.sessions.binary_search_by_key(&session, |it| it.number) {
            Ok(place) => place,
            Err(0) if self.sessions.len() == Doubles::SESSIONS => return false,
            Err(mut place) => {
                if self.sessions.len() == Doubles::SESSIONS {
                    self.sessions.remove(0);
                    place -= 1;
                }
                self.sessions.insert(
                    place,
                    Session {
                        number: session,
                        highest: 0,
                        used: 0,
                    },
                );
                place
            }
        };
        self.sessions[place].is_first(number)
    }
}

impl Session {
    fn is_first(&mut self, number: u64) -> bool {
        if number > self.highest {
            let by = number - self.highest;
            self.used = if by < Doubles::WINDOW {
                self.used << by
            } else {
                0
            };
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
        assert!(doubles.is_first(6, 1) && doubles.is_first(5, 71) && !doubles.is_first(6, 1));
        assert!(doubles.is_first(6, u64::MAX) && !doubles.is_first(6, 1));
    }

    #[test]
    fn several_sessions_send_at_once_and_the_oldest_one_ends() {
        let mut doubles = Doubles::default();
        for number in 1..5 {
            for session in [20, 10, 40, 30] {
                assert!(doubles.is_first(session, number));
            }
        }
        assert!(!doubles.is_first(9, 1)); // too old to know
        assert!(doubles.is_first(50, 1) && doubles.is_first(20, 5));
        assert!(!doubles.is_first(10, 5) && !doubles.is_first(20, 5));
    }
}
