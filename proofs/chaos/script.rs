//! A coroutine that holds waits, polls them with its own waker or another, drops them,
//! gives them away, and does anything in between.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use framestep::prelude::*;

use framestep_testkit::WakerCall;
use framestep_testkit::watched::{Watched, fault, watched};

use super::grenade::{CHAOS, Grenade, maybe_panic};
use super::operations::{Site, occasionally};
use super::waits::{Wait, wait};
use super::wakers::hostile;
use super::world::World;

pub(super) struct Script {
    held: Option<Grenade>,
    /// Whether another future awaits this one.
    awaited: bool,
    waits: Vec<Wait>,
    rounds: u64,
    slot: usize,
    generation: u64,
    /// How many scripts of its executor are being polled.
    polling: Rc<Cell<u32>>,
}

/// A script of the executor in `slot`.
pub(super) fn script(world: &Rc<World>, slot: usize) -> Watched<Script> {
    watched(Script::new(world, slot))
}

/// The same, for another future to await.
pub(super) fn awaited_script(world: &Rc<World>, slot: usize) -> Watched<Script> {
    watched(Script {
        awaited: true,
        ..Script::new(world, slot)
    })
}

fn waits(world: &Rc<World>, slot: usize) -> Vec<Wait> {
    (0..=world.below(3)).map(|_| wait(world, slot, 3)).collect()
}

/// Counts one more poll under way, until it is dropped.
struct Polling(Rc<Cell<u32>>);

impl Polling {
    fn new(count: Rc<Cell<u32>>) -> Self {
        count.set(count.get() + 1);
        Polling(count)
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// The extra operations of a foreign waker.
fn hear(call: WakerCall) {
    match call {
        WakerCall::Clone => occasionally(6, Site::WakerClone),
        WakerCall::Wake => occasionally(3, Site::Wake),
        WakerCall::Drop => occasionally(4, Site::WakerDrop),
    }
    maybe_panic(60);
}

/// A panic of a wait must be a documented one.
fn check_text(payload: &(dyn Any + Send)) {
    /// Parts of the messages for a wait that was given away, for a clock of another
    /// executor, and for a coroutine that joins itself.
    const EXPECTED: [&str; 3] = [
        "was polled in another",
        "got a clock of another",
        "awaits its own end",
    ];
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    if let Some(text) = text {
        if text != CHAOS && !EXPECTED.iter().any(|expected| text.contains(expected)) {
            fault(format!("a wait panics: {text}"));
        }
    }
}

impl Script {
    fn new(world: &Rc<World>, slot: usize) -> Self {
        Script {
            held: Some(Grenade::new(Site::Drop)),
            awaited: false,
            waits: waits(world, slot),
            rounds: world.below(6),
            slot,
            generation: world.slots[slot].generation.get(),
            polling: world.slots[slot].polling.borrow().clone(),
        }
    }

    /// Polls each wait; drops finished ones, and others at random.
    fn poll_waits(&mut self, world: &Rc<World>, cx: &mut Context<'_>) {
        let mut at = 0;
        while at < self.waits.len() {
            let wait = self.waits[at].as_mut();
            let polled = catch_unwind(AssertUnwindSafe(|| {
                if world.one_in(4) {
                    let waker = hostile(cx.waker(), hear);
                    wait.poll(&mut Context::from_waker(&waker)).is_ready()
                } else {
                    wait.poll(cx).is_ready()
                }
            }));
            let over = polled.unwrap_or_else(|payload| {
                check_text(&*payload);
                resume_unwind(payload)
            });
            if over || world.one_in(12) {
                let gone = self.waits.swap_remove(at);
                if !over && world.one_in(3) {
                    world.waits.borrow_mut().push(gone);
                }
            } else {
                at += 1;
            }
            occasionally(5, Site::Poll);
        }
        // A wait that another coroutine has given away.
        if world.one_in(6) {
            let found = world.take(&world.waits);
            self.waits.extend(found);
        }
    }
}

impl Future for Script {
    type Output = Grenade;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Grenade> {
        let this = self.get_mut();
        if let Some(held) = &this.held {
            held.check();
        }
        let Some(world) = World::find() else {
            return Poll::Pending;
        };
        let slot = &world.slots[this.slot];
        if slot.generation.get() == this.generation {
            let own = (this.slot, this.generation, current());
            if world.stopped.borrow().contains(&own) {
                fault("a coroutine is polled after its stop");
            }
        }
        let _polling = Polling::new(this.polling.clone());
        if world.one_in(6) {
            world.wakers.borrow_mut().push(cx.waker().clone());
        }
        occasionally(3, Site::Poll);
        this.poll_waits(&world, cx);
        if world.one_in(30) {
            // Only the rest of this poll gets a waker that does nothing.
            *cx = Context::from_waker(std::task::Waker::noop());
        }
        maybe_panic(40);
        if this.waits.is_empty() {
            if this.rounds == 0 {
                if this.awaited {
                    // Rust leaks the output of an `await` whose future panics when it
                    // is dropped.
                    drop(this.held.take());
                }
                return Poll::Ready(Grenade::new(Site::Output));
            }
            this.rounds -= 1;
            this.waits = waits(&world, this.slot);
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
