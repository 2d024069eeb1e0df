//! Polls that take long.

use crate::lanes::{Lane, Poll};
use crate::record::NONE;
use crate::text;

use super::{Finder, FindingKind, Found};

/// A single long poll may be the fault of other programs, unless it takes a whole frame.
const WHOLE_FRAME: u64 = 16_000_000;
/// The most frames that a finding names.
const MOST_FRAMES: usize = 4;

impl Finder<'_> {
    pub(super) fn long_poll(&self, lane: &Lane) -> Option<Found> {
        let longest = lane.polls.iter().max_by_key(|poll| poll.took())?;
        let long = lane.polls.iter().filter(|poll| poll.is_long()).count();
        if !self.film.is_timed || (long < 2 && longest.took() < WHOLE_FRAME) {
            return None;
        }
        let frame = self.frame(longest.from.column);
        let (place, after) = self.after_poll(lane, longest);
        let text = format!(
            "took {} in one poll, in frame {frame}{after}; {} of its {} took 4 ms or longer",
            text::about(longest.took()),
            text::count(long as u64),
            text::counted(lane.polls.len() as u64, "poll"),
        );
        Some(self.finding(FindingKind::LongPoll, lane, frame, place, &text))
    }

    /// Polls that are slow beside the others of the script.
    pub(super) fn outliers(&self, lane: &Lane) -> Option<Found> {
        let least = lane.outlier.filter(|_| self.film.is_timed)?;
        let slow = lane.polls.iter().filter(|poll| poll.took() >= least);
        let longest = slow.clone().max_by_key(|poll| poll.took())?;
        let frame = self.frame(longest.from.column);
        let (place, after) = self.after_poll(lane, longest);
        let frames: Vec<u64> = slow.map(|poll| self.frame(poll.from.column)).collect();
        let text = format!(
            "took up to {} in {} of its {}, and {} in most{after}; in frames {}",
            text::about(longest.took()),
            text::count(frames.len() as u64),
            text::counted(lane.polls.len() as u64, "poll"),
            text::about(lane.median),
            text::list(frames.iter().map(|frame| text::count(*frame)), MOST_FRAMES),
        );
        Some(self.finding(FindingKind::Outliers, lane, frame, place, &text))
    }

    /// Where a poll began.
    fn after_poll(&self, lane: &Lane, poll: &Poll) -> (u32, String) {
        let (place, after) = if poll.place == NONE {
            (self.film.script(lane.script).place, "its start")
        } else {
            (poll.place, "the .await")
        };
        let words = self.film.place(place);
        let words = words.map_or(String::new(), |at| format!(", after {after} at {at}"));
        (place, words)
    }
}
