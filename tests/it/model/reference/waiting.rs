//! The futures of the reference: each looks its entry up.

use std::cell::Cell;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use framestep::{Outcome, Phase};

use super::super::program::Length;
use super::super::trace::Got;
use super::model::Model;
use super::state::{Kind, Wait};

/// What a wait gives when it is over.
#[derive(Clone)]
pub(super) enum Answer {
    Time,
    /// The time, if the condition holds.
    Condition(Rc<dyn Fn() -> bool>),
}

/// The entry of a wait, which goes when this is dropped.
struct Entry {
    model: Rc<Model>,
    id: Cell<Option<u64>>,
}

impl Entry {
    fn new(model: Rc<Model>) -> Self {
        Entry {
            model,
            id: Cell::new(None),
        }
    }

    /// Begins to wait.
    fn begin(&self, phase: Phase, kind: Kind) {
        let mut state = self.model.state.borrow_mut();
        let began = state.next();
        let wait = Wait {
            coroutine: state.current(),
            phase,
            kind,
            frame: state.clocks.frame,
            began,
            ready: false,
            parked: None,
            in_step: state.runs.get(&phase).is_some_and(|run| run.in_step),
        };
        state.waits.insert(began, wait);
        self.id.set(Some(began));
    }

    /// Waits no more.
    fn cancel(&self) {
        if let Some(id) = self.id.take() {
            self.model.state.borrow_mut().waits.remove(&id);
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.cancel();
    }
}

pub(super) async fn wait(model: Rc<Model>, phase: Phase, kind: Kind, answer: Answer) -> Got {
    let entry = Entry::new(model);
    std::future::poll_fn(|_| match entry.id.get() {
        None => {
            entry.begin(phase, begun(&entry.model, kind));
            Poll::Pending
        }
        Some(id) => look(&entry.model, id, &answer),
    })
    .await
}

/// What a wait is for that begins now.
fn begun(model: &Model, kind: Kind) -> Kind {
    let state = model.state.borrow();
    match kind {
        Kind::Frames(frames) => Kind::Frames(state.clocks.frame.saturating_add(frames)),
        kind => kind,
    }
}

pub(super) async fn timer(
    model: Rc<Model>,
    phase: Phase,
    clock: Option<usize>,
    length: Length,
) -> Got {
    let entry = Entry::new(model);
    std::future::poll_fn(|_| match entry.id.get() {
        None => {
            entry.begin(phase, timer_kind(&entry.model, clock, length));
            Poll::Pending
        }
        Some(id) => look(&entry.model, id, &Answer::Time),
    })
    .await
}

fn timer_kind(model: &Model, clock: Option<usize>, length: Length) -> Kind {
    let length = match length {
        Length::Nanos(ns) => ns,
        Length::Negative => 0,
        Length::Infinite => return Kind::Never,
        Length::NotANumber => resume_unwind(Box::new("a length of NaN")),
    };
    let state = model.state.borrow();
    let clock = clock.unwrap_or_else(|| state.own_clock());
    match state.clocks.now(clock).checked_add(length) {
        Some(deadline) => Kind::Timer {
            clock,
            deadline,
            missed: state.missed(state.current(), clock),
        },
        None => Kind::Never,
    }
}

/// Polled again: whether the wait is over.
fn look(model: &Model, id: u64, answer: &Answer) -> Poll<Got> {
    if let Answer::Condition(holds) = answer {
        if !is_to_be_asked(model, id) {
            return Poll::Pending;
        }
        let holds = holds();
        if !holds {
            let mut state = model.state.borrow_mut();
            let began = state.next();
            if let Some(wait) = state.waits.get_mut(&id) {
                wait.began = began;
            }
            return Poll::Pending;
        }
    }
    let mut state = model.state.borrow_mut();
    state.open |= state.is_open_whether_ready(&state.waits[&id]);
    let wait = &state.waits[&id];
    if !wait.ready || state.open {
        return Poll::Pending;
    }
    let elapsed = state.clocks.now(state.own_clock());
    Poll::Ready(Got::Time(state.clocks.frame, elapsed))
}

/// Whether a run has begun in which a condition is to be asked, and has not
/// been; if so, it is about to.
fn is_to_be_asked(model: &Model, id: u64) -> bool {
    let mut state = model.state.borrow_mut();
    let wait = &state.waits[&id];
    let Some(run) = state.runs.get(&wait.phase) else {
        return false;
    };
    let serial = run.serial;
    let asked = matches!(wait.kind, Kind::Condition(asked) if asked == serial);
    let ask = run.frame > wait.frame && !asked;
    if ask {
        let wait = state.waits.get_mut(&id).expect("it is there");
        wait.kind = Kind::Condition(serial);
        wait.parked = None;
        wait.ready = true;
    }
    ask
}

/// The handle of a coroutine; without one it was refused.
pub(in super::super) struct Handle {
    coroutine: Option<usize>,
    stop_on_drop: Cell<bool>,
    entry: Entry,
}

impl Handle {
    pub(super) fn new(model: Rc<Model>, coroutine: Option<usize>) -> Self {
        Handle {
            coroutine,
            stop_on_drop: Cell::new(false),
            entry: Entry::new(model),
        }
    }

    pub(super) fn coroutine(&self) -> Option<usize> {
        self.coroutine
    }

    pub(super) fn stop_on_drop(&self) {
        self.stop_on_drop.set(true);
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        let Some(coroutine) = self.coroutine else {
            return Some(Outcome::Stopped);
        };
        self.entry.model.state.borrow().coroutines[coroutine].outcome
    }

    pub(super) fn finished(&self) -> impl Future<Output = Got> + use<> {
        let same = Handle::new(self.entry.model.clone(), self.coroutine);
        async move { Got::Ended(std::future::poll_fn(|cx| same.poll_end(cx)).await) }
    }

    fn poll_end(&self, cx: &Context<'_>) -> Poll<Outcome> {
        if let Some(outcome) = self.outcome() {
            return Poll::Ready(outcome);
        }
        let Some(coroutine) = self.coroutine else {
            return Poll::Pending;
        };
        let model = &self.entry.model;
        let current = model.state.borrow().current();
        if current == Some(coroutine) && Model::is_waker_of(cx.waker(), coroutine) {
            resume_unwind(Box::new("a coroutine awaits itself"));
        }
        if self.entry.id.get().is_none() {
            self.entry.begin(Phase::Update, Kind::Join(coroutine));
        }
        Poll::Pending
    }
}

impl Future for Handle {
    type Output = Result<usize, Outcome>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_end(cx).map(|outcome| {
            let output = || {
                self.entry.model.state.borrow_mut().coroutines[self.coroutine?]
                    .output
                    .take()
            };
            match outcome {
                Outcome::Finished => Ok(output().expect("it is taken once")),
                other => Err(other),
            }
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.entry.cancel();
        if self.stop_on_drop.get() {
            if let Some(coroutine) = self.coroutine {
                self.entry.model.stop(coroutine);
            }
        }
    }
}
