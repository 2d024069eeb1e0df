//! The table of owners by itself.

use super::{OwnerKey, Owners, PauseChange, index_of};
use crate::core::base::key::TaskKey;

fn key(index: u32) -> TaskKey {
    TaskKey {
        index,
        generation: 1,
    }
}

fn indices(tasks: &[TaskKey]) -> Vec<u32> {
    tasks.iter().map(|key| key.index).collect()
}

/// ```text
/// root 0, 1 -+- left 10 --- leaf 100
///            +- middle (no coroutine)
///            +- right 20
/// ```
fn family() -> (Owners, [OwnerKey; 5]) {
    let mut owners = Owners::default();
    let root = owners.insert(None, None);
    let left = owners.insert(Some(root), None);
    let middle = owners.insert(Some(root), None);
    let right = owners.insert(Some(root), None);
    let leaf = owners.insert(Some(left), None);
    for (owner, index) in [(root, 0), (right, 20), (left, 10), (leaf, 100), (root, 1)] {
        owners.add_member(owner, key(index));
    }
    (owners, [root, left, middle, right, leaf])
}

#[test]
fn coroutines_of_children_come_first_each_in_its_order() {
    let (owners, [root, left, middle, ..]) = family();
    let mut tasks = Vec::new();
    owners.tasks(root, &mut tasks);
    assert_eq!(indices(&tasks), [100, 10, 20, 0, 1]);
    tasks.clear();
    owners.tasks(left, &mut tasks);
    assert_eq!(indices(&tasks), [100, 10]);
    assert!(owners.is_empty(middle) && !owners.is_empty(left));
}

#[test]
fn only_those_whose_state_changes_are_paused_and_resumed() {
    let (mut owners, [root, left, _, right, leaf]) = family();
    let mut changed = |owner, paused| {
        let mut tasks = Vec::new();
        let new = owners.change_pause(owner, PauseChange::Set(paused), &mut tasks);
        (new, indices(&tasks))
    };
    assert_eq!(changed(left, true), (true, vec![10, 100]));
    assert_eq!(changed(left, true), (false, vec![]));
    assert_eq!(changed(root, true), (true, vec![0, 20, 1]));
    assert_eq!(changed(right, true), (true, vec![]));
    assert_eq!(changed(left, false), (true, vec![]));
    assert_eq!(changed(root, false), (true, vec![0, 10, 100, 1]));
    assert_eq!(changed(right, false), (true, vec![20]));
    assert!(!owners.is_paused(leaf) && !owners.is_paused(right));
}

#[test]
fn an_owner_is_paused_until_the_last_guard_and_the_call_are_undone() {
    use PauseChange::{Hold, Release, Set};

    let (mut owners, [_, left, _, _, leaf]) = family();
    let changes = [
        (Hold, true, vec![10, 100]),
        (Set(true), true, vec![]),
        (Set(true), false, vec![]),
        (Hold, true, vec![]),
        (Release, true, vec![]),
        (Set(false), true, vec![]),
        (Set(false), false, vec![]),
    ];
    for (change, changes, members) in changes {
        let mut tasks = Vec::new();
        let changed = owners.change_pause(left, change, &mut tasks);
        assert_eq!((changed, indices(&tasks)), (changes, members), "{change:?}");
        assert!(owners.is_paused(leaf));
    }
    let mut tasks = Vec::new();
    owners.change_pause(left, Release, &mut tasks);
    assert_eq!(indices(&tasks), [10, 100]);
    assert!(!owners.is_paused(leaf));
}

#[test]
fn what_was_paused_below_stays_so() {
    let (mut owners, [root, left, _, _, leaf]) = family();
    let mut tasks = Vec::new();
    owners.change_pause(leaf, PauseChange::Set(true), &mut tasks);
    owners.change_pause(root, PauseChange::Set(true), &mut tasks);
    tasks.clear();
    owners.change_pause(root, PauseChange::Set(false), &mut tasks);
    assert_eq!(indices(&tasks), [0, 20, 10, 1]);
    assert!(owners.is_paused(leaf) && !owners.is_paused(left));
}

#[test]
fn members_leave_from_anywhere_in_the_list() {
    for leaving in 0..3 {
        let mut owners = Owners::default();
        let owner = owners.insert(None, None);
        let members = [0, 1, 2].map(|index| owners.add_member(owner, key(index)));
        owners.remove_member(members[leaving as usize]);
        let mut tasks = Vec::new();
        owners.tasks(owner, &mut tasks);
        let left: Vec<u32> = (0..3).filter(|&index| index != leaving).collect();
        assert_eq!(indices(&tasks), left);
        owners.add_member(owner, key(7));
        tasks.clear();
        owners.tasks(owner, &mut tasks);
        assert_eq!(indices(&tasks).last(), Some(&7));
    }
}

#[test]
fn what_is_below_an_owner_that_was_removed_takes_nothing() {
    let (mut owners, [root, left, middle, right, leaf]) = family();
    let mut tasks = Vec::new();
    owners.remove(left, &mut tasks);
    assert_eq!(indices(&tasks), [100, 10]);
    assert!(owners.is_open(root) && !owners.is_open(leaf));
    let below = owners.insert(Some(left), None);
    assert!(!owners.is_open(below));
    // The rest of the tree is consistent: remove the siblings in any order, the
    // leaf last.
    for owner in [right, middle, root, leaf, below] {
        owners.remove(owner, &mut Vec::new());
    }
    assert!(!owners.is_open(left));
    let members: Vec<usize> = owners.members.iter().map(|(index, _)| index).collect();
    for member in members {
        owners.remove_member(index_of(member));
    }
    assert!(owners.nodes.is_empty());
}

#[test]
fn what_was_removed_is_below_its_parent_until_its_coroutines_are_dropped() {
    let (mut owners, [root, left, _, _, leaf]) = family();
    owners.remove(left, &mut Vec::new());
    let below = |owners: &Owners| {
        let mut tasks = Vec::new();
        owners.tasks(root, &mut tasks);
        indices(&tasks)
    };
    assert_eq!(below(&owners), [100, 10, 20, 0, 1]);
    let members = [10, 100].map(|index| {
        let mut members = owners.members.iter();
        let (member, _) = members.find(|(_, of)| of.task == key(index)).unwrap();
        index_of(member)
    });
    for member in members {
        owners.end_member(member);
    }
    assert_eq!(below(&owners), [20, 0, 1]);
    // Their coroutines are being dropped, which keeps the owners above busy.
    assert!(owners.is_within(leaf, left) && owners.is_within(left, root));
    for member in members {
        owners.remove_member(member);
    }
    assert!(owners.nodes[leaf.index()].parent.some().is_none());
    assert!(owners.find(left).is_none());
}

#[test]
fn a_key_is_stale_once_another_owner_has_the_place() {
    let mut owners = Owners::default();
    let first = owners.insert(None, None);
    owners.remove(first, &mut Vec::new());
    let second = owners.insert(None, None);
    assert_eq!(first.index(), second.index());
    owners.add_member(second, key(7));
    assert!(!owners.is_open(first) && owners.is_open(second));
    owners.set_active(first, false);
    assert!(!owners.change_pause(first, PauseChange::Set(true), &mut Vec::new()));
    let mut tasks = Vec::new();
    owners.remove(first, &mut tasks);
    owners.tasks(first, &mut tasks);
    assert!(tasks.is_empty() && owners.is_empty(first));
    assert!(owners.is_open(second) && !owners.is_paused(second));
    let below = owners.insert(Some(first), None);
    assert!(!owners.is_alive(below));
}

#[test]
fn inactive_owners_above_count() {
    let (mut owners, [root, left, _, _, leaf]) = family();
    owners.set_active(left, false);
    assert!(!owners.is_open(leaf) && owners.is_open(root));
    owners.set_active(left, true);
    assert!(owners.is_open(leaf));
}
