//! Owners.

use super::Core;
use super::state::{Ask, Owner, State};

impl Core {
    /// Below another owner, or that of the caller.
    pub(super) fn owner(&self, inherit: bool, below: Option<usize>, clock: Option<usize>) -> usize {
        let mut state = self.state.borrow_mut();
        let caller = state.scopes.last().copied().filter(|_| inherit);
        let (above, own) = match (below, clock, caller) {
            (Some(above), ..) => (above, state.owners[above].clock),
            (None, None, Some(caller)) => {
                let caller = &state.coroutines[caller];
                (caller.owner, caller.clock)
            }
            _ => (0, 0),
        };
        state.owners.push(Owner {
            above: Some(above),
            clock: clock.unwrap_or(own),
            paused: false,
            holds: 0,
            inactive: false,
            ends: 0,
            gone: false,
        });
        state.owners.len() - 1
    }

    /// The coroutines of its children first, those of each owner in the order
    /// of spawning.
    pub(super) fn stop_all(&self, owner: usize) {
        let all = self.state.borrow().owned(owner);
        for coroutine in all {
            self.stop(coroutine);
        }
    }

    /// docs/contract.md#decided-stop-requests
    pub(super) fn request_stop(&self, owner: usize) {
        let asked = {
            let mut state = self.state.borrow_mut();
            for coroutine in state.owned(owner) {
                let before = state.coroutines[coroutine].asked;
                let is_wider = before.is_none_or(|before| state.is_within(before, owner));
                if state.is_alive(coroutine) && is_wider {
                    state.coroutines[coroutine].asked = Some(owner);
                }
            }
            let mut asked = Vec::new();
            for here in state.tree(owner) {
                let (of_this, others) = state.asks.drain(..).partition(|ask| ask.owner == here);
                state.asks = others;
                asked.extend::<Vec<Ask>>(of_this);
            }
            asked
        };
        for ask in asked {
            ask.waker.wake();
        }
    }

    pub(super) fn set_active(&self, owner: usize, active: bool) {
        self.state.borrow_mut().owners[owner].inactive = !active;
        if !active {
            self.stop_all(owner);
        }
    }

    pub(super) fn drop_owner(&self, owner: usize) {
        let all = self.state.borrow().owned(owner);
        self.state.borrow_mut().remove_owner(owner);
        for coroutine in all {
            self.stop(coroutine);
        }
    }
}

impl State {
    /// Whether coroutines can be added to an owner.
    pub(super) fn is_active(&self, owner: usize) -> bool {
        let owner = &self.owners[owner];
        let above = owner.above.is_none_or(|above| self.is_active(above));
        above && !owner.inactive && !owner.gone
    }

    /// An owner and those below it are gone. They stay below the owner above, which
    /// owns their coroutines until these are dropped: a destructor may stop it.
    fn remove_owner(&mut self, owner: usize) {
        self.owners[owner].gone = true;
        for below in 0..self.owners.len() {
            if self.owners[below].above == Some(owner) {
                self.remove_owner(below);
            }
        }
    }

    pub(super) fn owned(&self, owner: usize) -> Vec<usize> {
        let of = |here: usize| {
            let coroutines = 0..self.coroutines.len();
            coroutines.filter(move |&one| self.coroutines[one].owner == here)
        };
        self.tree(owner).into_iter().flat_map(of).collect()
    }

    /// The owners below an owner, then the owner.
    fn tree(&self, owner: usize) -> Vec<usize> {
        let children = (0..self.owners.len()).filter(|&one| self.owners[one].above == Some(owner));
        let mut all: Vec<usize> = children.flat_map(|child| self.tree(child)).collect();
        all.push(owner);
        all
    }

    /// Whether an owner is another one, or below it.
    pub(super) fn is_within(&self, owner: usize, top: usize) -> bool {
        let above = self.owners[owner].above;
        owner == top || above.is_some_and(|above| self.is_within(above, top))
    }

    /// Whether no coroutine is left on an owner and below it. One whose destructor runs is.
    pub(super) fn is_idle(&self, owner: usize) -> bool {
        let owned = self.owned(owner);
        owned
            .iter()
            .all(|&one| self.coroutines[one].outcome.is_some())
    }
}
