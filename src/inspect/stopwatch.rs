//! How long polls take.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Finds polls that take long.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    limit: Duration,
    now: fn() -> Instant,
    /// What polls took that began, and ended, in the one under way.
    inside: Cell<Duration>,
}

/// One poll, from its beginning to its end.
#[derive(Debug)]
pub(crate) struct Lap<'a> {
    stopwatch: &'a Stopwatch,
    began: Instant,
    /// What had been counted in the poll around this one.
    outside: Duration,
}

impl Stopwatch {
    pub(crate) fn new(limit: Duration) -> Self {
        Self::reading(Instant::now, limit)
    }

    fn reading(now: fn() -> Instant, limit: Duration) -> Self {
        Stopwatch {
            limit,
            now,
            inside: Cell::default(),
        }
    }

    pub(crate) fn begin(&self) -> Lap<'_> {
        Lap {
            stopwatch: self,
            outside: self.inside.take(),
            began: (self.now)(),
        }
    }
}

impl Lap<'_> {
    /// How long it took by itself, if that is long.
    pub(crate) fn stop(self) -> Option<Duration> {
        let own = self.elapsed().saturating_sub(self.stopwatch.inside.get());
        (own >= self.stopwatch.limit).then_some(own)
    }

    fn elapsed(&self) -> Duration {
        (self.stopwatch.now)().saturating_duration_since(self.began)
    }
}

impl Drop for Lap<'_> {
    /// Also of a poll that panics: it is no time of the one around it.
    fn drop(&mut self) {
        let inside = self.outside.saturating_add(self.elapsed());
        self.stopwatch.inside.set(inside);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::{Duration, Instant};

    use super::Stopwatch;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    thread_local! {
        static EPOCH: Instant = Instant::now();
        static PASSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    fn now() -> Instant {
        EPOCH.with(|&epoch| epoch) + PASSED.get()
    }

    fn work(milliseconds: u64) {
        PASSED.set(PASSED.get() + MS(milliseconds));
    }

    #[test]
    fn a_poll_that_takes_as_long_as_the_limit_is_slow() {
        let stopwatch = Stopwatch::reading(now, MS(8));
        let lap = stopwatch.begin();
        work(7);
        assert_eq!(lap.stop(), None);
        let lap = stopwatch.begin();
        work(8);
        assert_eq!(lap.stop(), Some(MS(8)));
    }

    #[test]
    fn what_others_take_in_the_middle_does_not_count() {
        let stopwatch = Stopwatch::reading(now, MS(8));
        let outer = stopwatch.begin();
        work(3);
        for milliseconds in [2, 20] {
            let inner = stopwatch.begin();
            work(milliseconds);
            let innermost = stopwatch.begin();
            work(1);
            assert_eq!(innermost.stop(), None);
            let slow = (milliseconds >= 8).then(|| MS(milliseconds));
            assert_eq!(inner.stop(), slow);
        }
        work(6);
        assert_eq!(outer.stop(), Some(MS(9)));
    }

    #[test]
    fn a_panic_in_the_middle_is_not_the_time_of_the_one_around_it() {
        let stopwatch = Stopwatch::reading(now, MS(8));
        let outer = stopwatch.begin();
        work(1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _inner = stopwatch.begin();
            work(50);
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        work(1);
        assert_eq!(outer.stop(), None);
    }
}
