//! A wait of the table in a random program.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;

use super::language::UNIT;
use crate::waits::{self, Boxed, Given, OnClock, Row, Rule, WAITS};

/// A length of time in a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Nanos(u64),
    Negative,
    Infinite,
    NotANumber,
}

/// Calls a function with a length as `Seconds`.
macro_rules! with_length {
    ($length:expr, $f:expr) => {
        match $length {
            Length::Nanos(ns) => $f(Duration::from_nanos(ns)),
            Length::Negative => $f(-1.5),
            Length::Infinite => $f(f64::INFINITY),
            Length::NotANumber => $f(f64::NAN),
        }
    };
}

/// In units, and nanoseconds that are left.
impl fmt::Debug for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Length::Nanos(ns) if ns % UNIT == 0 => write!(f, "{}u", ns / UNIT),
            Length::Nanos(ns) if ns < UNIT => write!(f, "{ns}ns"),
            Length::Nanos(ns) => write!(f, "{}u+{}ns", ns / UNIT, ns % UNIT),
            Length::Negative => write!(f, "-1.5s"),
            Length::Infinite => write!(f, "inf"),
            Length::NotANumber => write!(f, "NaN"),
        }
    }
}

/// A wait that is due by one of the rules of the contract, with all arguments that it may
/// take.
#[derive(Clone, Copy)]
pub struct Own {
    pub row: &'static Row,
    /// The phase that it names.
    pub at: Option<Phase>,
    pub count: u64,
    pub length: Length,
    pub clock: usize,
    /// Until this flag has this value.
    pub flag: (usize, bool),
}

/// The waits that are due by a rule, and are not made of others.
pub fn rows(rule: Rule) -> Vec<&'static Row> {
    let rows = WAITS.iter();
    let rows = rows.filter(|row| row.rule == rule && !row.is_made_of_others);
    rows.collect()
}

impl Own {
    pub fn new(row: &'static Row, at: Option<Phase>) -> Self {
        Own {
            row,
            at,
            count: 1,
            length: Length::Nanos(0),
            clock: 0,
            flag: (0, true),
        }
    }

    /// Whether it counts on the clock with its number.
    pub fn names_a_clock(&self) -> bool {
        self.row.rule == Rule::Time(OnClock::Given)
    }

    /// Makes it, with `clock` if it names one.
    pub fn make(&self, given: &Given, clock: Option<&Clock>, asks: Rc<dyn Fn() -> bool>) -> Boxed {
        let mut given = given.clone();
        (given.phase, given.count) = (self.at, self.count);
        given.length = with_length!(self.length, waits::Length::from);
        given.clock = clock.unwrap_or(&given.clock).clone();
        given.condition = asks;
        self.row.make(&given)
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.row.call)?;
        match self.row.rule {
            Rule::Frames | Rule::Runs => write!(f, " {}", self.count)?,
            Rule::Time(OnClock::Given) => write!(f, " {:?} on {}", self.length, self.clock)?,
            Rule::Time(_) => write!(f, " {:?}", self.length)?,
            Rule::Condition => write!(f, " {:?}", self.flag)?,
            _ => {}
        }
        self.at.map_or(Ok(()), |phase| write!(f, " in {phase}"))
    }
}
