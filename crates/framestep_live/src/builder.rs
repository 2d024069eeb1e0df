//! When to build: a state machine that is told about changes and the ends of builds, and says what
//! to begin and what to cancel. It knows no threads, processes or clocks.

use std::time::Duration;

/// What is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The library of the scripts.
    Scripts,
    /// The whole game, to replace the process.
    Game,
}

/// What the caller does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Begins a build with this number.
    Begin(u64, Kind),
    /// Cancels the build with this number. Its end is told all the same.
    Cancel(u64),
}

/// A file system tells several changes for one save. After this time without another one, a
/// build begins.
pub(crate) const QUIET: Duration = Duration::from_millis(20);
/// A program that writes without a pause does not hold a build up for longer.
pub(crate) const LONGEST: Duration = Duration::from_millis(200);

/// Changes that have yet to be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Changes {
    kind: Kind,
    first: Duration,
    last: Duration,
}

impl Changes {
    fn due(&self) -> Duration {
        (self.last + QUIET).min(self.first + LONGEST)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Build {
    number: u64,
    kind: Kind,
    is_cancelled: bool,
}

/// Decides when to build. All times are counted from the same moment.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    changes: Option<Changes>,
    build: Option<Build>,
    builds: u64,
    /// Whether the last build was cancelled. The next one is not: so of two builds, one comes to
    /// an end, however often a file is saved.
    was_cancelled: bool,
}

impl Builder {
    /// A file has changed.
    pub(crate) fn changed(&mut self, kind: Kind, now: Duration) {
        let changes = self.changes.get_or_insert(Changes {
            kind,
            first: now,
            last: now,
        });
        changes.kind = changes.kind.max(kind);
        changes.last = now;
    }

    /// A build has ended. Returns what it was, unless it was cancelled: then its result does not
    /// count.
    pub(crate) fn ended(&mut self, number: u64) -> Option<Kind> {
        let build = self.build.take_if(|build| build.number == number)?;
        self.was_cancelled = build.is_cancelled;
        (!build.is_cancelled).then_some(build.kind)
    }

    /// What to do now.
    pub(crate) fn next(&mut self, now: Duration) -> Option<Act> {
        let changes = self.changes.filter(|changes| changes.due() <= now)?;
        if let Some(build) = &mut self.build {
            if build.is_cancelled || self.was_cancelled {
                return None;
            }
            build.is_cancelled = true;
            // What was cancelled is built again.
            let kind = build.kind.max(changes.kind);
            self.changes = Some(Changes { kind, ..changes });
            return Some(Act::Cancel(build.number));
        }
        self.changes = None;
        self.builds += 1;
        let (number, kind) = (self.builds, changes.kind);
        self.build = Some(Build {
            number,
            kind,
            is_cancelled: false,
        });
        Some(Act::Begin(number, kind))
    }

    /// When to ask again, unless something happens before.
    pub(crate) fn wakes_at(&self) -> Option<Duration> {
        let waits_for_end = self
            .build
            .is_some_and(|build| build.is_cancelled || self.was_cancelled);
        let changes = self.changes.filter(|_| !waits_for_end)?;
        Some(changes.due())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Act, Builder, Kind};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Plays changes at these times, with builds of a length, until all is quiet. Returns when
    /// builds began, whether each was cancelled, and when it ended.
    fn play(changes: &[(u64, Kind)], length: u64) -> Vec<(u64, Kind, bool, u64)> {
        let mut builder = Builder::default();
        let (mut builds, mut running) = (Vec::new(), None::<(u64, u64)>);
        let last = changes.iter().map(|(at, _)| *at).max().unwrap();
        for now in 0..last + 4 * length + 1_000 {
            for (_, kind) in changes.iter().filter(|(at, _)| *at == now) {
                builder.changed(*kind, ms(now));
            }
            if let Some((number, _)) = running.filter(|(_, ends)| *ends == now) {
                running = None;
                let ended = builder.ended(number);
                let last: &mut (u64, Kind, bool, u64) = builds.last_mut().unwrap();
                (last.2, last.3) = (ended.is_none(), now);
            }
            while let Some(act) = builder.next(ms(now)) {
                match act {
                    Act::Begin(number, kind) => {
                        assert!(running.is_none(), "one build at a time");
                        running = Some((number, now + length));
                        builds.push((now, kind, false, 0));
                    }
                    // It takes a moment to end.
                    Act::Cancel(number) => running = Some((number, now + 3)),
                }
            }
            if let Some(at) = builder.wakes_at() {
                assert!(at > ms(now), "the caller would spin");
            }
        }
        builds
    }

    const S: Kind = Kind::Scripts;
    const G: Kind = Kind::Game;

    #[test]
    fn the_changes_of_one_save_are_one_build() {
        let saves = [(10, S), (11, S), (25, S), (1_000, S)];
        let expected = [(45, S, false, 445), (1_020, S, false, 1_420)];
        assert_eq!(play(&saves, 400), expected);
    }

    #[test]
    fn a_newer_save_cancels_the_build() {
        let saves = [(0, S), (100, S)];
        let expected = [(20, S, true, 123), (123, S, false, 523)];
        assert_eq!(play(&saves, 400), expected);
    }

    #[test]
    fn a_file_that_is_saved_every_50_ms_is_built_all_the_same() {
        let saves: Vec<_> = (0..200).map(|save| (save * 50, S)).collect();
        let builds = play(&saves, 400);
        let ended: Vec<_> = builds.iter().filter(|build| !build.2).collect();
        // One of two comes to an end, and the last one has seen the last save.
        assert!(ended.len() >= 10_000 / 900, "{builds:?}");
        let last = builds.last().unwrap();
        assert!(!last.2 && last.0 >= 199 * 50, "{builds:?}");
    }

    #[test]
    fn writes_without_a_pause_do_not_hold_a_build_up() {
        let saves: Vec<_> = (0..1_000).map(|save| (save, S)).collect();
        let builds = play(&saves, 100);
        assert_eq!(builds[0], (200, S, false, 300));
        assert!(builds.last().unwrap().0 >= 999);
    }

    #[test]
    fn a_build_of_a_minute_is_cancelled_once_and_then_comes_to_its_end() {
        let saves = [(0, G), (10_000, S), (30_000, S), (50_000, S)];
        let builds = play(&saves, 60_000);
        let expected = [
            (20, G, true, 10_023),
            // What was cancelled is built again, although only scripts have changed since.
            (10_023, G, false, 70_023),
            (70_023, S, false, 130_023),
        ];
        assert_eq!(builds, expected);
    }

    #[test]
    fn an_end_that_was_not_expected_changes_nothing() {
        let mut builder = Builder::default();
        assert_eq!(builder.ended(7), None);
        builder.changed(S, ms(0));
        assert_eq!(builder.next(ms(5)), None);
        assert_eq!(builder.wakes_at(), Some(ms(20)));
        assert_eq!(builder.next(ms(20)), Some(Act::Begin(1, S)));
        assert_eq!(builder.ended(7), None);
        assert_eq!(builder.ended(1), Some(S));
        assert_eq!(builder.next(ms(500)), None);
    }
}
