//! A script of a program.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use framestep::prelude::*;

use super::World;
use crate::program::Op;

/// One script, and what its destructor needs.
pub(super) struct Me {
    pub(super) world: Rc<World>,
    pub(super) number: usize,
    pub(super) script: usize,
    /// The clock of its owner.
    pub(super) clock: Clock,
    pub(super) permits: Rc<RefCell<Vec<Permit>>>,
    /// It has begun, and its destructor does not run yet.
    pub(super) polled: Cell<bool>,
    pub(super) panicked: Cell<bool>,
}

impl Me {
    pub(super) fn is_polled(&self) -> bool {
        self.polled.get()
    }

    fn log(&self, what: impl Into<String>) {
        self.world.log(Some(self), what);
    }

    pub(super) async fn perform(self) -> usize {
        self.polled.set(true);
        self.log("begins");
        let program = self.world.program.clone();
        let script = &program.scripts[self.script];
        for op in (0..script.turns).flat_map(|_| &script.body) {
            match op {
                Op::Act(act) => self.world.act(Some(&self), act),
                Op::Return => break,
                Op::Wait(wait) => {
                    let got = self.world.wait(&self, &self.clock, wait).await;
                    self.log(got);
                }
            }
        }
        self.log("returns");
        self.number
    }
}

impl Drop for Me {
    fn drop(&mut self) {
        if self.world.over.get() {
            return;
        }
        self.polled.set(false);
        self.log("is dropped");
        let program = self.world.program.clone();
        for act in &program.scripts[self.script].on_drop {
            self.world.act(Some(self), act);
        }
    }
}
