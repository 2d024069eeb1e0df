//! Everything that can be awaited, and ends once all events are sent.

use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{LocalBoxFuture, join, select};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use framestep::prelude::*;

use crate::waits::{Quiet, quiet};
use framestep_testkit::waits::{Length, Row, Rule, WAITS};
use framestep_testkit::{swallow, yield_now};

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

/// One of these waits of the table.
fn any_of(world: &World, seat: usize, rows: impl Fn(&Row) -> bool) -> Wait {
    let rows: Vec<&Row> = WAITS.iter().filter(|row| rows(row)).collect();
    let row = rows[world.place(rows.len()).expect("there are some")];
    let mut given = world.seats[seat].given.clone();
    given.phase = Some(world.phase()).filter(|_| !world.one_in(4));
    given.count = world.below(4);
    let shortest = if row.is_period { 1.0 / 16.0 } else { 0.0 };
    let seconds = length(world).max(shortest);
    given.length = Length::Seconds(seconds);
    given.clock = world.clock(seat);
    given.condition = Rc::new(condition);
    given.apply = Rc::new(|_| act(8));
    // What is sent when all pauses are lifted, and some of what is sent before.
    given.accepts = |number| number == 0 || number > 2;
    let (count, phase) = (given.count, given.phase);
    world.say(format!(
        "{} of {}, of {count} or {seconds}s in {phase:?}",
        row.call, row.of
    ));
    row.make(&given).boxed_local()
}

/// A wait that resumes its script by itself.
pub(super) fn own_wait(world: &World, seat: usize) -> Wait {
    any_of(world, seat, |row| row.rule.is_of_the_contract())
}

/// A wait for something that another script or the host does.
fn foreign(world: &Rc<World>, seat: usize, kind: Kind) -> Wait {
    let which = world.below(12);
    world.say(format!("foreign {which}"));
    match which {
        0..=6 => any_of(world, seat, |row| row.rule == Rule::Event),
        7 => {
            let (letter, arrival) = oneshot::channel();
            world.letters.borrow_mut().push(letter);
            arrival.map(drop).boxed_local()
        }
        8 if kind == Kind::Any => match world.take(&world.leaves) {
            Some(leaf) => leaf.map(drop).boxed_local(),
            None => yield_now().boxed_local(),
        },
        9 if kind == Kind::Any => match world.take(&world.ends) {
            Some(end) => end.map(drop).boxed_local(),
            None => yield_now().boxed_local(),
        },
        // Most scripts are never asked.
        10 => select(stop_requested(), own_wait(world, seat))
            .map(drop)
            .boxed_local(),
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
            foreign(world, seat, kind)
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
