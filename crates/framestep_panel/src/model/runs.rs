//! Compares a run with the one before it.

use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use framestep::inspect::{State, Wait};
use framestep::task::CoroutineId;

use super::cells;
use super::frame::Frame;
use super::script::Script;

/// How many changes of a run are kept, to compare it with the next one.
const MOST: usize = 200_000;

#[derive(Debug, Default)]
pub(crate) struct Runs {
    now: Log,
    before: Option<Log>,
    /// How far the runs have been compared.
    at: usize,
    is_over: bool,
    pub(crate) difference: Option<Difference>,
    /// The frame from which on the runs cannot be compared.
    pub(crate) lengths: Option<Lengths>,
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
    /// The frame of the look before. `None` for the first frame of a run: then all scripts
    /// count as changed.
    since: Option<u64>,
    elapsed: Duration,
    scripts: Vec<Rc<Script>>,
    ended: usize,
}

/// The first frame that ends at another time than in the run before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    pub(crate) frame: u64,
    pub(crate) now: Duration,
    pub(crate) before: Duration,
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
        // Before the first frame, nothing has run yet. Whether the panel sees that state
        // depends on when the host looks: if the game is paused at a restart, it does.
        if self.now.count > MOST || frame.number() == 0 {
            return;
        }
        let is_first = self.now.frames.is_empty();
        let changed = || {
            let scripts = frame.changed.iter();
            scripts.map(|&at| Rc::clone(&frame.scripts[at as usize]))
        };
        let changes = Changes {
            frame: frame.number(),
            since: (!is_first).then_some(since),
            elapsed: frame.time.elapsed,
            scripts: if is_first {
                frame.scripts.clone()
            } else {
                changed().collect()
            },
            ended: if is_first { 0 } else { frame.ended },
        };
        self.compare(&changes, frame);
        self.now.count += changes.scripts.len() + 1;
        self.now.frames.push(changes);
    }

    fn compare(&mut self, now: &Changes, frame: &Frame) {
        let Some(before) = self.before.as_ref().filter(|_| !self.is_over) else {
            return;
        };
        let rest = &before.frames[self.at..];
        let skipped = rest.iter().take_while(|old| old.frame < now.frame).count();
        self.at += skipped;
        let Some(old) = rest.get(skipped).filter(|old| old.frame == now.frame) else {
            return;
        };
        // The first frame of the run before has all its scripts.
        let is_whole = old.since.is_none();
        if !is_whole && old.since != now.since {
            return;
        }
        if old.elapsed != now.elapsed {
            self.lengths = Some(Lengths {
                frame: now.frame,
                now: now.elapsed,
                before: old.elapsed,
            });
            self.is_over = true;
            return;
        }
        let difference = if is_whole {
            difference(frame, &frame.scripts, &old.scripts, "it does not exist")
        } else {
            let still = "nothing happens to it in this frame";
            difference(frame, &now.scripts, &old.scripts, still).or_else(|| ends(now, old))
        };
        if difference.is_some() {
            self.difference = difference;
            self.is_over = true;
        }
    }
}

/// The first script that differs. Both lists are sorted by id. `absent` is the text for a
/// script that is missing in one of them.
fn difference(
    frame: &Frame,
    now: &[Rc<Script>],
    old: &[Rc<Script>],
    absent: &str,
) -> Option<Difference> {
    let is_same = |(now, was): (&Rc<Script>, &Rc<Script>)| is_alike(now, was);
    let same = now
        .iter()
        .zip(old)
        .take_while(|pair| is_same(*pair))
        .count();
    let (now, old) = (&now[same..], &old[same..]);
    let (script, was) = match (now.first(), old.first()) {
        (None, None) => return None,
        (Some(script), Some(was)) if id(script) == id(was) => (Some(script), Some(was)),
        // Most often, one of the two is missing in the other list. That is the one that
        // differs.
        (Some(script), was) => match was.filter(|_| old.iter().any(|was| id(was) == id(script))) {
            None => (Some(script), None),
            was => (None, was),
        },
        (None, was) => (None, was),
    };
    let known = script.or(was)?;
    let tell = |script: Option<&Rc<Script>>| {
        script.map_or_else(|| absent.to_owned(), |script| text(script, frame))
    };
    Some(Difference {
        frame: frame.number(),
        id: script.map(|script| script.id()),
        name: known.name().to_owned(),
        now: tell(script),
        before: tell(was),
        at: known.line(),
    })
}

fn ends(now: &Changes, old: &Changes) -> Option<Difference> {
    (now.ended != old.ended).then(|| Difference {
        frame: now.frame,
        id: None,
        name: "the number of scripts that end".to_owned(),
        now: now.ended.to_string(),
        before: old.ended.to_string(),
        at: None,
    })
}

/// Ids belong to their executor, so those of two runs are compared as text.
fn id(script: &Script) -> String {
    script.id().to_string()
}

fn text(script: &Script, frame: &Frame) -> String {
    let wait = cells::wait_for_later(script, frame);
    match script.waits_at() {
        Some(at) => format!("{wait} at {}", super::text::place(at)),
        None => wait,
    }
}

fn is_alike(now: &Script, was: &Script) -> bool {
    let is_paused = now.state == State::Paused;
    now.full_name() == was.full_name()
        && now.full_owner() == was.full_owner()
        && now.state == was.state
        && now.description == was.description
        && now.waits.len() == was.waits.len()
        && now
            .waits
            .iter()
            .zip(&was.waits)
            .all(|(now_waits, was_waits)| {
                let same = match (&now_waits.wait, &was_waits.wait) {
                    (Wait::Join { id }, Wait::Join { id: was }) => {
                        id.to_string() == was.to_string()
                    }
                    // The two may have been recorded in different frames.
                    (wait, _) => was_waits.is_still(wait, is_paused, was.changed, now.changed),
                };
                same && now_waits.at == was_waits.at
            })
}
