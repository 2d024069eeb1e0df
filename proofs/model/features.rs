//! The features of programs. Each program has only some of them: a program with
//! all of them rarely tests any feature in depth.

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident: $percent:literal,)*) => {
        #[derive(Clone, Copy, Debug, Default)]
        pub(super) struct Features {
            $($(#[$doc])* pub(super) $name: bool,)*
        }

        impl Features {
            /// Some of them, unless left out; `chance` takes a percentage.
            pub(super) fn choose(
                without: &[String],
                mut chance: impl FnMut(usize) -> bool,
            ) -> Self {
                Features {
                    $($name: chance($percent)
                        && !without.iter().any(|one| one == stringify!($name)),)*
                }
            }
        }
    };
}

features! {
    /// Pauses and resumes.
    pauses: 50,
    /// `FuturesUnordered` and the like.
    groups: 50,
    /// So many waits that the combinators of `futures` switch to another
    /// implementation.
    crowds: 4,
    /// Waits of the fixed phase that count time or steps.
    fixed: 40,
    timers: 85,
    /// Waits for several frames or steps.
    counts: 30,
    clocks: 30,
    owners: 50,
    /// Lent state, and starts while it is borrowed.
    lends: 15,
    panics: 25,
    bells: 60,
    /// Wakes from other threads.
    threads: 2,
    yields: 25,
    joins: 50,
    stops: 50,
    conditions: 40,
    timeouts: 20,
    intervals: 12,
    animations: 12,
    /// Waits that move from one coroutine to another.
    moves: 8,
    /// Waits that several coroutines share.
    shares: 8,
    /// Phases left out, and run twice.
    skips: 40,
    /// Destructors that do something.
    destructors: 40,
    remotes: 15,
    /// A low limit of polls in a run.
    limits: 6,
    /// A second executor.
    twins: 10,
    /// Executors driven from inside coroutines and destructors.
    drives: 8,
    /// Invalid lengths of time.
    odd: 15,
    /// Waits for the end of all coroutines of an owner.
    ends: 40,
    /// Requests to stop.
    asks: 40,
    /// Timers that are moved.
    resets: 25,
    /// Signals, also to one coroutine.
    events: 30,
    /// Permits, and changes of their number.
    permits: 25,
    /// Stops that nest deep.
    deep: 1,
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
    }
}
