//! The waits of a program.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::Shared;

use super::script::Me;
use super::{Loose, Moving, World};
use super::{bell, groups};
use crate::program::{Length, Own, Wait};
use crate::system::{Calls, System, Waiting};
use crate::trace::{Got, What};

/// So many periods are less than the difference between two lengths.
const MOST_TICKS: u64 = 16;

fn nothing() -> Waiting {
    futures::future::ready(Got::Nothing).boxed_local()
}

/// A timer, which is dropped with its wait.
struct OnDrop<S: System>(Moving<S>);

impl<S: System> Drop for OnDrop<S> {
    fn drop(&mut self) {
        let timer = self.0.take();
        drop(timer);
    }
}

async fn wait_for<S: System>(timer: OnDrop<S>) -> Got {
    poll_fn(|cx| {
        let mut timer = timer.0.borrow_mut();
        S::poll_timer(timer.as_mut().expect("it is not over"), cx)
    })
    .await;
    Got::Done
}

impl<S: System> World<S> {
    pub(super) fn wait(self: &Rc<Self>, me: &Me<S>, wait: &Wait) -> Waiting {
        let mut clock = None;
        let mut flag = 0;
        match wait {
            Wait::Join(at) | Wait::Finished(at) if self.is_itself(me, *at) => return nothing(),
            Wait::Join(at) => return self.take_handle(*at).map_or_else(nothing, S::join),
            Wait::Finished(at) => {
                let coroutines = self.coroutines.borrow();
                let entry = coroutines.get(at % coroutines.len().max(1));
                let handle = entry.and_then(|entry| entry.handle.as_ref());
                return handle.map_or_else(nothing, |handle| S::finished(handle));
            }
            Wait::Ended(at) => {
                let owner = self.owner_at(me.seat, *at);
                return owner.map_or_else(nothing, |owner| S::all_ended(&owner));
            }
            Wait::Asked => return self.seats[me.seat].system.asked(),
            Wait::Event(at) => return S::event(&self.signals[at % self.signals.len()]),
            Wait::Semaphore(at, count) => {
                let kept = me.permits.clone();
                let keep = Rc::new(move |permit| kept.borrow_mut().push(permit));
                return S::acquire(&self.permits[at % self.permits.len()], *count, keep);
            }
            Wait::Timer(place, length, at) => {
                let length = self.apart(*length, false);
                let timer = self.seats[me.seat].system.timer(length, *at);
                let moving = Moving::<S>::new(RefCell::new(Some(timer)));
                self.timers[place % self.timers.len()].replace(moving.clone());
                return wait_for::<S>(OnDrop(moving)).boxed_local();
            }
            Wait::Bell(at) => return bell::wait(self.clone(), at % self.bells.len()).boxed_local(),
            Wait::Yield => {
                let wait = framestep_testkit::yield_now();
                return wait.map(|()| Got::Done).boxed_local();
            }
            Wait::Loose => return self.find(me).unwrap_or_else(nothing),
            Wait::Shared(number, wait) => return self.share(me, *number, wait),
            Wait::Timeout(length, at, wait) => {
                let wait = self.wait(me, wait);
                let length = self.apart(*length, false);
                return self.seats[me.seat].system.timeout(length, *at, wait);
            }
            Wait::Group(mode, waits) => {
                let waits = waits.iter().map(|wait| self.wait(me, wait)).collect();
                let (world, seat, who) = (self.clone(), me.seat, me.who());
                return groups::group::<S>(*mode, waits, move |got| {
                    world.log(seat, who, What::Item(got.clone()));
                });
            }
            Wait::Own(own) => {
                let names_one = own.names_a_clock();
                clock = names_one.then(|| self.clock_at(me.seat, own.clock));
                flag = own.flag.0 % self.flags.len();
            }
            _ => {}
        }
        let calls = self.calls(me, flag);
        let mut wait = wait.clone();
        let is_period = matches!(wait, Wait::Interval(..));
        match &mut wait {
            Wait::Own(own) if !own.row.counts_time() => {}
            Wait::Own(Own { length, .. })
            | Wait::Animate(length, _)
            | Wait::Interval(length, ..) => *length = self.apart(*length, is_period),
            _ => {}
        }
        let system = &self.seats[me.seat].system;
        system.wait(&wait, clock.as_ref(), calls)
    }

    /// The shared wait of a number, made from `wait` if it does not exist.
    fn share(self: &Rc<Self>, me: &Me<S>, number: usize, wait: &Wait) -> Waiting {
        let shared = &self.seats[me.seat].shared;
        let find = |one: &&(usize, Shared<Waiting>)| one.0 == number;
        if let Some((_, wait)) = shared.borrow().iter().find(find) {
            return wait.clone().boxed_local();
        }
        let wait = self.wait(me, wait).shared();
        shared.borrow_mut().push((number, wait.clone()));
        wait.boxed_local()
    }

    /// Leaves a wait to one of the next coroutines.
    pub(super) fn leave(&self, me: &Me<S>, wait: Waiting) {
        let left = me.left.replace(me.left.get() + 1);
        self.loose.borrow_mut().push(Loose {
            by: me.number,
            heir: me.number + 1 + left % 3,
            step: self.steps.get(),
            wait,
        });
    }

    /// The wait that was left to a coroutine.
    fn find(&self, me: &Me<S>) -> Option<Waiting> {
        let mut loose = self.loose.borrow_mut();
        let now = self.steps.get();
        let mine = |one: &&Loose| one.heir == me.number && one.step < now;
        let first = loose.iter().filter(mine).map(|one| one.by).min()?;
        let at = loose.iter().position(|one| mine(&one) && one.by == first)?;
        Some(loose.remove(at).wait)
    }

    /// Whether a coroutine would await itself, in programs that must not.
    fn is_itself(&self, me: &Me<S>, at: usize) -> bool {
        let coroutines = self.coroutines.borrow();
        let entry = coroutines.get(at % coroutines.len().max(1));
        !self.program.settings.itself && entry.is_some_and(|entry| entry.who == me.number)
    }

    /// A length that no other timer has, and that is no multiple of a period.
    fn apart(&self, length: Length, is_period: bool) -> Length {
        match length {
            Length::Nanos(ns) if self.program.settings.apart => {
                self.lengths.set(self.lengths.get() + 1);
                let apart = MOST_TICKS * self.lengths.get() + u64::from(is_period);
                // Those of one nanosecond are odd.
                Length::Nanos(ns + 2 * apart)
            }
            length => length,
        }
    }

    fn calls(self: &Rc<Self>, me: &Me<S>, flag: usize) -> Calls {
        let (seat, who) = (me.seat, me.who());
        let (world, same) = (self.clone(), self.clone());
        Calls {
            ask: Rc::new(move || {
                world.log(seat, who, What::Asked);
                world.flags[flag].get()
            }),
            apply: Rc::new(move |value| {
                same.log(seat, who, What::Applied(shown(value)));
            }),
        }
    }
}

/// As many digits of a share as two ways to compute it agree on.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between 0 and 1"
)]
fn shown(share: f32) -> u32 {
    (share * 4096.0).round() as u32
}
