//! What `Live` says.

use std::fmt;
use std::time::{Duration, Instant};

use framestep_durable::{Reloaded, Restored};

/// What [`Live`](crate::Live) has done last.
///
/// [`Display`](fmt::Display) prints one or several lines: the compiler's words, or which scripts have
/// continued.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Status {
    /// It finds out how the game is built.
    Starts,
    /// It watches, and nothing has changed.
    Watches {
        /// How many folders.
        folders: usize,
    },
    /// The code does not compile. The earlier code goes on.
    Failed {
        /// The compiler's words, one text for each error.
        errors: Vec<String>,
    },
    /// The code of the scripts has been exchanged.
    Exchanged {
        /// What has become of each script.
        reloaded: Reloaded,
        /// How long it took.
        timings: BuildTimings,
        /// What has become of the game.
        balance: Balance,
    },
    /// A script has panicked after an exchange, and has ended.
    Panicked {
        /// Which one, where, after which exchange, and what can be done.
        why: String,
    },
    /// The new code was not taken, and why. The earlier code goes on.
    Refused {
        /// A sentence with the remedy.
        why: String,
        /// Whether [`Live::accept`](crate::Live::accept) would take it, and lose scripts.
        can_be_accepted: bool,
    },
    /// Something else than the code does not work, and what can be done.
    Trouble {
        /// A sentence with the remedy.
        why: String,
    },
    /// This process goes on with the game of an earlier one.
    Continued {
        /// Why the earlier one has not gone on itself.
        why: String,
        /// What has become of its scripts.
        restored: Restored,
        /// At which frame.
        frame: u64,
        /// What has become of the game.
        balance: Balance,
    },
}

/// How long an exchange took, from the change of a file on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildTimings {
    /// Until cargo had built the library.
    pub build: Duration,
    /// Until the loop called `update`, and the library was loaded.
    pub load: Duration,
    /// Until all scripts ran in the new code.
    pub exchange: Duration,
}

impl BuildTimings {
    /// All together.
    #[must_use]
    pub fn total(self) -> Duration {
        self.build + self.load + self.exchange
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Starts => f.write_str("asks cargo how the game is built"),
            Status::Watches { folders } => write!(f, "watches {folders} folders"),
            Status::Failed { errors } => {
                write!(f, "does not compile, the earlier code goes on:")?;
                errors.iter().try_for_each(|error| write!(f, "\n{error}"))
            }
            Status::Exchanged {
                reloaded,
                timings,
                balance,
            } => {
                write!(
                    f,
                    "new code after {:.2} s: {reloaded}\n{balance}",
                    timings.total().as_secs_f64()
                )
            }
            Status::Refused { why, .. } => write!(f, "refused, the earlier code goes on: {why}"),
            Status::Panicked { why } | Status::Trouble { why } => f.write_str(why),
            Status::Continued {
                why,
                restored,
                frame,
                balance,
            } => {
                write!(f, "the new program goes on at frame {frame}: {why}")?;
                for (what, scripts) in [
                    ("restarted", &restored.restarted),
                    ("dropped", &restored.dropped),
                ] {
                    scripts
                        .iter()
                        .try_for_each(|it| write!(f, "\n{what}: {it}"))?;
                }
                write!(f, "\n{balance}")
            }
        }
    }
}

/// What has become of the game in an exchange, or when another process goes on with it. What is not said here is
/// as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Balance {
    /// Scripts that go on where they were.
    pub continued: usize,
    /// Scripts that have restarted their chapters, or do so after their waits.
    pub restarted: usize,
    /// Scripts that have restarted with a state of another version.
    pub migrated: usize,
    /// Scripts that are gone, because that was accepted.
    pub dropped: usize,
    /// Scripts that have ended by a panic since the exchange before, or since the start.
    pub panicked: usize,
    /// Scripts to which the game has handles that are void now. Get others with
    /// [`ScriptId::handle`](framestep_durable::ScriptId::handle).
    pub void_handles: usize,
    /// The frames of the [`History`](crate::History) that are gone with the earlier process.
    pub lost_history: usize,
    /// Whether they were played in a loop, which has ended.
    pub lost_loop: bool,
    /// Why there is no described save from before the exchange: if the new code does not end, the game is lost.
    pub unsaved: Option<String>,
}

impl fmt::Display for Balance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Balance {
            continued,
            restarted,
            migrated,
            dropped,
            panicked,
            ..
        } = self;
        write!(
            f,
            "balance: {continued} continued, {restarted} restarted, {migrated} migrated, {dropped} dropped, \
             {panicked} ended by a panic since the last one"
        )?;
        if self.void_handles > 0 {
            write!(
                f,
                "; the handles of {} scripts are void, `ScriptId::handle` makes others",
                self.void_handles
            )?;
        }
        if self.lost_history > 0 {
            let and_loop = if self.lost_loop { " and its loop" } else { "" };
            write!(
                f,
                "; the history of {} frames{and_loop} is gone",
                self.lost_history
            )?;
        }
        if let Some(why) = &self.unsaved {
            write!(f, "; there is no save from before it: {why}")?;
        }
        Ok(())
    }
}

/// A build under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Building {
    /// Whether the whole game is built, to replace this process.
    pub whole_game: bool,
    /// Since when.
    pub since: Instant,
}

#[cfg(test)]
mod tests {
    use super::Balance;

    #[test]
    fn a_balance_says_what_is_gone() {
        let mut balance = Balance {
            continued: 12,
            restarted: 1,
            panicked: 2,
            ..Balance::default()
        };
        let all = "balance: 12 continued, 1 restarted, 0 migrated, 0 dropped, 2 ended by a panic since the last one";
        assert_eq!(balance.to_string(), all);
        balance.void_handles = 3;
        balance.lost_history = 300;
        balance.lost_loop = true;
        let gone = "; the handles of 3 scripts are void, `ScriptId::handle` makes others; the history of 300 \
                    frames and its loop is gone";
        assert_eq!(balance.to_string(), format!("{all}{gone}"));
    }
}
