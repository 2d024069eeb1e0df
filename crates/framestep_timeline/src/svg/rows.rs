//! Which scripts a picture shows, and in which rows.

use std::collections::{BTreeMap, HashMap, HashSet};

use framestep::task::Outcome;

use crate::film::Film;
use crate::findings::Rest;
use crate::lanes::{Bar, Lane, Lanes};
use crate::record::NONE;
use crate::text;

/// Used in a picture that does not show all scripts.
const MOST_OWNERS: usize = 8;

/// One row of a picture.
#[derive(Debug)]
pub(crate) enum Row {
    /// What the host emits.
    Host,
    /// The name of an owner, and how many scripts it has.
    Owner { name: String, scripts: usize },
    /// A script: the number of its lane.
    Script(usize),
    /// Scripts that are not shown, and how often they were polled in each frame.
    Hidden { words: String, polls: Vec<u32> },
}

/// The rows, and how many scripts have none.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Row>,
    pub(crate) hidden: usize,
}

/// Chooses the scripts with findings, those with something else to say, and the busiest. They are
/// grouped by owner.
pub(crate) fn of(film: &Film, lanes: &Lanes, rest: &Rest, most: usize) -> Rows {
    let chosen = chosen(film, lanes, rest, most);
    let mut owners: Vec<u32> = Vec::new();
    let mut groups: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, lane) in lanes.lanes.iter().enumerate() {
        let owner = film.script(lane.script).owner;
        groups.entry(owner).or_insert_with(|| {
            owners.push(owner);
            Vec::new()
        });
        groups.entry(owner).or_default().push(at);
    }
    // Scripts without an owner come first.
    owners.sort_by_key(|owner| *owner != NONE);
    let mut rows = Vec::new();
    if lanes.emits.iter().any(|emit| emit.source == NONE) {
        rows.push(Row::Host);
    }
    let mut rest: (Vec<usize>, usize) = (Vec::new(), 0);
    for owner in owners {
        let group = &groups[&owner];
        let (shown, left): (Vec<usize>, Vec<usize>) =
            group.iter().partition(|at| chosen.contains(at));
        if shown.is_empty() {
            rest.0.extend(left);
            rest.1 += 1;
            continue;
        }
        let name = match owner {
            NONE => "no owner".to_owned(),
            owner => film.text(owner),
        };
        if owner != NONE || groups.len() > 1 {
            rows.push(Row::Owner {
                name,
                scripts: group.len(),
            });
        }
        rows.extend(shown.into_iter().map(Row::Script));
        if !left.is_empty() {
            let words = format!("{} more", text::count(left.len() as u64));
            rows.push(Row::Hidden {
                words,
                polls: polls(lanes, &left),
            });
        }
    }
    if !rest.0.is_empty() {
        let name = text::counted(rest.1 as u64, "more owner");
        rows.push(Row::Owner {
            name,
            scripts: rest.0.len(),
        });
        let words = text::counted(rest.0.len() as u64, "script");
        rows.push(Row::Hidden {
            words,
            polls: polls(lanes, &rest.0),
        });
    }
    Rows {
        rows,
        hidden: lanes.lanes.len() - chosen.len(),
    }
}

fn chosen(film: &Film, lanes: &Lanes, rest: &Rest, most: usize) -> HashSet<usize> {
    if lanes.lanes.len() <= most {
        return (0..lanes.lanes.len()).collect();
    }
    let found: HashSet<String> = film
        .findings()
        .into_iter()
        .map(|finding| finding.script)
        .collect();
    let busy = film.activity();
    let unheard = lanes.emits.iter().filter(|emit| emit.is_unheard());
    let unheard: HashSet<u32> = unheard.map(|emit| emit.source).collect();
    let is_telling = |lane: &Lane| {
        let is_endless = |bar: &Bar| rest.is_endless(lane, bar);
        matches!(lane.ended, Some((_, Outcome::Stopped | Outcome::Panicked)))
            || unheard.contains(&lane.script)
            || lane.waits.last().is_some_and(is_endless)
            || has_unusual_wait(lanes, lane)
    };
    let mut order: Vec<usize> = (0..lanes.lanes.len()).collect();
    order.sort_by_cached_key(|&at| {
        let lane = &lanes.lanes[at];
        let script = lane.script;
        let is_found = found.contains(&film.name_and_id(script));
        let is_telling = is_found || is_telling(lane);
        (
            !is_found,
            !is_telling,
            std::cmp::Reverse(busy[script as usize]),
            at,
        )
    });
    // Few owners with many lanes are easier to read than many owners with one lane.
    let all: HashSet<u32> = lanes
        .lanes
        .iter()
        .map(|lane| film.script(lane.script).owner)
        .collect();
    let share = most.div_ceil(all.len().min(4));
    let mut owners: HashMap<u32, usize> = HashMap::new();
    let is_near = |at: &usize| {
        let owner = film.script(lanes.lanes[*at].script).owner;
        if owners.len() >= MOST_OWNERS && !owners.contains_key(&owner) {
            return false;
        }
        let shown = owners.entry(owner).or_default();
        *shown += 1;
        *shown <= share
    };
    order.into_iter().filter(is_near).take(most).collect()
}

/// Whether a wait was much longer than most of the same line.
fn has_unusual_wait(lanes: &Lanes, lane: &Lane) -> bool {
    let mut lengths: HashMap<u32, Vec<usize>> = HashMap::new();
    for bar in &lane.waits {
        let to = bar.to.unwrap_or(lanes.end());
        let length = to.column.saturating_sub(bar.from.column);
        lengths.entry(bar.wait.place()).or_default().push(length);
    }
    lengths.values_mut().any(|lengths| {
        lengths.sort_unstable();
        let (longest, usual) = (lengths.last(), lengths[lengths.len() / 2]);
        lengths.len() >= 3 && longest.is_some_and(|&longest| longest > 3 * usual.max(10))
    })
}

fn polls(lanes: &Lanes, hidden: &[usize]) -> Vec<u32> {
    let mut polls: BTreeMap<usize, u32> = BTreeMap::new();
    for &at in hidden {
        for poll in &lanes.lanes[at].polls {
            *polls.entry(poll.from.column).or_default() += 1;
        }
    }
    (0..lanes.columns.len())
        .map(|column| polls.get(&column).copied().unwrap_or(0))
        .collect()
}
