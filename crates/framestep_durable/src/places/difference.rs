//! Which statements of two builds are the same.

use crate::places::doubts::Doubts;
use crate::places::table::Place;

/// What has become of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// The other build has none for it.
    None,
    /// It is this one, with the same text.
    Same(u32),
    /// It is this one, with another text.
    Changed(u32),
    /// It is this one, which stands before or behind others that were behind or before it.
    Moved(u32),
}

impl Match {
    pub(crate) fn other(self) -> Option<u32> {
        match self {
            Match::None => None,
            Match::Same(other) | Match::Changed(other) | Match::Moved(other) => Some(other),
        }
    }
}

/// The loops around a statement that go round in another way than they did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turns {
    /// None does.
    Same,
    /// This one does. Its turns count in their order.
    Other(u32),
    /// One does that is in another loop. Nothing says where its turns begin anew.
    Unsure,
}

/// How two tables differ.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// What each statement of the earlier build is now.
    pub(crate) now: Vec<Match>,
    /// What each statement of this build was.
    pub(crate) then: Vec<Match>,
    /// The lines of the earlier build.
    pub(crate) lines_then: Vec<u32>,
    lines_now: Vec<u32>,
    /// Of each statement of this build.
    turns: Vec<Turns>,
    pub(crate) doubts: Doubts,
}

impl Difference {
    /// Of equal statements, those of `awaited` have precedence: there the script waits.
    pub(crate) fn of(old: &[Place], new: &[Place], awaited: &[u32]) -> Self {
        let lines = |of: &[Place]| of.iter().map(|place| place.line).collect();
        let mut found = Difference {
            now: vec![Match::None; old.len()],
            then: vec![Match::None; new.len()],
            lines_then: lines(old),
            lines_now: lines(new),
            turns: vec![Turns::Same; new.len()],
            doubts: Doubts::default(),
        };
        if old.is_empty() || new.is_empty() {
            return found;
        }
        // What no statement does stays what it is.
        found.pair(0, 0, Match::Same);
        let mut left = vec![(0, 0)];
        while let Some((then, now)) = left.pop() {
            let olds: Vec<u32> = parts(old, then).collect();
            let news: Vec<u32> = parts(new, now).collect();
            found.pair_parts(&Parts {
                old,
                new,
                olds: &olds,
                news: &news,
                awaited,
            });
            let pairs = olds
                .iter()
                .filter_map(|&then| Some((then, found.now(then).other()?)));
            left.extend(pairs);
        }
        // Statements that have got into other blocks.
        let olds: Vec<u32> = numbers(old).filter(|&at| found.is_free_then(at)).collect();
        let news: Vec<u32> = numbers(new).filter(|&at| found.is_free_now(at)).collect();
        let is_same = |then, now| i64::from(at(old, then).full == at(new, now).full);
        for (then, now) in align(&olds, &news, is_same) {
            found.pair(then, now, Match::Same);
        }
        for now in numbers(new) {
            found.turns[now as usize] = found.turns_of(now, old, new);
        }
        let mut doubts = std::mem::take(&mut found.doubts);
        doubts.complete(&found, old, new);
        found.doubts = doubts;
        found
    }

    fn turns_of(&self, now: u32, old: &[Place], new: &[Place]) -> Turns {
        let around = u32::from(at(new, now).parent);
        let outer = self.turns[around as usize];
        let is_other = |then: u32| at(old, then).head != at(new, now).head;
        match self.then(now) {
            Match::Changed(then)
                if at(new, now).is_loop && is_other(then) && !self.has_lists(now, old, new) =>
            {
                let mut around = around;
                while around != 0 && !at(new, around).is_loop {
                    around = u32::from(at(new, around).parent);
                }
                if around == 0 {
                    Turns::Other(now)
                } else {
                    Turns::Unsure
                }
            }
            _ => outer,
        }
    }

    /// Whether both builds know the list that a loop goes over: then its items say how it goes round.
    fn has_lists(&self, now: u32, old: &[Place], new: &[Place]) -> bool {
        let is_list = |number: &u32| at(new, *number).is_list() && at(new, *number).tells_turns();
        let mut lists = numbers(new).filter(is_list);
        let list = lists.find(|&number| u32::from(at(new, number).parent) == now);
        let then = list.and_then(|list| self.then(list).other());
        then.is_some_and(|then| at(old, then).is_list())
    }

    /// Whether items of a list that both builds know are new, gone, or stand elsewhere.
    pub(crate) fn has_other_items(&self, now: u32, old: &[Place], new: &[Place]) -> bool {
        let Some(then) = self.then(now).other() else {
            return false;
        };
        let is_other = |of: Match| matches!(of, Match::None | Match::Moved(_));
        parts(old, then).any(|item| is_other(self.now(item)))
            || parts(new, now).any(|item| is_other(self.then(item)))
    }

    /// How the loops around a statement of this build go round.
    pub(crate) fn turns(&self, now: u32) -> Turns {
        let turns = self.turns.get(now as usize).copied();
        turns.unwrap_or(Turns::Same)
    }

    /// What a statement of the earlier build is now.
    pub(crate) fn now(&self, then: u32) -> Match {
        self.now.get(then as usize).copied().unwrap_or(Match::None)
    }

    /// What a statement of this build was.
    pub(crate) fn then(&self, now: u32) -> Match {
        self.then.get(now as usize).copied().unwrap_or(Match::None)
    }

    /// The line of a statement of the earlier build.
    pub(crate) fn line_then(&self, then: u32) -> Option<u32> {
        self.lines_then.get(then as usize).copied()
    }

    /// The line of a statement of this build.
    pub(crate) fn line_now(&self, now: u32) -> Option<u32> {
        self.lines_now.get(now as usize).copied()
    }

    fn is_free_then(&self, then: u32) -> bool {
        self.now(then) == Match::None
    }

    fn is_free_now(&self, now: u32) -> bool {
        self.then(now) == Match::None
    }

    fn pair(&mut self, then: u32, now: u32, of: fn(u32) -> Match) {
        self.now[then as usize] = of(now);
        self.then[now as usize] = of(then);
    }

    /// Pairs the statements of two blocks.
    fn pair_parts(&mut self, parts: &Parts<'_>) {
        let Parts { olds, news, .. } = *parts;
        // The same texts in the same order.
        let mut anchors = align(olds, news, |then, now| parts.sameness(then, now));
        for &(then, now) in &anchors {
            self.pair(then, now, Match::Same);
        }
        // The same texts elsewhere.
        for &then in olds {
            if !self.is_free_then(then) {
                continue;
            }
            let is_it = |now: &u32| self.is_free_now(*now) && parts.is_same(then, *now);
            if let Some(now) = news.iter().copied().find(is_it) {
                self.pair(then, now, Match::Moved);
            }
        }
        // Between the anchors: blocks with other content, calls with other arguments, and what is alone.
        for level in [Parts::same_heads, Parts::alike, Parts::alone] {
            for (mut then, now) in self.gaps(&anchors, olds, news) {
                // What has got into another block is itself, and not what stands in its place.
                then.retain(|&then| !self.is_elsewhere(parts, then));
                let pairs = level(parts, &then, &now);
                self.doubts.note_among(parts, &then, &now, &pairs);
                for &(then, now) in &pairs {
                    self.pair(then, now, Match::Changed);
                }
                anchors.extend(pairs);
            }
            anchors.sort_unstable();
        }
    }

    /// Whether a statement without a counterpart stands in another block with the same text.
    fn is_elsewhere(&self, parts: &Parts<'_>, then: u32) -> bool {
        let is_it = |now: &u32| self.is_free_now(*now) && parts.is_same(then, *now);
        numbers(parts.new).any(|now| is_it(&now))
    }

    /// The statements between anchors that have no counterpart.
    fn gaps(
        &self,
        anchors: &[(u32, u32)],
        olds: &[u32],
        news: &[u32],
    ) -> Vec<(Vec<u32>, Vec<u32>)> {
        let ends = anchors.iter().copied().chain([(u32::MAX, u32::MAX)]);
        let (mut olds, mut news) = (olds, news);
        let gaps = ends.map(|(then, now)| {
            let free_then = up_to(&mut olds, then).filter(|&at| self.is_free_then(at));
            let free_now = up_to(&mut news, now).filter(|&at| self.is_free_now(at));
            (free_then.collect(), free_now.collect())
        });
        gaps.collect()
    }
}

/// Takes the numbers below `end`.
fn up_to<'a>(of: &mut &'a [u32], end: u32) -> impl Iterator<Item = u32> + 'a {
    let count = of.partition_point(|&at| at < end);
    let (taken, left) = of.split_at(count);
    *of = left;
    taken.iter().copied()
}

/// The statements of a block of each build.
pub(super) struct Parts<'a> {
    pub(super) old: &'a [Place],
    pub(super) new: &'a [Place],
    olds: &'a [u32],
    news: &'a [u32],
    awaited: &'a [u32],
}

impl Parts<'_> {
    fn is_same(&self, then: u32, now: u32) -> bool {
        at(self.old, then).full == at(self.new, now).full
    }

    /// More if the statements before and behind are the same, too: of equal ones, it is most likely this one.
    /// Most of all where the script waits.
    fn sameness(&self, then: u32, now: u32) -> i64 {
        if !self.is_same(then, now) {
            return 0;
        }
        let text = |of: &[Place], list: &[u32], number: u32, by: isize| {
            let at_list = list.binary_search(&number).ok()?.checked_add_signed(by)?;
            Some(at(of, *list.get(at_list)?).full)
        };
        let is_beside = |by| {
            let then = text(self.old, self.olds, then, by);
            i64::from(then == text(self.new, self.news, now, by))
        };
        let weight = if self.awaited.contains(&then) { 4 } else { 1 };
        20 + weight * (2 * is_beside(-1) + is_beside(1))
    }

    fn same_heads(&self, olds: &[u32], news: &[u32]) -> Vec<(u32, u32)> {
        align(olds, news, |then, now| {
            let (then, now) = (at(self.old, then), at(self.new, now));
            i64::from((then.head, then.shape) == (now.head, now.shape))
        })
    }

    /// Statements with the same calls, so that their words are most alike.
    fn alike(&self, olds: &[u32], news: &[u32]) -> Vec<(u32, u32)> {
        align(olds, news, |then, now| {
            let (then, now) = (at(self.old, then), at(self.new, now));
            let near = then.sketch.likeness(now.sketch);
            if then.shape == now.shape {
                100 + i64::from(near)
            } else {
                0
            }
        })
    }

    #[expect(clippy::unused_self, reason = "one of three levels")]
    fn alone(&self, olds: &[u32], news: &[u32]) -> Vec<(u32, u32)> {
        match (olds, news) {
            (&[then], &[now]) => vec![(then, now)],
            _ => Vec::new(),
        }
    }
}

pub(super) fn at(of: &[Place], number: u32) -> &Place {
    &of[number as usize]
}

pub(super) fn numbers(of: &[Place]) -> impl Iterator<Item = u32> {
    1..u32::try_from(of.len()).unwrap_or(0)
}

/// The statements in the blocks of a statement.
fn parts(of: &[Place], parent: u32) -> impl Iterator<Item = u32> {
    numbers(of).filter(move |&number| u32::from(at(of, number).parent) == parent)
}

/// The most pairs that are compared. Games have some hundred statements in a block; damaged tables may
/// have any number.
pub(super) const MOST_PAIRS: usize = 4_000_000;

/// The pairs in order with the greatest weight, and of those the earliest ones.
fn align(olds: &[u32], news: &[u32], weight: impl Fn(u32, u32) -> i64) -> Vec<(u32, u32)> {
    let (n, m) = (olds.len(), news.len());
    if n == 0 || m == 0 || n.saturating_mul(m) > MOST_PAIRS {
        return Vec::new();
    }
    let mut best = vec![0_i64; (n + 1) * (m + 1)];
    let index = |i: usize, j: usize| i * (m + 1) + j;
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            let weight = weight(olds[i], news[j]);
            let paired = if weight > 0 {
                weight + best[index(i + 1, j + 1)]
            } else {
                0
            };
            let without = best[index(i + 1, j)].max(best[index(i, j + 1)]);
            best[index(i, j)] = paired.max(without);
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < n && j < m {
        let weight = weight(olds[i], news[j]);
        if weight > 0 && best[index(i, j)] == weight + best[index(i + 1, j + 1)] {
            pairs.push((olds[i], news[j]));
            (i, j) = (i + 1, j + 1);
        } else if best[index(i, j)] == best[index(i, j + 1)] {
            j += 1;
        } else {
            i += 1;
        }
    }
    pairs
}
