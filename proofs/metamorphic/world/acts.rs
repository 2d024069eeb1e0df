//! Acts that take no time.

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::rc::Rc;

use framestep::prelude::*;

use super::script::Me;
use super::{Entry, Lent, MOST_CLOCKS, MOST_OWNERS, MOST_SCRIPTS, Owned, World};
use crate::program::{Act, ClockAct, How, On, OwnerAct};

/// The item of that number, modulo the length of the list.
fn nth<T: Clone>(list: &RefCell<Vec<T>>, at: usize) -> Option<T> {
    let list = list.borrow();
    (!list.is_empty()).then(|| list[at % list.len()].clone())
}

impl World {
    /// An act of a script or of the host.
    pub(super) fn act(self: &Rc<Self>, me: Option<&Me>, act: &Act) {
        let gave = |what: &str, gave: bool| self.log(me, format!("{what} {gave}"));
        let polled = me.is_some_and(Me::is_polled);
        match act {
            Act::Begin(how, on, script) => self.begin(me, *how, *on, *script),
            Act::Stop(at) => {
                if let Some((who, id)) = self.entry(*at) {
                    gave(&format!("stop {who}"), self.handle.stop(id));
                }
            }
            Act::StopSelf if polled => gave("stop itself", stop(current())),
            Act::PauseSelf if polled => gave("pause itself", self.handle.pause(current())),
            Act::ResumeSelf if polled => gave("resume itself", self.handle.resume(current())),
            Act::Pause(at) => {
                if let Some((who, id)) = self.entry(*at) {
                    gave(&format!("pause {who}"), self.handle.pause(id));
                }
            }
            Act::Resume(at) => {
                if let Some((who, id)) = self.entry(*at) {
                    gave(&format!("resume {who}"), self.handle.resume(id));
                }
            }
            Act::DropHandle(at) => drop(self.take_handle(*at)),
            Act::StopOnDrop(at) => {
                drop(self.take_handle(*at).map(Coroutine::stop_on_drop));
            }
            Act::Owner(act) => self.act_on_owner(me, *act),
            Act::Clock(act) => self.act_on_clock(me, *act),
            Act::Flag(at, value) => self.flags[at % 3].set(*value),
            Act::Emit(at, value) => self.signals[at % 2].emit(*value),
            Act::Set(at, value) => self.values[at % 2].set(*value),
            Act::Answer => {
                let resolver = self.promises.borrow_mut().pop_front();
                let kept = resolver.is_some_and(|resolver| resolver.send(()).is_ok());
                gave("keep a promise", kept);
            }
            Act::Release => {
                let permit = me.and_then(|me| me.permits.borrow_mut().pop());
                drop(permit);
            }
            Act::Ring(at) => self.bells[at % 2].ring(),
            Act::With(acts) if polled => {
                let borrowed = try_with(|_: &mut Lent| {
                    for act in acts {
                        self.act(me, act);
                    }
                });
                gave("borrow", borrowed.is_ok());
            }
            Act::Look(at) => {
                if let Some((who, id)) = self.entry(*at) {
                    let (alive, paused) = (self.handle.is_alive(id), self.handle.is_paused(id));
                    let clock = nth(&self.clocks, *at).expect("there is the game clock");
                    let now = clock.now();
                    self.log(me, format!("{who}: {alive} {paused}, clock {now:?}"));
                }
            }
            Act::Panic => {
                // Not in the destructor of a script that unwinds.
                if me.is_some_and(|me| !me.panicked.replace(true)) {
                    resume_unwind(Box::new("on purpose"));
                }
            }
            Act::StopSelf | Act::PauseSelf | Act::ResumeSelf | Act::With(_) => {}
        }
    }

    fn begin(self: &Rc<Self>, by: Option<&Me>, how: How, on: On, script: usize) {
        // Scripts begin only later ones.
        let first = by.map_or(0, |by| by.script + 1);
        let scripts = self.program.scripts.len();
        let who = self.begun.get();
        if first >= scripts || who >= MOST_SCRIPTS || self.over.get() {
            return;
        }
        self.begun.set(who + 1);
        let polled = by.filter(|by| by.is_polled());
        let owned = match on {
            On::Owner(at) => nth(&self.owners, at).flatten(),
            On::Here => None,
        };
        let clock = match (&owned, polled) {
            (Some(owned), _) => owned.clock.clone(),
            (None, Some(by)) => by.clock.clone(),
            (None, None) => self.clocks.borrow()[0].clone(),
        };
        let me = Me {
            world: self.clone(),
            number: who,
            script: first + script % (scripts - first),
            clock,
            permits: Rc::default(),
            polled: Cell::new(false),
            panicked: Cell::new(false),
        };
        let perform = me.perform();
        let owner = owned.as_ref().map(|owned| &owned.owner);
        let owner = owner.or(self.root.as_ref().filter(|_| polled.is_none()));
        let handle = match (how, owner) {
            (How::Start, Some(owner)) => owner.start(perform),
            (How::Spawn, Some(owner)) => owner.spawn(perform),
            (How::StartIn(home), Some(owner)) => owner.script("").in_phase(home).start(perform),
            (How::SpawnIn(home), Some(owner)) => owner.script("").in_phase(home).spawn(perform),
            (How::Start, None) if polled.is_some() => start(perform),
            (How::Spawn, None) if polled.is_some() => spawn(perform),
            (How::StartIn(home), None) if polled.is_some() => {
                framestep::task::script("").in_phase(home).start(perform)
            }
            (How::SpawnIn(home), None) if polled.is_some() => {
                framestep::task::script("").in_phase(home).spawn(perform)
            }
            (How::Start, None) => self.handle.start(perform),
            (How::Spawn, None) => self.handle.spawn(perform),
            (How::StartIn(home), None) => self.handle.script("").in_phase(home).start(perform),
            (How::SpawnIn(home), None) => self.handle.script("").in_phase(home).spawn(perform),
        };
        drop(owned);
        self.scripts.borrow_mut().push(Entry {
            id: handle.id(),
            who,
            handle: Some(handle),
        });
    }

    fn entry(&self, at: usize) -> Option<(usize, CoroutineId)> {
        let scripts = self.scripts.borrow();
        (!scripts.is_empty()).then(|| {
            let entry = &scripts[at % scripts.len()];
            (entry.who, entry.id)
        })
    }

    /// The ids of all scripts.
    pub(in super::super) fn ids(&self) -> Vec<CoroutineId> {
        self.scripts.borrow().iter().map(|entry| entry.id).collect()
    }

    pub(super) fn take_handle(&self, at: usize) -> Option<Coroutine<usize>> {
        let mut scripts = self.scripts.borrow_mut();
        let count = scripts.len();
        (count > 0).then(|| scripts[at % count].handle.take())?
    }

    /// The end of a script whose handle is there.
    pub(super) fn end_of(&self, at: usize) -> Option<framestep::task::Finished> {
        let scripts = self.scripts.borrow();
        let entry = scripts.get(at % scripts.len().max(1))?;
        entry.handle.as_ref().map(Coroutine::finished)
    }

    fn act_on_owner(self: &Rc<Self>, me: Option<&Me>, act: OwnerAct) {
        let gave = |what: &str, gave: bool| self.log(me, format!("{what} {gave}"));
        let find = |at: usize| nth(&self.owners, at).flatten();
        match act {
            OwnerAct::Make(below, clock) => {
                if self.owners.borrow().len() < MOST_OWNERS {
                    let owned = self.make_owner(
                        below.and_then(find),
                        clock.and_then(|at| nth(&self.clocks, at)),
                    );
                    self.owners.borrow_mut().push(Some(Rc::new(owned)));
                }
            }
            OwnerAct::Drop(at) => {
                let mut owners = self.owners.borrow_mut();
                let count = owners.len();
                let owner = (count > 0).then(|| owners[at % count].take());
                drop(owners);
                drop(owner);
                self.log(me, "an owner is gone");
            }
            OwnerAct::StopAll(at) => {
                if let Some(owned) = find(at) {
                    owned.owner.stop_all();
                    self.log(me, "all stopped");
                }
            }
            OwnerAct::Pause(at) => {
                if let Some(owned) = find(at) {
                    gave("pause an owner", owned.owner.pause());
                }
            }
            OwnerAct::Resume(at) => {
                if let Some(owned) = find(at) {
                    gave("resume an owner", owned.owner.resume());
                }
            }
            OwnerAct::Hold(at) => {
                if let Some(owned) = find(at) {
                    let guard = owned.owner.pause_guard();
                    self.holds.borrow_mut().push(guard);
                }
            }
            OwnerAct::Release => {
                let guard = self.holds.borrow_mut().pop();
                drop(guard);
            }
            OwnerAct::SetActive(at, active) => {
                if let Some(owned) = find(at) {
                    owned.owner.set_active(active);
                    self.log(me, "an owner is set active or not");
                }
            }
        }
    }

    fn make_owner(&self, below: Option<Rc<Owned>>, clock: Option<Clock>) -> Owned {
        let above = below.as_ref().map(|below| &below.owner);
        let owner = match (above.or(self.root.as_ref()), &clock) {
            (Some(above), Some(clock)) => above.child_on(clock),
            (Some(above), None) => above.child(),
            (None, Some(clock)) => self.handle.owner_on(clock).expect("the executor exists"),
            (None, None) => self.handle.owner().expect("the executor exists"),
        };
        let inherited =
            || below.map_or_else(|| self.clocks.borrow()[0].clone(), |it| it.clock.clone());
        Owned {
            owner,
            clock: clock.unwrap_or_else(inherited),
        }
    }

    fn act_on_clock(self: &Rc<Self>, me: Option<&Me>, act: ClockAct) {
        let gave = |what: &str, gave: bool| self.log(me, format!("{what} {gave}"));
        let find = |at: usize| nth(&self.clocks, at).expect("there is the game clock");
        match act {
            ClockAct::Child(at) => {
                let child = find(at).child();
                let mut clocks = self.clocks.borrow_mut();
                if clocks.len() < MOST_CLOCKS {
                    clocks.push(child);
                }
            }
            ClockAct::Scale(at, quarters) => find(at).set_scale(f64::from(quarters) / 4.0),
            ClockAct::Pause(at) => gave("pause a clock", find(at).pause()),
            ClockAct::Resume(at) => gave("resume a clock", find(at).resume()),
            ClockAct::Hold(at) => {
                let guard = find(at).pause_guard();
                self.slowed.borrow_mut().push(guard);
            }
            ClockAct::Slow(at) => {
                let guard = find(at).scaled(0.5);
                // Two such guards would divide less evenly than quarters.
                let mut slowed = self.slowed.borrow_mut();
                slowed.clear();
                slowed.push(guard);
            }
            ClockAct::Release => {
                let guard = self.slowed.borrow_mut().pop();
                drop(guard);
            }
        }
    }
}
