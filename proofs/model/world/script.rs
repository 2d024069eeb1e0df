//! A coroutine of a program.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use futures::FutureExt;

use super::World;
use crate::program::Op;
use crate::system::{self, System};
use crate::trace::{What, Who};
use framestep_testkit::poll_once;

/// One coroutine, and what its destructor needs.
pub(super) struct Me<S: System> {
    pub(super) world: Rc<World<S>>,
    /// The number of its executor.
    pub(super) seat: usize,
    pub(super) number: usize,
    pub(super) script: usize,
    /// How many waits it has left to others.
    pub(super) left: Cell<usize>,
    /// The permits that it has taken.
    pub(super) permits: Rc<RefCell<Vec<Box<dyn Any>>>>,
    accepted: Rc<Cell<bool>>,
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
    ) -> (Rc<Cell<bool>>, system::Script) {
        let accepted = Rc::new(Cell::new(false));
        let me = Me {
            world,
            seat,
            number,
            script,
            left: Cell::new(0),
            permits: Rc::default(),
            accepted: accepted.clone(),
            ending: false,
        };
        let seen = me.world.clone();
        let perform = async move {
            let mut perform = pin!(me.perform());
            poll_fn(|cx| {
                seen.log(seat, Who::Coroutine(number), What::Polled);
                perform.as_mut().poll(cx)
            })
            .await
        };
        (accepted, perform.boxed_local())
    }

    pub(super) fn who(&self) -> Who {
        Who::Coroutine(self.number)
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
                    let got = self.world.wait(&self, wait).await;
                    self.log(What::Resumes(got, self.elapsed()));
                }
                Op::Leave(wait) => {
                    let mut wait = self.world.wait(&self, wait);
                    if poll_once(&mut wait).await.is_pending() {
                        self.world.leave(&self, wait);
                    }
                }
            }
        }
        self.log(What::Returns);
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
