//! Dropping the future of a script that is not there any more.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use crate::bytes::{dispose, quiet};
use crate::script::cell::Mode;
use crate::script::{ScriptCell, context};

impl ScriptCell {
    /// Drops the future. The effects of its destructors are ignored.
    pub(crate) fn drop_silently(self: &Rc<Self>) {
        self.mode.set(Mode::Silent);
        let future = self.future.take();
        context::within_replay(self, || {
            // A destructor that unwinds is left.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(future))) {
                dispose(payload);
            }
        });
    }

    /// The same for a script that only a trial has made: no panic is printed.
    pub(crate) fn drop_trial(self: &Rc<Self>) {
        if let Err(payload) = quiet::catch(|| self.drop_silently()) {
            dispose(payload);
        }
    }
}
