//! The details of the script that is selected in the list.

use std::panic::Location;

use framestep::{CoroutineId, Outcome};

use super::Panel;
use crate::model::listener::Emission;
use crate::model::text::{clean, duration};
use crate::model::warning::actor;

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
            if let Some(ended) = heard.ended.iter().rev().find(|ended| ended.id == id) {
                let how = match ended.outcome {
                    Outcome::Finished => "finished",
                    Outcome::Stopped => "stopped",
                    Outcome::Panicked => "panicked",
                };
                let text = format!("{how} in frame {}", ended.frame);
                out.push(("script", format!("{} ({id})", ended.name)));
                out.push(("ended", text));
                out.extend(emitted(&ended.emissions));
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
        }
        out.extend(heard.emissions.get(&id).and_then(|all| emitted(all)));
        if let Some(since) = script.since {
            let ago = duration(frame.time.elapsed.saturating_sub(since.elapsed));
            out.push((
                "last polled",
                format!("in frame {}, {ago} ago", since.frame),
            ));
        }
        if let Some(cause) = heard.woken.get(&id) {
            let through = match &cause.through {
                Some(name) => format!(" through {}", clean(name)),
                None => String::new(),
            };
            let by = actor(cause.by.as_ref(), frame);
            out.push((
                "last woken",
                format!("in frame {}, by {by}{through}", cause.frame),
            ));
        }
        if let Some((since, _)) = script.paused_since {
            let text = match heard.paused.get(&id) {
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

/// The signals that a script has emitted lately, the latest first.
fn emitted(emissions: &[Emission]) -> Option<(&'static str, String)> {
    let one = |emission: &Emission| {
        let name = clean(&emission.name);
        match emission.count {
            1 => format!("{name} (in frame {})", emission.frame),
            count => format!("{name} ({count} times, last in frame {})", emission.frame),
        }
    };
    let all: Vec<String> = emissions.iter().rev().map(one).collect();
    (!all.is_empty()).then(|| ("emitted", all.join(", ")))
}
