//! Waits for signals, watches and semaphores that nothing ends.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use crate::lanes::{Bar, Emit, Lane};
use crate::record::{NONE, WaitKind};
use crate::text;

use super::{Finder, FindingKind, Found, MANY_FRAMES, only_wait};

/// The most emissions of other signals that a finding names.
const MOST_EMISSIONS: usize = 2;

/// The last emission of a source.
#[derive(Clone, Copy)]
struct Last<'a> {
    name: u32,
    frame: u64,
    source: u32,
    /// Unknown if it was before the film.
    emit: Option<&'a Emit>,
}

impl Finder<'_> {
    pub(super) fn stuck(&self, lane: &Lane) -> Option<Found> {
        let bar = only_wait(lane)?;
        let (wait, since) = (&bar.wait, bar.since);
        let what = self.film.wait(wait, None);
        let line = self.line(lane, wait.place());
        let kind = wait.wait_kind();
        if kind == WaitKind::Never {
            let text = format!("never resumes: since frame {since} it waits for nothing{line}");
            return Some(self.finding(FindingKind::Never, lane, since, wait.place(), &text));
        }
        if self.last_frame().saturating_sub(since) < MANY_FRAMES {
            return None;
        }
        let text = format!("waits for {what} since frame {since}");
        let (kind, text) = match kind {
            WaitKind::Signal => {
                let last = self.last_of(wait.other);
                if last
                    .and_then(|last| last.emit)
                    .is_some_and(|it| it.at >= bar.from)
                    || self.twin_of(bar).is_some()
                {
                    return None;
                }
                let last = match last {
                    None => self.nobody(since),
                    Some(last) => format!(
                        "it was emitted for the last time before that, in frame {}",
                        last.frame
                    ),
                };
                let others = self.other_emissions(wait.other);
                let text = format!("{text}, and {last}{line}{others}");
                (FindingKind::NoSignal, text)
            }
            WaitKind::Watch if self.twin_of(bar).is_some() => return None,
            WaitKind::Watch => {
                let value = self.value_of(wait.other);
                (FindingKind::LongWait, format!("{text}{line}{value}"))
            }
            WaitKind::Permit => {
                let holders = self.holders(wait.other);
                (FindingKind::LongWait, format!("{text}{line}{holders}"))
            }
            WaitKind::Wake => (FindingKind::LongWait, format!("{text}{line}")),
            _ => return None,
        };
        Some(self.finding(kind, lane, since, wait.place(), &text))
    }

    /// How far a film knows that nothing was emitted.
    fn nobody(&self, since: u64) -> String {
        match self.film.begins_late().filter(|begin| since < *begin) {
            None => "nobody has emitted it since".to_owned(),
            Some(begin) => {
                format!("nobody has emitted it since frame {begin}, in which the recording began")
            }
        }
    }

    fn last_of(&self, name: u32) -> Option<Last<'_>> {
        let emits = self.lanes.emits.iter().rev();
        let in_film = emits
            .clone()
            .find(|emit| emit.name == name)
            .map(|emit| Last {
                name,
                frame: self.frame(emit.at.column),
                source: emit.source,
                emit: Some(emit),
            });
        let before = self.lanes.before.iter();
        let mut before = before.filter(|before| before.name == name && before.count > 0);
        in_film.or_else(|| {
            before.next().map(|before| Last {
                name,
                frame: before.frame,
                source: before.script,
                emit: None,
            })
        })
    }

    /// What a watch was at last, and which script has set it.
    fn value_of(&self, name: u32) -> String {
        let mut text = String::new();
        let values = self.lanes.values.iter().rev();
        if let Some(value) = values.clone().find(|value| value.watch == name) {
            let _ = write!(text, "; its value is {}", self.film.text(value.value));
        }
        if let Some(last) = self.last_of(name) {
            let by = self.film.name_and_id(last.source);
            let _ = write!(text, "; {by} set it last, in frame {}", last.frame);
            text.push_str(&self.after(last));
        }
        text
    }

    /// Which scripts hold permits, since when, and what they wait for.
    pub(super) fn holders(&self, name: u32) -> String {
        let held: Vec<_> = self
            .lanes
            .held
            .iter()
            .filter(|held| held.name == name)
            .collect();
        let mut text = String::new();
        for held in held.iter().take(2) {
            let permits = match held.count {
                1 => String::new(),
                count => format!("{} ", text::count(count)),
            };
            let by = self.film.name_and_id(held.script);
            let _ = write!(text, "; {permits}held by {by} since frame {}", held.frame);
            if let Some(place) = self.film.place(held.place) {
                let _ = write!(text, " ({place})");
            }
            let lane = self.lane(held.script);
            if let Some((at, _)) = lane.and_then(|lane| lane.ended) {
                let _ = write!(text, ", which ended in frame {}", self.frame(at.column));
            } else if let Some(bar) = lane.and_then(only_wait) {
                let _ = write!(text, ", which waits {}", self.film.for_wait(&bar.wait));
            }
        }
        if let Some(more @ 1..) = held.len().checked_sub(2) {
            let _ = write!(text, "; and by {} more", text::count(more as u64));
        }
        text
    }

    /// The last emission of another source of the same name, since a wait began, while that
    /// for which it waits was not emitted.
    fn twin_of(&self, bar: &Bar) -> Option<Last<'_>> {
        let tables = &self.film.tables;
        let (name, base) = (bar.wait.other, tables.base(bar.wait.other));
        if base == name || self.emitted_since(bar) {
            return None;
        }
        let emits = self.lanes.emits.iter().rev();
        let mut emits = emits.take_while(|emit| emit.at >= bar.from);
        let twin = emits.find(|emit| emit.name != name && tables.base(emit.name) == base)?;
        self.last_of(twin.name)
    }

    fn emitted_since(&self, bar: &Bar) -> bool {
        let last = self.last_of(bar.wait.other).and_then(|last| last.emit);
        last.is_some_and(|emit| emit.at >= bar.from)
    }

    /// Scripts that wait for a source, while another one of its name is emitted.
    pub(super) fn other_sources(&self) -> Vec<Found> {
        let mut groups: BTreeMap<u32, Vec<(&Lane, &Bar)>> = BTreeMap::new();
        for lane in self.lanes.lanes.iter().filter(|lane| lane.ended.is_none()) {
            let bar = only_wait(lane)
                .filter(|bar| matches!(bar.wait.wait_kind(), WaitKind::Signal | WaitKind::Watch));
            if let Some(bar) = bar.filter(|bar| self.twin_of(bar).is_some()) {
                groups.entry(bar.wait.other).or_default().push((lane, bar));
            }
        }
        let groups = groups.values();
        groups
            .filter_map(|group| self.other_source(group))
            .collect()
    }

    fn other_source(&self, group: &[(&Lane, &Bar)]) -> Option<Found> {
        let &(lane, bar) = group.first()?;
        let emitted = self.twin_of(bar)?;
        let origin = |name: u32| {
            let origin = self.film.origin(name);
            origin.map_or(String::new(), |origin| format!(" ({origin})"))
        };
        let (verb, others) = match group.len() - 1 {
            0 => ("waits", String::new()),
            others => ("wait", format!(" and {} more", text::count(others as u64))),
        };
        let kind = match bar.wait.wait_kind() {
            WaitKind::Watch => "watch",
            _ => "signal",
        };
        let mut text = format!(
            "{others} {verb} for another {kind} named {} since frame {}{}: for {}{}, and {} \
             emitted {}{} in frame {}{}, which did not wake {}",
            self.film.text(self.film.tables.base(bar.wait.other)),
            bar.since,
            self.line(lane, bar.wait.place()),
            self.film.text(bar.wait.other),
            origin(bar.wait.other),
            self.film.name_and_id(emitted.source),
            self.film.text(emitted.name),
            origin(emitted.name),
            emitted.frame,
            self.after(emitted),
            if group.len() > 1 { "them" } else { "it" },
        );
        if text.starts_with(' ') && group.len() == 1 {
            text.remove(0);
        }
        let kind = FindingKind::OtherSource;
        let found = self.finding(kind, lane, bar.since, bar.wait.place(), text.trim_start());
        Some(found.with(group.iter().map(|(lane, _)| lane.script)))
    }

    fn after(&self, last: Last<'_>) -> String {
        self.after_words(last.emit.map_or(NONE, |emit| emit.after))
    }

    /// What was emitted instead: signals with similar names; if there are none, signals
    /// that no script waits for.
    fn other_emissions(&self, wanted: u32) -> String {
        let mut last: HashMap<u32, Last<'_>> = HashMap::new();
        for emit in &self.lanes.emits {
            let frame = self.frame(emit.at.column);
            last.insert(
                emit.name,
                Last {
                    name: emit.name,
                    frame,
                    source: emit.source,
                    emit: Some(emit),
                },
            );
        }
        for before in self.lanes.before.iter().filter(|before| before.count > 0) {
            last.entry(before.name).or_insert(Last {
                name: before.name,
                frame: before.frame,
                source: before.script,
                emit: None,
            });
        }
        last.remove(&wanted);
        let mut others: Vec<Last<'_>> = last.into_values().collect();
        others.sort_by_key(|last| (last.frame, last.emit.map(|emit| emit.at), last.name));
        let base = |name: u32| self.film.tables.names.get(self.film.tables.base(name));
        let is_similar = |last: &Last<'_>| text::is_similar(base(wanted), base(last.name));
        let mut instead = "";
        if others.iter().any(is_similar) {
            others.retain(is_similar);
        } else {
            let waits = self.lanes.lanes.iter().flat_map(|lane| &lane.waits);
            let awaited: HashSet<u32> = waits.map(|bar| bar.wait.names()[0]).collect();
            // A watch keeps its value, so nothing is lost if nobody waits for it.
            let is_watch = |name| {
                let origin = self.film.tables.sources.get(&name);
                origin.is_some_and(|origin| !origin.is_signal)
            };
            others.retain(|last| !awaited.contains(&last.name) && !is_watch(last.name));
            instead = if self.film.is_filtered {
                ", for which none of the recorded scripts waits"
            } else {
                ", for which no script waits"
            };
        }
        let list: Vec<String> = others
            .iter()
            .rev()
            .take(MOST_EMISSIONS)
            .map(|last| {
                format!(
                    "{} emitted {} in frame {}{}",
                    self.film.name_and_id(last.source),
                    self.film.text(last.name),
                    last.frame,
                    self.after(*last),
                )
            })
            .collect();
        if list.is_empty() {
            return String::new();
        }
        format!("; {}{instead}", list.join(", "))
    }

    /// The only live script that has emitted a source. `None` if several or the host have.
    pub(super) fn only_emitter(&self, name: u32) -> Option<u32> {
        let emits = self.lanes.emits.iter();
        let emits = emits
            .filter(|emit| emit.name == name)
            .map(|emit| emit.source);
        let before = self.lanes.before.iter();
        let before = before.filter(|before| before.name == name && before.count > 0);
        let is_live = |script: &u32| {
            let lane = self.lane(*script);
            *script == NONE || lane.is_some_and(|lane| lane.ended.is_none())
        };
        let all = emits.chain(before.map(|before| before.script));
        let mut all = all.filter(is_live);
        let first = all.next().filter(|first| *first != NONE)?;
        all.all(|other| other == first).then_some(first)
    }
}
