//! Owners.

use super::Core;
use super::state::{Owner, State};

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
            inactive: false,
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

    fn owned(&self, owner: usize) -> Vec<usize> {
        let children = (0..self.owners.len()).filter(|&one| self.owners[one].above == Some(owner));
        let mut all: Vec<usize> = children.flat_map(|child| self.owned(child)).collect();
        let coroutines = 0..self.coroutines.len();
        all.extend(coroutines.filter(|&one| self.coroutines[one].owner == owner));
        all
    }
}
