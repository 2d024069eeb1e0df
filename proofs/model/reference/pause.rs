//! docs/contract.md#rule-12-pause: a paused coroutine is never polled.

use framestep::Phase;

use super::Core;
use super::choices::WAITS_ARE_REMEMBERED_BEFORE_WAKES;
use super::state::{Cause, State};

impl Core {
    pub(super) fn set_paused(&self, coroutine: usize, paused: bool) -> bool {
        let mut state = self.state.borrow_mut();
        state.take_over();
        if !state.is_alive(coroutine) || state.coroutines[coroutine].paused == paused {
            return false;
        }
        state.change(|state| state.coroutines[coroutine].paused = paused);
        true
    }

    pub(super) fn set_owner_paused(&self, owner: usize, paused: bool) -> bool {
        let mut state = self.state.borrow_mut();
        state.take_over();
        if state.owners[owner].paused == paused {
            return false;
        }
        state.change(|state| state.owners[owner].paused = paused);
        true
    }

    /// A guard of an owner is made or dropped: docs/contract.md#decided-guards
    pub(super) fn hold_owner(&self, owner: usize, by: i32) {
        let mut state = self.state.borrow_mut();
        state.take_over();
        state.change(|state| state.owners[owner].holds += by);
    }
}

impl State {
    /// Whether a coroutine has the flag, itself or above.
    pub(super) fn is_paused(&self, coroutine: usize) -> bool {
        let coroutine = &self.coroutines[coroutine];
        coroutine.paused || self.is_owner_paused(coroutine.owner)
    }

    fn is_owner_paused(&self, owner: usize) -> bool {
        let owner = &self.owners[owner];
        owner.paused
            || owner.holds > 0
            || owner.above.is_some_and(|above| self.is_owner_paused(above))
    }

    /// Changes a flag, with all its effects.
    fn change(&mut self, flag: impl FnOnce(&mut State)) {
        let all = 0..self.coroutines.len();
        let before: Vec<bool> = all.clone().map(|one| self.is_paused(one)).collect();
        flag(self);
        for one in all {
            if self.is_alive(one) && self.is_paused(one) != before[one] {
                if before[one] {
                    self.resumed(one);
                } else {
                    self.paused(one);
                }
            }
        }
    }

    fn paused(&mut self, coroutine: usize) {
        for at in 0..self.waits.len() {
            if self.waits[at].coroutine == Some(coroutine) {
                self.stand_still(at);
            }
        }
    }

    /// A timer of a paused coroutine keeps the current reading of its clock.
    pub(super) fn stand_still(&mut self, at: usize) {
        let wait = &mut self.waits[at];
        let phase = wait.phase;
        if let Some(timer) = wait.timer_mut().filter(|timer| !timer.shared) {
            let now = self.clocks.of_waits(timer.clock, phase);
            timer.paused_at = Some(now);
        }
    }

    /// Its deadline is as far away as before the pause.
    fn go_on(&mut self, at: usize) {
        let wait = &mut self.waits[at];
        let phase = wait.phase;
        if let Some(timer) = wait.timer_mut() {
            let now = self.clocks.of_waits(timer.clock, phase);
            if let Some(before) = timer.paused_at.take() {
                timer.delay += now - before;
                // docs/contract.md#decided-due-in-the-pause
                let left = timer.deadline.filter(|&deadline| deadline > before);
                if let Some(deadline) = left {
                    timer.deadline = deadline.checked_add(now - before);
                }
            }
        }
    }

    /// A wait belongs to another coroutine from now on:
    /// docs/contract.md#decided-shared-waits
    pub(super) fn move_to(&mut self, name: u64, coroutine: Option<usize>) {
        let at = self.waits.iter().position(|wait| wait.name == name);
        let at = at.expect("it has begun");
        let before = self.waits[at].coroutine;
        if before != coroutine {
            let is_alive = before.is_some_and(|one| self.is_alive(one));
            let wait = &mut self.waits[at];
            let wrapped = wait.wrapped;
            if let Some(timer) = wait.timer_mut().filter(|_| is_alive) {
                // By hand it moves: without a wrapper, only the last waker is kept.
                timer.shared |= wrapped;
            }
            self.go_on(at);
            self.waits[at].coroutine = coroutine;
            if coroutine.is_some_and(|one| self.is_paused(one)) {
                self.stand_still(at);
            }
        }
        if let Some(timer) = self.waits[at].timer_mut() {
            timer.polled = timer.deadline;
        }
    }

    /// The remaining waits of an ended coroutine belong to no coroutine.
    pub(super) fn leave_waits(&mut self, coroutine: usize) {
        for at in 0..self.waits.len() {
            if self.waits[at].coroutine == Some(coroutine) {
                self.go_on(at);
                self.waits[at].coroutine = None;
                // docs/contract.md#decided-waits-polled-by-hand
                let by_hand = !self.waits[at].wrapped;
                if let Some(timer) = self.waits[at].timer_mut().filter(|_| by_hand) {
                    timer.deadline = timer.polled;
                }
            }
        }
    }

    fn resumed(&mut self, coroutine: usize) {
        for at in 0..self.waits.len() {
            if self.waits[at].coroutine == Some(coroutine) {
                self.go_on(at);
            }
        }
        if let Some((phase, cause)) = self.coroutines[coroutine].remembered.take() {
            // A coroutine that resumes itself is like one that wakes itself.
            let own = self.scopes.last() == Some(&coroutine);
            let cause = match cause {
                Cause::Wake => Cause::Wake,
                _ => Cause::Other,
            };
            self.make_ready(coroutine, phase, cause, own);
        }
    }

    /// One wake is remembered, the first that comes in the pause.
    pub(super) fn remember(&mut self, coroutine: usize, phase: Phase, cause: Cause) {
        let remembered = &mut self.coroutines[coroutine].remembered;
        let before_wakes = WAITS_ARE_REMEMBERED_BEFORE_WAKES && cause.is_wait();
        let is_less = |earlier: &mut (_, Cause)| before_wakes && !earlier.1.is_wait();
        if remembered.as_mut().is_none_or(is_less) {
            *remembered = Some((phase, cause));
            if let Some(run) = &mut self.run {
                run.remembering.push(coroutine);
            }
        }
    }
}
