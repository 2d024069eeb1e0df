//! Takes a snapshot: visits all coroutines and waits of an executor, and writes down what each
//! coroutine waits for.

use std::sync::Arc;
use std::time::Duration;

use crate::core::owners::OwnerKey;
use crate::core::timer::Unit;
use crate::core::view::{Script, Stands, View};
use crate::time::PhaseIndex;

use super::coroutine::{CoroutineInfo, Origin, State};
use super::events;
use super::observed::{Line, Observed, WaitId};
use super::snapshot::Snapshot;
use super::wait::{TimerClock, Wait};

/// A snapshot that is being made.
struct Draft<'c> {
    view: View<'c>,
    coroutines: Vec<CoroutineInfo>,
    /// The same coroutines, in the same order.
    scripts: Vec<Script<'c>>,
    /// By index of the coroutine: its position in those lists.
    positions: Vec<u32>,
    /// The lines of the waits of each coroutine, if any is observed.
    lines: Vec<NotedLines>,
}

/// Takes a snapshot.
pub(crate) fn snapshot(view: View<'_>) -> Snapshot {
    let mut draft = Draft::new(view);
    view.each_wait(|script, id, stands| draft.read(script, id, stands));
    draft.finish()
}

impl<'c> Draft<'c> {
    /// Begins with all live coroutines, as they describe themselves.
    fn new(view: View<'c>) -> Self {
        let alive = view.alive();
        let mut draft = Draft {
            view,
            coroutines: Vec::with_capacity(alive),
            scripts: Vec::with_capacity(alive),
            positions: vec![0; view.indices()],
            lines: Vec::new(),
        };
        let mut owners = OwnerLabels::default();
        let mut position = 0;
        view.each_script(|script| {
            draft.positions[script.index()] = position;
            position += 1;
            draft.scripts.push(script);
            let (coroutine, lines) = read_script(view, script, &mut owners);
            draft.coroutines.push(coroutine);
            if view.is_observed() {
                draft.lines.push(lines);
            }
        });
        draft
    }

    /// Reads where a wait of a coroutine stands.
    fn read(&mut self, script: Script<'c>, id: Option<WaitId>, stands: Stands<'_>) {
        let view = self.view;
        let position = self.positions[script.index()] as usize;
        let coroutine = &mut self.coroutines[position];
        let wait = match stands {
            Stands::Queue { phase } => queued(view, id, phase),
            Stands::Count { phase, unit, left } => {
                let phase = phase.phase();
                match unit {
                    Unit::Frames => Wait::FrameCount { phase, left },
                    Unit::Runs => Wait::StepCount { phase, left },
                }
            }
            Stands::Timer(timer) => Wait::Timer {
                phase: timer.phase.phase(),
                clock: TimerClock::of(timer.clock),
                deadline: Duration::from_nanos(timer.deadline_ns),
                left: Duration::from_nanos(timer.left_ns),
            },
            Stands::Join(id) => Wait::Join { id },
            Stands::OwnerEnd(owner) => Wait::Scripts {
                owner: view.owner_label(owner).into(),
            },
            Stands::Event(source) => events::wait(view, source, coroutine.phase),
            Stands::Ready(phase) => {
                make_ready(coroutine);
                coroutine.phase = phase.phase();
                return;
            }
            Stands::Due => {
                let becomes = make_ready(coroutine);
                let running = view.running().filter(|_| becomes);
                coroutine.phase = running.map_or(coroutine.phase, PhaseIndex::phase);
                return;
            }
            Stands::Coming => {
                make_ready(coroutine);
                return;
            }
            Stands::Polled => {
                coroutine.state = State::Running;
                return;
            }
        };
        let lines = self.lines.get(position).zip(id);
        let line = lines.and_then(|(lines, id)| lines.line_of(script, id));
        coroutine.add_wait(wait, line);
        if let Some(id) = id.filter(|_| view.has_call_chains()) {
            let chain = |notes: &mut Observed| notes.chain_of(id);
            coroutine.set_chain(script.notes(chain).flatten());
        }
    }

    /// Completes the waits of coroutines: those that run or are ready have none. Those
    /// whose waker somebody has wait for a wake, and those without any wait for nothing.
    fn finish(mut self) -> Snapshot {
        for (coroutine, script) in self.coroutines.iter_mut().zip(&self.scripts) {
            match coroutine.state {
                State::Running | State::Ready => coroutine.clear_waits(),
                State::Waiting if script.is_waker_held() && !coroutine.waits_for_event() => {
                    let phase = coroutine.phase;
                    coroutine.add_wait(Wait::Wake { phase }, None);
                }
                State::Waiting if coroutine.wait.is_none() => coroutine.add_wait(Wait::Never, None),
                State::Waiting | State::Paused => {}
            }
        }
        let view = self.view;
        Snapshot::new(view.game_time(), self.coroutines, view.pending_stops())
    }
}

/// Notes that a coroutine is due. Returns whether it is shown as waiting so far.
fn make_ready(coroutine: &mut CoroutineInfo) -> bool {
    let waits = coroutine.state == State::Waiting;
    if waits {
        coroutine.state = State::Ready;
    }
    waits
}

/// A wait in the queue of a phase.
fn queued(view: View<'_>, id: Option<WaitId>, phase: PhaseIndex) -> Wait {
    let phase = phase.phase();
    let registered = match id {
        Some(WaitId::Registered(key)) => view.registered(key),
        _ => None,
    };
    match registered {
        Some(wait) if wait.asks_condition => Wait::Condition { phase },
        Some(wait) if wait.is_for_later_frame => Wait::Frame { phase },
        _ => Wait::Run { phase },
    }
}

/// Reads what a coroutine says about itself.
fn read_script(
    view: View<'_>,
    script: Script<'_>,
    owners: &mut OwnerLabels,
) -> (CoroutineInfo, NotedLines) {
    let owner = script.owner();
    let (origin, has_begun, lines) = match notes_of(view, script) {
        Some((origin, has_begun, lines)) => (Some(origin), has_begun, lines),
        None => (None, true, NotedLines::default()),
    };
    let coroutine = CoroutineInfo {
        id: script.id(),
        name: script.name(),
        state: if script.is_paused() {
            State::Paused
        } else if script.is_ready() || !has_begun {
            State::Ready
        } else {
            State::Waiting
        },
        phase: script.resumes_in().phase(),
        home: script.home().phase(),
        home_has_run: script.home_has_run(),
        wait: None,
        more_waits: Vec::new(),
        owner: owner.map(|owner| owners.label(view, owner)),
        clock: owner.map_or(TimerClock::Game, |owner| {
            TimerClock::of(view.owner_clock(owner))
        }),
        origin: origin.map(Box::new),
    };
    (coroutine, lines)
}

/// What is noted about an observed coroutine: its origin, whether it has begun, and its lines.
fn notes_of(view: View<'_>, script: Script<'_>) -> Option<(Origin, bool, NotedLines)> {
    script.notes(|observed| {
        let origin = Origin {
            since: observed.since,
            place: observed.place,
            parent: observed.parent.map(|key| view.id(key)),
            line: None,
            more_lines: Vec::new(),
            chains: Vec::new(),
            description: observed.description.clone(),
            profile: view.instruments().profiles.then_some(observed.profile),
        };
        (origin, observed.has_begun, NotedLines::of(observed))
    })
}

/// The lines of a coroutine's noted waits. Most coroutines have one: it is copied while the notes
/// are at hand, because to find them again takes longer.
#[derive(Clone, Copy, Debug, Default)]
struct NotedLines {
    first: Option<(WaitId, Option<Line>)>,
    has_more: bool,
}

impl NotedLines {
    fn of(notes: &Observed) -> Self {
        NotedLines {
            first: notes.waits.first().map(|noted| (noted.id, noted.at)),
            has_more: notes.waits.len() > 1,
        }
    }

    /// The line of a wait of `script`, if it was noted.
    fn line_of(self, script: Script<'_>, id: WaitId) -> Option<Line> {
        match self.first {
            Some((first, at)) if first == id => at,
            _ if self.has_more => script.line_of(id),
            _ => None,
        }
    }
}

/// The labels of owners, each made once.
#[derive(Default)]
struct OwnerLabels(Vec<Option<Arc<str>>>);

impl OwnerLabels {
    fn label(&mut self, view: View<'_>, owner: OwnerKey) -> Arc<str> {
        let index = owner.index();
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        let make = || Arc::from(view.owner_label(owner));
        self.0[index].get_or_insert_with(make).clone()
    }
}
