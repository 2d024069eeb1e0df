//! Scripts that are stopped with an owner that they have got from the script that started them.

use crate::lanes::{Lane, Stopped};
use crate::record::NONE;

use super::{Finder, FindingKind, Found};

impl Finder<'_> {
    /// Scripts that have replaced one of another owner, and are stopped with the owner of the
    /// script that started them.
    pub(super) fn stopped_with_owner(&self) -> Vec<Found> {
        let all = self.lanes.lanes.iter();
        all.filter_map(|lane| self.with_owner(lane)).collect()
    }

    fn with_owner(&self, lane: &Lane) -> Option<Found> {
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
        let of_name = |other: &&Lane| self.film.script(other.script).name == known.name;
        let mut others = self.lanes.lanes.iter().filter(of_name);
        // Somebody else goes on.
        if others
            .clone()
            .any(|it| it.spawned > Some(at) || it.ended.is_none())
        {
            return None;
        }
        let before = others.find(|it| {
            let by_parent = |stopped: &Stopped| stopped.by == parent;
            owner(it.script) != known.owner
                && it.stopped.as_ref().is_some_and(by_parent)
                && it.ended.is_some_and(|(at, _)| at <= spawned)
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
