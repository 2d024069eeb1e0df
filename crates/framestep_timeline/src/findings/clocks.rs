//! Waits on another clock than that of the script's other waits.

use crate::lanes::{Bar, Lane};
use crate::record::clock_name;
use crate::text;

use super::{Finder, FindingKind, Found};

/// Waits whose lengths differ less are equally long: they end in whole frames. In nanoseconds.
const SAME: u64 = 50_000_000;

impl Finder<'_> {
    /// The first line of a script at which it waits on another clock than usual, if the waits there
    /// are not equally long on the game clock: that and the other clock do not run alike.
    pub(super) fn other_clock(&self, lane: &Lane) -> Option<Found> {
        let usual = lane.clock?;
        let odd = |bar: &&Bar| bar.is_not_on(usual);
        let first = lane.waits.iter().find(odd)?;
        let waits = lane.waits.iter().filter(odd);
        let there = waits.filter(|bar| bar.wait.place() == first.wait.place());
        let took = there.filter_map(|bar| {
            let (to, now) = (bar.to?, bar.now?);
            // One that was dropped has no length.
            lane.poll_at(to)?;
            let elapsed = self.lanes.columns[to.column].elapsed;
            Some(elapsed.saturating_sub(now))
        });
        let took: Vec<u64> = took.collect();
        let (least, most) = (*took.iter().min()?, *took.iter().max()?);
        if most - least <= most / 10 + SAME {
            return None;
        }
        let text = format!(
            "waits on {}{}, and elsewhere on {}: on the game clock, its {} there took {} to {}",
            clock_name(first.wait.other),
            self.line(lane, first.wait.place()),
            clock_name(usual),
            text::counted(took.len() as u64, "wait"),
            text::about(least),
            text::about(most),
        );
        let place = first.wait.place();
        Some(self.finding(FindingKind::OtherClock, lane, first.since, place, &text))
    }
}
