//! The waits of a program.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;

use futures::FutureExt;

use super::script::Me;
use super::{Loose, Moving, SharedWait, World};
use super::{bell, groups};
use crate::program::language::Wait;
use crate::program::own::{Length, Own};
use crate::program::system::{Calls, System, Waiting};
use crate::program::trace::{Got, What};

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
    /// A wait of a coroutine, or a part of one, that counts on `clock`.
    pub(super) fn wait(self: &Rc<Self>, me: &Me<S>, clock: &S::Clock, wait: &Wait) -> Waiting {
        let seat = &self.seats[me.seat];
        let plain = match wait {
            Wait::Shared(number, inner) => self.share(me, clock, *number, inner),
            Wait::OnClock(at, inner) => {
                let on = self.clock_at(me.seat, *at);
                let inner = self.wait(me, &on, inner);
                seat.system.on_clock(&on, inner)
            }
            Wait::Timeout(length, at, inner) => {
                let inner = self.wait(me, clock, inner);
                let length = self.apart(*length, false);
                seat.system.timeout(length, *at, inner)
            }
            Wait::Group(mode, waits) => {
                let waits = waits.iter().map(|wait| self.wait(me, clock, wait));
                let (world, seat, who) = (self.clone(), me.seat, me.who());
                groups::group::<S>(*mode, waits.collect(), move |got| {
                    world.log(seat, who, What::Item(got.clone()));
                })
            }
            _ => self.leaf(me, wait),
        };
        let settings = &self.program.settings;
        self.around.wrap(settings, wait, plain, clock)
    }

    fn leaf(self: &Rc<Self>, me: &Me<S>, wait: &Wait) -> Waiting {
        let seat = &self.seats[me.seat];
        match *wait {
            Wait::Join(at) | Wait::Finished(at) if self.is_itself(me, at) => nothing(),
            Wait::Join(at) => self.take_handle(at).map_or_else(nothing, S::join),
            Wait::Finished(at) => {
                let coroutines = self.coroutines.borrow();
                let entry = coroutines.get(at % coroutines.len().max(1));
                let handle = entry.and_then(|entry| entry.handle.as_ref());
                handle.map_or_else(nothing, |handle| S::finished(handle))
            }
            Wait::Ended(at) => {
                let owned = self.owner_at(me.seat, at);
                owned.map_or_else(nothing, |owned| S::all_ended(&owned.owner))
            }
            Wait::StopWithin(at, length) => {
                let owned = self.owner_at(me.seat, at);
                owned.map_or_else(nothing, |owned| S::stop_within(&owned.owner, length))
            }
            Wait::StopRequested => seat.system.stop_requested(),
            Wait::Event(at, hear) => S::event(&self.signals[at % self.signals.len()], hear),
            Wait::Permits(at, count) => {
                let kept = me.permits.clone();
                let keep = Rc::new(move |permit| kept.borrow_mut().push(permit));
                S::acquire(&self.permits[at % self.permits.len()], count, keep)
            }
            Wait::Timer(place, length, at) => {
                let length = self.apart(length, false);
                let timer = seat.system.timer(length, at);
                let moving = Moving::<S>::new(RefCell::new(Some(timer)));
                self.timers[place % self.timers.len()].replace(moving.clone());
                wait_for::<S>(OnDrop(moving)).boxed_local()
            }
            Wait::Bell(at) => bell::wait(self.clone(), at % self.bells.len()).boxed_local(),
            Wait::ForeignYield => crate::yield_now().map(|()| Got::Done).boxed_local(),
            Wait::Loose => self.find(me).unwrap_or_else(nothing),
            Wait::Own(own) => {
                let names_one = own.names_a_clock();
                let clock = names_one.then(|| self.clock_at(me.seat, own.clock));
                let length = if own.row.counts_time() {
                    self.apart(own.length, false)
                } else {
                    own.length
                };
                let calls = self.calls(me, own.flag.0 % self.flags.len());
                let wait = Wait::Own(Own { length, ..own });
                seat.system.wait(&wait, clock.as_ref(), calls)
            }
            Wait::Point(at, ..) => {
                let clock = self.clock_at(me.seat, at);
                seat.system.wait(wait, Some(&clock), self.calls(me, 0))
            }
            Wait::Animate(length, at) => {
                let wait = Wait::Animate(self.apart(length, false), at);
                seat.system.wait(&wait, None, self.calls(me, 0))
            }
            Wait::Interval(length, count, at) => {
                let wait = Wait::Interval(self.apart(length, true), count, at);
                seat.system.wait(&wait, None, self.calls(me, 0))
            }
            _ => seat.system.wait(wait, None, self.calls(me, 0)),
        }
    }

    /// The shared wait of a number, made from `wait` if it does not exist.
    fn share(self: &Rc<Self>, me: &Me<S>, clock: &S::Clock, number: usize, wait: &Wait) -> Waiting {
        let shared = &self.seats[me.seat].shared;
        if let Some(found) = shared.borrow().iter().find(|one| one.number == number) {
            // The first coroutine may have named this one.
            return if found.joined.contains(&me.number) {
                nothing()
            } else {
                found.wait.clone().boxed_local()
            };
        }
        let joined = self.joined(me.seat, wait);
        let wait = self.wait(me, clock, wait).shared();
        shared.borrow_mut().push(SharedWait {
            number,
            joined,
            wait: wait.clone(),
        });
        wait.boxed_local()
    }

    /// The coroutines whose ends a wait waits for.
    fn joined(&self, seat: usize, wait: &Wait) -> Vec<usize> {
        let shared = self.seats[seat].shared.borrow();
        let found = |number: usize| shared.iter().find(|one| one.number == number);
        match wait {
            Wait::Join(at) | Wait::Finished(at) => self.who(*at).into_iter().collect(),
            Wait::Shared(number, inner) => match found(*number) {
                Some(one) => one.joined.clone(),
                None => self.joined(seat, inner),
            },
            _ => {
                let inner = wait.inner().iter();
                inner.flat_map(|inner| self.joined(seat, inner)).collect()
            }
        }
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
        !self.program.settings.itself && self.who(at) == Some(me.number)
    }

    /// The number of a coroutine in the trace.
    fn who(&self, at: usize) -> Option<usize> {
        let coroutines = self.coroutines.borrow();
        let entry = coroutines.get(at % coroutines.len().max(1));
        entry.map(|entry| entry.who)
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
            check: Rc::new(move || {
                world.log(seat, who, What::Checked);
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
