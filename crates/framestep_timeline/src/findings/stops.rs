//! Scripts that are stopped with an owner that they have got from the script that started them.

use std::collections::{BTreeMap, HashMap};

use crate::lanes::{At, Lane};
use crate::record::NONE;

use super::{Finder, FindingKind, Found};

/// The scripts of one name.
#[derive(Default)]
struct OfName<'a> {
    /// When the last of them was started.
    last: Option<At>,
    /// Whether one is alive at the end.
    is_left: bool,
    /// The first that a script has stopped, by that and by its owner.
    stopped: BTreeMap<(u32, u32), &'a Lane>,
}

impl Finder<'_> {
    /// Scripts that have replaced one of another owner, and are stopped with the owner of the
    /// script that started them.
    pub(super) fn stopped_with_owner(&self) -> Vec<Found> {
        let name = |lane: &Lane| self.film.script(lane.script).name;
        let owner = |lane: &Lane| self.film.script(lane.script).owner;
        let mut names: HashMap<u32, OfName<'_>> = HashMap::new();
        for lane in &self.lanes.lanes {
            let of_name = names.entry(name(lane)).or_default();
            of_name.last = of_name.last.max(lane.spawned);
            of_name.is_left |= lane.ended.is_none();
            if let Some(stopped) = &lane.stopped {
                let key = (stopped.by, owner(lane));
                let first = of_name.stopped.entry(key).or_insert(lane);
                if lane.ended.map(|(at, _)| at) < first.ended.map(|(at, _)| at) {
                    *first = lane;
                }
            }
        }
        let all = self.lanes.lanes.iter();
        all.filter_map(|lane| self.with_owner(lane, &names[&name(lane)]))
            .collect()
    }

    fn with_owner(&self, lane: &Lane, of_name: &OfName<'_>) -> Option<Found> {
        let stopped = lane.stopped.as_ref().filter(|it| it.empties_owner)?;
        let (at, spawned) = (lane.ended?.0, lane.spawned?);
        let known = self.film.script(lane.script);
        let parent = known.parent;
        let owner = |script: u32| self.film.script(script).owner;
        let has_inherited = parent != NONE && owner(parent) == known.owner;
        let is_foreign = stopped.by != parent && owner(stopped.by) != known.owner;
        if !has_inherited || !is_foreign {
            return None;
        }
        // Somebody else goes on.
        if of_name.last > Some(at) || of_name.is_left {
            return None;
        }
        let before = of_name.stopped.iter().find_map(|((by, of), before)| {
            let is_over = before.ended.is_some_and(|(at, _)| at <= spawned);
            (*by == parent && *of != known.owner && is_over).then_some(*before)
        })?;
        let of = |script| match self.film.owner(script) {
            Some(owner) => format!("of {owner}"),
            None => "without an owner".to_owned(),
        };
        let started = self.film.place(known.place);
        let text = format!(
            "was stopped in frame {} {}; it got that owner from {}, which started it{} in the \
             place of {}, one {}",
            self.frame(at.column),
            self.film.stopped_words(lane.script, stopped),
            self.film.name_and_id(parent),
            started.map_or(String::new(), |place| format!(" ({place})")),
            self.film.name_and_id(before.script),
            of(before.script),
        );
        let kind = FindingKind::StoppedWithOwner;
        let frame = self.frame(at.column);
        Some(
            self.finding(kind, lane, frame, known.place, &text)
                .until(frame),
        )
    }
}
