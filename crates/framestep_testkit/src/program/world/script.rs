//! A coroutine of a program.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use futures::FutureExt;

use super::World;
use crate::poll_once;
use crate::program::language::Op;
use crate::program::system::{Scripted, System};
use crate::program::trace::{What, Who};

/// One coroutine, and what its destructor needs.
pub(super) struct Me<S: System> {
    pub(super) world: Rc<World<S>>,
    /// The number of its executor.
    pub(super) seat: usize,
    pub(super) number: usize,
    pub(super) script: usize,
    /// The clock of its owner.
    pub(super) clock: S::Clock,
    /// How many waits it has left to others.
    pub(super) left: Cell<usize>,
    /// The permits that it has taken.
    pub(super) permits: Rc<RefCell<Vec<Box<dyn Any>>>>,
    accepted: Rc<Cell<bool>>,
    /// Its script is being polled. Still so in its destructor: the script unwinds.
    polled: Rc<Cell<bool>>,
    /// Its destructor is running.
    pub(super) ending: bool,
}

impl<S: System> Me<S> {
    /// The future of a coroutine. The flag is set once an executor owns it.
    pub(super) fn coroutine(
        world: Rc<World<S>>,
        seat: usize,
        number: usize,
        script: usize,
        clock: S::Clock,
    ) -> (Rc<Cell<bool>>, Scripted) {
        let (accepted, polled) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(false)));
        let me = Me {
            world,
            seat,
            number,
            script,
            clock,
            left: Cell::new(0),
            permits: Rc::default(),
            accepted: accepted.clone(),
            polled: polled.clone(),
            ending: false,
        };
        let seen = me.world.clone();
        let perform = async move {
            let mut perform = pin!(me.perform());
            poll_fn(|cx| {
                seen.log(seat, Who::Coroutine(number), What::Polled);
                polled.set(true);
                let done = perform.as_mut().poll(cx);
                polled.set(false);
                done
            })
            .await
        };
        (accepted, perform.boxed_local())
    }

    pub(super) fn who(&self) -> Who {
        Who::Coroutine(self.number)
    }

    /// Whether it may panic: not in the destructor of a script that unwinds.
    pub(super) fn may_panic(&self) -> bool {
        !(self.ending && self.polled.get())
    }

    fn log(&self, what: What) {
        self.world.log(self.seat, self.who(), what);
    }

    fn elapsed(&self) -> u64 {
        self.world.seats[self.seat].system.elapsed()
    }

    async fn perform(self) -> usize {
        self.accepted.set(true);
        self.log(What::Begins(self.elapsed()));
        let program = self.world.program.clone();
        let script = &program.scripts[self.script];
        for op in (0..script.turns).flat_map(|_| &script.body) {
            match op {
                Op::Act(act) => self.world.act(Some(&self), self.seat, true, act),
                Op::Return => break,
                Op::Await(wait) => {
                    let got = self.world.wait(&self, &self.clock, wait).await;
                    self.log(What::Resumes(got, self.elapsed()));
                }
                Op::Leave(wait) => {
                    let mut wait = self.world.wait(&self, &self.clock, wait);
                    if poll_once(&mut wait).await.is_pending() {
                        self.world.leave(&self, wait);
                    }
                }
            }
        }
        self.log(What::Returns);
        self.polled.set(false);
        self.number
    }
}

impl<S: System> Drop for Me<S> {
    fn drop(&mut self) {
        if self.world.over.get() {
            return;
        }
        if !self.accepted.get() {
            self.log(What::Refused);
            return;
        }
        self.log(What::Dropped);
        self.ending = true;
        let program = self.world.program.clone();
        // Of two executors, the free functions find the one that stops.
        let inside = self.world.seats.len() == 1;
        for act in &program.scripts[self.script].on_drop {
            self.world.act(Some(self), self.seat, inside, act);
        }
    }
}
