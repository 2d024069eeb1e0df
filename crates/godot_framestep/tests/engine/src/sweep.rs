//! Waits against the deltas that Godot passes to a node, whatever its rates are.

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;

use godot::classes::INode;
use godot::prelude::*;
use godot_framestep::prelude::*;

use crate::log::note;

/// What a node has seen, which is processed before all others.
#[derive(Default)]
struct Record {
    /// The time of each frame, in nanoseconds; the first is before any frame.
    frames: Vec<u64>,
    /// The same of each step.
    steps: Vec<u64>,
    waits: Vec<Waited>,
}

/// Indices into the frames and the steps.
#[derive(Clone, Copy, Debug)]
struct Moment {
    frame: usize,
    step: usize,
}

#[derive(Debug)]
struct Waited {
    rule: Rule,
    began: Moment,
    ended: Moment,
}

impl Waited {
    /// In frames or in steps.
    fn end(&self) -> usize {
        match self.rule {
            Rule::Steps(_) | Rule::FixedSeconds(_) => self.ended.step,
            _ => self.ended.frame,
        }
    }
}

/// When a wait is due.
#[derive(Clone, Copy, Debug)]
enum Rule {
    Frames(usize),
    Steps(usize),
    /// In frames, from its beginning.
    Seconds(u64),
    /// In steps.
    FixedSeconds(u64),
    /// A tick, at a time since the beginning of the script.
    Tick {
        first: usize,
        at: u64,
    },
    /// The first later frame whose number is a multiple.
    Multiple(usize),
}

type Shared = Rc<RefCell<Record>>;

#[derive(GodotClass)]
#[class(base = Node, init)]
struct Sweep {
    record: Shared,
    base: Base<Node>,
}

#[godot_api]
impl INode for Sweep {
    fn enter_tree(&mut self) {
        self.base_mut().set_process_priority(i32::MIN);
        self.base_mut().set_physics_process_priority(i32::MIN);
        let mut record = self.record.borrow_mut();
        record.frames.push(0);
        record.steps.push(0);
    }

    fn physics_process(&mut self, delta: f64) {
        add(&mut self.record.borrow_mut().steps, delta);
    }

    fn process(&mut self, delta: f64) {
        add(&mut self.record.borrow_mut().frames, delta);
    }
}

/// A frame is rounded up to a nanosecond.
fn add(times: &mut Vec<u64>, delta: f64) {
    let last = times.last().copied().unwrap_or_default();
    times.push(last + nanoseconds(delta));
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "seconds"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9 - 1e-3).ceil() as u64
}

#[godot_api]
impl Sweep {
    /// Starts scripts with all kinds of waits.
    #[func]
    fn begin(&self) {
        let node = self.to_gd();
        let record = &self.record;
        for (at, seconds) in [0.1, 0.25, 1.0 / 3.0, 0.0, 0.777].into_iter().enumerate() {
            let record = record.clone();
            let _seconds = node.spawn_script(repeat(record.clone(), move || {
                let rule = Rule::Seconds(nanoseconds(seconds));
                (rule, async move {
                    match at {
                        1 => animate(seconds, |_| ()).await,
                        2 => drop(timeout(seconds, pending::<()>()).await),
                        _ => wait_seconds(seconds).await,
                    }
                })
            }));
            let in_steps = repeat(record, move || {
                let rule = Rule::FixedSeconds(nanoseconds(seconds));
                (rule, async move {
                    wait_seconds(seconds).await;
                })
            });
            let home = Phase::FixedUpdate;
            drop(scripts().script("").in_phase(home).spawn(in_steps));
        }
        for (count, number) in [(1, 1), (3, 3), (7, 7)] {
            let frames = move || (Rule::Frames(number), wait_frames(count));
            drop(node.spawn_script(repeat(record.clone(), frames)));
            let steps = move || (Rule::Steps(number), wait_steps(count));
            drop(
                scripts()
                    .script("")
                    .in_phase(Phase::FixedUpdate)
                    .spawn(repeat(record.clone(), steps)),
            );
        }
        for phase in [Phase::LateUpdate, Phase::EndOfFrame] {
            let once = move || (Rule::Frames(1), in_phase(phase));
            drop(
                scripts()
                    .script("")
                    .in_phase(phase)
                    .spawn(repeat(record.clone(), once)),
            );
        }
        let seen = record.clone();
        let multiple = move || {
            let seen = seen.clone();
            let wait = wait_until(move || (seen.borrow().frames.len() - 1).is_multiple_of(5));
            (Rule::Multiple(5), wait)
        };
        drop(node.spawn_script(repeat(record.clone(), multiple)));
        drop(node.spawn_script(ticks(record.clone())));
    }

    /// How many waits were checked. Those that were early or late are noted.
    #[func]
    fn verify(&self) -> u32 {
        let record = self.record.borrow();
        let mut checked = 0;
        for waited in &record.waits {
            checked += 1;
            if Some(waited.end()) != record.due(waited) {
                note(format!("{waited:?}: due in {:?}", record.due(waited)));
            }
        }
        checked
    }

    #[func]
    fn frames(&self) -> i64 {
        self.record
            .borrow()
            .now()
            .frame
            .try_into()
            .unwrap_or(i64::MAX)
    }

    #[func]
    fn steps(&self) -> i64 {
        self.record
            .borrow()
            .now()
            .step
            .try_into()
            .unwrap_or(i64::MAX)
    }
}

async fn repeat<W: Future>(record: Shared, make: impl Fn() -> (Rule, W)) {
    loop {
        let (rule, wait) = make();
        let began = record.borrow().now();
        wait.await;
        record.borrow_mut().add(rule, began);
    }
}

async fn ticks(record: Shared) {
    let first = record.borrow().now().frame;
    let mut timer = interval(0.15);
    let mut at = 0;
    loop {
        let began = record.borrow().now();
        timer.tick().await;
        at += nanoseconds(0.15);
        record.borrow_mut().add(Rule::Tick { first, at }, began);
    }
}

impl Record {
    fn now(&self) -> Moment {
        Moment {
            frame: self.frames.len() - 1,
            step: self.steps.len() - 1,
        }
    }

    fn add(&mut self, rule: Rule, began: Moment) {
        let ended = self.now();
        self.waits.push(Waited { rule, began, ended });
    }

    fn due(&self, waited: &Waited) -> Option<usize> {
        let Moment { frame, step } = waited.began;
        match waited.rule {
            Rule::Frames(count) => Some(frame + count),
            Rule::Steps(count) => Some(step + count),
            Rule::Seconds(length) => reached(&self.frames, frame, self.frames[frame] + length),
            Rule::FixedSeconds(length) => reached(&self.steps, step, self.steps[step] + length),
            Rule::Tick { first, at } => reached(&self.frames, frame, self.frames[first] + at),
            Rule::Multiple(of) => Some((frame / of + 1) * of),
        }
    }
}

/// The first index after `began` at or past the deadline.
fn reached(times: &[u64], began: usize, deadline: u64) -> Option<usize> {
    (began + 1..times.len()).find(|&at| times[at] >= deadline)
}
