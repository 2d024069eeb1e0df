//! The waits for the ends of scripts and of owners.

use std::any::Any;
use std::panic::Location;
use std::task::{Context, Poll};

use framestep::durable::{Refused, RuntimeEnd, ended_of};
use framestep::task::Ended;

use crate::bytes::Bytes;
use crate::events::Typed;
use crate::ids::{OwnerId, ScriptId};
use crate::runtime::expect_from_outside;
use crate::script::{Awaited, Join, Numbered, OwnerEnd, ScriptCell, Slot};

/// What ends.
#[derive(Clone, Copy)]
pub(super) enum Of {
    Script(ScriptId),
    Owner(OwnerId),
}

/// The wait for that, for framestep.
pub(super) fn ended(of: Of) -> Ended {
    ended_of(Box::new(AwaitedEnd {
        wait: Numbered::default(),
        of,
    }))
}

struct AwaitedEnd {
    wait: Numbered,
    of: Of,
}

impl RuntimeEnd for AwaitedEnd {
    fn poll(
        &mut self,
        at: &'static Location<'static>,
        cx: &mut Context<'_>,
    ) -> Result<Poll<usize>, Refused> {
        let of = self.of;
        let call = match of {
            Of::Script(_) => "script.ended()",
            Of::Owner(_) => "ended()",
        };
        let cell = self.wait.own_script(call)?;
        let begin = |cell: &ScriptCell| match of {
            Of::Script(script) => begin_end(cell, script),
            Of::Owner(owner) => begin_owner_end(cell, owner, call),
        };
        let awaited = Awaited::at(call, None, at);
        let polled = self.wait.poll_at(&cell, awaited, begin, |_, slot| {
            poll_end(slot, cx, call).map(|()| Bytes::EMPTY)
        });
        if polled.is_pending() {
            self.wait.note(|number| match of {
                Of::Script(script) => Typed::ScriptEnd(number, script),
                Of::Owner(owner) => Typed::OwnerEnd(number, owner),
            });
        }
        Ok(polled.map(|_| 0))
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The state of a wait for the end of a script, or of a request to stop.
pub(super) fn begin_end(cell: &ScriptCell, id: ScriptId) -> Slot {
    // The executor says so, too, with the number of the coroutine. A journal has the message, so that must be the same
    // after each load.
    assert!(
        id != cell.id,
        "the script `{}` ({id}) awaits its own end, which would never come: return from it, or call `stop(current())`",
        cell.name()
    );
    let shared = cell.shared();
    if let Some(owner) = shared.owner_to_stop(id) {
        return begin_owner_end(cell, owner, "stop_within()");
    }
    let coroutine = shared.scripts.get(id).and_then(|it| it.coroutine_id());
    match coroutine.and_then(|coroutine| shared.door.end_of(coroutine)) {
        Some(end) => Slot::Join(Box::new(Join { script: id, end })),
        // It has ended.
        None => Slot::Replayed,
    }
}

fn begin_owner_end(cell: &ScriptCell, owner: OwnerId, call: &'static str) -> Slot {
    expect_from_outside(cell, owner, call);
    OwnerEnd::begin(&cell.shared().owners, owner)
}

pub(super) fn poll_end(slot: &mut Slot, cx: &mut Context<'_>, call: &'static str) -> Poll<()> {
    match slot {
        Slot::Join(join) => join.end.poll(cx, call),
        Slot::OwnerEnd(awaited) => awaited.end.poll(cx, call),
        _ => Poll::Ready(()),
    }
}
