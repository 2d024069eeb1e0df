//! Permits of scripts, and the wait for some.

use std::fmt;
use std::panic::Location;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use framestep::durable::{Event, Refused, RuntimeAcquire, RuntimePermit};

use crate::bytes::{Bytes, SourceTopic};
use crate::script::aligned::Hold;
use crate::script::{Awaited, Numbered, ScriptCell, Slot, counts};

/// Permits that a script has. Dropping this returns them.
pub(super) struct HeldPermit {
    base: &'static str,
    cell: Weak<ScriptCell>,
    number: u64,
}

impl HeldPermit {
    pub(super) fn new(base: &'static str, cell: Weak<ScriptCell>, number: u64) -> Self {
        HeldPermit { base, cell, number }
    }
}

impl Drop for HeldPermit {
    fn drop(&mut self) {
        if let Some(cell) = counts(&self.cell, Hold::Permit(self.number)) {
            cell.events().return_permit((cell.id, self.number));
        }
    }
}

impl fmt::Debug for HeldPermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("of", &self.base)
            .finish_non_exhaustive()
    }
}

/// The wait of a script for permits.
pub(super) struct Acquires {
    numbered: Numbered,
    name: SourceTopic,
    declared: u64,
    wanted: u64,
}

impl Acquires {
    pub(super) fn new(name: SourceTopic, declared: u64, wanted: u64) -> Self {
        Acquires {
            numbered: Numbered::giving(),
            name,
            declared,
            wanted,
        }
    }
}

impl RuntimeAcquire for Acquires {
    fn poll(
        &mut self,
        at: &'static Location<'static>,
        _: &mut Context<'_>,
    ) -> Result<Poll<RuntimePermit>, Refused> {
        let kind = "permits.acquire()";
        let cell = self.numbered.own_script(kind)?;
        let (base, name) = (self.name.base, self.name.full());
        let (declared, wanted) = (self.declared, self.wanted);
        let begin = |cell: &ScriptCell| {
            let events = cell.events();
            let taken = events.take_permits(cell.id, name, declared, wanted);
            Slot::Permit(Box::new(match taken {
                // It is ready at once.
                Some(permit) => events.granted(cell.id, name, wanted, permit),
                None => events.await_permits(cell.latest_wait(), name, declared, wanted),
            }))
        };
        let awaited = Awaited::at(kind, Some(Event::Permit(base)), at);
        let polled = self
            .numbered
            .poll_at(&cell, awaited, begin, |_, slot| match slot {
                Slot::Permit(wait) => match wait.granted.take() {
                    Some(permit) => Poll::Ready(Bytes::of(&permit)),
                    None => Poll::Pending,
                },
                _ => Poll::Pending,
            });
        Ok(polled.map(|permit| -> RuntimePermit {
            let number = permit.read().unwrap_or(0);
            Box::new(HeldPermit::new(base, Rc::downgrade(&cell), number))
        }))
    }
}
