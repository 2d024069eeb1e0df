//! Compares a run with the one before it.

use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use framestep::{CoroutineId, Wait};

use super::cells;
use super::frame::Frame;
use super::script::Script;

/// How many changes of a run are kept, to compare it with the next one.
const MOST: usize = 200_000;

#[derive(Debug, Default)]
pub(crate) struct Runs {
    now: Log,
    before: Option<Log>,
    /// Where the runs have been compared up to.
    at: usize,
    is_over: bool,
    pub(crate) difference: Option<Difference>,
    /// How many runs there were before this one.
    pub(crate) number: u32,
}

#[derive(Debug, Default)]
struct Log {
    frames: Vec<Changes>,
    count: usize,
}

/// What has changed in one frame.
#[derive(Debug)]
struct Changes {
    frame: u64,
    /// The frame of the look before.
    since: u64,
    elapsed: Duration,
    scripts: Vec<Rc<Script>>,
    ended: usize,
}

/// The first difference between this run and the one before.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    pub(crate) frame: u64,
    pub(crate) id: Option<CoroutineId>,
    pub(crate) name: String,
    pub(crate) now: String,
    pub(crate) before: String,
    pub(crate) at: Option<&'static Location<'static>>,
}

impl Runs {
    /// A new run begins.
    pub(crate) fn begin(&mut self) {
        let log = std::mem::take(&mut self.now);
        *self = Runs {
            before: Some(log),
            number: self.number + 1,
            ..Runs::default()
        };
    }

    pub(crate) fn note(&mut self, frame: &Frame, since: u64) {
        if self.now.count > MOST {
            return;
        }
        let scripts = frame.changed.iter();
        let changes = Changes {
            frame: frame.number(),
            since,
            elapsed: frame.time.elapsed,
            scripts: scripts
                .map(|&at| Rc::clone(&frame.scripts[at as usize]))
                .collect(),
            ended: frame.ended,
        };
        self.compare(&changes);
        self.now.count += changes.scripts.len() + 1;
        self.now.frames.push(changes);
    }

    fn compare(&mut self, now: &Changes) {
        let Some(before) = self.before.as_ref().filter(|_| !self.is_over) else {
            return;
        };
        let rest = &before.frames[self.at..];
        let skipped = rest.iter().take_while(|old| old.frame < now.frame).count();
        self.at += skipped;
        let Some(old) = rest.get(skipped).filter(|old| old.frame == now.frame) else {
            return;
        };
        if old.since != now.since {
            return;
        }
        if old.elapsed != now.elapsed {
            // Runs whose frames differ in length cannot be compared.
            self.is_over = true;
            return;
        }
        if let Some(difference) = difference(now, old) {
            self.difference = Some(difference);
            self.is_over = true;
        }
    }
}

fn difference(now: &Changes, old: &Changes) -> Option<Difference> {
    let frame = now.frame;
    for (index, script) in now.scripts.iter().enumerate() {
        let was = old.scripts.get(index);
        if was.is_some_and(|was| is_alike(script, was)) {
            continue;
        }
        let same = was.filter(|was| was.name() == script.name());
        let before = match same {
            Some(was) => text(was),
            None => "nothing happened to it in this frame".to_owned(),
        };
        return Some(Difference {
            frame,
            id: Some(script.id()),
            name: script.name().to_owned(),
            now: text(script),
            before,
            at: script.line(),
        });
    }
    if let Some(was) = old.scripts.get(now.scripts.len()) {
        return Some(Difference {
            frame,
            id: None,
            name: was.name().to_owned(),
            now: "nothing happens to it in this frame".to_owned(),
            before: text(was),
            at: was.line(),
        });
    }
    (now.ended != old.ended).then(|| Difference {
        frame,
        id: None,
        name: "the number of scripts that end".to_owned(),
        now: now.ended.to_string(),
        before: old.ended.to_string(),
        at: None,
    })
}

fn text(script: &Script) -> String {
    let wait = cells::wait_alone(script);
    match script.waits_at() {
        Some(at) => format!("{wait} at {}", super::text::place(at)),
        None => wait,
    }
}

fn is_alike(now: &Script, was: &Script) -> bool {
    now.full_name() == was.full_name()
        && now.full_owner() == was.full_owner()
        && now.state == was.state
        && now.description == was.description
        && now.waits.len() == was.waits.len()
        && now.waits.iter().zip(&was.waits).all(|(now, was)| {
            let same = match (&now.wait, &was.wait) {
                // Ids know their executor.
                (Wait::Join { id }, Wait::Join { id: was }) => id.to_string() == was.to_string(),
                (now, was) => now == was,
            };
            same && now.at == was.at
        })
}
