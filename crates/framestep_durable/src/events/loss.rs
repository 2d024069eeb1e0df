//! What is lost, because a buffer is full or a script has not read it: each loss is reported.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use framestep::durable::{Door, Hook, to_stderr};

use crate::ids::ScriptId;

/// Something that came for a script and that the script does not receive, or a buffer that grows until
/// it does. For [`on_loss`](crate::RuntimeHandle::on_loss).
///
/// [`Display`](fmt::Display) names the script, what is lost, and how to keep it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// A [subscription](crate::Subscription) was at its limit, so a new event has replaced the oldest
    /// one. Reported when it has missed 1, 10, 100, .. events.
    Missed {
        /// The script.
        script: ScriptId,
        /// Its name.
        name: &'static str,
        /// The signal, with its key.
        signal: String,
        /// The most events that the subscription stores.
        limit: u64,
        /// How many events it has missed by now.
        missed: u64,
    },
    /// A chapter has ended with [`Chapter::Next`](crate::Chapter::Next), and events that it had not
    /// read ended with its subscription.
    Unread {
        /// The script.
        script: ScriptId,
        /// Its name.
        name: &'static str,
        /// The signal, with its key.
        signal: String,
        /// How many events.
        events: u64,
    },
    /// A script that does not fit its save has restarted its chapter, in code that reads the events of a
    /// subscription in its state as another type than they are: those that it had not read are dropped.
    Unreadable {
        /// The script.
        script: ScriptId,
        /// Its name.
        name: &'static str,
        /// The signal, with its key.
        signal: String,
        /// How many events.
        events: u64,
    },
    /// An event of [`emit_one`](crate::Signal::emit_one) was given to a script that has not taken it,
    /// and no other one waits for it.
    NotTaken {
        /// The signal, with its key.
        signal: String,
    },
    /// The host has answered a question, and the script has dropped its [`ask`](crate::ask) before it
    /// read the answer.
    AnswerUnread {
        /// The script.
        script: ScriptId,
        /// Its name.
        name: &'static str,
        /// The name of the request.
        request: String,
    },
    /// A [promise](crate::promise) was resolved, and the script has dropped it before it read the
    /// value.
    PromiseUnread {
        /// The script.
        script: ScriptId,
        /// Its name.
        name: &'static str,
        /// The name of the promise.
        promise: String,
    },
    /// Questions were withdrawn, and the host does not ask which: of more than 1,024, only the latest
    /// are kept. Reported at 1, 10, 100, .. that are not.
    WithdrawnForgotten {
        /// The name of the request that was forgotten last.
        request: String,
        /// How many were forgotten by now.
        forgotten: u64,
    },
    /// Nothing is lost, but a [`wait_for`](crate::Signal::wait_for) keeps many events, because its
    /// script is not polled: it is paused, or its phase is not run. Reported at 1,000, 10,000, ..
    /// events.
    Waiting {
        /// The script.
        script: ScriptId,
        /// Its name.
        name: &'static str,
        /// The signal, with its key.
        signal: String,
        /// How many events.
        events: u64,
    },
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Missed {
                script,
                name,
                signal,
                limit,
                missed,
            } => write!(
                f,
                "the script `{name}` ({script}) has missed {missed} events of the signal `{signal}`: its \
                 subscription stores {limit}. Read it more often, or set the limit with \
                 `signal_with_limit` or, for all signals, `max_events` of the runtime's builder"
            ),
            Loss::Unread {
                script,
                name,
                signal,
                events,
            } => write!(
                f,
                "the script `{name}` ({script}) has begun another chapter before it had read {events} \
                 events of the signal `{signal}`, which are gone with its subscription. Hand the \
                 subscription over: make it a parameter of the chapter"
            ),
            Loss::Unreadable {
                script,
                name,
                signal,
                events,
            } => write!(
                f,
                "the script `{name}` ({script}) restarts in code that reads the signal `{signal}` as \
                 another type, so {events} events that it had not read are dropped. Give a signal of \
                 another type another name"
            ),
            Loss::NotTaken { signal } => write!(
                f,
                "an event that `emit_one` had given to a script that waited for the signal `{signal}` \
                 was taken by none: the script has ended, has dropped its wait, or has refused it. Let \
                 the script emit it again before it drops the wait"
            ),
            Loss::AnswerUnread {
                script,
                name,
                request,
            } => write!(
                f,
                "the script `{name}` ({script}) has dropped its question `{request}` before it read the \
                 answer: in a `select!`, put the `ask` first"
            ),
            Loss::PromiseUnread {
                script,
                name,
                promise,
            } => write!(
                f,
                "the script `{name}` ({script}) has dropped the promise `{promise}` before it read the \
                 value: in a `select!`, put it first"
            ),
            Loss::WithdrawnForgotten { request, forgotten } => write!(
                f,
                "{forgotten} withdrawn questions are forgotten, the last of them `{request}`: call \
                 `Runtime::withdrawn` for each request in each frame"
            ),
            Loss::Waiting {
                script,
                name,
                signal,
                events,
            } => write!(
                f,
                "the script `{name}` ({script}) keeps {events} events of the signal `{signal}` for its \
                 `wait_for`, because it is not polled: it is paused, or its phase is not run. Resume it, \
                 stop it, or let it subscribe, which has a limit"
            ),
        }
    }
}

/// How many losses are printed without a hook.
const PRINTED: usize = 20;

/// Who hears of losses.
pub(crate) struct Losses {
    door: Door,
    pub(crate) hook: Hook<Loss>,
    /// What has been printed, for each script and thing once.
    printed: RefCell<BTreeSet<(u8, &'static str, String)>>,
    /// What is reported after a restore, so that the hook does not find half of a state.
    held: RefCell<Option<Vec<Loss>>>,
}

impl Losses {
    pub(crate) fn new(door: Door) -> Self {
        Losses {
            door,
            hook: Hook::default(),
            printed: RefCell::default(),
            held: RefCell::default(),
        }
    }

    /// Calls `f`, and reports the losses of it afterwards.
    pub(crate) fn hold<R>(&self, f: impl FnOnce() -> R) -> R {
        self.held.replace(Some(Vec::new()));
        let result = f();
        let held = self.held.take().unwrap_or_default();
        for loss in &held {
            self.report(loss);
        }
        result
    }

    /// Reports a loss. The caller has changed all that it changes, and borrows nothing.
    #[cold]
    pub(crate) fn report(&self, loss: &Loss) {
        if self.hook.is_closed() {
            return;
        }
        if let Some(held) = &mut *self.held.borrow_mut() {
            held.push(loss.clone());
            return;
        }
        if !self.door.call_hook("on_loss", &self.hook, loss) {
            self.print(loss);
        }
    }

    /// Prints a loss, unless one like it was, or so many were that another line helps nobody.
    fn print(&self, loss: &Loss) {
        let (kind, name, thing) = loss.key();
        let mut printed = self.printed.borrow_mut();
        if printed.len() >= PRINTED || !printed.insert((kind, name, thing.to_owned())) {
            return;
        }
        let is_last = printed.len() == PRINTED;
        drop(printed);
        to_stderr(&format!(
            "framestep_durable: {loss} (`Runtime::on_loss` receives this)"
        ));
        if is_last {
            to_stderr("framestep_durable: this runtime prints no more losses");
        }
    }
}

impl Loss {
    /// The kind, the name of the script and what it is about.
    fn key(&self) -> (u8, &'static str, &str) {
        match self {
            Loss::Missed { name, signal, .. } => (0, name, signal),
            Loss::Unread { name, signal, .. } => (1, name, signal),
            Loss::Unreadable { name, signal, .. } => (7, name, signal),
            Loss::NotTaken { signal } => (2, "", signal),
            Loss::AnswerUnread { name, request, .. } => (3, name, request),
            Loss::PromiseUnread { name, promise, .. } => (4, name, promise),
            Loss::WithdrawnForgotten { request, .. } => (5, "", request),
            Loss::Waiting { name, signal, .. } => (6, name, signal),
        }
    }
}

/// Whether a count is reported: 1, 10, 100, ..
pub(crate) fn is_reported(count: u64) -> bool {
    count
        .checked_ilog10()
        .is_some_and(|digits| count == 10_u64.pow(digits))
}
