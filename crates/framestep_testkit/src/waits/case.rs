//! The cases of the table: a wait, its argument, the phase that it names, and the run
//! that ends it.

use std::fmt;
use std::ops::Deref;

use framestep::prelude::*;

use super::{Arg, Boxed, Given, Place, Row, WAITS};

/// A frame, and a phase in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct When(pub u64, pub Phase);

/// A row with one of its arguments, in a phase. It has all that the row has.
#[derive(Clone, Copy)]
pub struct Case {
    row: &'static Row,
    arg: Arg,
    /// The phase that it names.
    phase: Option<Phase>,
    /// Awaited in frame 0 of a [`Stage`](crate::Stage), at home in Update, it ends
    /// in this run.
    pub due: When,
}

impl Deref for Case {
    type Target = Row;

    fn deref(&self) -> &Row {
        self.row
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.row.call, self.row.of)?;
        match self.arg {
            Arg::None => {}
            Arg::Holds(_) => write!(f, " with a condition, due in frame {}", self.due.0)?,
            arg => write!(f, " with {arg:?}")?,
        }
        self.phase.map_or(Ok(()), |phase| write!(f, " in {phase}"))
    }
}

impl Case {
    /// What the wait is made from, in place of what `given` has.
    pub fn given(&self, given: &Given) -> Given {
        let mut given = given.clone();
        given.phase = self.phase;
        given.with(self.arg)
    }

    pub fn make(&self, given: &Given) -> Boxed {
        self.row.make(&self.given(given))
    }

    /// The run that ends it in a script with home `home`, which is polled in no other
    /// phase.
    pub fn due_at(&self, home: Phase) -> When {
        match self.row.place {
            Place::InPhase | Place::Home if self.phase.is_none() => When(self.due.0, home),
            _ => self.due,
        }
    }
}

/// All cases: each row with each of its arguments. A wait that may name a phase names none,
/// one that follows Update, and the fixed one.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for row in WAITS {
        for &(arg, frame) in row.due {
            let phases: &[Option<Phase>] = match row.place {
                Place::InPhase => &[None, Some(Phase::LateUpdate), Some(Phase::FixedUpdate)],
                _ => &[None],
            };
            for &phase in phases {
                let due = match (row.place, arg) {
                    (Place::Always(phase), _) | (Place::Argument, Arg::Phase(phase)) => phase,
                    _ => phase.unwrap_or(Phase::Update),
                };
                all.push(Case {
                    row,
                    arg,
                    phase,
                    due: When(frame, due),
                });
            }
        }
    }
    all
}
