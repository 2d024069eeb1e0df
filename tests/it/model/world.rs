//! Runs a program on a system and takes down what it does.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;

use super::program::{Act, ClockAct, How, Op, OwnerAct, Program, Step, Wait};
use super::system::{self, System, Waiting};
use super::trace::{Event, Got, Lent, What};

/// How many coroutines a program makes at the most.
const MOST: usize = 40;
const MOST_OWNERS: usize = 6;
const MOST_CLOCKS: usize = 4;

/// What the coroutines of a program share.
struct World<S: System> {
    system: S,
    program: Rc<Program>,
    trace: RefCell<Vec<Event>>,
    flags: [Cell<bool>; 3],
    bells: [Bell; 3],
    coroutines: RefCell<Vec<Entry<S>>>,
    owners: RefCell<Vec<Option<Rc<S::Owner>>>>,
    clocks: RefCell<Vec<S::Clock>>,
    begun: Cell<usize>,
    /// The program is over: what is dropped from now on is of no interest.
    over: Cell<bool>,
}

/// An event of no executor: wakes whoever waits for it.
#[derive(Default)]
struct Bell {
    rung: Cell<u64>,
    wakers: RefCell<Vec<Waker>>,
}

struct Entry<S: System> {
    id: S::Id,
    handle: Option<S::Handle>,
}

/// What `program` does on a system, up to where that is not settled.
pub(super) fn trace<S: System>(program: &Rc<Program>) -> (Vec<Event>, bool) {
    let system = S::new(program.unlimited);
    let world = Rc::new(World {
        clocks: RefCell::new(vec![system.game_clock()]),
        system,
        program: program.clone(),
        trace: RefCell::default(),
        flags: Default::default(),
        bells: Default::default(),
        coroutines: RefCell::default(),
        owners: RefCell::default(),
        begun: Cell::new(0),
        over: Cell::new(false),
    });
    let run = catch_unwind(AssertUnwindSafe(|| {
        for step in &program.steps {
            let before = world.trace.borrow().len();
            world.step(step);
            if !world.system.is_settled() {
                world.trace.borrow_mut().truncate(before);
                return;
            }
        }
    }));
    if let Err(payload) = run {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
        let broke = What::Broke(text.unwrap_or_default());
        world.trace.borrow_mut().push(Event {
            frame: u64::MAX,
            phase: None,
            who: None,
            what: broke,
        });
    }
    world.over.set(true);
    let settled = world.system.is_settled();
    // What is left of a broken one may not be fit to be dropped.
    let closed = catch_unwind(AssertUnwindSafe(|| {
        world.system.close();
        drop(world.coroutines.take());
        drop(world.owners.take());
        world.bells.iter().for_each(|bell| drop(bell.wakers.take()));
    }));
    drop(closed);
    (world.trace.take(), settled)
}

impl<S: System> World<S> {
    fn log(&self, who: Option<usize>, what: What) {
        if !self.over.get() {
            let (frame, phase) = self.system.now();
            let event = Event {
                frame,
                phase,
                who,
                what,
            };
            self.trace.borrow_mut().push(event);
        }
    }

    fn step(self: &Rc<Self>, step: &Step) {
        match step {
            Step::Frame(dt) => self.system.begin_frame(*dt),
            Step::Fixed(custom) => {
                if self.system.begin_fixed_step() {
                    if let Some(phase) = custom {
                        self.system.run(*phase, false);
                    }
                    self.system.run(framestep::Phase::FixedUpdate, false);
                }
            }
            Step::Run(phase, lent) => {
                self.system.run(*phase, *lent);
                let alive = self.system.len();
                self.log(None, What::Alive(alive));
            }
            Step::Outside(act) => self.act(None, false, act),
            Step::Inside(act) => {
                self.system.enter(&mut || self.act(None, true, act));
            }
            Step::Remote(script) => {
                if let Some((_, accepted, script)) = self.coroutine(None, *script) {
                    accepted.set(true);
                    self.system.remote(script);
                }
            }
        }
    }

    /// The future of a coroutine that `by` begins.
    fn coroutine(
        self: &Rc<Self>,
        by: Option<usize>,
        script: usize,
    ) -> Option<(usize, Rc<Cell<bool>>, system::Script)> {
        // Scripts begin only later ones.
        let first = by.map_or(0, |by| by + 1);
        let scripts = self.program.scripts.len();
        if first >= scripts || self.begun.get() >= MOST || self.over.get() {
            return None;
        }
        let script = first + script % (scripts - first);
        let who = self.begun.get();
        self.begun.set(who + 1);
        let accepted = Rc::new(Cell::new(false));
        let me = Me {
            world: self.clone(),
            who,
            script,
            accepted: accepted.clone(),
        };
        Some((who, accepted, me.perform().boxed_local()))
    }

    fn begin(
        self: &Rc<Self>,
        by: Option<&Me<S>>,
        inside: bool,
        how: How,
        owner: Option<usize>,
        script: usize,
    ) {
        let owner = owner.and_then(|at| self.owner_at(at));
        let Some((_, accepted, script)) = self.coroutine(by.map(|me| me.script), script) else {
            return;
        };
        let handle = self.system.begin(inside, how, owner.as_deref(), script);
        accepted.set(accepted.get() || !S::is_finished(&handle));
        drop(owner);
        let id = S::id(&handle);
        let handle = Some(handle);
        self.coroutines.borrow_mut().push(Entry { id, handle });
    }

    fn id_at(&self, at: usize) -> Option<S::Id> {
        let coroutines = self.coroutines.borrow();
        let count = coroutines.len();
        (count > 0).then(|| coroutines[at % count].id)
    }

    fn take_handle(&self, at: usize) -> Option<S::Handle> {
        let mut coroutines = self.coroutines.borrow_mut();
        let count = coroutines.len();
        if count == 0 {
            return None;
        }
        coroutines[at % count].handle.take()
    }

    fn owner_at(&self, at: usize) -> Option<Rc<S::Owner>> {
        let owners = self.owners.borrow();
        let count = owners.len();
        if count == 0 {
            return None;
        }
        owners[at % count].clone()
    }

    fn clock_at(&self, at: usize) -> S::Clock {
        let clocks = self.clocks.borrow();
        clocks[at % clocks.len()].clone()
    }

    /// Something that a coroutine does, or the host.
    fn act(self: &Rc<Self>, me: Option<&Me<S>>, inside: bool, act: &Act) {
        let who = me.map(|me| me.who);
        let gave = |gave| self.log(who, What::Gave(gave));
        match act {
            Act::Begin { how, owner, script } => self.begin(me, inside, *how, *owner, *script),
            Act::Stop(at) => {
                if let Some(id) = self.id_at(*at) {
                    gave(self.system.stop(inside, id));
                }
            }
            Act::StopSelf => {
                if me.is_some() {
                    gave(self.system.stop(true, self.system.current()));
                }
            }
            Act::Pause(at) => {
                if let Some(id) = self.id_at(*at) {
                    gave(self.system.set_paused(id, true));
                }
            }
            Act::PauseSelf => {
                if me.is_some() {
                    gave(self.system.set_paused(self.system.current(), true));
                }
            }
            Act::Resume(at) => {
                if let Some(id) = self.id_at(*at) {
                    gave(self.system.set_paused(id, false));
                }
            }
            Act::StopOnDrop(at) => {
                if let Some(handle) = self.take_handle(*at) {
                    S::stop_on_drop(&handle);
                    drop(handle);
                }
            }
            Act::DropHandle(at) => drop(self.take_handle(*at)),
            Act::Flag(at, value) => self.flags[at % self.flags.len()].set(*value),
            Act::Ring(at) => self.bells[at % self.bells.len()].ring(),
            Act::Owner(act) => self.act_on_owner(who, inside, *act),
            Act::Clock(act) => self.act_on_clock(who, *act),
            Act::With(acts) => {
                if inside {
                    let mut f = || {
                        self.log(who, What::Lent(Lent::Given));
                        for act in acts {
                            self.act(me, inside, act);
                        }
                    };
                    let lent = self.system.with(&mut f);
                    self.log(who, What::Lent(lent));
                }
            }
            Act::Panic => {
                if me.is_some() && !std::thread::panicking() {
                    resume_unwind(Box::new("on purpose"));
                }
            }
        }
    }

    fn act_on_owner(self: &Rc<Self>, who: Option<usize>, inside: bool, act: OwnerAct) {
        match act {
            OwnerAct::Make { below, clock } => {
                if self.owners.borrow().len() < MOST_OWNERS {
                    let above = below.and_then(|at| self.owner_at(at));
                    let clock = clock.map(|at| self.clock_at(at));
                    let owner = self.system.owner(inside, above.as_deref(), clock.as_ref());
                    self.owners.borrow_mut().push(Some(Rc::new(owner)));
                }
            }
            OwnerAct::Drop(at) => {
                let owner = {
                    let mut owners = self.owners.borrow_mut();
                    let count = owners.len();
                    if count == 0 {
                        None
                    } else {
                        owners[at % count].take()
                    }
                };
                drop(owner);
            }
            OwnerAct::StopAll(at) => {
                if let Some(owner) = self.owner_at(at) {
                    S::stop_all(&owner);
                }
            }
            OwnerAct::Pause(at) | OwnerAct::Resume(at) => {
                if let Some(owner) = self.owner_at(at) {
                    let paused = matches!(act, OwnerAct::Pause(_));
                    let changed = S::set_owner_paused(&owner, paused);
                    self.log(who, What::Gave(changed));
                }
            }
            OwnerAct::SetActive(at, active) => {
                if let Some(owner) = self.owner_at(at) {
                    S::set_active(&owner, active);
                }
            }
        }
    }

    fn act_on_clock(&self, who: Option<usize>, act: ClockAct) {
        match act {
            ClockAct::Child(at) => {
                if self.clocks.borrow().len() < MOST_CLOCKS {
                    let child = S::child(&self.clock_at(at));
                    self.clocks.borrow_mut().push(child);
                }
            }
            ClockAct::Scale(at, quarters) => S::set_scale(&self.clock_at(at), quarters),
            ClockAct::Pause(at) | ClockAct::Resume(at) => {
                let paused = matches!(act, ClockAct::Pause(_));
                let changed = S::set_clock_paused(&self.clock_at(at), paused);
                self.log(who, What::Gave(changed));
            }
        }
    }

    fn wait(self: &Rc<Self>, who: usize, wait: Wait) -> Waiting {
        let nothing = || futures::future::ready(Got::Nothing).boxed_local();
        let mut clock = None;
        let mut flag = 0;
        match wait {
            Wait::Join(at) => return self.take_handle(at).map_or_else(nothing, S::join),
            Wait::Finished(at) => {
                let coroutines = self.coroutines.borrow();
                let entry = coroutines.get(at % coroutines.len().max(1));
                let handle = entry.and_then(|entry| entry.handle.as_ref());
                return handle.map_or_else(nothing, |handle| S::finished(handle));
            }
            Wait::Bell(at) => return self.clone().bell(at % self.bells.len()).boxed_local(),
            Wait::Yield => {
                let wait = crate::support::yield_now();
                return wait.map(|()| Got::Nothing).boxed_local();
            }
            Wait::OnClock(at, ..) => clock = Some(self.clock_at(at)),
            Wait::Until(at, ..) | Wait::While(at, ..) => flag = at % self.flags.len(),
            _ => {}
        }
        let world = self.clone();
        let ask = Rc::new(move || {
            world.log(Some(who), What::Asked);
            world.flags[flag].get()
        });
        self.system.wait(wait, clock.as_ref(), ask)
    }

    async fn bell(self: Rc<Self>, at: usize) -> Got {
        let bell = &self.bells[at];
        let from = bell.rung.get();
        poll_fn(|cx| bell.poll(cx, from)).await;
        Got::Rung
    }
}

impl Bell {
    fn poll(&self, cx: &Context<'_>, from: u64) -> Poll<()> {
        if self.rung.get() > from {
            return Poll::Ready(());
        }
        let mut wakers = self.wakers.borrow_mut();
        if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            wakers.push(cx.waker().clone());
        }
        Poll::Pending
    }

    fn ring(&self) {
        self.rung.set(self.rung.get() + 1);
        let wakers = self.wakers.take();
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// One coroutine, and what its destructor needs.
struct Me<S: System> {
    world: Rc<World<S>>,
    who: usize,
    script: usize,
    accepted: Rc<Cell<bool>>,
}

impl<S: System> Me<S> {
    fn log(&self, what: What) {
        self.world.log(Some(self.who), what);
    }

    async fn perform(self) -> usize {
        self.accepted.set(true);
        self.log(What::Begins(self.world.system.elapsed()));
        let program = self.world.program.clone();
        let script = &program.scripts[self.script];
        for op in (0..script.turns).flat_map(|_| &script.body) {
            let got = match op {
                Op::Act(act) => {
                    self.world.act(Some(&self), true, act);
                    continue;
                }
                Op::Return => break,
                Op::Await(wait) => self.world.wait(self.who, *wait).await,
                Op::All(waits) => all(self.waits(waits)).await,
                Op::Muffled(waits) => crate::support::swallow(all(self.waits(waits))).await,
                Op::First(waits) => first(self.waits(waits)).await,
            };
            self.log(What::Resumes(got, self.world.system.elapsed()));
        }
        self.log(What::Returns);
        self.who
    }

    fn waits(&self, waits: &[Wait]) -> Vec<Waiting> {
        let waits = waits.iter();
        waits.map(|&wait| self.world.wait(self.who, wait)).collect()
    }
}

impl<S: System> Drop for Me<S> {
    fn drop(&mut self) {
        if self.world.over.get() {
            return;
        }
        if !self.accepted.get() {
            self.log(What::Refused);
            return;
        }
        self.log(What::Dropped);
        let program = self.world.program.clone();
        for act in &program.scripts[self.script].on_drop {
            self.world.act(Some(self), true, act);
        }
    }
}

/// Waits for all, and looks at those that are left in order.
async fn all(waits: Vec<Waiting>) -> Got {
    let mut waits: Vec<(Option<Waiting>, Got)> = waits
        .into_iter()
        .map(|wait| (Some(wait), Got::Nothing))
        .collect();
    poll_fn(move |cx| {
        for (slot, got) in &mut waits {
            if let Some(Poll::Ready(ready)) = slot.as_mut().map(|wait| wait.as_mut().poll(cx)) {
                *got = ready;
                *slot = None;
            }
        }
        if waits.iter().any(|(wait, _)| wait.is_some()) {
            return Poll::Pending;
        }
        Poll::Ready(waits.drain(..).map(|(_, got)| got).collect())
    })
    .map(Got::All)
    .await
}

/// Waits for one; of several that are ready, the first.
async fn first(mut waits: Vec<Waiting>) -> Got {
    poll_fn(move |cx| {
        for (at, wait) in waits.iter_mut().enumerate() {
            if let Poll::Ready(got) = wait.as_mut().poll(cx) {
                return Poll::Ready(Got::One(at, Box::new(got)));
            }
        }
        Poll::Pending
    })
    .await
}
