//! The variants: each changes something that must not show in the trace of a program.

mod disturb;
pub(super) mod noise;
mod places;
pub(super) mod sleeper;
mod wrap;

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::Clock;
use framestep::{Builder, Executor, Phase};
use framestep_testkit::program::{
    Around, Program, Real, Settings, Step, System, Trace, Wait, Waiting, What, World,
};

use noise::Noise;
use sleeper::Sleeper;

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
            // In the place of a phase that does not run, a run of any phase serves them:
            // docs/contract.md#decided-stop-within
            Variant::EmptyRuns => !program.settings.requests,
            Variant::PausedTogether => program.settings.rooted,
            Variant::Sleeper => program.settings.sleepy,
            Variant::InItsOwnScript => program.settings.simple,
            // Of those that share a wait, only one polls it then.
            Variant::OnlyWoken => !program.settings.shares,
            _ => true,
        }
    }

    /// The traces of a program, all of which are as they are without the variant.
    pub(super) fn traces(self, program: &Rc<Program>) -> Vec<Trace> {
        match self {
            Variant::InAScript => vec![places::in_a_script(program)],
            Variant::InADestructor => vec![places::in_a_destructor(program)],
            Variant::WhileUnwinding => vec![places::while_unwinding(program)],
            Variant::AtThreadExit => vec![places::at_thread_exit(program)],
            Variant::Twins => places::twins(program),
            _ => vec![self.run(program)],
        }
    }

    /// The part of a program's trace that the variant must not change.
    pub(super) fn comparable(self, mut trace: Trace) -> Trace {
        trace.retain(|event| event.what != What::Polled);
        if self == Variant::Sleeper {
            // While it sleeps, no frames are counted.
            trace.retain(|event| !matches!(event.what, What::Alive(_)));
        }
        for event in &mut trace {
            // Other scripts count, too.
            if matches!(event.what, What::Alive(_)) {
                event.what = What::Alive(None);
            }
            if self == Variant::Sleeper {
                event.frame = 0;
            }
        }
        trace
    }

    /// An executor for a program, and everything that its scripts share.
    fn world(self, program: &Rc<Program>) -> Rc<World<Real>> {
        let executor = self.build(Real::builder(&program.settings));
        if self == Variant::TraceKind {
            _ = executor.on_full_trace(|event| _ = event.to_string());
        }
        let extras = Extras {
            variant: self,
            noise: (self == Variant::Noise).then(|| Noise::new(&executor)),
            sleeper: (self == Variant::Sleeper).then(|| Sleeper::new(&executor)),
        };
        World::new(program, [Real::of(executor)], Box::new(extras))
    }

    /// The trace of a program.
    fn run(self, program: &Rc<Program>) -> Trace {
        let world = self.world(program);
        program.steps.iter().for_each(|step| world.step(step));
        world.finish().0
    }

    fn build(self, builder: Builder) -> Executor {
        match self {
            Variant::Observed => {
                let stopwatch = || Duration::ZERO;
                let builder = builder.inspect(true).profile(true);
                builder.slow_poll(1).stopwatch(stopwatch).build()
            }
            _ => builder.build(),
        }
    }
}

/// What a variant has besides the program.
struct Extras {
    variant: Variant,
    noise: Option<Rc<Noise>>,
    sleeper: Option<Sleeper>,
}

impl Around<Real> for Extras {
    fn wrap(&self, settings: &Settings, wait: &Wait, plain: Waiting, clock: &Clock) -> Waiting {
        self.variant.wrap(settings, wait, plain, clock)
    }

    fn after_line(&self, world: &World<Real>, by_script: bool) {
        if let Some(noise) = &self.noise {
            noise.act();
        }
        self.variant.disturb(world, by_script);
    }

    fn step(&self, world: &Rc<World<Real>>, step: &Step) {
        if let Some(sleeper) = &self.sleeper {
            return sleeper.step(world, step);
        }
        world.perform(step);
        if self.variant == Variant::EmptyRuns && matches!(step, Step::Drive(..)) {
            _ = world.system().run(false, Phase::Custom(9), true);
        }
    }
}
