//! A run of a script, frame by frame.

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use framestep::inspect::{Report, SpawnError, State, TraceEvent, TraceKind, Wait};
use framestep::prelude::*;
use framestep::task::{CoroutineId, Outcome};

use crate::error::{Error, Place};
use crate::evaluate::{call, script};
use crate::machine::{ALIVE, Machine, Printed, World};
use crate::parse::parse;
use crate::value::{Context, Scope};

/// The script that the host starts.
const FIRST: &str = "game";

/// How a script is run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The length of each frame.
    pub dt: Duration,
    /// After so many frames the run ends.
    pub frames: u64,
}

/// What a run was, up to its end or the last frame.
#[derive(Debug, Default)]
pub struct Run {
    /// All scripts, in the order in which they began.
    pub scripts: Vec<Script>,
    /// The frames. Number 0 is before the first: the host starts `game`.
    pub frames: Vec<Frame>,
    /// What scripts did wrong.
    pub mistakes: Vec<Mistake>,
    /// Whether scripts were still alive in the last frame.
    pub goes_on: bool,
}

/// A script of a run.
#[derive(Debug)]
pub struct Script {
    /// Its id.
    pub id: CoroutineId,
    /// Its function.
    pub name: String,
    /// The frame in which it began.
    pub began: usize,
    /// The frame in which it ended, and how.
    pub ended: Option<(usize, Outcome)>,
}

/// A frame of a run.
#[derive(Debug)]
pub struct Frame {
    /// The game clock.
    pub elapsed: Duration,
    /// What happened, in this order.
    pub events: Vec<Event>,
    /// What scripts have printed.
    pub printed: Vec<Printed>,
    /// Where scripts wait at its end.
    pub waits: Vec<Waiting>,
    /// The world at its end.
    pub world: World,
}

/// Something that happened in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The script. `None` for the host.
    pub script: Option<CoroutineId>,
    /// The phase of the run under way.
    pub phase: Option<Phase>,
    /// What happened.
    pub what: What,
}

/// What happened, in an [`Event`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The script was started.
    Began,
    /// It was polled.
    Polled,
    /// It ended.
    Ended(Outcome),
    /// It emitted a signal, or set a watch.
    Emitted(String),
    /// It was paused.
    Paused,
    /// It was resumed.
    Resumed,
}

/// Where a script waits.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The script.
    pub script: CoroutineId,
    /// The lines of its `.await`s, and of its macros.
    pub lines: Vec<u32>,
    /// What for, as framestep says it.
    pub waits: Vec<Wait>,
    /// Whether it is paused.
    pub is_paused: bool,
}

/// What a script did wrong.
#[derive(Debug)]
pub struct Mistake {
    /// The script.
    pub script: CoroutineId,
    /// The frame.
    pub frame: usize,
    /// Where, and what.
    pub error: Error,
}

/// Runs a script: its function `game`, and what that starts.
///
/// # Errors
///
/// If the text cannot be read. What goes wrong while it runs is in [`Run::mistakes`].
pub fn run(text: &str, options: Options) -> Result<Run, Error> {
    let functions = parse(text)?;
    let start = Place { line: 1, column: 1 };
    let Some(first) = functions.get(FIRST).cloned() else {
        let words =
            format!("the playground starts `{FIRST}`, but there is no `async fn {FIRST}()`");
        return Err(Error::new(start, words));
    };
    if !first.is_async || !first.parameters.is_empty() {
        let words =
            format!("the playground starts `{FIRST}`, so it is an `async fn` without parameters");
        return Err(Error::new(start, words));
    }
    let machine = Rc::new(Machine::new(functions));
    let context = Context {
        machine: Rc::clone(&machine),
        scope: Rc::new(Scope::default()),
        function: FIRST.into(),
        depth: 0,
    };
    let game = script(context.clone(), call(&context, &first, Vec::new()));
    let hook = Rc::clone(&machine);
    let mut recording = record(options, &*machine, |executor| {
        executor.on_report(move |report| {
            if matches!(
                report,
                Report::Refused {
                    reason: SpawnError::TooMany(_),
                    ..
                }
            ) {
                hook.refused.set(true);
            }
        });
        drop(executor.script(FIRST).start(game));
    });
    for (script, error) in machine.errors.take() {
        let ended = recording
            .scripts
            .iter_mut()
            .find(|other| other.id == script);
        let ended = ended.and_then(|script| script.ended.as_mut());
        let frame = ended.map_or(0, |(frame, outcome)| {
            *outcome = Outcome::Panicked;
            *frame
        });
        for event in recording
            .frames
            .get_mut(frame)
            .map(|frame| &mut frame.events)
            .into_iter()
            .flatten()
        {
            if event.script == Some(script) && event.what == What::Ended(Outcome::Finished) {
                event.what = What::Ended(Outcome::Panicked);
            }
        }
        recording.mistakes.push(Mistake {
            script,
            frame,
            error,
        });
    }
    Ok(recording)
}

/// What a recording takes from elsewhere, because the executor does not know it.
pub trait Source {
    /// The lines where a script waits. `noted` are those that the executor has noted, in code that
    /// rustc has compiled.
    fn lines(&self, script: CoroutineId, noted: Vec<u32>) -> Vec<u32>;

    /// A frame is over. Returns what was printed in it.
    fn end_frame(&self) -> Vec<Printed>;
}

impl Source for Machine {
    fn lines(&self, script: CoroutineId, _: Vec<u32>) -> Vec<u32> {
        self.lines_of(script)
    }

    fn end_frame(&self) -> Vec<Printed> {
        self.begin_frame();
        self.printed.take()
    }
}

/// Runs scripts, and records them: first `begin`, which starts them.
pub fn record(options: Options, source: &impl Source, begin: impl FnOnce(&Executor)) -> Run {
    let mut executor = Executor::builder()
        .inspect(true)
        .max_coroutines(ALIVE)
        .build();
    // A playground has frames of any length.
    executor.on_report(|_| {});
    let heard = Rc::new(RefCell::new(Vec::new()));
    let hook = Rc::clone(&heard);
    executor.on_full_trace(move |event| hook.borrow_mut().push(event.clone()));
    let mut world = World::default();
    let mut run = Run::default();
    let mut numbers = HashMap::new();
    executor.lend(&mut world, |executor| begin(executor));
    loop {
        let snapshot = executor.snapshot();
        let waits = snapshot.iter().map(|script| {
            let waits: Vec<_> = script.waits().cloned().collect();
            let noted = script
                .waits_at()
                .filter_map(|(_, at)| at)
                .map(Location::line);
            Waiting {
                script: script.id(),
                lines: source.lines(script.id(), noted.collect()),
                waits,
                is_paused: script.state() == State::Paused,
            }
        });
        let mut waits: Vec<_> = waits.collect();
        for waiting in &mut waits {
            // Such as a wait that is over while the script is paused.
            if waiting.waits.is_empty() {
                waiting.lines.clear();
            }
        }
        let mut frame = Frame {
            elapsed: executor.time().elapsed,
            events: Vec::new(),
            printed: source.end_frame(),
            waits,
            world,
        };
        hear(&mut run, &mut numbers, &mut frame, &heard.take());
        run.frames.push(frame);
        run.goes_on = !executor.is_empty();
        if !run.goes_on || executor.time().frame >= options.frames {
            break;
        }
        executor.lend(&mut world, |executor| executor.run_frame(options.dt));
    }
    run
}

/// Adds what the trace says about a frame.
fn hear(
    run: &mut Run,
    numbers: &mut HashMap<CoroutineId, usize>,
    frame: &mut Frame,
    heard: &[TraceEvent],
) {
    let now = run.frames.len();
    for event in heard {
        if let (Some(id), TraceKind::Spawned { .. }) = (event.id, &event.kind) {
            numbers.insert(id, run.scripts.len());
            run.scripts.push(Script {
                id,
                name: event.short_name().to_owned(),
                began: now,
                ended: None,
            });
        }
        let script = event
            .id
            .and_then(|id| numbers.get(&id))
            .map(|number| &mut run.scripts[*number]);
        let what = match &event.kind {
            TraceKind::Spawned { .. } => What::Began,
            TraceKind::Resumed { .. } => What::Polled,
            TraceKind::Ended(outcome) => {
                if let Some(script) = script {
                    script.ended = Some((now, *outcome));
                }
                What::Ended(*outcome)
            }
            TraceKind::Emitted { name, .. } => What::Emitted(name.to_string()),
            TraceKind::Paused => What::Paused,
            TraceKind::Unpaused => What::Resumed,
            _ => continue,
        };
        frame.events.push(Event {
            script: event.id,
            phase: event.phase,
            what,
        });
    }
}
