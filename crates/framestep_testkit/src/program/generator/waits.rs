//! The waits of random programs.

use framestep::Phase;

use super::{At, GAME, Hear, Length, Mode, OnClock, Own, Place, Random, Rule, Wait, if_on, rows};

impl Random {
    pub(super) fn wait(&mut self, depth: usize) -> Wait {
        let on = self.on;
        let inner = if_on(depth < 2 && !on.simple, 1);
        // If the host sleeps, frames that are left out must not count, nor steps.
        let frames = !on.sleepy || !on.pauses;
        let runs = !on.sleepy;
        self.weigh(
            depth,
            &[
                (if_on(frames, 4), |r, _| r.own(Rule::NextFrame)),
                (if_on(frames, 3), |r, _| r.own(Rule::Frames)),
                (if_on(frames, 4), |r, _| r.own(Rule::Run)),
                (if_on(runs && (on.fixed || on.counts), 2), |r, _| {
                    r.own(Rule::Runs)
                }),
                (if_on(on.timers || on.sleepy, 4), |r, _| {
                    r.own(Rule::Time(OnClock::Own))
                }),
                (if_on(on.timers, 1), |r, _| {
                    r.own(Rule::Time(OnClock::Realtime))
                }),
                (if_on(on.clocks && on.timers, 3), |r, _| {
                    r.own(Rule::Time(OnClock::Given))
                }),
                (if_on(runs && on.conditions, 4), |r, _| {
                    r.own(Rule::Condition)
                }),
                (if_on(on.joins, 4), |r, _| Wait::Join(r.below(40))),
                (if_on(on.joins, 2), |r, _| Wait::Finished(r.below(40))),
                (if_on(on.bells, 5), |r, _| Wait::Bell(r.below(3))),
                (if_on(on.events, 5), |r, _| r.event()),
                (if_on(on.values, 5), |r, _| r.value()),
                (if_on(on.permits, 5), |r, _| {
                    Wait::Permits(r.below(2), r.below(4))
                }),
                (if_on(on.ends && on.owners && on.panics, 3), |r, _| {
                    Wait::Ended(r.below(6))
                }),
                (if_on(on.requests && on.owners && on.panics, 2), |r, _| {
                    let length = r.short();
                    Wait::StopWithin(r.below(6), length)
                }),
                (if_on((on.asks || on.requests) && on.owners, 4), |_, _| {
                    Wait::StopRequested
                }),
                // Not within two groups: one that passes on no waker, within one that polls what
                // is woken, leaves a timer that is due unpolled. Whether a reset then polls the
                // coroutine once more is open.
                (if_on(on.resets && depth < 2, 5), |r, _| {
                    let (length, at) = (r.number(), r.timed_at());
                    Wait::Timer(r.below(3), r.owed(length, at), at)
                }),
                (if_on(on.yields, 3), |_, _| Wait::ForeignYield),
                (if_on(on.turns, 2), |_, _| Wait::Yield),
                (if_on(frames && on.turns, 1), |_, _| Wait::Checkpoint),
                (if_on(runs && on.animations, 2), |r, _| {
                    Wait::Animate(r.period(), r.timed_at())
                }),
                (if_on(on.intervals, 2), |r, _| {
                    Wait::Interval(r.period(), 1 + r.below(4), r.timed_at())
                }),
                (if_on(frames && on.turns && on.counts, 1), |r, _| {
                    Wait::Frames(1 + r.below(3), r.at())
                }),
                (if_on(on.clocks && on.shown, 2), |r, _| {
                    // A frame after a sleep has many steps, and the first may have reached it.
                    let at = if r.on.sleepy { r.at() } else { r.timed_at() };
                    Wait::Point(r.below(4), r.below(16) as u64, at)
                }),
                (if_on(on.clocks && on.shown, 3 * inner), |r, depth| {
                    Wait::OnClock(r.below(4), Box::new(r.wait(depth + 1)))
                }),
                (if_on(on.timeouts, 3 * inner), |r, _| {
                    let wait = Box::new(r.wait(2));
                    Wait::Timeout(r.period(), r.timed_at(), wait)
                }),
                (if_on(on.moves, 4), |_, _| Wait::Loose),
                (if_on(runs && on.shares, 8 * inner), |r, depth| {
                    let number = r.below(4);
                    let mut wait = r.shared[number].clone();
                    if !r.any_order() {
                        wait = r.wait(depth + 1);
                        // One that panics leaves the others waiting, or panicking.
                        while wait.has(Wait::may_panic) {
                            wait = r.wait(depth + 1);
                        }
                    }
                    Wait::Shared(number, Box::new(wait))
                }),
                (
                    if_on(frames && !on.simple && depth == 0, 4)
                        + if_on(frames && on.groups, 6 * inner),
                    |r, depth| r.group(depth),
                ),
            ],
        )
    }

    /// One of the waits that are due by a rule.
    fn own(&mut self, rule: Rule) -> Wait {
        let mut rows = rows(rule);
        // A frame after a sleep has many steps.
        let on_steps = Place::Always(Phase::FixedUpdate);
        rows.retain(|row| !self.on.sleepy || row.place != on_steps);
        let row = self.pick(&rows);
        let most = if !self.on.counts {
            2
        } else if rule == Rule::Runs {
            5
        } else {
            4
        };
        let at = match row.place {
            Place::Argument => Some(self.phase()),
            // All steps of a frame read the same realtime.
            Place::InPhase if rule == Rule::Time(OnClock::Realtime) && self.on.sleepy => self.at(),
            Place::InPhase if matches!(rule, Rule::Time(_) | Rule::Condition) => self.timed_at(),
            Place::InPhase => self.at(),
            Place::Home | Place::Always(_) => None,
        };
        let length = self.length();
        let length = self.owed(length, at);
        Wait::Own(Own {
            row,
            at,
            count: self.below(most) as u64,
            length,
            clock: self.below(4),
            flag: (self.below(3), self.chance(70)),
        })
    }

    /// A length of zero ends in the next step, however many are owed after a sleep:
    /// docs/contract.md#time-zero
    fn owed(&mut self, length: Length, at: At) -> Length {
        let is_over = matches!(length, Length::Nanos(0) | Length::Negative);
        if self.on.sleepy && at == Some(Phase::FixedUpdate) && is_over {
            return self.period();
        }
        length
    }

    fn event(&mut self) -> Wait {
        let hear = match self.below(4) {
            0 if self.on.filters => Hear::This(self.below(3) as u64),
            1 if self.on.filters => Hear::Many(1 + self.below(3)),
            _ => Hear::Next,
        };
        Wait::Event(self.below(2), hear)
    }

    fn value(&mut self) -> Wait {
        let at = self.below(2);
        match self.below(4) {
            0 => Wait::Changed(at),
            1 => Wait::AtLeast(at, self.below(3) as u64),
            2 => Wait::Changes(at, 1 + self.below(3)),
            _ => Wait::Promise,
        }
    }

    /// A wait in `Update`: all that share it continue in its due run, in any order of polls. It is
    /// the same whichever coroutine makes it, so it is no condition, and does not count on a
    /// clock of that coroutine.
    pub(super) fn shared(&mut self) -> Wait {
        let mut rules = vec![Rule::NextFrame, Rule::Frames, Rule::Run];
        if self.on.timers {
            rules.extend([OnClock::Given, OnClock::Realtime].map(Rule::Time));
        }
        let mut rows = rows(self.pick(&rules));
        rows.retain(|row| !matches!(row.place, Place::Always(_)));
        let row = self.pick(&rows);
        let at = match row.place {
            Place::InPhase => self.pick(&[None, Some(Phase::Update)]),
            _ => Some(Phase::Update),
        };
        Wait::Own(Own {
            count: self.below(4) as u64,
            length: self.length(),
            clock: GAME,
            ..Own::new(row, at)
        })
    }

    fn group(&mut self, depth: usize) -> Wait {
        let on = self.on;
        let mut modes = vec![Mode::All, Mode::First, Mode::First];
        if on.groups {
            modes.extend([
                Mode::TheirJoinAll,
                Mode::TheirSelectAll,
                Mode::JoinAll,
                Mode::Race,
                Mode::Join,
                Mode::Select,
            ]);
        }
        // Coroutines that share a wait are resumed through their wakers.
        if on.groups && !on.shares {
            modes.push(Mode::Muffled);
        }
        if on.groups && !on.moves && !(on.shares && self.any_order()) {
            modes.extend([Mode::Unordered, Mode::Unordered, Mode::FirstUnordered]);
        }
        if on.groups && !on.moves && !on.shares {
            modes.push(Mode::MuffledUnordered);
        }
        let mode = self.pick(&modes);
        if on.crowds && depth == 0 && self.chance(30) {
            let kinds = self.some(4, |r| r.wait(2));
            let count = 25 + self.below(20);
            let waits = (0..count).map(|at| kinds[at % kinds.len()].clone());
            let mode = self.pick(&[Mode::Unordered, Mode::TheirJoinAll, Mode::TheirJoinAll]);
            return Wait::Group(mode, waits.collect());
        }
        Wait::Group(mode, self.some(4, |r| r.wait(depth + 1)))
    }
}
