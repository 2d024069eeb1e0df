//! Which inputs of a player were applied.

use serde::{Deserialize, Serialize};

/// Remembers which numbers of a sender were used, in each of its sessions. Each may be used once.
///
/// A log forgets message ids after a while. This does not, as long as a session has at most
/// [`WINDOW`](Self::WINDOW) messages under way, and a player at most [`SESSIONS`](Self::SESSIONS)
/// sessions in that time.
///
/// The number of a session says nothing but which one it is. Its place in the log orders it: the clock
/// of a player's device may be wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Doubles {
    /// By their last entries in the log, the newest one last.
    sessions: Vec<Session>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    number: u64,
    highest: u64,
    /// Bit n: whether `highest - n` was used.
    used: u64,
}

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Used {
    /// It was not used before.
    First,
    /// It was used before.
    Double,
    /// It is so far behind the newest one that it is not known.
    Unknown,
}

impl Doubles {
    pub(crate) const WINDOW: u64 = 64;
    /// How many sessions are remembered. A session that sends again after so many others have sent is
    /// taken for a new one.
    pub(crate) const SESSIONS: usize = 64;

    /// Uses a number, from 1 on.
    pub(crate) fn use_number(&mut self, session: u64, number: u64) -> Used {
        let known = self.sessions.iter().position(|it| it.number == session);
        let mut it = match known {
            Some(place) => self.sessions.remove(place),
            None => Session {
                number: session,
                highest: 0,
                used: 0,
            },
        };
        let used = it.use_number(number);
        if self.sessions.len() == Doubles::SESSIONS {
            self.sessions.remove(0);
        }
        self.sessions.push(it);
        used
    }
}

impl Session {
    fn use_number(&mut self, number: u64) -> Used {
        if number > self.highest {
            let by = number - self.highest;
            self.used = if by < Doubles::WINDOW {
                self.used << by
            } else {
                0
            };
            self.highest = number;
            self.used |= 1;
            return Used::First;
        }
        let age = self.highest - number;
        if age >= Doubles::WINDOW {
            return Used::Unknown;
        }
        if self.used >> age & 1 == 1 {
            return Used::Double;
        }
        self.used |= 1 << age;
        Used::First
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Used::{Double, First, Unknown};

    #[test]
    fn each_number_is_used_once_in_any_order_within_the_window() {
        let mut doubles = Doubles::default();
        for number in [3, 1, 2, 70, 10, 7] {
            assert_eq!(doubles.use_number(5, number), First, "{number}");
            assert_eq!(doubles.use_number(5, number), Double, "{number}");
        }
        assert_eq!(doubles.use_number(5, 6), Unknown);
        assert_eq!(doubles.use_number(6, 1), First);
        assert_eq!(doubles.use_number(5, 71), First);
        assert_eq!(doubles.use_number(6, 1), Double);
        assert_eq!(doubles.use_number(6, u64::MAX), First);
        assert_eq!(doubles.use_number(6, 1), Unknown);
    }

    #[test]
    fn the_numbers_of_sessions_do_not_order_them() {
        let mut doubles = Doubles::default();
        // A device whose clock was ahead, and then others.
        for session in [u64::MAX, 900, 30, 1, 2] {
            for number in 1..5 {
                assert_eq!(doubles.use_number(session, number), First);
                assert_eq!(doubles.use_number(session, number), Double);
            }
        }
        assert_eq!(doubles.use_number(900, 5), First);
    }

    #[test]
    fn the_session_that_has_sent_nothing_for_the_longest_time_is_forgotten() {
        let mut doubles = Doubles::default();
        let sessions = Doubles::SESSIONS as u64;
        for session in 0..sessions {
            assert_eq!(doubles.use_number(session, 1), First);
        }
        assert_eq!(doubles.use_number(0, 2), First); // 1 is the oldest one now
        assert_eq!(doubles.use_number(sessions, 1), First);
        assert_eq!(doubles.use_number(0, 2), Double);
        assert_eq!(doubles.use_number(2, 1), Double);
        assert_eq!(doubles.use_number(1, 2), First);
        assert_eq!(doubles.sessions.len(), Doubles::SESSIONS);
    }
}
