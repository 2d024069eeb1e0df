//! A script that waits a few times, and may be polled with a foreign waker.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use pin_project::pin_project;

use framestep::prelude::*;

use crate::wakers::hostile;
use framestep_testkit::WakerCall;
use framestep_testkit::watched::{Watched, watched};

use super::operations::{Held, act, maybe_panic};
use super::waits::any_wait;
use super::world::World;

/// The kinds of scripts: leaves are awaited, and await no other script.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Leaf,
    Any,
}

/// A script of the executor of that number.
pub(super) fn script(
    world: &World,
    seat: usize,
    kind: Kind,
) -> Watched<impl Future<Output = Held> + use<>> {
    let rounds = match kind {
        Kind::Leaf => 1 + world.below(2),
        Kind::Any => 1 + world.below(4),
    };
    let held = Held::new("a value of a script");
    watched(async move {
        // Rust leaks an output if a local then panics in its drop.
        let guard = Held::new("a guard of a script");
        for _ in 0..rounds {
            act(3);
            maybe_panic(40);
            let Some(world) = World::find() else { break };
            let wait = any_wait(&world, seat, kind);
            world.begins(seat, current());
            drop(world);
            Disguised(wait).await;
        }
        drop(guard);
        held
    })
}

/// The extra operations of a foreign waker.
fn hear(call: WakerCall) {
    act(match call {
        WakerCall::Clone => 8,
        WakerCall::Wake => 4,
        WakerCall::Drop => 6,
    });
    maybe_panic(60);
}

/// Polls a future with the waker of the script or with a foreign one.
#[pin_project]
struct Disguised<F>(#[pin] F);

impl<F: Future> Future for Disguised<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let world: Option<Rc<World>> = World::find();
        if world.as_ref().is_some_and(|world| world.one_in(8)) {
            let wakers = &world.as_ref().expect("it is there").wakers;
            let waker = cx.waker().clone();
            wakers.borrow_mut().push(waker);
        }
        if world.is_some_and(|world| world.one_in(4)) {
            let waker = hostile(cx.waker(), hear);
            return self.project().0.poll(&mut Context::from_waker(&waker));
        }
        self.project().0.poll(cx)
    }
}
