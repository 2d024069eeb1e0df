//! The variants: each changes something that must not show in the log of a program.

mod disturb;
pub(super) mod noise;
mod places;
pub(super) mod sleeper;
mod wrap;

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use framestep::{Builder, Executor};

use super::program::Program;
use super::world::{Log, World};

macro_rules! variants {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Variant {
            $($(#[$doc])* $name,)*
        }

        impl Variant {
            /// The first one changes nothing.
            pub(super) const ALL: &[Variant] = &[$(Variant::$name,)*];
        }
    };
}

variants! {
    Plain,
    /// A trace hook.
    TraceKind,
    /// An executor that observes everything, and measures polls.
    Observed,
    /// Other scripts, which do not know those of the program.
    Noise,
    /// Snapshots and other questions between two lines.
    Snapshots,
    /// Each wait in a `select!` with a future that is never ready.
    Select,
    /// Each wait in a `join!` with a future that is ready.
    Join,
    /// Each wait in a `race` with a wait that never ends.
    Race,
    /// Each wait with a timeout of a year.
    Timeout,
    /// Each wait on the clock that it counts on anyway.
    OnItsClock,
    /// Each wait in a script of its own, which is joined.
    InItsOwnScript,
    /// Each wait behind a waker that passes wakes on.
    ForeignWaker,
    /// Each wait behind another such waker in each poll.
    ForeignWakers,
    /// Each wait in a combinator that polls it only when it has been woken.
    OnlyWoken,
    /// Each script paused and resumed, between two steps of the host.
    Paused,
    /// Each script paused and resumed, at each line.
    PausedInside,
    /// The same with a guard of an owner.
    PausedTogether,
    /// After each step of the host, a run of a phase that no script knows.
    EmptyRuns,
    /// All clocks held, paused, and scaled to and fro at each line.
    Clocks,
    /// The program in a script of another executor, a step in each of its polls.
    InAScript,
    /// The program in the destructor of a script of another executor.
    InADestructor,
    /// The program in a destructor, while a panic unwinds.
    WhileUnwinding,
    /// The program in a destructor of its thread.
    AtThreadExit,
    /// The program twice at the same time, step by step.
    Twins,
    /// A host that sleeps while nothing is due.
    Sleeper,
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Variant {
    pub(super) fn applies_to(self, program: &Program) -> bool {
        match self {
            Variant::Plain => false,
            Variant::PausedTogether => program.settings.rooted,
            Variant::Sleeper => program.settings.sleepy,
            Variant::InItsOwnScript => program.settings.simple,
            // Of those that share a wait, only one polls it then.
            Variant::OnlyWoken => !program.settings.shares,
            _ => true,
        }
    }

    /// The logs of a program, all of which are as they are without the variant.
    pub(super) fn logs(self, program: &Rc<Program>) -> Vec<Log> {
        match self {
            Variant::InAScript => vec![places::in_a_script(program)],
            Variant::InADestructor => vec![places::in_a_destructor(program)],
            Variant::WhileUnwinding => vec![places::while_unwinding(program)],
            Variant::AtThreadExit => vec![places::at_thread_exit(program)],
            Variant::Twins => places::twins(program),
            _ => vec![World::run(program, self)],
        }
    }

    /// The part of a program's log that the variant must not change.
    pub(super) fn comparable(self, log: &Log) -> Log {
        let mut log = log.clone();
        if self == Variant::Sleeper {
            // While it sleeps, no frames are counted.
            log.retain(|line| line.what != "ran");
            for line in &mut log {
                line.frame = 0;
            }
        }
        log
    }

    pub(super) fn build(self, builder: Builder) -> Executor {
        match self {
            Variant::Observed => {
                let stopwatch = || Duration::ZERO;
                let builder = builder.inspect(true).profile(true);
                builder.slow_poll(1).stopwatch(stopwatch).build()
            }
            _ => builder.build(),
        }
    }

    pub(super) fn watch(self, executor: &Executor) {
        if self == Variant::TraceKind {
            _ = executor.on_full_trace(|event| _ = event.to_string());
        }
    }
}
