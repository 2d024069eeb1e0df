//! A coroutine, which reads what it does from the input.

use std::cell::Cell;
use std::future::pending;
use std::panic::resume_unwind;
use std::rc::Rc;

use crate::acts;
use crate::waits;
use crate::world::{Status, World};

/// Destructors nested deeper than this do nothing: an executor lets go of
/// futures whose destructors begin others without end.
const MOST_DROPS: u32 = 30;

/// What a panic is raised with that the input asks for. It is raised without the
/// panic hook, which ends a fuzzer.
pub(crate) struct Injected;

/// Lives as long as the future of a coroutine.
struct Life {
    world: Rc<World>,
    status: Rc<Status>,
}

impl Drop for Life {
    fn drop(&mut self) {
        let world = &self.world;
        world.ended(&self.status);
        if world.drops.get() == MOST_DROPS {
            return;
        }
        world.drops.set(world.drops.get() + 1);
        let _leave = Leave(&world.drops);
        match world.byte().unwrap_or(u8::MAX) {
            0..=40 => acts::act(world, false, false),
            41..=50 if !std::thread::panicking() => resume_unwind(Box::new(Injected)),
            _ => {}
        }
    }
}

struct Leave<'a>(&'a Cell<u32>);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// `clocked`: it counts on a clock of its own.
pub(crate) fn script(world: &Rc<World>, clocked: bool) -> impl Future<Output = u64> + use<> {
    let life = Life {
        world: world.clone(),
        status: world.came_to_life(),
    };
    async move {
        let (world, status) = (&life.world, &life.status);
        let mut turns = 0;
        loop {
            turns += 1;
            match world.byte() {
                None => pending().await,
                Some(0..=12) => return turns,
                Some(13..=20) => resume_unwind(Box::new(Injected)),
                Some(21..=120) => acts::act(world, true, clocked),
                Some(121..=180) => waits::plain(world, status, clocked).await,
                Some(_) => waits::any(world, clocked, 0).await,
            }
        }
    }
}
