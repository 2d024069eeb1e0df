//! States of an owner that apply to the owners below it: paused, inactive.

use std::mem::replace;

use crate::core::base::key::TaskKey;
use crate::core::owners::{Node, OwnerIndex, OwnerKey, Owners};

/// A state of an owner that applies to the owners below it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inherited {
    /// The state of the owner itself.
    pub(super) own: bool,
    /// The state of the owner itself, or of an owner above it.
    pub(super) whole: bool,
}

/// A change to the pause of an owner.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PauseChange {
    /// A call of `pause` or `resume`.
    Set(bool),
    /// A guard that holds the owner paused is made.
    Hold,
    /// Such a guard is dropped.
    Release,
}

impl Owners {
    /// Whether the owner or an owner above it is paused.
    pub(crate) fn is_paused(&self, owner: OwnerKey) -> bool {
        self.node(owner).is_some_and(|node| node.paused.whole)
    }

    pub(crate) fn set_active(&mut self, owner: OwnerKey, active: bool) {
        if let Some(owner) = self.find(owner) {
            self.set_inherited(owner, |node| &mut node.inactive, !active, |_, _| ());
        }
    }

    /// Makes a change to the pause of an owner. Collects the coroutines whose owners are
    /// paused or resumed by the change, in the order they were spawned. Returns `false` if
    /// nothing changes.
    pub(crate) fn change_pause(
        &mut self,
        owner: OwnerKey,
        change: PauseChange,
        tasks: &mut Vec<TaskKey>,
    ) -> bool {
        let Some(owner) = self.find(owner) else {
            return false;
        };
        let node = &mut self.nodes[owner.get()];
        let changed = match change {
            PauseChange::Set(paused) => replace(&mut node.set_to_pause, paused) != paused,
            PauseChange::Hold => {
                node.holds += 1;
                true
            }
            PauseChange::Release => {
                node.holds -= 1;
                true
            }
        };
        let paused = node.set_to_pause || node.holds > 0;
        let mut members = Vec::new();
        self.set_inherited(
            owner,
            |node| &mut node.paused,
            paused,
            |owners, here| {
                members.extend(
                    owners
                        .members_of(here)
                        .map(|member| (member.spawned, member.task)),
                );
            },
        );
        members.sort_unstable_by_key(|&(spawned, _)| spawned);
        tasks.extend(members.into_iter().map(|(_, task)| task));
        changed
    }

    /// Sets a state of an owner. Calls `changed` with each owner that changes its state,
    /// parents first.
    fn set_inherited(
        &mut self,
        owner: OwnerIndex,
        state: fn(&mut Node) -> &mut Inherited,
        on: bool,
        mut changed: impl FnMut(&Self, OwnerIndex),
    ) {
        let node = &mut self.nodes[owner.get()];
        if replace(&mut state(node).own, on) == on {
            return;
        }
        let above = self.nodes.get_mut(self.nodes[owner.get()].parent.get());
        if above.is_some_and(|above| state(above).whole) {
            return;
        }
        let mut at = Some(owner);
        while let Some(here) = at {
            let inherited = state(&mut self.nodes[here.get()]);
            // An owner with the state of its own keeps it, like all owners below it.
            let changes = here == owner || !inherited.own;
            if changes {
                inherited.whole = on;
                changed(self, here);
            }
            at = self.next_in_order(here, owner, changes);
        }
    }
}
