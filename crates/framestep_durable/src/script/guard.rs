//! Guards that hold or scale a clock.

use std::any::Any;
use std::panic::Location;
use std::rc::{Rc, Weak};

use framestep::time::{Clock, ClockGuard};

use crate::bytes::Bytes;
use crate::journal::Call;
use crate::script::aligned::Hold;
use crate::script::shared::guards::Guard;
use crate::script::{ScriptCell, Shared, context, expect_read};

/// What is in the guard of a script: its number. The drop ends the guard, unless its script is dropped because of a restore
/// or a rollback. Then the clock does not notice.
struct Taken {
    number: u64,
    script: Weak<ScriptCell>,
    shared: Weak<Shared>,
    /// How many restores and rollbacks there had been.
    restores: u32,
}

impl ScriptCell {
    /// Takes a guard of a clock, or finds the one that was taken.
    pub(super) fn take_guard(
        &self,
        call: &'static str,
        at: &'static Location<'static>,
        clock: &Clock,
        take: &mut dyn FnMut() -> ClockGuard,
    ) -> Box<dyn Any> {
        self.expect_outside_of_closures(call, at);
        let shared = self.shared();
        let Some(of) = shared.clocks.id_of(clock) else {
            panic!(
                "`{call}` at {at} got a clock that the runtime of the script `{}` does not have: make it with \
                 `ClockId::child`",
                self.name()
            )
        };
        let number = self.effect(Call::at(call, "", at), || {
            Bytes::of(&shared.guards.add(Guard {
                script: self.id,
                clock: of,
                held: take(),
            }))
        });
        // In a destructor of a script that is dropped silently, there is none.
        match number {
            Some(number) => Box::new(Taken {
                number: expect_read(&number),
                script: context::current().map_or_else(Weak::new, |cell| Rc::downgrade(&cell)),
                shared: Rc::downgrade(shared),
                restores: shared.handles.restores.get(),
            }),
            None => Box::new(()),
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        let counts = match self.script.upgrade() {
            Some(script) if !script.has_effects() => {
                script.note_dropped(Hold::Guard(self.number));
                false
            }
            Some(script) if shared.scripts.is_known(&script) => true,
            // It has left its script. After a restore, it stands for no guard.
            _ => self.restores == shared.handles.restores.get(),
        };
        if counts {
            shared.guards.end(self.number);
        }
    }
}
