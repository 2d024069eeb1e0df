//! One live room with its runtime.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::mem::Discriminant;
use std::rc::Rc;
use std::time::Duration;

use framestep::inspect::Report;
use framestep_durable::{Runtime, SaveState};

use crate::entry::Player;
use crate::event::ServerEvent;
use crate::news::shown;
use crate::room::{Effect, EffectKey, Format, Later, Perform, Presence, Question, Room};

/// A live room, or why there is none.
pub(crate) type Made = Result<Box<dyn Live>, String>;

/// A kind of room.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) open: fn(&[u8]) -> Made,
    pub(crate) restore: fn(&[u8]) -> Made,
    pub(crate) view_per_player: bool,
    /// An input in JSON, for people.
    pub(crate) show_input: fn(&[u8]) -> Option<String>,
}

impl Kind {
    pub(crate) fn of<R: Room>() -> Self {
        Kind {
            name: R::NAME,
            open: |args| Ok(Box::new(LiveRoom::<R>::open(args)?)),
            restore: |save| Ok(Box::new(LiveRoom::<R>::restore(save)?)),
            view_per_player: R::VIEW_PER_PLAYER,
            show_input: |input| {
                let input: R::Input = Format::read(input).ok()?;
                serde_json::to_string(&input).ok()
            },
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// An effect that is to be performed.
pub(crate) struct Asked {
    pub(crate) number: u64,
    content: Vec<u8>,
    perform: Perform,
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Asked({})", self.number)
    }
}

impl Asked {
    /// The answer, later. `None` if the request cannot be read.
    pub(crate) fn perform(&self, key: EffectKey) -> Option<Later<'static, Vec<u8>>> {
        (self.perform)(key, &self.content)
    }
}

/// What the runtime of a room has reported.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// How many scripts have panicked, and how the last one did.
    pub(crate) panics: u64,
    pub(crate) last_panic: Option<String>,
    /// What was not reported before.
    pub(crate) events: Vec<ServerEvent>,
}

/// How many reports of a room a node says.
const MOST_REPORTS: usize = 20;

/// A live room of any kind. A call that panics may leave it in any state: it is dropped then.
pub(crate) trait Live {
    fn input(&mut self, player: Player, input: &[u8]) -> Result<(), String>;
    fn frame(&mut self, step: Duration);
    fn is_over(&self) -> bool;
    /// A hash of the room. The same on all nodes.
    fn hash(&self) -> Result<u64, String>;
    fn save(&self) -> Result<Vec<u8>, String>;
    fn view(&self) -> Result<Vec<u8>, String>;
    fn view_for(&self, player: &Player) -> Result<Vec<u8>, String>;
    /// The view in JSON, for people.
    fn view_text(&self) -> Result<String, String>;
    fn presence(&mut self, player: Player, presence: Presence);
    /// How many scripts are alive.
    fn scripts(&self) -> usize;
    /// What the runtime has reported since the last call.
    fn reported(&mut self) -> Option<Reported>;
    /// The questions to the outside without an answer.
    fn asked(&mut self) -> Vec<Asked>;
    /// Answers a question. Returns whether it was open.
    fn answer(&mut self, number: u64, answer: &[u8]) -> bool;
    /// The `LiveRoom`, for tools that know its kind.
    fn any(&self) -> &dyn Any;
}

/// Looks at a live room of a kind. `None` if it is of another one.
pub(crate) fn look<R: Room, T>(live: &dyn Live, look: impl FnOnce(&R, &Runtime) -> T) -> Option<T> {
    let live = live.any().downcast_ref::<LiveRoom<R>>()?;
    Some(look(&live.room, &live.runtime))
}

struct LiveRoom<R> {
    runtime: Runtime,
    room: R,
    effects: Rc<[Effect]>,
    /// By number: the kind, and the question.
    open: BTreeMap<u64, (usize, Question)>,
    reports: Reports,
    /// What was reported before: each script and kind of report is said once.
    reported: HashSet<Subject>,
}

type Reports = Rc<RefCell<Vec<Report>>>;

/// A runtime whose reports are kept.
fn runtime<R: Room>() -> (Runtime, Reports) {
    let runtime = Runtime::new(R::registry());
    let reports = Reports::default();
    hear(&runtime, reports.clone());
    (runtime, reports)
}

fn hear(runtime: &Runtime, reports: Reports) {
    let hook = move |report: &Report| reports.borrow_mut().push(report.clone());
    runtime.executor().on_report(hook);
}

/// What was reported before: the script, and the kind of the report.
type Subject = (Option<String>, Discriminant<Report>);

/// Sorts reports.
fn sort(runtime: &Runtime, reports: Vec<Report>, before: &mut HashSet<Subject>) -> Reported {
    let mut reported = Reported::default();
    for report in reports {
        let (script, event) = match &report {
            Report::CoroutinePanicked {
                id, name, message, ..
            } => {
                reported.panics += 1;
                let message = message.as_deref().unwrap_or("a panic without a text");
                let event = ServerEvent::ScriptPanicked {
                    script: name.to_string(),
                    message: shown(message),
                    after: runtime.panicked_after(*id),
                };
                reported.last_panic = Some(event.to_string());
                (Some(name.to_string()), event)
            }
            report => {
                let text = shown(&report.to_string());
                (None, ServerEvent::Reported { text })
            }
        };
        let subject = (script, std::mem::discriminant(&report));
        if before.len() < MOST_REPORTS && before.insert(subject) {
            reported.events.push(event);
        }
    }
    reported
}

impl<R: Room> LiveRoom<R> {
    fn open(args: &[u8]) -> Result<Self, String> {
        let args =
            Format::read(args).map_err(|error| format!("its arguments cannot be read: {error}"))?;
        let (runtime, reports) = runtime::<R>();
        let room = R::open(&runtime, args);
        Ok(Self::new(runtime, reports, room))
    }

    fn restore(save: &[u8]) -> Result<Self, String> {
        let (mut runtime, reports) = runtime::<R>();
        let read = SaveState::from_bytes_with::<R>(save);
        let (save, room) = read.map_err(|error| error.to_string())?;
        let restored = runtime.restore(&save, R::CHANGED);
        restored.map_err(|error| error.to_string())?;
        Ok(Self::new(runtime, reports, room))
    }

    fn new(runtime: Runtime, reports: Reports, room: R) -> Self {
        LiveRoom {
            runtime,
            room,
            effects: R::effects().known.into(),
            open: BTreeMap::new(),
            reports,
            reported: HashSet::new(),
        }
    }
}

impl<R: Room> Live for LiveRoom<R> {
    fn input(&mut self, player: Player, input: &[u8]) -> Result<(), String> {
        let input = Format::read(input)?;
        self.room.input(&self.runtime, player, input);
        Ok(())
    }

    fn frame(&mut self, step: Duration) {
        self.runtime.run_frame_with(&mut self.room, step);
    }

    fn is_over(&self) -> bool {
        self.room.is_over()
    }

    fn hash(&self) -> Result<u64, String> {
        let checksum = self.runtime.checksum_with(&self.room);
        checksum.map_err(|error| error.to_string())
    }

    fn save(&self) -> Result<Vec<u8>, String> {
        let save = self
            .runtime
            .save_state()
            .map_err(|error| error.to_string())?;
        // With the names of fields: the next build may have others.
        let described = save
            .described(&self.runtime.registry())
            .and_then(|save| save.try_to_bytes_with(&self.room));
        // A state that is nested too deep cannot be described.
        described
            .or_else(|_| save.try_to_bytes_with(&self.room))
            .map_err(|error| error.to_string())
    }

    fn view(&self) -> Result<Vec<u8>, String> {
        R::FORMAT.write(&self.room.view())
    }

    fn view_for(&self, player: &Player) -> Result<Vec<u8>, String> {
        R::FORMAT.write(&self.room.view_for(player))
    }

    fn view_text(&self) -> Result<String, String> {
        serde_json::to_string(&self.room.view()).map_err(|error| error.to_string())
    }

    fn presence(&mut self, player: Player, presence: Presence) {
        self.room.presence(&self.runtime, player, presence);
    }

    fn scripts(&self) -> usize {
        self.runtime.scripts().len()
    }

    fn reported(&mut self) -> Option<Reported> {
        if self.reports.borrow().is_empty() {
            return None;
        }
        let reports = std::mem::take(&mut *self.reports.borrow_mut());
        Some(sort(&self.runtime, reports, &mut self.reported))
    }

    fn asked(&mut self) -> Vec<Asked> {
        for (kind, effect) in self.effects.iter().enumerate() {
            for question in (effect.find)(&self.runtime) {
                self.open.insert(question.number, (kind, question));
            }
        }
        let (effects, runtime) = (&self.effects, &self.runtime);
        self.open
            .retain(|_, (kind, question)| (effects[*kind].is_open)(runtime, &question.id));
        let asked = |(&number, (kind, question)): (&u64, &(usize, Question))| Asked {
            number,
            content: question.content.clone(),
            perform: self.effects[*kind].perform.clone(),
        };
        self.open.iter().map(asked).collect()
    }

    fn answer(&mut self, number: u64, answer: &[u8]) -> bool {
        // A node that has only just restored the room does not know its questions yet.
        if !self.open.contains_key(&number) && !self.effects.is_empty() {
            self.asked();
        }
        let Some((kind, question)) = self.open.remove(&number) else {
            return false;
        };
        (self.effects[kind].answer)(&self.runtime, &question.id, answer)
    }

    fn any(&self) -> &dyn Any {
        self
    }
}
