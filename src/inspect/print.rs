//! Where reports go: to the hook, or to standard error.

use std::cell::RefCell;
use std::io::{self, Write as _};
use std::mem::{self, Discriminant};
use std::panic::Location;

use crate::core::base::call::{self, Payload};

use super::hook::Hook;
use super::report::Report;

/// The subject of a report: its kind, and the script. Only the first report of each
/// subject is printed.
#[derive(Debug, PartialEq)]
struct Subject {
    kind: Discriminant<Report>,
    name: String,
    place: Option<&'static Location<'static>>,
}

impl Subject {
    fn of(report: &Report) -> Self {
        let (name, place) = match report {
            Report::InvalidDelta { .. }
            | Report::TimeDropped { .. }
            | Report::StepsDropped { .. } => (String::new(), None),
            Report::Runaway { name, .. } => (name.as_deref().unwrap_or("").to_owned(), None),
            Report::PollLimitReached { name, .. }
            | Report::SlowPoll { name, .. }
            | Report::CoroutinePanicked { name, .. } => (name.to_string(), None),
            Report::Refused { name, place, .. } => (name.to_string(), Some(*place)),
            Report::StopIgnored { owner, place, .. } => (owner.clone(), Some(*place)),
            Report::GrantUntaken { name, at, .. } => (name.to_string(), *at),
            Report::PhaseSkipped { phase, .. } => (phase.to_string(), None),
            Report::EventsMissed { name, place, .. } | Report::TicksOwed { name, place, .. } => {
                (name.as_deref().unwrap_or("").to_owned(), Some(*place))
            }
            Report::SuspiciousCall { place, .. } | Report::EventUntaken { place, .. } => {
                (String::new(), Some(*place))
            }
            Report::WithDeferredPanicked { state, place, .. } => {
                ((*state).to_owned(), Some(*place))
            }
            Report::BehaviourPanicked {
                behaviour,
                callback,
                ..
            } => (format!("{behaviour}::{callback}"), None),
            Report::HookPanicked { hook, .. } => ((*hook).to_owned(), None),
        };
        Subject {
            kind: mem::discriminant(report),
            name,
            place,
        }
    }
}

/// How many reports an executor prints.
const MAX_PRINTED: usize = 20;

/// Where an executor's reports go.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    pub(crate) hook: Hook<Report>,
    printed: RefCell<Printed>,
}

/// What has been printed.
#[derive(Debug)]
enum Printed {
    /// The subjects of fewer than `MAX_PRINTED` reports.
    Subjects(Vec<Subject>),
    /// Nothing is printed any more.
    Over,
}

impl Default for Printed {
    fn default() -> Self {
        Printed::Subjects(Vec::new())
    }
}

impl Printed {
    /// Counts a report that is about to be printed, and returns the count. `None` if
    /// it must not be printed.
    fn note(&mut self, report: &Report) -> Option<usize> {
        let Printed::Subjects(subjects) = self else {
            return None;
        };
        let subject = Subject::of(report);
        if subjects.contains(&subject) {
            return None;
        }
        subjects.push(subject);
        let count = subjects.len();
        if count == MAX_PRINTED {
            *self = Printed::Over;
        }
        Some(count)
    }
}

impl Reports {
    /// Drops the hook when the executor ends. Later reports are printed.
    pub(crate) fn close(&self) {
        self.hook.close();
    }

    /// Sends a report to the hook, or prints it. Returns an error if the hook panics.
    /// Calls user code: nothing may be borrowed.
    #[cold]
    pub(crate) fn send(&self, report: &Report) -> Result<(), Payload> {
        let called = self.hook.call(report)?;
        if !called && !self.hook.is_set() {
            self.print(report);
        }
        Ok(())
    }

    /// Prints a report, unless one of its kind and script has been printed.
    pub(crate) fn print(&self, report: &Report) {
        let printed = self.printed.borrow_mut().note(report);
        if let Some(number) = printed {
            print(report, number);
        }
    }

    /// Prints a report that concerns no live executor. Each thread counts such
    /// reports.
    pub(crate) fn print_without_executor(report: &Report) {
        thread_local! {
            static PRINTED: RefCell<Printed> = RefCell::default();
        }
        // When the thread is ending, the count may already be gone.
        let number = PRINTED.try_with(|printed| printed.borrow_mut().note(report));
        if let Some(number) = number.unwrap_or(Some(1)) {
            print(report, number);
        }
    }
}

/// Prints the report of that number.
fn print(report: &Report, number: usize) {
    let note = match number {
        MAX_PRINTED => format!("the last of {MAX_PRINTED} that are printed"),
        _ => "printed once".to_owned(),
    };
    to_stderr(&format!(
        "framestep: {report} ({note}; `Executor::on_report` receives all reports)"
    ));
}

/// Prints a line to standard error. A failure to print is ignored.
pub fn to_stderr(line: &str) {
    if cfg!(panic = "unwind") && !std::thread::panicking() {
        // Tests capture what this macro prints. It panics where standard error is closed.
        call::quietly(|| eprintln!("{line}"));
    } else {
        drop(writeln!(io::stderr(), "{line}"));
    }
}
