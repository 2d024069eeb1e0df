//! Scripts that wait for each other.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::lanes::{Bar, Lane};
use crate::record::{NONE, WaitKind};

use super::{Finder, FindingKind, Found, only_wait};

/// What a script waits for: another script has to act.
struct Link<'a> {
    /// The other script.
    to: u32,
    bar: &'a Bar,
    lane: &'a Lane,
}

impl Finder<'_> {
    /// The script that has to act before a wait can end, if only one can.
    fn next(&self, bar: &Bar) -> Option<u32> {
        let other = bar.wait.other;
        match bar.wait.wait_kind() {
            WaitKind::Join => Some(other),
            WaitKind::Permit => {
                let mut held = self.lanes.held.iter().filter(|held| held.name == other);
                let first = held.next()?.script;
                let is_only = held.all(|held| held.script == first);
                (is_only && first != NONE).then_some(first)
            }
            WaitKind::Signal | WaitKind::Watch => self.only_emitter(other),
            _ => None,
        }
    }

    pub(super) fn cycles(&self) -> Vec<Found> {
        let mut next: HashMap<u32, Link<'_>> = HashMap::new();
        for lane in self.lanes.lanes.iter().filter(|lane| lane.ended.is_none()) {
            let link = only_wait(lane).and_then(|bar| {
                let to = self.next(bar)?;
                Some(Link { to, bar, lane })
            });
            if let Some(link) = link {
                next.insert(lane.script, link);
            }
        }
        let mut done: HashMap<u32, u32> = HashMap::new();
        let mut findings = Vec::new();
        for lane in &self.lanes.lanes {
            let mut script = lane.script;
            // Each walk has its own mark. A walk that meets its own mark has found a
            // cycle.
            while !done.contains_key(&script) && next.contains_key(&script) {
                done.insert(script, lane.script);
                script = next[&script].to;
            }
            if done.get(&script) == Some(&lane.script) && next.contains_key(&script) {
                findings.extend(self.cycle(script, &next));
                done.insert(script, NONE);
            }
        }
        findings
    }

    /// Each line comes after the script that waits there. `None` if it may be over soon.
    fn cycle(&self, first: u32, next: &HashMap<u32, Link<'_>>) -> Option<Found> {
        let (mut text, mut since) = (String::new(), 0);
        let (mut scripts, mut is_sure) = (Vec::new(), true);
        let mut script = first;
        loop {
            let Link { to, bar, .. } = &next[&script];
            since = since.max(bar.since);
            scripts.push(script);
            let at = self.film.place(bar.wait.place());
            let at = at.map_or(String::new(), |place| format!(" at {place}"));
            let which = if script == first { "" } else { ", which " };
            let other = match *to {
                to if to == first => self.film.name(to),
                to => self.film.name_and_id(to),
            };
            let _ = write!(text, "{which}waits{at} for ");
            let source = bar.wait.other;
            let _ = match bar.wait.wait_kind() {
                WaitKind::Join => write!(text, "the end of {other}"),
                WaitKind::Permit => {
                    let held = self.lanes.held.iter().find(|held| held.name == source);
                    let (since, place) = held.map_or((0, NONE), |held| (held.frame, held.place));
                    let place = self.film.place(place);
                    let place = place.map_or(String::new(), |place| format!(" at {place}"));
                    let source = self.film.text(source);
                    write!(
                        text,
                        "a permit of {source}, held since frame {since}{place} by {other}"
                    )
                }
                _ => {
                    is_sure = false;
                    write!(
                        text,
                        "{}, emitted by no other live script than {other}",
                        self.film.wait(&bar.wait, None)
                    )
                }
            };
            script = *to;
            if script == first {
                break;
            }
        }
        // That nobody else emits a signal is known from the past only.
        let is_new = self.last_frame().saturating_sub(since) < super::MANY_FRAMES;
        if !is_sure && is_new {
            return None;
        }
        let Link { bar, lane, .. } = &next[&first];
        let text = format!("{text}: a cycle since frame {since}");
        let found = self.finding(FindingKind::Cycle, lane, since, bar.wait.place(), &text);
        Some(found.with(scripts))
    }
}
