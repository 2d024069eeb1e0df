//! What the state of a chapter takes along: a subscription with the events that it has not read, an
//! interval with its schedule.
//!
//! A state is serialised when its chapter begins. What it takes along notes itself while that
//! happens, and is read back from the bytes, as in a restore: what the live value knew of the chapter
//! before is gone.

use std::cell::RefCell;
use std::rc::Rc;

use crate::bytes::Bytes;
use crate::context;
use crate::ids::ScriptId;
use crate::shared::Shared;
use crate::topic::Topic;
use crate::typed::{ReadAs, Typed};

/// A subscription in a state.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    /// The number that it has in its script.
    pub(crate) number: u64,
    pub(crate) topic: Topic,
    /// The most events that it stores. `None`: as many as the runtime says.
    pub(crate) limit: Option<u64>,
    /// The script that has had it. `None` if it begins with this state.
    pub(crate) from: Option<ScriptId>,
    /// As what other code than that which has stored its events reads them.
    pub(crate) read_as: Option<ReadAs>,
}

/// What a state has noted while it was serialised.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) subscriptions: Vec<Carried>,
    /// Whether it must be read back.
    pub(crate) is_any: bool,
}

/// For which script a state is serialised.
#[derive(Clone)]
struct Target {
    shared: Rc<Shared>,
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
    static TARGET: RefCell<Option<Target>> = const { RefCell::new(None) };
    /// The state that is being serialised.
    static TAKING: RefCell<Option<Taken>> = const { RefCell::new(None) };
    /// The subscriptions in the state that is being read for a replay.
    static READ: RefCell<Option<Vec<Typed>>> = const { RefCell::new(None) };
}

/// Puts back what was there before, even if user code panics.
struct PutBack<T: 'static>(
    &'static std::thread::LocalKey<RefCell<Option<T>>>,
    Option<T>,
);

impl<T> Drop for PutBack<T> {
    fn drop(&mut self) {
        let before = self.1.take();
        drop(self.0.replace(before));
    }
}

/// Calls `f`, which makes the state of a new script.
pub(crate) fn for_new<R>(shared: &Rc<Shared>, f: impl FnOnce() -> R) -> R {
    with_target(
        Target {
            shared: Rc::clone(shared),
            script: None,
            numbers: Numbers::Live,
        },
        f,
    )
}

/// Calls `f`, which makes the state of a script in a restore.
pub(crate) fn for_restored<R>(shared: &Rc<Shared>, script: ScriptId, f: impl FnOnce() -> R) -> R {
    with_target(
        Target {
            shared: Rc::clone(shared),
            script: Some(script),
            numbers: Numbers::Restored,
        },
        f,
    )
}

fn with_target<R>(target: Target, f: impl FnOnce() -> R) -> R {
    let _put_back = PutBack(&TARGET, TARGET.replace(Some(target)));
    f()
}

/// The script for which a state is made now. `None` outside of a runtime: states of plain coroutines
/// stay as they are.
fn target() -> Option<Target> {
    if let Some(target) = TARGET.with_borrow(Clone::clone) {
        return Some(target);
    }
    let cell = context::current()?;
    let numbers = if cell.is_live() {
        Numbers::Live
    } else {
        Numbers::Nothing
    };
    Some(Target {
        shared: Rc::clone(cell.shared()),
        script: Some(cell.id),
        numbers,
    })
}

/// Calls `f`, which serialises a state, and returns what that takes along.
pub(crate) fn take(f: &mut dyn FnMut() -> Bytes) -> (Bytes, Taken) {
    let put_back = PutBack(&TAKING, TAKING.replace(Some(Taken::default())));
    let state = f();
    let taken = TAKING.take().unwrap_or_default();
    drop(put_back);
    (state, taken)
}

/// Calls `f`, which reads the state of a script, and returns as what the events of its subscriptions
/// are read. The script may not have used them yet.
pub(crate) fn reading<R>(f: impl FnOnce() -> R) -> (R, Vec<Typed>) {
    let put_back = PutBack(&READ, READ.replace(Some(Vec::new())));
    let made = f();
    let read = READ.take().unwrap_or_default();
    drop(put_back);
    (made, read)
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
    READ.with_borrow_mut(|read| {
        if let Some(read) = read {
            read.push(subscription);
        }
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
    TAKING.with_borrow_mut(|taking| {
        let taken = taking.as_mut()?;
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

/// Notes a schedule on the clock of its script in the state that is being serialised. Returns `false`
/// if it is the state of another script.
pub(crate) fn note_schedule(has_begun: bool) -> bool {
    TAKING.with_borrow_mut(|taking| {
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
            Numbers::Live => self.shared.next_ticket(),
            Numbers::Restored => {
                let number = self.shared.events.restored_ticket.get() + 1;
                self.shared.events.restored_ticket.set(number);
                number
            }
            Numbers::Nothing => 0,
        }
    }
}

/// What is known of the subscriptions of a state that other code has read since: those that this code
/// has in its state.
pub(crate) fn as_known(of_state: Vec<Carried>, before: &[Carried]) -> Vec<Carried> {
    let known = |it: Carried| {
        let mut before = before.iter();
        let known = before.find(|before| before.number == it.number);
        known.cloned().unwrap_or(it)
    };
    of_state.into_iter().map(known).collect()
}
