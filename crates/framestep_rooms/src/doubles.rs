//! Which inputs of a player were applied.

use serde::{Deserialize, Serialize};

use crate::body::Envelope;

/// Remembers which numbers of a sender were used, in each of its sessions. Each may be used once.
///
/// A log forgets message ids after a while. This does not, as long as a session has at most
/// [`WINDOW`](Self::WINDOW) messages under way. A session that is not known may have been forgotten, so from
/// then on its inputs count only if they were made after all that was forgotten: each names an entry of the log
/// that its sender knew then, and each copy of it names the same one.
///
/// The number of a session says nothing but which one it is. Its place in the log orders it: the clock
/// of a player's device may be wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Doubles {
    /// By their last entries in the log, the newest one last.
    sessions: Vec<Session>,
    /// The last entry of all sessions that were forgotten.
    forgotten: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    number: u64,
    highest: u64,
    /// Bit n: whether `highest - n` was used.
    used: u64,
    /// Its inputs that were made before this entry may be forgotten.
    since: u64,
    /// Its last entry.
    last: u64,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Used {
    /// It was not used before.
    First,
    /// It was used before.
    Double,
    /// Its number is so far behind the newest one that it is not known.
    Unknown,
    /// It was made before this entry, up to which inputs of its session may be forgotten.
    Late(u64),
    /// It names an entry that is not before its own: the log has lost that one.
    Ahead,
}

impl Doubles {
    pub(crate) const WINDOW: u64 = 64;
    /// How many sessions are remembered. One that sends again after so many others have sent is a new one.
    pub(crate) const SESSIONS: usize = 64;

    /// Uses an input that is entry `seq`. Of sessions that are not known, inputs that were made before entry
    /// `since` may be forgotten.
    pub(crate) fn use_input(&mut self, it: &Envelope, seq: u64, since: u64) -> Used {
        // Then no copy of it is later than the last entry of its session.
        if it.after >= seq {
            return Used::Ahead;
        }
        let known = self
            .sessions
            .iter()
            .position(|known| known.number == it.session);
        let since = known.map_or(since.max(self.forgotten), |place| {
            self.sessions[place].since
        });
        if it.after < since {
            return Used::Late(since);
        }
        let mut session = match known {
            Some(place) => self.sessions.remove(place),
            None => Session {
                number: it.session,
                highest: 0,
                used: 0,
                since,
                last: 0,
            },
        };
        session.last = seq;
        let used = session.use_number(it.number);
        if self.sessions.len() == Doubles::SESSIONS {
            let oldest = self.sessions.remove(0);
            self.forgotten = self.forgotten.max(oldest.last);
        }
        self.sessions.push(session);
        used
    }

    /// The last entry of all sessions.
    pub(crate) fn last_entry(&self) -> u64 {
        self.sessions
            .last()
            .map_or(self.forgotten, |session| session.last)
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
    use Used::{Ahead, Double, First, Late, Unknown};

    /// A log with the inputs of one player.
    #[derive(Default)]
    struct Log(Doubles, u64);

    impl Log {
        /// The next entry is an input that was made after the entry before it.
        fn send(&mut self, session: u64, number: u64) -> Used {
            self.copy(session, number, self.1)
        }

        /// The next entry is an input that was made after this one.
        fn copy(&mut self, session: u64, number: u64, after: u64) -> Used {
            self.1 += 1;
            let envelope = Envelope {
                session,
                number,
                after,
            };
            self.0.use_input(&envelope, self.1, 0)
        }
    }

    #[test]
    fn each_number_is_used_once_in_any_order_within_the_window() {
        let mut log = Log::default();
        for number in [3, 1, 2, 70, 10, 7] {
            assert_eq!(log.send(5, number), First, "{number}");
            assert_eq!(log.send(5, number), Double, "{number}");
        }
        assert_eq!(log.send(5, 6), Unknown);
        assert_eq!(log.send(6, 1), First);
        assert_eq!(log.send(5, 71), First);
        assert_eq!(log.send(6, 1), Double);
        assert_eq!(log.send(6, u64::MAX), First);
        assert_eq!(log.send(6, 1), Unknown);
    }

    #[test]
    fn the_numbers_of_sessions_do_not_order_them() {
        let mut log = Log::default();
        // A device whose clock was ahead, and then others.
        for session in [u64::MAX, 900, 30, 1, 2] {
            for number in 1..5 {
                assert_eq!(log.send(session, number), First);
                assert_eq!(log.send(session, number), Double);
            }
        }
        assert_eq!(log.send(900, 5), First);
    }

    #[test]
    fn of_a_session_that_was_forgotten_copies_do_not_count_and_new_inputs_do() {
        let mut log = Log::default();
        let sessions = Doubles::SESSIONS as u64;
        for session in 0..sessions {
            assert_eq!(log.send(session, 1), First); // made after entry `session`
        }
        assert_eq!(log.send(0, 2), First); // 1 is the oldest one now
        assert_eq!(log.send(sessions, 1), First);
        assert_eq!(log.copy(0, 2, sessions), Double);
        assert_eq!(log.copy(2, 1, 2), Double);
        // The last entry of session 1 was 2.
        assert_eq!(log.copy(1, 1, 1), Late(2));
        assert_eq!(log.copy(1, 2, 2), First);
        assert_eq!(log.copy(1, 1, 1), Late(2));
        assert_eq!(log.0.sessions.len(), Doubles::SESSIONS);
    }

    #[test]
    fn an_input_that_names_an_entry_which_is_not_before_its_own_does_not_count() {
        let mut log = Log::default();
        assert_eq!(log.copy(5, 1, 1), Ahead);
        assert_eq!(log.copy(5, 1, u64::MAX), Ahead);
        assert_eq!(log.copy(5, 1, 2), First);
    }
}
