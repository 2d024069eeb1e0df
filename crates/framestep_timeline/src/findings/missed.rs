//! Signals that are emitted while nobody waits, shortly before a script begins to wait for them.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::lanes::{At, Bar, Emit, Lane};
use crate::record::WaitKind;
use crate::text;

use super::{Finder, FindingKind, Found, MANY_FRAMES};

/// What comes later than this has nothing to do with it.
pub(super) const SOON: u64 = 60;
/// The most frames that a finding names.
const MOST_FRAMES: usize = 4;

/// Emissions of one signal that scripts of one name have missed.
pub(super) struct Missed<'a> {
    /// The script that waited for the first, and its wait.
    lane: &'a Lane,
    all: Vec<(&'a Emit, &'a Bar)>,
}

/// What findings about missed emissions tell of.
#[derive(Default)]
pub(super) struct Told {
    pub(super) emissions: HashSet<At>,
    /// The waits, as the script and the first frame.
    pub(super) waits: HashSet<(u32, u64)>,
}

pub(super) fn told(missed: &[Missed<'_>]) -> Told {
    let mut told = Told::default();
    for group in missed {
        for (emit, bar) in &group.all {
            told.emissions.insert(emit.at);
            told.waits.insert((bar.wait.script, bar.since));
        }
    }
    told
}

impl Finder<'_> {
    /// The emissions that somebody may have waited for, if he had begun a little earlier: if that
    /// has happened several times, or if he never got one.
    pub(super) fn missed(&self) -> Vec<Missed<'_>> {
        let mut waits: HashMap<u32, Vec<(&Lane, &Bar)>> = HashMap::new();
        for lane in &self.lanes.lanes {
            let of_signal = |bar: &&Bar| bar.wait.wait_kind() == WaitKind::Signal;
            for bar in lane.waits.iter().filter(of_signal) {
                waits.entry(bar.wait.other).or_default().push((lane, bar));
            }
        }
        for waits in waits.values_mut() {
            waits.sort_by_key(|(_, bar)| bar.from);
        }
        let name = |script: u32| self.film.script(script).name;
        let mut groups: BTreeMap<(u32, u32, u32), Missed<'_>> = BTreeMap::new();
        for emit in self.lanes.emits.iter().filter(|emit| emit.is_unheard()) {
            let waits = waits.get(&emit.name).map_or(&[][..], |waits| waits);
            let next = waits.partition_point(|(_, bar)| bar.from <= emit.at);
            let Some(&(lane, bar)) = waits.get(next) else {
                continue;
            };
            if self.is_missed(lane, emit, bar) {
                let key = (emit.name, name(emit.source), name(lane.script));
                let all = Vec::new();
                let group = groups.entry(key).or_insert(Missed { lane, all });
                group.all.push((emit, bar));
            }
        }
        let mut missed: Vec<Missed<'_>> = groups.into_values().collect();
        missed.retain(|group| {
            let (signal, name) = (group.all[0].0.name, name(group.lane.script));
            let mut waits = waits[&signal].iter();
            let is_served = |(lane, bar): &(&Lane, &Bar)| {
                self.film.script(lane.script).name == name && Finder::was_served(lane, bar)
            };
            group.all.len() > 1 || !waits.any(is_served)
        });
        missed
    }

    fn is_missed(&self, lane: &Lane, emit: &Emit, bar: &Bar) -> bool {
        let is_soon = bar.since.saturating_sub(self.frame(emit.at.column)) <= SOON;
        let is_long = bar.to.is_some() || !self.film.continues && self.length(bar) >= MANY_FRAMES;
        is_soon && is_long && !Finder::was_served(lane, bar)
    }

    pub(super) fn missed_event(&self, missed: &Missed<'_>) -> Option<Found> {
        let Missed { lane, all } = missed;
        let &(emit, bar) = all.first()?;
        let (last, last_bar) = all.last()?;
        let frames: Vec<u64> = all
            .iter()
            .map(|(emit, _)| self.frame(emit.at.column))
            .collect();
        let later = all.iter().zip(&frames);
        let later = later.map(|((_, bar), frame)| bar.since.saturating_sub(*frame));
        let least = later.clone().min()?;
        let later = match later.max()? {
            most if most == least => text::counted(most, "frame"),
            most => format!("{least} to {}", text::counted(most, "frame")),
        };
        let (in_frames, when) = match frames.len() {
            1 => ("in frame", "while"),
            _ => ("in frames", "each time while"),
        };
        let ended = match (last_bar.to, frames.len()) {
            (None, 1) => "and still waits",
            (Some(_), 1) => "and did not get it",
            _ => "and got none of them",
        };
        let text = format!(
            "emitted {}{} {in_frames} {}, {when} nobody waited for it: {} began to wait for it \
             {later} later{}, {ended}",
            self.film.text(emit.name),
            self.after_words(emit.after),
            text::list(frames.iter().map(|frame| text::count(*frame)), MOST_FRAMES),
            self.film.name_and_id(lane.script),
            self.line(lane, bar.wait.place()),
        );
        let source = emit.source;
        let found = self.found(
            FindingKind::MissedEvent,
            source,
            frames[0],
            emit.after,
            &text,
        );
        let until = match last_bar.to {
            None => u64::MAX,
            Some(to) => self.frame(to.column).max(self.frame(last.at.column)),
        };
        Some(found.with([lane.script]).until(until))
    }
}
