//! Everything that can be awaited, and ends once all events are sent.

use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{LocalBoxFuture, join, select};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use framestep::prelude::*;

use crate::proofs::chaos::waits::{Quiet, quiet};
use crate::support::{swallow, yield_now};

use super::operations::{act, maybe_panic};
use super::script::Kind;
use super::world::{Mood, World};

pub(super) type Wait = LocalBoxFuture<'static, ()>;

/// A length of a few frames, or zero.
fn length(world: &World) -> f64 {
    f64::from(u32::try_from(world.below(7)).expect("small")) / 16.0
}

/// A condition that holds sometimes, and always once all pauses are lifted.
fn condition() -> bool {
    act(4);
    maybe_panic(40);
    World::find().is_none_or(|world| world.lifted.get() || world.one_in(3))
}

/// A wait of the crate.
pub(super) fn own_wait(world: &World, seat: usize) -> Wait {
    let (phase, seconds) = (world.phase(), length(world));
    let kind = world.below(16);
    world.say(format!("own {kind} of {seconds}s in {phase}"));
    match kind {
        0 => next_frame().boxed_local(),
        1 => next_frame().in_phase(phase).boxed_local(),
        2 => wait_frames(world.below(4)).in_phase(phase).boxed_local(),
        3 => wait_steps(world.below(4)).boxed_local(),
        4 => in_phase(phase).boxed_local(),
        5 => wait_seconds(seconds).boxed_local(),
        6 => wait_seconds(seconds).in_phase(phase).boxed_local(),
        7 => wait_seconds_realtime(seconds).in_phase(phase).boxed_local(),
        8 | 9 => {
            let clock = world.clock(seat);
            let wait = async move { clock.wait_seconds(seconds).in_phase(phase).await };
            wait.boxed_local()
        }
        10 => wait_until(condition).in_phase(phase).boxed_local(),
        11 => wait_while(|| !condition()).boxed_local(),
        12 => animate(seconds, |_| act(8)).in_phase(phase).boxed_local(),
        13 => {
            let tick = async move { _ = interval(0.0625).in_phase(phase).tick().await };
            tick.boxed_local()
        }
        14 => async { _ = frames().next().await }.boxed_local(),
        _ => {
            let budget = world.budget.clone();
            async move { budget.checkpoint().await }.boxed_local()
        }
    }
}

/// A wait for something that another script or the host does.
fn foreign(world: &Rc<World>, kind: Kind) -> Wait {
    let (signal, value) = (world.signal.clone(), world.value.clone());
    let which = world.below(11);
    world.say(format!("foreign {which}"));
    match which {
        0 => async move { _ = signal.wait().await }.boxed_local(),
        1 => {
            let lifted = |&event: &u64| event == 0;
            async move { _ = signal.wait_for(lifted).await }.boxed_local()
        }
        2 => {
            let mut events = signal.subscribe();
            async move { _ = events.next().await }.boxed_local()
        }
        3 => async move { value.changed().await }.map(drop).boxed_local(),
        4 => async move { value.wait_for(|&value| value > 2).await }
            .map(drop)
            .boxed_local(),
        5 => {
            let mut changes = value.subscribe();
            async move { _ = changes.next().await }.boxed_local()
        }
        6 => {
            let (letter, arrival) = oneshot::channel();
            world.letters.borrow_mut().push(letter);
            arrival.map(drop).boxed_local()
        }
        7 | 8 if kind == Kind::Any => match world.take(&world.leaves) {
            Some(leaf) => leaf.map(drop).boxed_local(),
            None => yield_now().boxed_local(),
        },
        9 if kind == Kind::Any => match world.take(&world.ends) {
            Some(end) => end.map(drop).boxed_local(),
            None => yield_now().boxed_local(),
        },
        _ => yield_now().boxed_local(),
    }
}

/// Waits in a random way, in a script of the executor of that number.
pub(super) fn any_wait(world: &Rc<World>, seat: usize, kind: Kind) -> Wait {
    if world.one_in(8) {
        // Only the waits of the crate resume a script without their waker.
        world.say("without wakers");
        let waits = join(own_wait(world, seat), own_wait(world, seat));
        return swallow(waits).map(drop).boxed_local();
    }
    wait(world, seat, kind, 2)
}

fn wait(world: &Rc<World>, seat: usize, kind: Kind, depth: u32) -> Wait {
    if depth == 0 || world.one_in(3) {
        if world.mood != Mood::Plain && world.one_in(2) {
            let shared = world.look_at(&world.seats[seat].shared);
            if let Some(shared) = shared {
                return shared.wait(world);
            }
        }
        return if world.one_in(3) {
            foreign(world, kind)
        } else {
            own_wait(world, seat)
        };
    }
    let inner = || quiet(wait(world, seat, kind, depth - 1));
    let several = world.below(8);
    world.say(format!("several {several} of"));
    match several {
        0 | 1 => select(inner(), inner()).map(drop).boxed_local(),
        2 | 3 => join(inner(), inner()).map(drop).boxed_local(),
        4 => {
            let few = (0..=world.below(3)).map(|_| inner());
            let waits: FuturesUnordered<Quiet> = few.collect();
            waits.for_each(|()| async { act(4) }).boxed_local()
        }
        5 => timeout(length(world), inner()).map(drop).boxed_local(),
        6 => join_all([inner(), inner(), inner()])
            .map(drop)
            .boxed_local(),
        _ => join(inner(), quiet(wait(world, seat, kind, 0)))
            .map(drop)
            .boxed_local(),
    }
}
