//! Watches whose value has passed that for which a script waits.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::lanes::{At, Bar, Lane};
use crate::record::WaitKind;
use crate::text;

use super::{Finder, FindingKind, Found, only_wait};

/// Fewer changes do not say much.
const FEW_CHANGES: usize = 4;
/// A wait is unusual if it has lasted for more than this many times the changes of others.
const UNUSUAL: usize = 3;
/// The most values that a finding names.
const MOST_VALUES: usize = 5;

/// Waits of a script for a watch, one after the other at one line: each time that the watch was
/// set, the script has looked at its value, and has gone on to wait.
struct Round<'a> {
    lane: &'a Lane,
    first: &'a Bar,
    last: &'a Bar,
}

/// The rounds of one line that are over.
#[derive(Default)]
struct Ended {
    /// The most changes that one of them took.
    changes: usize,
    /// The values that ended them, as names.
    values: Vec<u32>,
}

impl Finder<'_> {
    /// The findings, and the waits that they tell of: the scripts and the first frames.
    pub(super) fn passed_values(&self) -> (Vec<Found>, HashSet<(u32, u64)>) {
        let mut lines: BTreeMap<(u32, u32), Vec<Round<'_>>> = BTreeMap::new();
        for lane in &self.lanes.lanes {
            for round in rounds(lane) {
                let key = (round.last.wait.other, round.last.wait.place());
                lines.entry(key).or_default().push(round);
            }
        }
        let mut changes: HashMap<u32, Vec<At>> = HashMap::new();
        for emit in &self.lanes.emits {
            changes.entry(emit.name).or_default().push(emit.at);
        }
        let mut values: HashMap<u32, Vec<(At, u32)>> = HashMap::new();
        for it in &self.lanes.values {
            values.entry(it.watch).or_default().push((it.at, it.value));
        }
        let (mut found, mut told) = (Vec::new(), HashSet::new());
        for ((watch, _), rounds) in lines {
            let changes = changes.get(&watch).map_or(&[][..], |changes| changes);
            let values = values.get(&watch).map_or(&[][..], |values| values);
            let many = |round: &Round<'_>| {
                let to = round.last.to.unwrap_or(self.lanes.end());
                let until = changes.partition_point(|at| *at <= to);
                until
                    - changes
                        .partition_point(|at| *at < round.first.from)
                        .min(until)
            };
            let (mut open, over): (Vec<_>, Vec<_>) = rounds
                .into_iter()
                .partition(|round| round.last.to.is_none());
            let ended = ended(&over, values, &many);
            let least = FEW_CHANGES.max(ended.changes * UNUSUAL + 1);
            open.retain(|round| {
                let is_only =
                    only_wait(round.lane).is_some_and(|bar| std::ptr::eq(bar, round.last));
                is_only && many(round) >= least
            });
            let since = open.iter().map(|round| round.first.from).min();
            let Some(since) = since.filter(|_| ended.changes > 0) else {
                continue;
            };
            let values = values_since(values, since);
            // The condition depends on more than the value.
            if values.iter().any(|value| ended.values.contains(value)) {
                continue;
            }
            told.extend(open.iter().map(|it| (it.lane.script, it.last.since)));
            found.push(self.passed_value(&open, many(&open[0]), &ended, &values));
        }
        (found, told)
    }

    fn passed_value(
        &self,
        rounds: &[Round<'_>],
        changes: usize,
        ended: &Ended,
        values: &[u32],
    ) -> Found {
        let Round { lane, first, .. } = rounds[0];
        let (verb, others) = match rounds.len() - 1 {
            0 => ("waits", String::new()),
            others => ("wait", format!("and {} more ", text::count(others as u64))),
        };
        let list = |values: &[u32]| {
            let values = values.iter().map(|value| self.film.text(*value).clone());
            text::list(values, MOST_VALUES)
        };
        let when = match ended.values.as_slice() {
            [] => String::new(),
            values => format!(", when it was {}", list(values)),
        };
        let now = match values {
            [] => String::new(),
            values => format!("; since then it was {}", list(values)),
        };
        let text = format!(
            "{others}{verb} for {} since frame {}{}, while it was set {} times; earlier waits \
             there ended after {} at most{when}{now}",
            self.film.wait(&first.wait, None),
            first.since,
            self.line(lane, first.wait.place()),
            text::count(changes as u64),
            text::count(ended.changes as u64),
        );
        let place = first.wait.place();
        let found = self.finding(FindingKind::PassedValue, lane, first.since, place, &text);
        found.with(rounds.iter().map(|round| round.lane.script))
    }
}

/// What the rounds that the watch has ended had in common.
fn ended(rounds: &[Round<'_>], values: &[(At, u32)], many: &dyn Fn(&Round<'_>) -> usize) -> Ended {
    let mut ended = Ended::default();
    let mut known = HashSet::new();
    for round in rounds {
        let Round { lane, last, .. } = round;
        if Finder::was_served(lane, last) {
            ended.changes = ended.changes.max(many(round));
            let seen = values.partition_point(|(at, _)| Some(*at) <= last.to);
            let value = seen.checked_sub(1).map(|last| values[last].1);
            ended
                .values
                .extend(value.filter(|value| known.insert(*value)));
        }
    }
    ended
}

/// The values that a watch got after a moment, in their order, each once.
fn values_since(values: &[(At, u32)], since: At) -> Vec<u32> {
    let from = values.partition_point(|(at, _)| *at <= since);
    let mut known = HashSet::new();
    let values = values[from..].iter().map(|(_, value)| *value);
    values.filter(|value| known.insert(*value)).collect()
}

/// The rounds of a script, for all watches.
fn rounds(lane: &Lane) -> Vec<Round<'_>> {
    let is_watch = |bar: &&Bar| bar.wait.wait_kind() == WaitKind::Watch;
    let mut rounds: Vec<Round<'_>> = Vec::new();
    for bar in lane.waits.iter().filter(is_watch) {
        // Those that still go on are among the last.
        let mut near = rounds.iter_mut().rev().take(8);
        let before = near.find(|it| it.last.wait.is_same_wait(&bar.wait));
        match before.filter(|before| before.last.to.is_some_and(|to| is_poll_of(lane, to, bar))) {
            Some(before) => before.last = bar,
            None => rounds.push(Round {
                lane,
                first: bar,
                last: bar,
            }),
        }
    }
    rounds
}

/// Whether a wait began in the poll that began at a moment.
fn is_poll_of(lane: &Lane, at: At, bar: &Bar) -> bool {
    lane.poll_at(at)
        .is_some_and(|poll| bar.from >= at && (!poll.is_over || bar.from <= poll.to))
}
