//! What the state of a chapter takes along: a subscription with the events that it has not read, an
//! interval with its schedule.
//!
//! A state is serialised when its chapter begins. What it takes along notes itself while that
//! happens, and is read back from the bytes, as in a restore: what the live value knew of the chapter
//! before is gone.

use std::rc::Rc;

use crate::bytes::Topic;
use crate::events::carried::{Aside, PutBack, taking};
use crate::events::{Carried, Events, Typed};
use crate::ids::ScriptId;
use crate::script::context;

/// For which script a state is serialised.
#[derive(Clone)]
struct Target {
    events: Rc<Events>,
    /// The script whose next chapter it is. `None` of a new script.
    script: Option<ScriptId>,
    numbers: Numbers,
}

/// Where new subscriptions have their numbers from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    Live,
    /// The state is made in a restore, whose save state has counted them.
    Restored,
    /// It is made in a replay that goes wrong: nothing becomes of it.
    Nothing,
}

thread_local! {
    /// For which script states are made now, if it is not that which is polled.
    static TARGET: Aside<Target> = const { Aside::new() };
    /// The subscriptions in the state that is being read for a replay.
    static READ: Aside<Vec<Typed>> = const { Aside::new() };
}

/// Calls `f`, which makes the state of a new script.
pub(crate) fn for_new<R>(events: &Rc<Events>, f: impl FnOnce() -> R) -> R {
    with_target(
        Target {
            events: Rc::clone(events),
            script: None,
            numbers: Numbers::Live,
        },
        f,
    )
}

/// Calls `f`, which makes the state of a script in a restore.
pub(crate) fn for_restored<R>(events: &Rc<Events>, script: ScriptId, f: impl FnOnce() -> R) -> R {
    with_target(
        Target {
            events: Rc::clone(events),
            script: Some(script),
            numbers: Numbers::Restored,
        },
        f,
    )
}

fn with_target<R>(target: Target, f: impl FnOnce() -> R) -> R {
    let _aside = PutBack::after(&TARGET, target);
    f()
}

/// The script for which a state is made now. `None` outside of a runtime: states of plain coroutines
/// stay as they are.
fn target() -> Option<Target> {
    let target = TARGET.with(|aside| aside.with_mut(|target| Some(target?.clone())));
    if target.is_some() {
        return target;
    }
    let cell = context::current()?;
    let numbers = if cell.is_live() {
        Numbers::Live
    } else {
        Numbers::Nothing
    };
    Some(Target {
        events: Rc::clone(cell.events()),
        script: Some(cell.id),
        numbers,
    })
}

/// Calls `f`, which reads the state of a script, and returns as what the events of its subscriptions
/// are read. The script may not have used them yet.
pub(crate) fn reading<R>(f: impl FnOnce() -> R) -> (R, Vec<Typed>) {
    let aside = PutBack::after(&READ, Vec::new());
    let made = f();
    (made, aside.take().unwrap_or_default())
}

/// Notes in the subscriptions of a state as what it [was read](reading) with them.
pub(crate) fn note_types(carried: &mut [Carried], read: &[Typed]) {
    for it in carried {
        it.read_as = read.iter().find_map(|typed| match typed {
            Typed::Events(number, read_as) if *number == it.number => Some(*read_as),
            _ => None,
        });
    }
}

/// Notes a subscription in the state that is being read.
pub(crate) fn note_read(subscription: Typed) {
    READ.with(|aside| {
        aside.with_mut(|read| {
            if let Some(read) = read {
                read.push(subscription);
            }
        });
    });
}

/// Notes a subscription in the state that is being serialised. `of` is the script that is known to
/// have it, under `number`. Returns the number that it has there; `None` if no state is.
pub(crate) fn note_subscription(
    number: Option<u64>,
    of: Option<ScriptId>,
    topic: &str,
    limit: Option<u64>,
) -> Option<u64> {
    taking(|taking| {
        let taken = taking?;
        let target = target()?;
        taken.is_any = true;
        let holder = || target.script.or_else(|| Some(context::current()?.id));
        let from = number.and_then(|_| of.or_else(holder));
        let number = number.unwrap_or_else(|| target.next_number());
        if taken.subscriptions.iter().all(|it| it.number != number) {
            let topic = Topic::new(topic);
            taken.subscriptions.push(Carried {
                number,
                topic,
                limit,
                from,
                read_as: None,
            });
        }
        Some(number)
    })
}

/// Whether the state that is being serialised stays in the memory of a plain coroutine.
pub(crate) fn is_plain() -> bool {
    taking(|taking| taking.is_some()) && target().is_none()
}

/// Notes a schedule on the clock of its script in the state that is being serialised. Returns `false`
/// if it is the state of another script.
pub(crate) fn note_schedule(has_begun: bool) -> bool {
    taking(|taking| {
        let (Some(taken), Some(target)) = (taking, target()) else {
            return true;
        };
        taken.is_any = true;
        target.script.is_some() || !has_begun
    })
}

impl Target {
    fn next_number(&self) -> u64 {
        match self.numbers {
            Numbers::Live => self.events.next_ticket(),
            Numbers::Restored => {
                let number = self.events.restored_ticket.get() + 1;
                self.events.restored_ticket.set(number);
                number
            }
            Numbers::Nothing => 0,
        }
    }
}
