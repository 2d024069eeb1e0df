//! The details of the script that is selected in the list.

use std::collections::VecDeque;
use std::panic::Location;

use framestep::inspect::CallChain;
use framestep::task::{CoroutineId, Outcome};

use super::Panel;
use crate::model::frame::Frame;
use crate::model::listener::{Emission, Heard, Waited};
use crate::model::script::Script;
use crate::model::text::{clean, duration, place};
use crate::model::warning::actor;

/// How many waits of a script are listed.
const SHOWN_WAITS: usize = 5;

/// How many calls of a chain are listed.
const MOST_CALLS: usize = 12;

impl Panel {
    /// The script that is selected in the list.
    pub fn selected(&self) -> Option<CoroutineId> {
        self.selected
    }

    /// Selects a script.
    pub fn select(&mut self, id: Option<CoroutineId>) {
        self.selected = id;
    }

    /// Calls `open` when the user clicks on a line of the program, for example to open it
    /// in an editor. Without it, the views copy `FILE:LINE`.
    pub fn on_line(&mut self, open: impl FnMut(&'static Location<'static>) + 'static) {
        self.on_line = Some(Box::new(open));
    }

    /// Opens a line. Returns `FILE:LINE:COLUMN` to copy if the host has no
    /// [`on_line`](Panel::on_line).
    pub fn open_line(&mut self, at: &'static Location<'static>) -> Option<String> {
        match &mut self.on_line {
            Some(open) => {
                open(at);
                None
            }
            None => Some(at.to_string()),
        }
    }

    /// The details of a script: headings and texts.
    pub(crate) fn details(&self, id: CoroutineId) -> Vec<(&'static str, String)> {
        let Some(frame) = self.shown() else {
            return Vec::new();
        };
        let heard = self.listener.heard();
        let mut out = Vec::new();
        let Some(script) = frame.script(id) else {
            let mut ended = heard.ended.iter().rev();
            let now = frame.number();
            if let Some(ended) = ended.find(|ended| ended.id == id && ended.frame <= now) {
                let how = match ended.outcome {
                    Outcome::Finished => "finished",
                    Outcome::Stopped => "stopped",
                    Outcome::Panicked => "panicked",
                };
                let by = match ended.outcome {
                    Outcome::Stopped => format!(", by {}", actor(ended.by.as_ref(), frame)),
                    _ => String::new(),
                };
                let text = format!("{how} in frame {}{by}", ended.frame);
                out.push(("script", format!("{} ({id})", ended.name)));
                out.push(("ended", text));
                out.extend(emitted(&ended.emissions, now));
            }
            return out;
        };
        let name = clean(script.full_name());
        out.push(("script", format!("{name} ({id})")));
        if let Some(text) = script.description() {
            out.push(("says", text.to_owned()));
        }
        if let Some(owner) = script.owner() {
            out.push(("owner", owner.to_owned()));
        }
        for waiting in &script.waits {
            if let Some(at) = waiting.at {
                let clean = clean(&at.to_string());
                out.push(("waits at", clean));
            }
            let calls = waiting.chain.iter().flat_map(CallChain::calls);
            for call in calls.take(MOST_CALLS) {
                out.push(("in", clean(&call.to_string())));
            }
        }
        out.extend(events(script, frame, &heard));
        if let Some(since) = script.since {
            let ago = duration(frame.time.elapsed.saturating_sub(since.elapsed));
            out.push((
                "last polled",
                format!("in frame {}, {ago} ago", since.frame),
            ));
        }
        if let Some(cause) = heard.woken(id, frame.number()) {
            let through = match &cause.through {
                Some(name) => format!(" through {}", clean(name)),
                None => String::new(),
            };
            let by = actor(cause.by.as_ref(), frame);
            out.push((
                "last woken",
                format!("in frame {}{through}, by {by}", cause.frame),
            ));
        }
        if let Some((since, _)) = script.paused_since {
            let text = match heard.paused(id, frame.number()) {
                Some(cause) => {
                    format!(
                        "since frame {}, by {}",
                        cause.frame,
                        actor(cause.by.as_ref(), frame)
                    )
                }
                None => format!("since frame {since}"),
            };
            out.push(("paused", text));
        }
        if let Some(at) = script.who.spawned_at {
            let by = match script.who.parent {
                None => "the host".to_owned(),
                Some(parent) => match frame.script(parent) {
                    Some(parent) => format!("{} ({})", parent.name(), parent.id()),
                    None => format!("{parent}, which has ended"),
                },
            };
            let at = clean(&at.to_string());
            out.push(("spawned", format!("at {at}, by {by}")));
        }
        if let Some(profile) = script.profile {
            let average = profile.total / u32::try_from(profile.polls.max(1)).unwrap_or(u32::MAX);
            out.push((
                "polls",
                format!(
                    "{}, {} in all, {} on average, {} the longest",
                    profile.polls,
                    duration(profile.total),
                    duration(average),
                    duration(profile.longest)
                ),
            ));
        }
        out
    }
}

/// What is known about the signals and watches of a script, and its last waits.
fn events(script: &Script, frame: &Frame, heard: &Heard) -> Vec<(&'static str, String)> {
    let (id, now) = (script.id(), frame.number());
    let values = script.waits.iter().filter_map(|waiting| {
        let value = heard.sources.value(waiting.wait.source()?, now)?;
        Some(("its value", clean(&value)))
    });
    let mut out: Vec<_> = values.collect();
    out.extend(waited(heard.waits.get(&id), now));
    let emissions = heard.emissions.get(&id);
    out.extend(emissions.and_then(|all| emitted(all, now)));
    out
}

/// What a script has waited for lately, up to a frame, the latest last: a line for each.
fn waited(
    waits: Option<&VecDeque<Waited>>,
    frame: u64,
) -> impl Iterator<Item = (&'static str, String)> {
    let until = waits.map_or(0, |waits| waits.partition_point(|it| it.frame <= frame));
    let from = until.saturating_sub(SHOWN_WAITS);
    let shown = waits
        .into_iter()
        .flat_map(move |waits| waits.range(from..until));
    shown.map(|waited| {
        let at = waited
            .at
            .map_or(String::new(), |at| format!(" at {}", place(at)));
        let times = match waited.times {
            1 => String::new(),
            times => format!(", {times} times in a row"),
        };
        let what = clean(&waited.wait.to_string());
        (
            "waited",
            format!("frame {}: {what}{at}{times}", waited.frame),
        )
    })
}

/// The signals that a script has emitted lately, up to a frame, the latest first.
fn emitted(emissions: &[Emission], frame: u64) -> Option<(&'static str, String)> {
    let one = |emission: &Emission| {
        let name = clean(&emission.name);
        match emission.count {
            1 => format!("{name} (in frame {})", emission.frame),
            count => format!("{name} ({count} times, last in frame {})", emission.frame),
        }
    };
    let emissions = emissions.iter().rev().filter(|it| it.frame <= frame);
    let all: Vec<String> = emissions.map(one).collect();
    (!all.is_empty()).then(|| ("emitted", all.join(", ")))
}
