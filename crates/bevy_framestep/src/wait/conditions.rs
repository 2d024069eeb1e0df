//! The conditions that scripts wait for, in groups that are about the same thing.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use bevy_ecs::prelude::*;
use framestep::Phase;

use super::until::{Condition, State};

/// Conditions that scripts wait for, which are checked when a run of a phase begins.
///
/// A script is not polled for a condition that does not hold.
#[derive(Default)]
pub(crate) struct Conditions {
    lists: RefCell<Vec<(Phase, Vec<Group>)>>,
    /// How many runs there have been.
    runs: Cell<u64>,
}

/// Conditions of a phase on the same thing, in the order in which scripts began to wait.
struct Group {
    /// `None` for the conditions on anything.
    gate: Option<Rc<dyn Gate>>,
    list: Vec<Rc<Condition>>,
    /// So many of the first ones did not hold in the latest run of the phase.
    checked: usize,
}

/// Knows when the conditions of a group cannot hold: nothing that they are about has changed.
pub(crate) trait Gate: 'static {
    /// That of its type: there is one gate of each type.
    fn key(&self) -> TypeId {
        TypeId::of::<Self>()
    }

    /// Whether a condition may hold that did not in the latest run of the phase. It is called in each
    /// run of the phase in which there are conditions.
    fn may_hold(&self, world: &World, run: &Run<'_>) -> bool;

    /// What all conditions of the group are about, if they share it: it is looked up once for all of
    /// them.
    fn subject<'w>(&self, _: &'w World) -> Option<&'w dyn Any> {
        None
    }
}

impl Group {
    /// Removes the conditions that are over, so that the list is as long as there are waits, up to a
    /// factor: while the gate is closed, none is visited. Returns what is to be dropped.
    #[cold]
    fn sweep(&mut self, phase: Phase) -> Vec<Rc<Condition>> {
        let is_over = |of: &Rc<Condition>| of.state.get() != State::Listed(phase);
        let over = self.list[..self.checked]
            .iter()
            .filter(|of| is_over(of))
            .count();
        self.checked -= over;
        let over = self.list.extract_if(.., |of| is_over(of)).collect();
        self.list.reserve(self.list.len() + 1);
        over
    }
}

/// What is checked.
pub(crate) trait Ask: 'static {
    fn holds(&mut self, world: &World) -> bool;

    /// The same when a run begins.
    fn holds_in(&mut self, world: &World, _: &Run<'_>) -> bool {
        self.holds(world)
    }

    /// What knows when it cannot hold.
    fn gate(&self) -> Option<Rc<dyn Gate>> {
        None
    }

    /// Drops what belongs to the user: the future has ended.
    fn forget(&mut self) {}

    /// Says what it is, for snapshots.
    fn name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// A run of the scripts whose conditions are checked.
pub(crate) struct Run<'w> {
    pub(super) phase: Phase,
    /// No two runs of a world have the same.
    pub(super) number: u64,
    /// Whether the condition did not hold in the latest run of the phase.
    pub(super) is_known: bool,
    /// What the conditions are about: the [subject](Gate::subject) of their gate.
    pub(super) subject: Option<&'w dyn Any>,
}

impl Conditions {
    pub(crate) fn add(&self, phase: Phase, condition: Rc<Condition>) {
        let gate = condition.ask.borrow().gate();
        let key = gate.as_ref().map(|gate| gate.key());
        let mut lists = self.lists.borrow_mut();
        let index = lists.iter().position(|(of, _)| *of == phase);
        let index = index.unwrap_or_else(|| {
            lists.push((phase, Vec::new()));
            lists.len() - 1
        });
        let group = group_of(&mut lists[index].1, key, gate);
        let is_full = group.list.len() == group.list.capacity();
        let over = is_full.then(|| group.sweep(phase));
        group.list.push(condition);
        // A waker may call back when it is dropped.
        drop(lists);
        drop(over);
    }

    /// Whether there are conditions to check in `phase`.
    pub(crate) fn has_some(&self, phase: Phase) -> bool {
        let lists = self.lists.borrow();
        lists
            .iter()
            .any(|(of, groups)| *of == phase && groups.iter().any(|group| !group.list.is_empty()))
    }

    /// Whether no script waits for a condition.
    pub(crate) fn is_empty(&self) -> bool {
        let lists = self.lists.borrow();
        let mut all = lists.iter().flat_map(|(phase, groups)| {
            let all = groups.iter().flat_map(|group| &group.list);
            all.map(move |of| (*phase, of))
        });
        !all.any(|(phase, condition)| condition.state.get() == State::Listed(phase))
    }

    /// Checks the conditions of `phase`, and wakes the scripts whose condition holds.
    pub(crate) fn ask(&self, world: &World, phase: Phase) {
        let groups = match self.lists.borrow_mut().iter_mut().find(|of| of.0 == phase) {
            Some((_, groups)) => std::mem::take(groups),
            None => return,
        };
        let mut taken = Taken {
            conditions: self,
            phase,
            groups,
        };
        self.runs.set(self.runs.get() + 1);
        for group in &mut taken.groups {
            group.ask(world, phase, self.runs.get());
        }
    }
}

/// The group with this gate, which is made if there is none.
fn group_of(
    groups: &mut Vec<Group>,
    key: Option<TypeId>,
    gate: Option<Rc<dyn Gate>>,
) -> &mut Group {
    let is_it = |group: &Group| group.gate.as_ref().map(|gate| gate.key()) == key;
    let index = groups.iter().position(is_it).unwrap_or_else(|| {
        groups.push(Group {
            gate,
            list: Vec::new(),
            checked: 0,
        });
        groups.len() - 1
    });
    &mut groups[index]
}

impl Group {
    /// Checks those conditions that may hold.
    fn ask(&mut self, world: &World, phase: Phase, number: u64) {
        if self.list.is_empty() {
            return;
        }
        let mut run = Run {
            phase,
            number,
            is_known: true,
            subject: None,
        };
        let gate = self.gate.as_ref();
        let is_open = gate.is_none_or(|gate| gate.may_hold(world, &run));
        let (known, new) = self.list.split_at(self.checked);
        if is_open || !new.is_empty() {
            run.subject = gate.and_then(|gate| gate.subject(world));
        }
        let mut some_leave = is_open && ask_all(known, world, &run);
        run.is_known = false;
        some_leave |= ask_all(new, world, &run);
        if some_leave {
            let is_listed = State::Listed(phase);
            self.list.retain(|of| of.state.get() == is_listed);
        }
        self.checked = self.list.len();
    }
}

/// The groups of a phase while they are checked. They are put back even if a destructor or a waker
/// panics.
struct Taken<'a> {
    conditions: &'a Conditions,
    phase: Phase,
    groups: Vec<Group>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut lists = self.conditions.lists.borrow_mut();
        if let Some((_, groups)) = lists.iter_mut().find(|of| of.0 == self.phase) {
            // Wakers and conditions may have added conditions.
            for mut added in std::mem::replace(groups, std::mem::take(&mut self.groups)) {
                let key = added.gate.as_ref().map(|gate| gate.key());
                let group = group_of(groups, key, added.gate.take());
                group.list.append(&mut added.list);
            }
        }
    }
}

/// Checks all, and returns whether some of them leave the list.
fn ask_all(list: &[Rc<Condition>], world: &World, run: &Run<'_>) -> bool {
    let phase = run.phase;
    let mut some_leave = false;
    let mut next = 0;
    while next < list.len() {
        let asked = catch_unwind(AssertUnwindSafe(|| {
            while let Some(condition) = list.get(next) {
                let is_listed = condition.state.get() == State::Listed(phase);
                if !is_listed || condition.ask.borrow_mut().holds_in(world, run) {
                    condition.leave(phase);
                    some_leave = true;
                }
                next += 1;
            }
        }));
        if let Err(panic) = asked {
            list[next].panic.set(Some(panic));
            list[next].leave(phase);
            some_leave = true;
            next += 1;
        }
    }
    some_leave
}
