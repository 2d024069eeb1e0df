//! Statements of which no table says whether they are the same.

use std::collections::BTreeMap;

use crate::places::difference::{Difference, MOST_PAIRS, Match, Parts, at, numbers};
use crate::places::table::Place;

/// What a difference of two tables leaves open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doubts {
    /// Statements with another text that stand where there are more like them in one build than in the other:
    /// each may be another one of them.
    among: BTreeMap<u32, Rival>,
    /// The same of the statements in their blocks.
    around: BTreeMap<u32, u32>,
    pub(crate) elsewhere: Vec<Elsewhere>,
}

/// A statement that may be the one, or with which the one may have been mistaken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rival {
    /// Of this build.
    Now(u32),
    /// Of the earlier build.
    Then(u32),
}

/// A statement that is gone, and one elsewhere that is new: they may be the same, moved and with another text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elsewhere {
    pub(crate) then: u32,
    pub(crate) now: u32,
    /// Whether it may be done several times.
    pub(crate) is_in_loop: bool,
}

impl Elsewhere {
    /// Whether a script that has come to the one so often and to the other so often is between the two.
    pub(crate) fn is_between(&self, then: u32, now: u32) -> bool {
        if self.is_in_loop {
            then != now
        } else {
            (then == 0) != (now == 0)
        }
    }
}

impl Doubts {
    /// Whose place in doubt a statement of the earlier build has, and which one else may have it.
    pub(crate) fn of(&self, then: u32) -> Option<(u32, Rival)> {
        let of = self.around.get(&then).copied().unwrap_or(then);
        Some((of, *self.among.get(&of)?))
    }

    /// All statements of the earlier build that are in doubt, and those of this build that they may be beside what
    /// is known of them.
    pub(crate) fn unclear(&self) -> impl Iterator<Item = (u32, u32)> {
        let among = self.among.iter().filter_map(|(&then, rival)| match rival {
            Rival::Now(now) => Some((then, *now)),
            Rival::Then(_) => None,
        });
        among.chain(self.elsewhere.iter().map(|pair| (pair.then, pair.now)))
    }

    /// Notes which of the pairs between two anchors could be others. `olds` and `news` are all that stand there.
    pub(super) fn note_among(
        &mut self,
        parts: &Parts<'_>,
        olds: &[u32],
        news: &[u32],
        pairs: &[(u32, u32)],
    ) {
        let place = |of: &'_ [Place], number| *at(of, number);
        for &(then, now) in pairs {
            let (old, new) = (place(parts.old, then), place(parts.new, now));
            let has_pair_then = |other: u32| pairs.iter().any(|(then, _)| *then == other);
            let has_pair_now = |other: u32| pairs.iter().any(|(_, now)| *now == other);
            let rival_now = news.iter().copied().find(|&other| {
                let rival = place(parts.new, other);
                other != now
                    && rival.shape == old.shape
                    && if has_pair_now(other) {
                        old.sketch.is_rather(rival.sketch, new.sketch)
                    } else {
                        !old.sketch.is_rather(new.sketch, rival.sketch)
                    }
            });
            let rival_then = || {
                olds.iter().copied().find(|&other| {
                    let rival = place(parts.old, other);
                    other != then
                        && rival.shape == new.shape
                        && !has_pair_then(other)
                        && !new.sketch.is_rather(old.sketch, rival.sketch)
                })
            };
            let rival = rival_now.map(Rival::Now);
            if let Some(rival) = rival.or_else(|| rival_then().map(Rival::Then)) {
                self.among.insert(then, rival);
            }
        }
    }

    /// Notes which statements stand in those that are in doubt, and what may have moved.
    pub(super) fn complete(&mut self, difference: &Difference, old: &[Place], new: &[Place]) {
        for then in numbers(old) {
            let parent = u32::from(at(old, then).parent);
            let Some((of, _)) = self.of(parent) else {
                continue;
            };
            let now = difference.now(then).other();
            let around_now = now.map(|now| u32::from(at(new, now).parent));
            // What was found elsewhere is where it was found.
            if now.is_none() || around_now == difference.now(parent).other() {
                self.around.entry(then).or_insert(of);
            }
        }
        self.elsewhere = elsewhere(difference, old, new);
    }
}

/// Pairs of what has no counterpart, or one with other calls.
fn elsewhere(difference: &Difference, old: &[Place], new: &[Place]) -> Vec<Elsewhere> {
    let is_other = |then, now| at(old, then).shape != at(new, now).shape;
    let is_open = |of: Match, is_other: &dyn Fn(u32) -> bool| match of {
        Match::None => true,
        Match::Changed(other) => is_other(other),
        Match::Same(_) | Match::Moved(_) => false,
    };
    let olds =
        numbers(old).filter(|&then| is_open(difference.now(then), &|now| is_other(then, now)));
    let news =
        numbers(new).filter(|&now| is_open(difference.then(now), &|then| is_other(then, now)));
    let (olds, news): (Vec<u32>, Vec<u32>) = (olds.collect(), news.collect());
    if olds.len().saturating_mul(news.len()) > MOST_PAIRS {
        return Vec::new();
    }
    let may_be = |then, now| {
        let (old, new) = (at(old, then), at(new, now));
        old.shape == new.shape && old.sketch.may_be(new.sketch)
    };
    let pairs = olds
        .iter()
        .flat_map(|&then| news.iter().map(move |&now| (then, now)));
    let pairs: Vec<(u32, u32)> = pairs.filter(|&(then, now)| may_be(then, now)).collect();
    // If there are words enough, they tell which one it is rather.
    let mut best: [BTreeMap<u32, u32>; 2] = Default::default();
    let likeness = |then, now| at(old, then).sketch.likeness(at(new, now).sketch);
    for &(then, now) in &pairs {
        for (best, of) in best.iter_mut().zip([then, now]) {
            let best = best.entry(of).or_default();
            *best = likeness(then, now).max(*best);
        }
    }
    let is_best = |then: u32, now: u32| {
        let is_terse = at(old, then).sketch.is_terse() || at(new, now).sketch.is_terse();
        let is = |best: &BTreeMap<u32, u32>, of| best.get(of) == Some(&likeness(then, now));
        is_terse || is(&best[0], &then) && is(&best[1], &now)
    };
    let is_in_loop = |of: &[Place], mut number: u32| {
        while number != 0 && !at(of, number).is_loop {
            number = u32::from(at(of, number).parent);
        }
        number != 0
    };
    let pairs = pairs.into_iter().filter(|&(then, now)| is_best(then, now));
    let pairs = pairs.map(|(then, now)| Elsewhere {
        then,
        now,
        is_in_loop: is_in_loop(new, now),
    });
    pairs.collect()
}
