//! Permits whose taker has ended.

use std::collections::HashMap;

use crate::lanes::{At, Bar, Lane};
use crate::record::{NONE, WaitKind};
use crate::state::Held;
use crate::text;

use super::{Finder, FindingKind, Found, MANY_FRAMES};

impl Finder<'_> {
    /// Permits that were taken by scripts that have ended, if others have missed them since.
    pub(super) fn lost_permits(&self) -> Vec<Found> {
        let held = self.lanes.held.iter();
        let held = held.filter_map(|held| Some((held, self.lane(held.script)?.ended?.0)));
        let mut waits: HashMap<u32, Vec<(&Lane, &Bar)>> = HashMap::new();
        for (held, _) in held.clone() {
            waits.entry(held.name).or_default();
        }
        if waits.is_empty() {
            return Vec::new();
        }
        for lane in &self.lanes.lanes {
            for bar in &lane.waits {
                let is_long = || self.length(bar) >= MANY_FRAMES;
                if bar.wait.wait_kind() == WaitKind::Permit && is_long() {
                    if let Some(waits) = waits.get_mut(&bar.wait.other) {
                        waits.push((lane, bar));
                    }
                }
            }
        }
        held.filter_map(|(held, ended)| self.lost_permit(held, ended, &waits[&held.name]))
            .collect()
    }

    fn lost_permit(&self, held: &Held, ended: At, waits: &[(&Lane, &Bar)]) -> Option<Found> {
        let frame = self.frame(ended.column);
        let waits = waits.iter().copied();
        let waits = waits.filter(|(_, bar)| bar.to.is_none_or(|to| to > ended));
        let waits: Vec<(&Lane, &Bar)> = waits.collect();
        let &(lane, longest) = waits.iter().rev().max_by_key(|(_, bar)| self.length(bar))?;
        let permits = match held.count {
            1 => format!("a permit of {}", self.film.text(held.name)),
            count => format!(
                "{} permits of {}",
                text::count(count),
                self.film.text(held.name)
            ),
        };
        let place = self.film.place(held.place);
        let place = place.map_or(String::new(), |place| format!(" ({place})"));
        let so_far = if longest.to.is_none() { " so far" } else { "" };
        let longest = format!(
            "{}: {}{so_far}, since frame {}",
            self.film.name_and_id(lane.script),
            text::counted(self.length(longest), "frame"),
            longest.since,
        );
        let others = match waits.len() {
            1 => format!("one script has waited for long for one since, {longest}"),
            many => format!(
                "scripts have waited for long for one {} times since, the longest {longest}",
                text::count(many as u64)
            ),
        };
        let text = format!(
            "took {permits} in frame {}{place} and ended in frame {frame}, and nobody has given \
             {} back; {others}",
            held.frame,
            if held.count == 1 { "it" } else { "them" },
        );
        let place = if held.place == NONE {
            self.film.script(held.script).place
        } else {
            held.place
        };
        let found = self.found(FindingKind::LostPermits, held.script, frame, place, &text);
        Some(found.with(waits.iter().map(|(lane, _)| lane.script)))
    }
}
