//! Acts that take no time.

use std::panic::resume_unwind;
use std::rc::Rc;

use super::script::Me;
use super::{Entry, MOST_CLOCKS, MOST_DRIVES, MOST_OWNERS, Owned, World};
use crate::program::language::{Act, ClockAct, Drive, How, On, OwnerAct, To};
use crate::program::system::System;
use crate::program::trace::{Lent, What, Who};

impl<S: System> World<S> {
    /// An act of a coroutine, or of the host, on the executor of that number.
    pub(super) fn act(self: &Rc<Self>, me: Option<&Me<S>>, seat: usize, inside: bool, act: &Act) {
        let who = me.map_or(Who::Host(seat), Me::who);
        let system = &self.seats[seat].system;
        let gave = |gave| self.log(seat, who, What::Gave(gave));
        let polled = me.filter(|me| !me.ending);
        match act {
            Act::Begin(how, on, script) => self.begin(me, seat, inside, *how, *on, *script),
            Act::Crowd(count, script) => {
                for _ in 0..*count {
                    self.begin(me, seat, inside, How::Spawn, On::Here, *script);
                }
            }
            Act::Stop(at) => self.stop(who, seat, inside, self.entry(*at)),
            Act::StopNext => {
                if let Some(me) = me {
                    self.stop(who, seat, inside, self.entry_of(me.number + 1));
                }
            }
            Act::StopSelf => {
                if polled.is_some() {
                    gave(system.stop(true, system.current()));
                }
            }
            Act::Pause(at) | Act::Resume(at) => {
                if let Some((of, id)) = self.entry(*at) {
                    let paused = matches!(act, Act::Pause(_));
                    gave(self.seats[of].system.set_paused(id, paused));
                }
            }
            Act::PauseSelf | Act::ResumeSelf => {
                if polled.is_some() {
                    let paused = matches!(act, Act::PauseSelf);
                    gave(system.set_paused(system.current(), paused));
                }
            }
            Act::StopOnDrop(at) => {
                if let Some(handle) = self.take_handle(*at) {
                    S::drop_and_stop(handle);
                }
            }
            Act::DropHandle(at) => drop(self.take_handle(*at)),
            Act::Flag(at, value) => self.flags[at % self.flags.len()].set(*value),
            Act::Ring(at) => self.bells[at % self.bells.len()].ring(),
            Act::RingElsewhere(at) => self.bells[at % self.bells.len()].ring_elsewhere(),
            Act::Emit(at, to) => {
                let event = self.emitted.get();
                self.emitted.set(event + 1);
                let signal = &self.signals[at % self.signals.len()];
                match to {
                    To::All => S::emit(signal, event),
                    To::One => gave(S::emit_one(signal, event)),
                }
            }
            Act::Set(at, value) => system.set(*at, *value),
            Act::KeepPromise => gave(system.keep_promise()),
            Act::AddPermits(at, count) | Act::SetPermits(at, count) => {
                let permits = &self.permits[at % self.permits.len()];
                match act {
                    Act::AddPermits(..) => S::add(permits, *count),
                    _ => S::set_count(permits, *count),
                }
                let (count, available) = S::counts(permits);
                self.log(seat, who, What::Counts(count, available));
            }
            Act::ReturnPermits => {
                let last = me.and_then(|me| me.permits.borrow_mut().pop());
                drop(last);
            }
            Act::Reset(at, length) => {
                let timer = self.timers[at % self.timers.len()].borrow().clone();
                if let Some(timer) = &mut *timer.borrow_mut() {
                    S::reset(timer, *length);
                }
            }
            Act::IsStopRequested => {
                if polled.is_some() {
                    gave(system.is_stop_requested());
                }
            }
            Act::Owner(act) => self.act_on_owner(me, seat, inside, *act),
            Act::Clock(act) => self.act_on_clock(who, seat, *act),
            Act::With(acts) => {
                if inside {
                    self.with(me, seat, acts);
                }
            }
            Act::Look(at) => {
                if let Some((of, id)) = self.entry(*at) {
                    let other = &self.seats[of].system;
                    let (alive, paused) = (other.is_alive(id), other.is_paused(id));
                    let reading = S::reading(&self.clock_at(seat, *at));
                    self.log(seat, who, What::Saw(alive, paused, reading));
                }
            }
            Act::Drive(number, drive) => self.drive_inside(who, seat, *number, *drive),
            Act::Panic => {
                if me.is_some_and(Me::may_panic) {
                    resume_unwind(Box::new("on purpose"));
                }
            }
        }
    }

    fn begin(
        self: &Rc<Self>,
        by: Option<&Me<S>>,
        seat: usize,
        inside: bool,
        how: How,
        on: On,
        script: usize,
    ) {
        let other =
            matches!(on, On::OtherExecutor) && self.seats.len() > 1 && self.borrows.get() == 0;
        let (seat, inside) = if other {
            (1 - seat, false)
        } else {
            (seat, inside)
        };
        let owned = match on {
            On::Owner(at) => self.owner_at(seat, at),
            On::Here | On::OtherExecutor => None,
        };
        // The free functions find the coroutine that calls them.
        let parent = by.filter(|_| inside);
        let root = self.seats[seat].root.as_ref().filter(|_| parent.is_none());
        let clock = match (&owned, parent) {
            (Some(owned), _) => owned.clock.clone(),
            (None, Some(parent)) => parent.clock.clone(),
            (None, None) => self.clock_at(seat, 0),
        };
        let who = self.begun.get();
        let Some((accepted, script)) = self.coroutine(by, seat, script, clock) else {
            return;
        };
        let system = &self.seats[seat].system;
        let owner = owned.as_ref().map(|owned| &owned.owner).or(root);
        let handle = system.begin(inside, how, owner, script);
        accepted.set(accepted.get() || !S::is_finished(&handle));
        drop(owned);
        let id = S::id(&handle);
        let handle = Some(handle);
        self.coroutines.borrow_mut().push(Entry {
            seat,
            who,
            id,
            handle,
        });
    }

    fn stop(&self, who: Who, seat: usize, inside: bool, entry: Option<(usize, S::Id)>) {
        if let Some((of, id)) = entry {
            let stopped = self.seats[of].system.stop(inside && of == seat, id);
            self.log(seat, who, What::Gave(stopped));
        }
    }

    fn with(self: &Rc<Self>, me: Option<&Me<S>>, seat: usize, acts: &[Act]) {
        let who = me.map_or(Who::Host(seat), Me::who);
        let mut f = || {
            self.log(seat, who, What::Lent(Lent::Given));
            self.borrows.set(self.borrows.get() + 1);
            let guard = Borrow(self);
            for act in acts {
                self.act(me, seat, true, act);
            }
            drop(guard);
        };
        let lent = self.seats[seat].system.with(&mut f);
        self.log(seat, who, What::Lent(lent));
    }

    fn drive_inside(self: &Rc<Self>, who: Who, seat: usize, number: usize, drive: Drive) {
        if self.drives.get() >= MOST_DRIVES || self.borrows.get() > 0 || std::thread::panicking() {
            return;
        }
        self.drives.set(self.drives.get() + 1);
        let guard = Driving(self);
        if self.drive(true, self.seat(number), drive).is_err() {
            self.log(seat, who, What::Barred);
        }
        drop(guard);
    }

    /// The executor and the name of a coroutine.
    fn entry(&self, at: usize) -> Option<(usize, S::Id)> {
        let coroutines = self.coroutines.borrow();
        let count = coroutines.len();
        (count > 0).then(|| {
            let entry = &coroutines[at % count];
            (entry.seat, entry.id)
        })
    }

    /// The same for the coroutine that was begun as that number.
    fn entry_of(&self, who: usize) -> Option<(usize, S::Id)> {
        let coroutines = self.coroutines.borrow();
        let entry = coroutines.iter().find(|entry| entry.who == who)?;
        Some((entry.seat, entry.id))
    }

    pub(super) fn take_handle(&self, at: usize) -> Option<S::Handle> {
        let mut coroutines = self.coroutines.borrow_mut();
        let count = coroutines.len();
        if count == 0 {
            return None;
        }
        coroutines[at % count].handle.take()
    }

    pub(super) fn owner_at(&self, seat: usize, at: usize) -> Option<Rc<Owned<S>>> {
        let owners = self.seats[seat].owners.borrow();
        let count = owners.len();
        if count == 0 {
            return None;
        }
        owners[at % count].clone()
    }

    pub(super) fn clock_at(&self, seat: usize, at: usize) -> S::Clock {
        let clocks = self.seats[seat].clocks.borrow();
        clocks[at % clocks.len()].clone()
    }

    fn act_on_owner(self: &Rc<Self>, me: Option<&Me<S>>, seat: usize, inside: bool, act: OwnerAct) {
        let who = me.map_or(Who::Host(seat), Me::who);
        let owners = &self.seats[seat].owners;
        match act {
            OwnerAct::Make(below, clock) => {
                if owners.borrow().len() < MOST_OWNERS {
                    let above = below.and_then(|at| self.owner_at(seat, at));
                    let clock = clock.map(|at| self.clock_at(seat, at));
                    let owner = self.make_owner(me, seat, inside, above.as_deref(), clock);
                    owners.borrow_mut().push(Some(Rc::new(owner)));
                }
            }
            OwnerAct::Drop(at) => {
                let owner = {
                    let mut owners = owners.borrow_mut();
                    let count = owners.len();
                    if count == 0 {
                        None
                    } else {
                        owners[at % count].take()
                    }
                };
                drop(owner);
                self.log(seat, who, What::Done);
            }
            OwnerAct::Release => {
                let guard = self.seats[seat].holds.borrow_mut().pop();
                drop(guard);
            }
            OwnerAct::StopAll(at)
            | OwnerAct::RequestStop(at)
            | OwnerAct::StopWithin(at, _)
            | OwnerAct::Pause(at)
            | OwnerAct::Resume(at)
            | OwnerAct::Hold(at)
            | OwnerAct::SetActive(at, _) => {
                let owned = self.owner_at(seat, at);
                if let Some(owned) = owned {
                    let what = self.act_on(seat, &owned.owner, act);
                    self.log(seat, who, what);
                }
            }
        }
    }

    fn act_on(&self, seat: usize, owner: &S::Owner, act: OwnerAct) -> What {
        match act {
            OwnerAct::StopAll(_) => S::stop_all(owner),
            OwnerAct::RequestStop(_) => S::request_stop(owner),
            OwnerAct::StopWithin(_, length) => drop(S::stop_within(owner, length)),
            OwnerAct::Pause(_) => return What::Gave(S::set_owner_paused(owner, true)),
            OwnerAct::Resume(_) => return What::Gave(S::set_owner_paused(owner, false)),
            OwnerAct::Hold(_) => {
                let guard = S::hold_owner(owner);
                self.seats[seat].holds.borrow_mut().push(guard);
            }
            OwnerAct::SetActive(_, active) => S::set_active(owner, active),
            OwnerAct::Make(..) | OwnerAct::Drop(_) | OwnerAct::Release => {
                unreachable!("not on an owner of the table")
            }
        }
        What::Done
    }

    fn make_owner(
        &self,
        me: Option<&Me<S>>,
        seat: usize,
        inside: bool,
        above: Option<&Owned<S>>,
        clock: Option<S::Clock>,
    ) -> Owned<S> {
        let parent = me.filter(|_| inside);
        let at = &self.seats[seat];
        let root = at.root.as_ref().filter(|_| parent.is_none());
        let owner = above.map(|above| &above.owner).or(root);
        let owner = at.system.owner(inside, owner, clock.as_ref());
        let own = parent.map(|parent| &parent.clock);
        let inherited = above.map(|above| &above.clock).or(own);
        let clock = clock.or_else(|| inherited.cloned());
        Owned {
            owner,
            clock: clock.unwrap_or_else(|| self.clock_at(seat, 0)),
        }
    }

    fn act_on_clock(&self, who: Who, seat: usize, act: ClockAct) {
        match act {
            ClockAct::Child(at) => {
                let clocks = &self.seats[seat].clocks;
                if clocks.borrow().len() < MOST_CLOCKS {
                    let child = S::child(&self.clock_at(seat, at));
                    clocks.borrow_mut().push(child);
                }
            }
            ClockAct::Scale(at, quarters) => S::set_scale(&self.clock_at(seat, at), quarters),
            ClockAct::Pause(at) | ClockAct::Resume(at) => {
                let paused = matches!(act, ClockAct::Pause(_));
                let changed = S::set_clock_paused(&self.clock_at(seat, at), paused);
                self.log(seat, who, What::Gave(changed));
            }
            ClockAct::Hold(at) | ClockAct::Slow(at) => {
                let slows = matches!(act, ClockAct::Slow(_));
                let guard = S::hold_clock(&self.clock_at(seat, at), slows);
                let mut guards = self.seats[seat].slowed.borrow_mut();
                if slows {
                    // Two such guards would divide less evenly than quarters.
                    guards.clear();
                }
                guards.push(guard);
            }
            ClockAct::Release => {
                let guard = self.seats[seat].slowed.borrow_mut().pop();
                drop(guard);
            }
        }
    }
}

/// Ends a borrow, even if it panics.
struct Borrow<'a, S: System>(&'a World<S>);

impl<S: System> Drop for Borrow<'_, S> {
    fn drop(&mut self) {
        self.0.borrows.set(self.0.borrows.get() - 1);
    }
}

/// Ends a drive, even if it panics.
struct Driving<'a, S: System>(&'a World<S>);

impl<S: System> Drop for Driving<'_, S> {
    fn drop(&mut self) {
        self.0.drives.set(self.0.drives.get() - 1);
    }
}
