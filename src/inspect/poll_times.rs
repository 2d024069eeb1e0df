//! How long polls take.

use std::cell::Cell;
use std::time::Duration;

use crate::core::base::call::Payload;

use super::time_source::TimeSource;

/// Times polls, and finds slow ones.
#[derive(Debug)]
pub(crate) struct PollTimes {
    /// The limit from which a poll is slow, if there is one.
    limit: Option<Duration>,
    time_source: TimeSource,
    /// The total time of the polls that began and ended inside the current poll.
    inside: Cell<Duration>,
}

/// One poll, from its beginning to its end.
#[derive(Debug)]
pub(crate) struct Lap<'a> {
    times: &'a PollTimes,
    began: Option<Duration>,
    /// What `inside` was for the poll around this one.
    outside: Duration,
    /// How long it took, once it is over.
    took: Option<Duration>,
}

impl PollTimes {
    pub(crate) fn new(time_source: TimeSource, limit: Option<Duration>) -> Self {
        PollTimes {
            limit,
            time_source,
            inside: Cell::default(),
        }
    }

    /// Drops the host's stopwatch.
    pub(crate) fn close(&self) {
        self.time_source.close();
    }

    /// The panic of the host's stopwatch, if it has panicked since the last call.
    pub(crate) fn take_panic(&self) -> Option<Payload> {
        self.time_source.take_panic()
    }

    /// Whether a poll that took this long is slow.
    pub(crate) fn is_slow(&self, took: Duration) -> bool {
        self.limit.is_some_and(|limit| took >= limit)
    }

    /// Begins to time a poll. Calls user code.
    pub(crate) fn begin(&self) -> Lap<'_> {
        Lap {
            times: self,
            outside: self.inside.take(),
            began: self.time_source.read(),
            took: None,
        }
    }
}

impl Lap<'_> {
    /// Returns how long the poll itself took. `None` if the time cannot be read. Calls
    /// user code.
    pub(crate) fn stop(mut self) -> Option<Duration> {
        let elapsed = self.elapsed();
        self.took = Some(elapsed.unwrap_or_default());
        Some(elapsed?.saturating_sub(self.times.inside.get()))
    }

    /// The time since the beginning. `None` if it cannot be read.
    fn elapsed(&self) -> Option<Duration> {
        let now = self.times.time_source.read()?;
        Some(now.saturating_sub(self.began?))
    }
}

impl Drop for Lap<'_> {
    /// Runs even if the poll panics: its time does not count for the poll around
    /// it.
    fn drop(&mut self) {
        let elapsed = self
            .took
            .unwrap_or_else(|| self.elapsed().unwrap_or_default());
        let inside = self.outside.saturating_add(elapsed);
        self.times.inside.set(inside);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    use super::{Lap, PollTimes, TimeSource};

    const MS: fn(u64) -> Duration = Duration::from_millis;

    thread_local! {
        static PASSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    fn poll_times() -> PollTimes {
        PollTimes::new(TimeSource::new(|| PASSED.get()), Some(MS(8)))
    }

    /// How long the poll took, if it was slow.
    fn slow(times: &PollTimes, lap: Lap<'_>) -> Option<Duration> {
        lap.stop().filter(|&took| times.is_slow(took))
    }

    fn work(milliseconds: u64) {
        PASSED.set(PASSED.get() + MS(milliseconds));
    }

    #[test]
    fn a_poll_that_takes_as_long_as_the_limit_is_slow() {
        let times = poll_times();
        let lap = times.begin();
        work(7);
        assert_eq!(slow(&times, lap), None);
        let lap = times.begin();
        work(8);
        assert_eq!(slow(&times, lap), Some(MS(8)));
    }

    #[test]
    fn the_time_of_nested_polls_does_not_count() {
        let times = poll_times();
        let outer = times.begin();
        work(3);
        for milliseconds in [2, 20] {
            let inner = times.begin();
            work(milliseconds);
            let innermost = times.begin();
            work(1);
            assert_eq!(slow(&times, innermost), None);
            let expected = (milliseconds >= 8).then(|| MS(milliseconds));
            assert_eq!(slow(&times, inner), expected);
        }
        work(6);
        assert_eq!(slow(&times, outer), Some(MS(9)));
    }

    #[test]
    fn the_time_of_a_nested_poll_that_panics_does_not_count() {
        let times = poll_times();
        let outer = times.begin();
        work(1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _inner = times.begin();
            work(50);
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        work(1);
        assert_eq!(slow(&times, outer), None);
    }

    #[test]
    fn nothing_is_slow_if_the_time_cannot_be_read() {
        for panics_at in [1, 2, 3] {
            let reads = Cell::new(0);
            let time_source = TimeSource::new(move || {
                reads.set(reads.get() + 1);
                assert_ne!(reads.get(), panics_at, "on purpose");
                MS(100 * reads.get())
            });
            let times = PollTimes::new(time_source, Some(MS(8)));
            let took = times.begin().stop();
            assert_eq!(took.is_some(), panics_at == 3);
        }
    }
}
