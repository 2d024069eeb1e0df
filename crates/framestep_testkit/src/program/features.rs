//! The features of programs. Each program has only some of them: a program with all of them
//! rarely tests any feature in depth.

/// What decides whether a program does the right thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// A reference of the contract.
    Reference,
    /// The program itself, run under other circumstances.
    Itself,
}

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident: $reference:literal $itself:literal,)*) => {
        #[derive(Clone, Copy, Debug, Default)]
        pub(super) struct Features {
            $($(#[$doc])* pub(super) $name: bool,)*
        }

        impl Features {
            /// Some of them, unless left out; `chance` takes a percentage.
            pub(super) fn choose(
                judge: Judge,
                without: &[String],
                mut chance: impl FnMut(usize) -> bool,
            ) -> Self {
                let percent = |reference, itself| match judge {
                    Judge::Reference => reference,
                    Judge::Itself => itself,
                };
                Features {
                    $($name: chance(percent($reference, $itself))
                        && !without.iter().any(|one| one == stringify!($name)),)*
                }
            }
        }
    };
}

// In percent of the programs that the reference judges, and of those that judge themselves.
features! {
    /// Pauses and resumes.
    pauses: 50 60,
    /// Clocks move in pauses.
    long_pauses: 100 60,
    /// Guards of owners and clocks.
    guards: 25 50,
    /// `FuturesUnordered` and the like.
    groups: 50 60,
    /// So many waits that the combinators of `futures` switch to another implementation.
    crowds: 4 0,
    /// Waits of the fixed phase that count time or steps.
    fixed: 40 60,
    timers: 85 85,
    /// Waits for several frames or steps.
    counts: 30 50,
    clocks: 30 35,
    /// Single waits on another clock, and points in time.
    shown: 25 50,
    owners: 50 50,
    /// All that the host begins is below one owner.
    rooted: 15 50,
    /// Coroutines with other homes than that of their parents.
    homes: 100 50,
    /// Lent state, and starts while it is borrowed.
    lends: 15 15,
    panics: 25 20,
    bells: 60 60,
    /// Wakes from other threads.
    threads: 2 0,
    /// The `yield_now` of another crate.
    yields: 25 30,
    /// Yields of this crate, and budgets.
    turns: 0 30,
    joins: 50 50,
    stops: 50 45,
    conditions: 40 40,
    timeouts: 20 40,
    intervals: 12 30,
    animations: 12 30,
    /// Waits that move from one coroutine to another.
    moves: 8 0,
    /// Waits that several coroutines share.
    shares: 8 20,
    /// Phases left out, and run twice.
    skips: 40 40,
    /// Destructors that do something.
    destructors: 40 35,
    remotes: 15 0,
    /// A low limit of polls in a run.
    limits: 6 0,
    /// A second executor.
    twins: 10 0,
    /// Executors driven from inside coroutines and destructors.
    drives: 8 0,
    /// Invalid lengths of time.
    odd: 15 10,
    /// Waits for the end of all coroutines of an owner.
    ends: 40 30,
    /// Requests to stop.
    asks: 40 30,
    /// Requests to stop with a time.
    requests: 25 25,
    /// Timers that are moved.
    resets: 25 20,
    /// Signals, also to one coroutine.
    events: 30 50,
    /// Events by a filter, or by a subscription.
    filters: 0 50,
    /// Watched values and promises.
    values: 0 40,
    /// Permits, and changes of their number.
    permits: 25 40,
    /// Stops that nest deep.
    deep: 1 0,
    /// Only the time decides what is due.
    sleepy: 0 12,
    /// One wait at a time, and no pauses and stops.
    simple: 0 15,
}

impl Features {
    /// Some wait counts the time of a clock.
    pub(super) fn timed(self) -> bool {
        self.timers
            || self.resets
            || self.timeouts
            || self.intervals
            || self.animations
            || self.deep
            || self.shown
            || self.requests
    }
}
