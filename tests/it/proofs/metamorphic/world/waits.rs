//! The waits of a program.

use std::fmt::Debug;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use futures::future::{join_all as their_join_all, select_all};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use super::script::Me;
use super::{Waiting, World};
use crate::proofs::metamorphic::program::{At, Length, Mode, UNIT, Wait};
use crate::support;

/// Calls `$f` with a length as `Seconds`.
macro_rules! with_length {
    ($length:expr, $f:expr) => {
        match $length {
            Length::Nanos(ns) => $f(Duration::from_nanos(ns)),
            Length::Negative => $f(-1.5),
            Length::Infinite => $f(f64::INFINITY),
            Length::NotANumber => $f(f64::NAN),
        }
    };
}

/// Names the phase, if there is one.
macro_rules! in_phase_of {
    ($wait:expr, $at:expr) => {
        match $at {
            None => $wait,
            Some(phase) => $wait.in_phase(phase),
        }
    };
}

/// A wait that returns its name.
macro_rules! named {
    ($wait:expr, $name:literal) => {
        $wait.map(|_| $name.to_owned()).boxed_local()
    };
}

fn nothing() -> Waiting {
    std::future::ready("nothing".into()).boxed_local()
}

impl World {
    /// A wait of a script, or a part of one, that counts on `clock`.
    pub(super) fn wait(self: &Rc<Self>, me: &Me, clock: &Clock, wait: &Wait) -> Waiting {
        let plain = match wait {
            Wait::On(at, inner) => {
                let on = self.nth_clock(*at);
                framestep::wait::on_clock(&on, self.wait(me, &on, inner)).boxed_local()
            }
            Wait::Timeout(length, at, inner) => {
                let inner = self.wait(me, clock, inner);
                let timeout = with_length!(*length, |length| timeout(length, inner));
                in_phase_of!(timeout, *at)
                    .map(|got| got.unwrap_or_else(|_| "timed out".into()))
                    .boxed_local()
            }
            Wait::Shared(number, inner) => self.share(me, clock, *number, inner),
            Wait::Several(mode, inner) => {
                let all = inner.iter().map(|inner| self.wait(me, clock, inner));
                several(*mode, all.collect())
            }
            Wait::Join(at) | Wait::Finished(at) if self.is_itself(me, *at) => nothing(),
            _ => self.leaf(me, wait),
        };
        self.variant.wrap(plain, clock)
    }

    fn nth_clock(&self, at: usize) -> Clock {
        let clocks = self.clocks.borrow();
        clocks[at % clocks.len()].clone()
    }

    /// Whether a script would await itself, which panics.
    fn is_itself(&self, me: &Me, at: usize) -> bool {
        let scripts = self.scripts.borrow();
        let entry = scripts.get(at % scripts.len().max(1));
        entry.is_some_and(|entry| entry.who == me.number)
    }

    /// The shared wait of a number, made from `inner` if it does not exist.
    fn share(self: &Rc<Self>, me: &Me, clock: &Clock, number: usize, inner: &Wait) -> Waiting {
        let found = self
            .shared
            .borrow()
            .iter()
            .find(|one| one.0 == number)
            .cloned();
        if let Some((_, shared)) = found {
            return shared.boxed_local();
        }
        let shared = self.wait(me, clock, inner).shared();
        self.shared.borrow_mut().push((number, shared.clone()));
        shared.boxed_local()
    }

    fn leaf(self: &Rc<Self>, me: &Me, wait: &Wait) -> Waiting {
        match *wait {
            Wait::Own(own) => {
                let clock = own.names_a_clock().then(|| self.nth_clock(own.clock));
                let asks = Rc::new(self.asked(me, own.flag.0, own.flag.1));
                let wait = own.make(&self.given, clock.as_ref(), asks);
                wait.map(|()| own.row.call.to_owned()).boxed_local()
            }
            Wait::Point(clock, units, at) => {
                let clock = self.nth_clock(clock);
                let wait = clock.wait_until(Duration::from_nanos(UNIT * units));
                named!(in_phase_of!(wait, at), "a point in time")
            }
            Wait::Join(at) => self.take_handle(at).map_or_else(nothing, |handle| {
                let joined = handle.map(|end| match end {
                    Ok(number) => format!("joined {number}"),
                    Err(error) => format!("joined, panicked: {}", error.is_panic()),
                });
                joined.boxed_local()
            }),
            Wait::Finished(at) => self.end_of(at).map_or_else(nothing, |end| {
                end.map(|outcome| format!("ended: {outcome:?}"))
                    .boxed_local()
            }),
            Wait::Yield => named!(framestep::wait::yield_now(), "yielded"),
            Wait::ForeignYield => named!(support::yield_now(), "yielded by another crate"),
            Wait::Checkpoint => {
                let budget = self.budget.clone();
                let wait = async move { () = budget.checkpoint().await };
                named!(wait, "checkpoint")
            }
            Wait::Animate(length, at) => self.animation(me, length, at),
            Wait::Interval(length, count, at) => ticks(length, count, at).boxed_local(),
            Wait::FrameStream(count, at) => {
                let frames = in_phase_of!(frames(), at);
                named!(frames.take(count).for_each(|_| async {}), "so many frames")
            }
            _ => self.event(me, wait),
        }
    }

    fn event(&self, me: &Me, wait: &Wait) -> Waiting {
        match *wait {
            Wait::Signal(at) => said("signal", self.signals[at % 2].wait()),
            Wait::SignalFor(at, value) => {
                let wait = self.signals[at % 2].wait_for(move |event| *event == value);
                said("this signal", wait)
            }
            Wait::Events(at, count) => {
                let events = self.signals[at % 2].subscribe().take(count);
                said("events", events.collect::<Vec<u64>>())
            }
            Wait::Changed(at) => said("changed", self.values[at % 2].changed()),
            Wait::Value(at, value) => {
                let wait = self.values[at % 2].wait_for(move |now| *now >= value);
                said("this value", wait)
            }
            Wait::Changes(at, count) => {
                let changes = self.values[at % 2].subscribe().take(count);
                said("changes", changes.collect::<Vec<u64>>())
            }
            Wait::Promise => {
                let (resolver, promise) = promise::<()>();
                self.promises.borrow_mut().push_back(resolver);
                said("a promise", promise)
            }
            Wait::Permit(at) => {
                let (permit, permits) = (self.permits[at % 2].acquire(), me.permits.clone());
                let keep = permit.map(move |permit| permits.borrow_mut().push(permit));
                said("a permit", keep)
            }
            Wait::Bell(at) => said("a bell", self.bells[at % 2].clone().rings()),
            _ => unreachable!("not a leaf"),
        }
    }

    /// Whether a flag has a value, and a line about each check.
    fn asked(self: &Rc<Self>, me: &Me, flag: usize, value: bool) -> impl Fn() -> bool + use<> {
        let (world, number) = (self.clone(), me.number);
        move || {
            world.record(Some(number), true, "asks".into());
            world.flags[flag % 3].get() == value
        }
    }

    fn animation(self: &Rc<Self>, me: &Me, length: Length, at: At) -> Waiting {
        let (world, number) = (self.clone(), me.number);
        let apply = move |share: f32| {
            world.record(Some(number), true, format!("moves to {share}"));
        };
        let animate = with_length!(length, |length| animate(length, apply));
        named!(in_phase_of!(animate, at), "animated")
    }
}

/// A wait, and its output in words.
fn said<F: Future + 'static>(what: &'static str, wait: F) -> Waiting
where
    F::Output: Debug,
{
    let said = move |got| format!("{what} {got:?}");
    wait.map(said).boxed_local()
}

async fn ticks(length: Length, count: usize, at: At) -> String {
    let mut interval = in_phase_of!(with_length!(length, interval), at);
    let mut late = Vec::new();
    for _ in 0..count {
        late.push(interval.tick().await.late);
    }
    format!("ticks {late:?} late")
}

/// Several waits as one.
fn several(mode: Mode, mut waits: Vec<Waiting>) -> Waiting {
    match mode {
        Mode::Select => {
            let Some(first) = waits.pop() else {
                return nothing();
            };
            waits.into_iter().rfold(first, |rest, wait| {
                let either = async {
                    framestep::select! {
                        got = wait => got,
                        got = rest => got,
                    }
                };
                either.boxed_local()
            })
        }
        Mode::Join => {
            let Some(first) = waits.pop() else {
                return nothing();
            };
            waits.into_iter().rfold(first, |rest, wait| {
                let both = async {
                    let (one, other) = framestep::join!(wait, rest);
                    format!("{one}, {other}")
                };
                both.boxed_local()
            })
        }
        Mode::Race => said("race", race(waits)),
        Mode::JoinAll => said("all", join_all(waits)),
        Mode::TheirJoinAll => said("all", their_join_all(waits)),
        Mode::SelectAll => said("first", select_all(waits).map(|(got, at, _)| (got, at))),
        Mode::Unordered => {
            let waits: FuturesUnordered<Waiting> = waits.into_iter().collect();
            said("all", waits.collect::<Vec<_>>())
        }
        Mode::FirstOfUnordered => {
            let mut waits: FuturesUnordered<Waiting> = waits.into_iter().collect();
            said("first", async move { waits.next().await })
        }
    }
}
