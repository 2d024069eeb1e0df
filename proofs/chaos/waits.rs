//! Everything that can be awaited, alone and combined.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::future::{LocalBoxFuture, select};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use framestep::prelude::*;

use framestep_testkit::combinators::{COMBINATORS, Of};
use framestep_testkit::waits::{Boxed, Length, Row, WAITS};
use framestep_testkit::watched::Token;
use framestep_testkit::yield_now;

use super::grenade::{Grenade, maybe_panic, survive};
use super::operations::{Site, occasionally};
use super::world::World;

pub(super) type Wait = LocalBoxFuture<'static, ()>;

/// A length of a few frames, or zero.
fn length(world: &World) -> f64 {
    f64::from(u32::try_from(world.below(6)).expect("small")) / 16.0
}

/// A wait of the table.
fn simple(world: &Rc<World>, slot: usize) -> Wait {
    // Those that call conditions and animations come more often.
    let asks = world.one_in(5);
    let rows: Vec<&Row> = WAITS.iter().filter(|row| row.asks || !asks).collect();
    let row = rows[world.index(rows.len())];
    let Some(mut given) = world.slots[slot].given.borrow().clone() else {
        return yield_now().boxed_local();
    };
    given.phase = Some(world.phase()).filter(|_| !world.one_in(6));
    given.count = world.below(4);
    let shortest = if row.is_period { 1.0 / 16.0 } else { 0.0 };
    given.length = Length::Seconds(length(world).max(shortest));
    // Rarely, it is that of another executor.
    let clock = world.clock(if world.one_in(20) { world.slot() } else { slot });
    given.clock = clock.unwrap_or(given.clock);
    let held = Grenade::new(Site::Condition);
    given.condition = Rc::new(move || {
        held.check();
        occasionally(2, Site::Condition);
        maybe_panic(30);
        World::find().is_none_or(|world| world.one_in(3))
    });
    given.apply = Rc::new(|_| {
        occasionally(4, Site::Condition);
        maybe_panic(30);
    });
    given.accepts = |number| number > 1;
    let wait = Known {
        wait: row.make(&given),
        _token: Token::new("a wait"),
    };
    // The last use of a condition that this wait does not call. If it were dropped at
    // the end, and panicked, Rust would leak the wait that is returned.
    drop(given);
    wait.boxed_local()
}

/// A wait that is reported unless it is dropped.
struct Known {
    wait: Boxed,
    _token: Token,
}

impl Future for Known {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wait.poll_unpin(cx)
    }
}

/// A wait for something that another coroutine does.
fn foreign(world: &Rc<World>) -> Wait {
    match world.below(8) {
        0 => match world.take(&world.coroutines) {
            Some(known) => known.coroutine.map(drop).boxed_local(),
            None => yield_now().boxed_local(),
        },
        1 => match world.take(&world.finished) {
            Some(finished) => finished.map(drop).boxed_local(),
            None => yield_now().boxed_local(),
        },
        2 => {
            let mut events = world.signal.subscribe();
            async move { drop(events.next().await) }.boxed_local()
        }
        3 => {
            let signal = world.signal.clone();
            async move { drop(signal.wait().await) }.boxed_local()
        }
        4 => {
            // It has an intrusive list of the waiting futures. It clones wakers
            // while it holds a lock, so it gets a waker with plain clones.
            let notify = world.notify.clone();
            async move {
                let mut notified = pin!(notify.notified());
                poll_fn(|cx| {
                    let waker = cx.waker().clone();
                    let tame = waker_fn::waker_fn(move || waker.wake_by_ref());
                    notified.as_mut().poll(&mut Context::from_waker(&tame))
                })
                .await;
            }
            .boxed_local()
        }
        5 => {
            let budget = world.budget.clone();
            async move { budget.checkpoint().await }.boxed_local()
        }
        6 => stop_requested().boxed_local(),
        _ => yield_now().boxed_local(),
    }
}

/// A wait with a destructor that does not panic: `FuturesUnordered` would
/// abort, and `select` would leak the wait that it returns.
pub(super) struct Quiet(Option<Wait>);

pub(super) fn quiet(wait: Wait) -> Quiet {
    Quiet(Some(wait))
}

impl Future for Quiet {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let wait = self.0.as_mut().expect("not dropped");
        wait.as_mut().poll(cx)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let wait = self.0.take();
        survive(|| drop(wait));
    }
}

fn handles(world: &Rc<World>) -> Vec<Coroutine<Grenade>> {
    let taken = (0..world.below(4)).filter_map(|_| world.take(&world.coroutines));
    taken.map(|known| known.coroutine).collect()
}

/// Waits in a random way, in a coroutine of the executor in `slot`.
pub(super) fn wait(world: &Rc<World>, slot: usize, depth: u32) -> Wait {
    if depth == 0 || world.one_in(2) {
        return if world.one_in(3) {
            foreign(world)
        } else {
            simple(world, slot)
        };
    }
    let inner = || wait(world, slot, depth - 1);
    match world.below(8) {
        0 => select(quiet(inner()), quiet(inner()))
            .map(drop)
            .boxed_local(),
        1 => futures::future::join(inner(), inner())
            .map(drop)
            .boxed_local(),
        2 => {
            let few = (0..world.below(5)).map(|_| quiet(inner()));
            let waits: FuturesUnordered<Quiet> = few.collect();
            waits
                .for_each(|()| async { occasionally(3, Site::Poll) })
                .boxed_local()
        }
        3 => {
            // Enough to be polled one by one.
            let few = (0..world.below(4)).map(|_| inner());
            let many = (0..31).map(|_| next_frame().map(drop).boxed_local());
            let waits: Vec<_> = few.chain(many).map(quiet).collect();
            futures::future::join_all(waits).map(drop).boxed_local()
        }
        4 => timeout(length(world), inner()).map(drop).boxed_local(),
        5 => {
            let handles = handles(world);
            if handles.is_empty() {
                return inner();
            }
            if world.one_in(2) {
                join_all(handles).map(drop).boxed_local()
            } else {
                race(handles).map(drop).boxed_local()
            }
        }
        6 => {
            let combinator = &COMBINATORS[world.index(COMBINATORS.len())];
            let inner = || quiet(inner()).boxed_local();
            match combinator.of {
                Of::All(two) | Of::First(two) => two(inner(), inner()),
                Of::One(one) => one(inner()),
            }
        }
        _ => {
            let inner = inner();
            async move {
                let _held = Grenade::new(Site::Drop);
                let mut ticks = interval(0.0625);
                select(quiet(inner), ticks.next()).await;
            }
            .boxed_local()
        }
    }
}
