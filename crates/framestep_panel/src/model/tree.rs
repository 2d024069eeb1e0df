//! The lines of the list.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use framestep::task::CoroutineId;

use super::filter::{Filter, Order};
use super::frame::Frame;
use super::listener::Heard;

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Row {
    /// An owner. Its scripts follow, unless it is folded.
    Owner {
        /// Its name, in one line.
        name: Rc<str>,
        /// How many of its scripts match the filter.
        count: usize,
        /// 0, or 1 if it has no name and is below an owner that has one.
        depth: usize,
        /// Whether its scripts are left out.
        folded: bool,
    },
    /// A script.
    Script {
        /// Its id.
        id: CoroutineId,
        /// How far it is indented.
        depth: usize,
    },
}

impl Row {
    /// The script's id.
    pub fn id(&self) -> Option<CoroutineId> {
        match self {
            Row::Script { id, .. } => Some(*id),
            Row::Owner { .. } => None,
        }
    }
}

/// The heading above scripts without an owner, if other scripts have one.
const NOBODY: &str = "(no owner)";

/// Names are not indented further.
const DEEPEST: usize = 8;

pub(crate) fn rows(
    frame: &Frame,
    filter: &Filter,
    order: Order,
    folded: &HashSet<Rc<str>>,
    entity: Option<&str>,
    heard: &Heard,
) -> Vec<Row> {
    let needle = filter.text.to_lowercase();
    let all = 0..frame.scripts.len();
    let mut listed: Vec<usize> = if filter.is_empty() {
        all.collect()
    } else {
        all.filter(|&at| filter.lets(&frame.scripts[at], &needle, entity, heard))
            .collect()
    };
    let script = |at: usize| &frame.scripts[at];
    let flat = |listed: Vec<usize>| {
        let ids = listed.into_iter().map(|at| script(at).who.id);
        ids.map(|id| Row::Script { id, depth: 0 }).collect()
    };
    match order {
        Order::Tree => tree(frame, &listed, folded),
        Order::Slowest => {
            listed.sort_by_key(|&at| std::cmp::Reverse(script(at).profile.map(|p| p.total)));
            flat(listed)
        }
        Order::Longest => {
            listed.sort_by_key(|&at| script(at).since.map(|since| since.elapsed));
            flat(listed)
        }
    }
}

/// For an owner without a name: the name of the owner above, and a number.
fn split(owner: &str) -> (&str, Option<u64>) {
    let parts = owner.rsplit_once("/#");
    let numbered = parts.and_then(|(above, number)| Some((above, number.parse().ok()?)));
    match numbered {
        Some((above, number)) => (above, Some(number)),
        None => (owner, None),
    }
}

fn tree(frame: &Frame, listed: &[usize], folded: &HashSet<Rc<str>>) -> Vec<Row> {
    let mut groups: HashMap<Option<&Rc<str>>, Vec<usize>> = HashMap::new();
    for &at in listed {
        let owner = frame.scripts[at].who.owner.as_ref();
        groups.entry(owner).or_default().push(at);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by(|(a, _), (b, _)| natural(*a).cmp(&natural(*b)));
    let mut rows = Vec::with_capacity(listed.len() + groups.len());
    let has_owners = groups.iter().any(|(owner, _)| owner.is_some());
    let mut above = "";
    for (owner, group) in groups {
        let name = owner.cloned().unwrap_or_else(|| NOBODY.into());
        let mut depth = 0;
        if has_owners {
            // Below the named owner, if that is listed.
            match split(owner.map_or("", |owner| &**owner)) {
                (top, Some(_)) if top == above => depth = 1,
                (top, _) => above = top,
            }
            let is_folded = folded.contains(&name);
            rows.push(Row::Owner {
                count: group.len(),
                name,
                depth,
                folded: is_folded,
            });
            if is_folded {
                continue;
            }
            depth += 1;
        }
        nest(frame, &group, depth, &mut rows);
    }
    rows
}

/// By name; a number at the end of a name by its value.
fn natural(owner: Option<&Rc<str>>) -> Option<(&str, Option<u64>, &str, Option<u64>)> {
    let (name, number) = split(owner?);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((stem, name[stem.len()..].parse().ok(), name, number))
}

/// Each script is below the one that spawned it, if that is in the group.
fn nest(frame: &Frame, group: &[usize], depth: usize, rows: &mut Vec<Row>) {
    // The group is in the order of ids.
    let place = |id: CoroutineId| group.binary_search_by_key(&id, |&at| frame.scripts[at].who.id);
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); group.len()];
    let mut stack = Vec::new();
    for (index, &at) in group.iter().enumerate().rev() {
        let parent = frame.scripts[at].who.parent;
        match parent.and_then(|parent| place(parent).ok()) {
            Some(parent) if parent != index => below[parent].push(index),
            _ => stack.push((index, depth)),
        }
    }
    while let Some((index, depth)) = stack.pop() {
        rows.push(Row::Script {
            id: frame.scripts[group[index]].who.id,
            depth: depth.min(DEEPEST),
        });
        stack.extend(below[index].iter().map(|&below| (below, depth + 1)));
    }
}
