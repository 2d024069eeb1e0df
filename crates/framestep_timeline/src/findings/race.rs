//! Branches of races that have lost, and whose events came too late.

use crate::lanes::{At, Bar, Emit, Lane, Poll};
use crate::record::{NONE, WaitKind};

use super::missed::{SOON, Told};
use super::{Finder, FindingKind, Found};

impl Finder<'_> {
    /// The first race that a script has left too early: the event of another branch came soon
    /// after, and nobody listened to it.
    pub(super) fn lost_branch(&self, lane: &Lane, told: &Told) -> Option<Found> {
        let waits = |name: u32| lane.waits.iter().filter(move |bar| bar.wait.other == name);
        for poll in &lane.polls {
            let branches = branches(lane, poll);
            let Some(won) = self.winner(&branches, poll) else {
                continue;
            };
            for lost in &branches {
                let name = lost.wait.other;
                if std::ptr::eq(*lost, won) || lost.wait.wait_kind() != WaitKind::Signal {
                    continue;
                }
                let again = waits(name).map(|bar| bar.from).find(|at| *at > poll.from);
                let emit = self.unheard(name, poll.from, again);
                let Some(emit) = emit.filter(|emit| !told.emissions.contains(&emit.at)) else {
                    continue;
                };
                return Some(self.lost(lane, (lost, won), poll, emit));
            }
        }
        None
    }

    /// The wait that has ended a race.
    fn winner<'b>(&self, branches: &[&'b Bar], poll: &Poll) -> Option<&'b Bar> {
        if branches.len() < 2 {
            return None;
        }
        let elapsed = self.lanes.columns.get(poll.from.column)?.elapsed;
        let has_won = |bar: &&&Bar| match bar.wait.wait_kind() {
            WaitKind::Join => self
                .lane(bar.wait.other)
                .is_some_and(|joined| joined.ended.is_some_and(|(at, _)| at <= poll.from)),
            WaitKind::Timer => bar.wait.other == 0 && bar.wait.value <= elapsed,
            _ => bar.wait.other != NONE && bar.wait.other == poll.by,
        };
        // A wait for frames has no other sign than that nothing else has won.
        let frames = |bar: &&&Bar| bar.wait.wait_kind() < WaitKind::Timer;
        let mut of_source = branches
            .iter()
            .filter(|bar| bar.wait.wait_kind().has_name());
        of_source
            .find(has_won)
            .or_else(|| branches.iter().find(has_won))
            .or_else(|| branches.iter().find(frames))
            .copied()
    }

    /// The first emission after a moment, if it came soon and nobody listened to it. It does
    /// not count if the script waits again before.
    fn unheard(&self, name: u32, after: At, again: Option<At>) -> Option<&Emit> {
        let mut emits = self.lanes.emits.iter();
        let emit = emits.find(|emit| emit.name == name && emit.at > after)?;
        let is_soon = self.frame(emit.at.column) - self.frame(after.column) <= SOON;
        let is_unheard = emit.listeners == Some(0) && emit.woke == 0;
        let is_before = again.is_none_or(|again| emit.at < again);
        (is_soon && is_unheard && is_before).then_some(emit)
    }

    fn lost(&self, lane: &Lane, (lost, won): (&Bar, &Bar), poll: &Poll, emit: &Emit) -> Found {
        let frame = self.frame(poll.from.column);
        let by = self.film.name_and_id(emit.source);
        let text = format!(
            "left its race in frame {frame}{}, because {} won; {by} emitted {} in frame {}{}, to \
             nobody",
            self.line(lane, lost.wait.place()),
            self.branch(won),
            self.film.text(lost.wait.other),
            self.frame(emit.at.column),
            self.after_words(emit.after),
        );
        let place = lost.wait.place();
        let found = self.finding(FindingKind::LostBranch, lane, frame, place, &text);
        found.until(self.frame(emit.at.column))
    }

    /// `the wait for signal bell`.
    fn branch(&self, bar: &Bar) -> String {
        format!("the wait {}", self.film.for_wait(&bar.wait))
    }
}

/// The waits at one line that all ended as a poll began: the branches of a race.
fn branches<'a>(lane: &'a Lane, poll: &Poll) -> Vec<&'a Bar> {
    // Those that are still open began later, so the list is nearly in the order of the ends.
    let until = lane.waits.partition_point(|bar| bar.from < poll.from);
    let near = &lane.waits[until.saturating_sub(16)..until];
    let ended = near.iter().filter(|bar| bar.to == Some(poll.from));
    let mut ended: Vec<&Bar> = ended.collect();
    let Some(first) = ended.first().map(|bar| bar.wait.place()) else {
        return ended;
    };
    ended.retain(|bar| bar.wait.place() == first);
    ended
}
