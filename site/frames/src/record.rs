//! A run of scripts, frame by frame, as the page reads it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::take;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use framestep::Executor;
use framestep::inspect::{CoroutineInfo, State, TraceEvent, TraceKind, Wait};
use framestep::task::{CoroutineId, Outcome};
use serde::Serialize;

/// What the scripts change, and the page draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct World {
    /// Where the hero is: 0 at the left, 10 at the door.
    pub(crate) hero: f32,
    /// How far the door is open: from 0 to 1.
    pub(crate) door: f32,
    /// How bright the lamp is: from 0 to 1.
    pub(crate) lamp: f32,
    /// The hero's coins.
    pub(crate) coins: u32,
}

/// A run, up to its end or the last frame.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run {
    /// All scripts, in the order in which they began.
    pub(crate) scripts: Vec<Script>,
    /// Number 0 is before the first frame: the host starts `game`.
    pub(crate) frames: Vec<Frame>,
    /// Whether scripts were still alive at the end.
    pub(crate) goes_on: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct Script {
    /// Its function.
    pub(crate) name: String,
    /// The frame in which it began.
    began: usize,
    /// The frame in which it ended, and how.
    ended: Option<usize>,
    outcome: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Frame {
    /// The game clock, in seconds.
    time: f64,
    /// What happened, in this order.
    pub(crate) events: Vec<Event>,
    pub(crate) printed: Vec<String>,
    /// Where scripts wait at its end.
    pub(crate) waits: Vec<Waiting>,
    /// The world at its end.
    pub(crate) world: World,
}

impl Frame {
    /// Whether nothing will resume what is left.
    fn is_last(&self) -> bool {
        let mut waits = self.waits.iter();
        waits.all(|waiting| matches!(waiting.kind, "event" | "end" | "never"))
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Event {
    /// The number of the script. `None` for the host.
    script: Option<usize>,
    /// The phase of the run under way.
    phase: Option<String>,
    what: &'static str,
    /// The name of a signal that was emitted.
    of: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Waiting {
    script: usize,
    /// The lines of its `.await`s, and of its macros.
    pub(crate) lines: Vec<u32>,
    /// What it waits for: the colour of the wait.
    kind: &'static str,
    pub(crate) paused: bool,
    pub(crate) words: String,
}

thread_local! {
    static PRINTED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Notes a line that a script prints.
pub(crate) fn note(line: String) {
    PRINTED.with_borrow_mut(|printed| printed.push(line));
}

/// Runs scripts, and records them: first `begin`, which starts them.
pub(crate) fn record(dt: Duration, frames: u64, begin: impl FnOnce(&Executor)) -> Run {
    let mut executor = Executor::builder().inspect(true).build();
    let heard = Rc::new(RefCell::new(Vec::new()));
    let hook = Rc::clone(&heard);
    executor.on_full_trace(move |event| hook.borrow_mut().push(event.clone()));
    let mut world = World::default();
    let mut run = Run::default();
    let mut numbers = HashMap::new();
    executor.lend(&mut world, |executor| begin(executor));
    loop {
        let events = hear(&mut run, &mut numbers, &take(&mut *heard.borrow_mut()));
        let snapshot = executor.snapshot();
        let waits = snapshot
            .iter()
            .map(|script| waiting(script, &run, &numbers));
        let frame = Frame {
            time: executor.time().elapsed.as_secs_f64(),
            events,
            printed: PRINTED.take(),
            waits: waits.collect(),
            world,
        };
        run.frames.push(frame);
        run.goes_on = !executor.is_empty();
        // Without scripts, this is so, too.
        let is_over = run.frames.last().is_some_and(Frame::is_last);
        if is_over || executor.time().frame >= frames {
            return run;
        }
        executor.lend(&mut world, |executor| executor.run_frame(dt));
    }
}

fn waiting(script: &CoroutineInfo, run: &Run, numbers: &HashMap<CoroutineId, usize>) -> Waiting {
    let words = script.waits().map(|wait| match wait {
        Wait::Join { id } => numbers.get(id).map_or_else(
            || wait.to_string(),
            |number| format!("the end of {}", run.scripts[*number].name),
        ),
        other => other.to_string(),
    });
    let lines = script.waits_at().filter_map(|(_, at)| at);
    let mut lines: Vec<_> = lines.map(Location::line).collect();
    lines.sort_unstable();
    lines.dedup();
    Waiting {
        script: numbers[&script.id()],
        lines,
        kind: script.waits().next().map_or("ready", kind),
        paused: script.state() == State::Paused,
        words: words.collect::<Vec<_>>().join(" or "),
    }
}

/// The events of a frame, of those that the page shows.
fn hear(
    run: &mut Run,
    numbers: &mut HashMap<CoroutineId, usize>,
    heard: &[TraceEvent],
) -> Vec<Event> {
    let now = run.frames.len();
    let mut events = Vec::new();
    for event in heard {
        if let (Some(id), TraceKind::Spawned { .. }) = (event.id, &event.kind) {
            numbers.insert(id, run.scripts.len());
            // The name of a function begins with its module.
            let name = event.short_name().rsplit("::").next().unwrap_or_default();
            run.scripts.push(Script {
                name: name.to_owned(),
                began: now,
                ended: None,
                outcome: None,
            });
        }
        let script = event.id.and_then(|id| numbers.get(&id).copied());
        let mut of = None;
        let what = match &event.kind {
            TraceKind::Spawned { .. } => "began",
            TraceKind::Resumed { .. } => "polled",
            TraceKind::Ended(outcome) => {
                let what = word(*outcome);
                if let Some(script) = script.map(|number| &mut run.scripts[number]) {
                    (script.ended, script.outcome) = (Some(now), Some(what));
                }
                what
            }
            TraceKind::Emitted { name, .. } => {
                of = Some(name.to_string());
                "emitted"
            }
            TraceKind::Paused => "paused",
            TraceKind::Unpaused => "resumed",
            _ => continue,
        };
        events.push(Event {
            script,
            phase: event.phase.map(|phase| phase.to_string()),
            what,
            of,
        });
    }
    events
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Finished => "finished",
        Outcome::Stopped => "stopped",
        Outcome::Panicked => "panicked",
    }
}

fn kind(wait: &Wait) -> &'static str {
    match wait {
        Wait::Frame { .. }
        | Wait::Run { .. }
        | Wait::FrameCount { .. }
        | Wait::StepCount { .. } => "frames",
        Wait::Timer { .. } => "time",
        Wait::Condition { .. } => "condition",
        Wait::Join { .. } | Wait::Scripts { .. } => "end",
        Wait::Never => "never",
        _ => "event",
    }
}
