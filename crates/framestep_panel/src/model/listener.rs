//! What only a trace contains: which scripts emit, wake and pause.

use std::cell::{Ref, RefCell};
use std::collections::{HashMap, VecDeque};
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;

use framestep::Handle;
use framestep::inspect::{TraceEvent, TraceHook, TraceKind, Wait, Waiting};
use framestep::task::{CoroutineId, Outcome};

use super::sources::Sources;
use super::text::clean;

/// Listens to the [full trace](framestep::Executor::on_full_trace) of an executor while the
/// panel is open.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    executor: Option<Handle>,
    hook: Option<TraceHook>,
    heard: Rc<RefCell<Heard>>,
    /// Whether the panel has not looked since the listener was attached to the executor.
    is_new: bool,
}

/// What has been recorded since the panel was opened.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Whether any event was received.
    pub(crate) any: bool,
    /// The polls under way, the innermost last.
    polls: Vec<Actor>,
    pub(crate) sources: Sources,
    /// What each script has waited for lately, the latest last.
    pub(crate) waits: HashMap<CoroutineId, VecDeque<Waited>>,
    /// What each script has emitted lately, the latest last.
    pub(crate) emissions: HashMap<CoroutineId, Vec<Emission>>,
    pub(crate) paused: HashMap<CoroutineId, Cause>,
    /// The latest wakes of each script, the latest last.
    pub(crate) woken: HashMap<CoroutineId, VecDeque<Cause>>,
    /// The latest ends, the last one last.
    pub(crate) ended: VecDeque<Ended>,
}

/// A script that affects another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Actor {
    pub(crate) id: CoroutineId,
    pub(crate) name: Rc<str>,
}

/// A wait of a script, or several in a row that are alike.
#[derive(Clone, Debug)]
pub(crate) struct Waited {
    pub(crate) frame: u64,
    pub(crate) wait: Wait,
    pub(crate) at: Option<&'static Location<'static>>,
    pub(crate) times: u64,
}

/// The emissions of one script under one name.
#[derive(Clone, Debug)]
pub(crate) struct Emission {
    pub(crate) name: Arc<str>,
    pub(crate) count: u64,
    /// The frame of the last emission.
    pub(crate) frame: u64,
}

/// The emitting script. `None`: the host.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    pub(crate) frame: u64,
    pub(crate) by: Option<Actor>,
    pub(crate) through: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) frame: u64,
    pub(crate) id: CoroutineId,
    pub(crate) name: Rc<str>,
    pub(crate) outcome: Outcome,
    /// The script in whose poll it ended. `None`: the host.
    pub(crate) by: Option<Actor>,
    pub(crate) emissions: Vec<Emission>,
}

/// How many ends are kept.
const ENDS: usize = 64;
/// How many waits and wakes of each script are kept.
const LATELY: usize = 16;
/// How many emitted names are kept for each script.
const NAMES: usize = 8;

impl Listener {
    /// Listens to this executor from now on, or from the next [`open`](Self::open) on.
    pub(crate) fn set_executor(&mut self, executor: Handle, is_open: bool) {
        self.close();
        self.executor = Some(executor);
        if is_open {
            self.open();
        }
    }

    pub(crate) fn open(&mut self) {
        self.close();
        let heard = Rc::clone(&self.heard);
        self.hook = self.executor.as_ref().map(|executor| {
            executor.on_full_trace(move |event| {
                // Nothing calls a hook while the panel looks, so this never fails.
                if let Ok(mut heard) = heard.try_borrow_mut() {
                    heard.note(event);
                }
            })
        });
        self.is_new = true;
    }

    pub(crate) fn close(&mut self) {
        if let Some(hook) = self.hook.take() {
            hook.remove();
        }
        self.heard.replace(Heard::default());
    }

    /// Records that another run of the game has begun: forgets the events of the earlier
    /// run.
    pub(crate) fn begin_run(&mut self) {
        if !self.is_new {
            self.heard.replace(Heard::default());
        }
    }

    pub(crate) fn note_look(&mut self) {
        self.is_new = false;
    }

    pub(crate) fn heard(&self) -> Ref<'_, Heard> {
        self.heard.borrow()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.close();
    }
}

impl Heard {
    fn note(&mut self, event: &TraceEvent) {
        self.any = true;
        if let TraceKind::FrameBegan { .. } = event.kind {
            self.polls.clear();
        }
        let actor = |id| Actor {
            id,
            name: clean(event.short_name()).into(),
        };
        match &event.kind {
            TraceKind::Emitted {
                name,
                source,
                listeners,
                value,
                ..
            } => {
                let by = event.id.map(actor);
                let what = (*listeners, value.as_ref());
                self.sources.emit(source, event.frame, by, what);
                if let Some(id) = event.id {
                    self.note_emission(id, name, event.frame);
                }
            }
            TraceKind::Acquired { source, count, at } => {
                let by = (event.frame, event.id.map(actor));
                self.sources.acquire(source, *count, by, at);
            }
            TraceKind::Released { source, count } => {
                self.sources.release(source, *count, event.frame, event.id);
            }
            _ => {}
        }
        let Some(id) = event.id else {
            return;
        };
        match &event.kind {
            TraceKind::Resumed { .. } => self.polls.push(actor(id)),
            TraceKind::Suspended { waits } => {
                self.end_poll(id);
                self.note_waits(id, event.frame, waits);
            }
            TraceKind::Ended(outcome) => {
                self.end_poll(id);
                self.paused.remove(&id);
                self.woken.remove(&id);
                self.waits.remove(&id);
                self.sources.end(id);
                if self.ended.len() == ENDS {
                    self.ended.pop_front();
                }
                self.ended.push_back(Ended {
                    frame: event.frame,
                    id,
                    name: actor(id).name,
                    outcome: *outcome,
                    by: self.polls.last().cloned(),
                    emissions: self.emissions.remove(&id).unwrap_or_default(),
                });
            }
            TraceKind::Woken { by, source } => {
                let by = by.and_then(|by| self.polls.iter().rev().find(|poll| poll.id == by));
                let cause = Cause {
                    frame: event.frame,
                    by: by.cloned(),
                    through: source.clone(),
                };
                let woken = self.woken.entry(id).or_default();
                if woken.len() == LATELY {
                    woken.pop_front();
                }
                woken.push_back(cause);
            }
            TraceKind::Paused => {
                let cause = Cause {
                    frame: event.frame,
                    by: self.polls.last().cloned(),
                    through: None,
                };
                self.paused.insert(id, cause);
            }
            TraceKind::Unpaused => drop(self.paused.remove(&id)),
            _ => {}
        }
    }

    fn note_emission(&mut self, id: CoroutineId, name: &Arc<str>, frame: u64) {
        let emissions = self.emissions.entry(id).or_default();
        let known = emissions.iter().position(|known| known.name == *name);
        let count = known.map_or(0, |at| emissions.remove(at).count);
        if emissions.len() == NAMES {
            emissions.remove(0);
        }
        emissions.push(Emission {
            name: Arc::clone(name),
            count: count + 1,
            frame,
        });
    }

    fn note_waits(&mut self, id: CoroutineId, frame: u64, waits: &[Waiting]) {
        for waiting in waits.iter().filter(|waiting| waiting.is_new) {
            if let Some(source) = waiting.wait.source() {
                self.sources.see(source, frame);
            }
            if matches!(waiting.wait, Wait::Wake { .. } | Wait::Never) {
                continue;
            }
            let known = self.waits.entry(id).or_default();
            if let Some(last) = known.back_mut() {
                let alike =
                    std::mem::discriminant(&last.wait) == std::mem::discriminant(&waiting.wait);
                if alike && last.at == waiting.at {
                    last.times += 1;
                    (last.frame, last.wait) = (frame, waiting.wait.clone());
                    continue;
                }
            }
            if known.len() == LATELY {
                known.pop_front();
            }
            known.push_back(Waited {
                frame,
                wait: waiting.wait.clone(),
                at: waiting.at,
                times: 1,
            });
        }
    }

    /// Why a script was woken last, up to a frame.
    pub(crate) fn woken(&self, id: CoroutineId, frame: u64) -> Option<&Cause> {
        let woken = self.woken.get(&id)?;
        woken.iter().rev().find(|cause| cause.frame <= frame)
    }

    /// Who has paused a script, if that was not after a frame.
    pub(crate) fn paused(&self, id: CoroutineId, frame: u64) -> Option<&Cause> {
        self.paused.get(&id).filter(|cause| cause.frame <= frame)
    }

    fn end_poll(&mut self, id: CoroutineId) {
        if let Some(at) = self.polls.iter().rposition(|poll| poll.id == id) {
            self.polls.truncate(at);
        }
    }
}
