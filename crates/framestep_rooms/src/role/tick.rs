//! When a node ticks: it appends a tick, and repeats it until the log answers.

use std::sync::Arc;
use std::time::Duration;

use super::{Command, Fold, Role, Rules};
use crate::entry::Tick;
use crate::member::Members;

/// What the log has said about a tick that is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    None,
    /// It has this tick or another one.
    Given,
    /// The same, and reading to the end of the log does not show one.
    Missing,
}

/// A tick that is on its way.
#[derive(Clone, Debug)]
struct Pending {
    attempt: u64,
    after: u64,
    body: Arc<[u8]>,
    again_at: Duration,
    answer: Answer,
}

/// What a role knows of ticks.
#[derive(Debug, Default)]
pub(super) struct Ticking {
    pending: Option<Pending>,
    attempts: u64,
    next_at: Duration,
    /// When the last tick was read.
    pub(super) heard_at: Duration,
    /// Since when this node is the one that should tick.
    first_since: Option<Duration>,
    /// The node stops: no more ticks.
    pub(super) is_finishing: bool,
}

impl Ticking {
    /// What is on its way does not count any more.
    pub(super) fn give_up(&mut self) {
        self.pending = None;
    }

    /// A state was loaded.
    pub(super) fn begin(&mut self, now: Duration) {
        self.pending = None;
        self.heard_at = now;
        self.next_at = now;
    }

    /// A tick was taken. Whatever this node has appended, it is this tick, or was refused because of it.
    pub(super) fn heard(&mut self, now: Duration, step: Duration, is_own: bool) {
        self.pending = None;
        self.heard_at = now;
        self.next_at = if is_own {
            // Not more than two steps behind: after a pause, frames are not run in a burst.
            (self.next_at + step).max(now.saturating_sub(step * 2))
        } else {
            now
        };
    }

    pub(super) fn look_at_rank(&mut self, now: Duration, rank: Option<usize>) {
        if rank == Some(0) {
            self.first_since.get_or_insert(now);
        } else {
            self.first_since = None;
        }
    }

    /// The log has nothing more. If it has acknowledged a tick, reading to its end does not show that.
    /// Without an answer it proves nothing: the tick may be on its way.
    pub(super) fn log_ends(&mut self) {
        if let Some(pending) = &mut self.pending
            && pending.answer == Answer::Given
        {
            pending.answer = Answer::Missing;
        }
    }

    /// No answer came, and the tick may be stored or not: the same bytes are appended again at once.
    /// If they are stored, the compare refuses the second copy.
    pub(super) fn lost(&mut self, now: Duration, attempt: u64) {
        if let Some(pending) = &mut self.pending
            && pending.attempt == attempt
            && pending.answer == Answer::None
        {
            pending.again_at = now;
        }
    }

    /// The log has an answer for the tick. It decides nothing: what is read decides.
    pub(super) fn answered(&mut self, now: Duration, retry_after: Duration, attempt: u64) {
        if let Some(pending) = &mut self.pending
            && pending.attempt == attempt
        {
            pending.again_at = now + retry_after;
            pending.answer = Answer::Given;
        }
    }
}

impl<R: Rules> Role<R> {
    /// When the next [`Event::Time`](super::Event::Time) is useful, at the latest.
    pub(crate) fn wake_at(&self, now: Duration) -> Duration {
        let soon = now + self.settings.failover_timeout / 8;
        if self.ticked_last() && self.ticking.pending.is_none() && self.has_state {
            return self.ticking.next_at.min(soon);
        }
        soon
    }

    /// The body of the tick of an attempt, if that is on its way.
    #[cfg(any(test, feature = "simulate"))]
    pub(crate) fn pending(&self, attempt: u64, seq: u64) -> Option<Arc<[u8]>> {
        let is_it = |it: &&Pending| it.attempt == attempt && seq > it.after;
        let pending = self.ticking.pending.as_ref().filter(is_it);
        pending.map(|pending| pending.body.clone())
    }

    /// Appends a tick, if it is time for this node to do that.
    pub(super) fn tick(
        &mut self,
        now: Duration,
        rank: Option<usize>,
        members: &Members,
        fold: &mut dyn Fold,
        out: &mut Vec<Command>,
    ) {
        // Without a state there is no frame to tick, and while the last frame is checked it may be another's.
        if !self.has_state && !self.at.is_empty() || self.follow.is_checking() {
            return;
        }
        // One tick at a time: a second one would have to name a frame that is not computed yet.
        if self.ticking.pending.is_some() {
            self.repeat(now, out);
            return;
        }
        if self.ticking.is_finishing
            || !self.follow.is_caught_up()
            || !self.is_due(now, rank, members)
        {
            return;
        }
        if !self.has_state {
            // The place is empty, so this build may begin, but not with a room that the last tick's node
            // knows to be out.
            if self.must_take_out_to_begin(fold) {
                self.load(None, out);
                return;
            }
            self.begin_empty(fold, out);
        }
        if !self.settle(now, fold, out) {
            return;
        }
        let tick = Tick {
            format: Tick::FORMAT,
            frame: self.at.frame + 1,
            by: self.me.clone(),
            build: self.build,
            generation: self.builds.generation,
            before: self.at.chain,
            state: fold.hash(),
            hands_over: self.is_superseded(members),
            out: fold.out(),
            empty: self.rules.empty(fold),
        };
        self.ticking.attempts += 1;
        self.ticking.pending = Some(Pending {
            attempt: self.ticking.attempts,
            after: self.follow.last_tick,
            body: tick.to_bytes().into(),
            again_at: now,
            answer: Answer::None,
        });
        self.append(now, out);
    }

    /// The tick that is on its way is repeated with the same bytes, and only what is read ends it.
    fn repeat(&mut self, now: Duration, out: &mut Vec<Command>) {
        let Some(pending) = &mut self.ticking.pending else {
            return;
        };
        if now < pending.again_at || !self.rules.retries() {
            return;
        }
        match pending.answer {
            Answer::None => self.append(now, out),
            Answer::Given => {}
            // The log has this tick or another one, and does not show it.
            Answer::Missing => {
                pending.answer = Answer::None;
                pending.again_at = now + self.settings.retry_after;
                self.follow_on(out);
            }
        }
    }

    /// Appends the tick that is on its way.
    fn append(&mut self, now: Duration, out: &mut Vec<Command>) {
        if let Some(pending) = &mut self.ticking.pending {
            pending.again_at = now + self.settings.retry_after;
            out.push(Command::Append {
                attempt: pending.attempt,
                after: self.rules.expected_last(pending.after),
                body: pending.body.clone(),
            });
        }
    }

    fn is_due(&self, now: Duration, rank: Option<usize>, members: &Members) -> bool {
        let failover_timeout = self.settings.failover_timeout;
        let silent = now.saturating_sub(self.ticking.heard_at);
        // This build has handed over. It ticks on only if the later build does not come: until then a tick of
        // this build would take the shard back in the moment in which the other one begins.
        if self.at.hands_over && self.at.build == self.build && self.is_superseded(members) {
            return silent >= self.settings.hand_over_wait()
                && (rank == Some(0) || self.ticked_last());
        }
        // The owner keeps the pace. If another node takes over meanwhile, the compare refuses one of the two.
        if self.ticked_last() {
            return now >= self.ticking.next_at;
        }
        // It leaves, or is no member: it does not compete with those that are.
        let Some(rank) = rank else {
            return false;
        };
        let is_offered =
            self.at.hands_over && self.at.is_before(self.build, self.builds.generation);
        if self.is_of_another_build() && !is_offered {
            // Nobody is in the shard. Nodes of its build go on as long as there are some.
            let wait = if members.has_build(self.at.build) {
                self.settings.hand_over_wait()
            } else {
                self.settings.settle()
            };
            return silent >= wait + failover_timeout * u32::try_from(rank).unwrap_or(8).min(8);
        }
        // The node that is silent has ticked last. Those after it do not wait for it.
        let owner = members.rank(&self.at.by, self.shard);
        let before = rank - usize::from(owner.is_some_and(|owner| owner < rank));
        let is_silent =
            silent >= failover_timeout * (1 + u32::try_from(before).unwrap_or(8).min(8));
        let has_left = || members.get(&self.at.by).is_some_and(|it| it.leaves);
        let is_settled = || {
            let since = self.ticking.first_since;
            since.is_some_and(|since| now >= since + self.settings.settle())
        };
        let may_begin = self.at.seq == 0 || self.at.hands_over;
        // The node that should tick takes the shard from a living owner only after some time in that place:
        // members come and go in bursts, and each change of the owner costs a try.
        is_silent || rank == 0 && (may_begin || has_left() || is_settled())
    }
}
