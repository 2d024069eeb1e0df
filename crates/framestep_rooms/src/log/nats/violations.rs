//! What the server does not let this connection do: publish on a subject, or subscribe to one.
//!
//! NATS says so by an error of the connection, `Permissions Violation for Publish to "log.3.open.duel"`, and the
//! request itself has no answer. So requests look here while they wait.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_nats::{Event, ServerError};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::log::LogError;

/// How many are kept: as many as there may be between two looks of a request.
const KEPT: usize = 64;
/// For how long one that has subscribed anew is told of the time before.
const MOMENT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Right {
    Publish,
    Subscribe,
}

/// A right that is missing.
#[derive(Clone, Debug)]
struct Violation {
    right: Right,
    subject: Box<str>,
}

impl Violation {
    /// Reads an error of the server.
    fn of(error: &str) -> Option<Self> {
        let rest = error.strip_prefix("Permissions Violation for ")?;
        let right = if rest.starts_with("Publish to ") {
            Right::Publish
        } else if rest.starts_with("Subscription to ") {
            Right::Subscribe
        } else {
            return None;
        };
        let subject = rest.split('"').nth(1)?.into();
        Some(Violation { right, subject })
    }

    fn is(&self, right: Right, subject: &str) -> bool {
        self.right == right && *self.subject == *subject
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let right = match self.right {
            Right::Publish => "publish on",
            Right::Subscribe => "subscribe to",
        };
        write!(f, "{right} `{}`", self.subject)
    }
}

impl From<Violation> for LogError {
    fn from(violation: Violation) -> Self {
        LogError::NotAllowed(violation.to_string())
    }
}

/// What a request needs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Needs<'a> {
    /// To publish on a subject.
    Subject(&'a str),
    /// To ask `JetStream` for one of these, such as `STREAM.INFO`, of a stream.
    Api(&'a [&'a str], &'a str),
}

impl Needs<'_> {
    fn has(self, violation: &Violation) -> bool {
        violation.right == Right::Publish
            && match self {
                Needs::Subject(subject) => *violation.subject == *subject,
                Needs::Api(verbs, stream) => verbs.iter().any(|verb| {
                    let rest = violation.subject.strip_prefix("$JS.API.");
                    let rest = rest.and_then(|rest| rest.strip_prefix(verb)?.strip_prefix('.'));
                    rest.is_some_and(|rest| rest.split('.').next() == Some(stream))
                }),
            }
    }
}

/// One that was told.
#[derive(Debug)]
struct Noted {
    /// From 1.
    number: usize,
    at: Instant,
    violation: Violation,
}

#[derive(Debug, Default)]
struct Seen {
    /// How many there were.
    count: usize,
    last: VecDeque<Noted>,
    /// The subscription to an inbox, without which no request is answered. A connection makes it once.
    inbox: Option<Violation>,
}

impl Seen {
    fn find(&self, since: usize, needs: Needs<'_>) -> Option<&Violation> {
        let mut new = self.last.iter().filter(|it| it.number > since);
        let found = new.find(|it| needs.has(&it.violation));
        self.inbox.as_ref().or(found.map(|it| &it.violation))
    }
}

/// The violations of a connection. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Violations {
    seen: Arc<watch::Sender<Seen>>,
    inbox: Arc<OnceLock<String>>,
}

impl Violations {
    /// What subjects of the connection's inboxes begin with.
    pub(super) fn inbox(&self) -> &str {
        self.inbox.get().map_or("_INBOX", String::as_str)
    }

    /// Sets that: it is known once there is a connection, and used from its first request on.
    pub(super) fn set_inbox(&self, inbox: &str) {
        self.inbox.get_or_init(|| inbox.to_owned());
    }

    /// Hears an event of the connection.
    pub(super) fn hear(&self, event: &Event) {
        match event {
            // Rights may be others now, and all subscriptions are made anew.
            Event::Connected => self.seen.send_modify(|seen| {
                seen.inbox = None;
                seen.last.clear();
            }),
            Event::ServerError(ServerError::Other(error)) => {
                if let Some(violation) = Violation::of(error) {
                    self.add(violation);
                }
            }
            _ => {}
        }
    }

    fn add(&self, violation: Violation) {
        self.seen.send_modify(|seen| {
            let of_inbox = violation.subject.strip_prefix(self.inbox());
            if violation.right == Right::Subscribe && of_inbox.is_some_and(|it| it.starts_with('.'))
            {
                seen.inbox = Some(violation);
                return;
            }
            seen.count += 1;
            seen.last.push_back(Noted {
                number: seen.count,
                at: Instant::now(),
                violation,
            });
            if seen.last.len() > KEPT {
                seen.last.pop_front();
            }
        });
    }

    /// How many there were, for [`since`](Self::since).
    pub(super) fn count(&self) -> usize {
        self.seen.borrow().count
    }

    /// Fails if something that a request needs was missing since there were `count`.
    pub(super) fn since(&self, count: usize, needs: Needs<'_>) -> Result<(), LogError> {
        match self.seen.borrow().find(count, needs) {
            Some(violation) => Err(violation.clone().into()),
            None => Ok(()),
        }
    }

    /// Waits for a request, but not if the server refuses it.
    pub(super) async fn unless<T>(
        &self,
        needs: Needs<'_>,
        request: impl Future<Output = T>,
    ) -> Result<T, LogError> {
        let count = self.count();
        let mut changes = self.seen.subscribe();
        let refused = async {
            // It does not end before this: `self` has the sender.
            let _ = changes
                .wait_for(|seen| seen.find(count, needs).is_some())
                .await;
        };
        tokio::select! {
            biased;
            answer = request => Ok(answer),
            () = refused => {
                self.since(count, needs)?;
                Err(LogError::Unreachable("the connection was made anew".to_owned()))
            }
        }
    }

    /// Fails if the last message on a subject was refused: nothing waits for an answer to those.
    pub(super) fn take_publish(&self, subject: &str) -> Result<(), LogError> {
        let mut refused = None;
        self.seen.send_if_modified(|seen| {
            seen.last.retain(|it| {
                let is_it = it.violation.is(Right::Publish, subject);
                if is_it {
                    refused = Some(it.violation.clone());
                }
                !is_it
            });
            false
        });
        refused.map_or(Ok(()), |violation| Err(violation.into()))
    }

    /// Fails if a subscription to a subject was refused a moment ago: the one that was refused, or another one.
    pub(super) fn subscribe(&self, subject: &str) -> Result<(), LogError> {
        let seen = self.seen.borrow();
        let mut last = seen.last.iter();
        let found =
            last.find(|it| it.violation.is(Right::Subscribe, subject) && it.at.elapsed() < MOMENT);
        found.map_or(Ok(()), |it| Err(it.violation.clone().into()))
    }

    /// Waits until a subscription to a subject is refused, since there were `count`.
    pub(super) async fn refuses_to_subscribe(&self, subject: &str, count: usize) {
        let is_it = |it: &Noted| it.number > count && it.violation.is(Right::Subscribe, subject);
        let mut changes = self.seen.subscribe();
        let _ = changes.wait_for(|seen| seen.last.iter().any(is_it)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> Event {
        Event::ServerError(ServerError::Other(text.to_owned()))
    }

    #[test]
    fn a_request_hears_of_what_it_needs_and_of_nothing_else() {
        let violations = Violations::default();
        violations.set_inbox("_INBOX_alice");
        violations.hear(&error(
            "Permissions Violation for Publish to \"log.3.open.duel\"",
        ));
        let open = Needs::Subject("log.3.open.duel");
        assert_eq!(
            violations.since(0, open).unwrap_err().to_string(),
            "NATS does not let this user publish on `log.3.open.duel`"
        );
        assert!(violations.since(1, open).is_ok(), "it was before");
        assert!(
            violations
                .since(0, Needs::Subject("log.3.open.duels"))
                .is_ok()
        );
        violations.hear(&error(
            "Permissions Violation for Publish to \"$JS.API.CONSUMER.CREATE.LOG_3.x\"",
        ));
        let create = |stream| Needs::Api(&["CONSUMER.CREATE"], stream);
        assert!(violations.since(1, create("LOG_3")).is_err());
        assert!(violations.since(1, create("LOG_33")).is_ok());
        let info = Needs::Api(&["STREAM.INFO"], "LOG_3");
        assert!(violations.since(1, info).is_ok());
        violations.hear(&error("Stale Connection"));
        assert_eq!(violations.count(), 2);
    }

    #[test]
    fn without_an_inbox_no_request_is_answered_until_the_next_connection() {
        let violations = Violations::default();
        violations.set_inbox("_INBOX_alice");
        violations.hear(&error(
            "Permissions Violation for Subscription to \"_INBOX_alice.x.*\"",
        ));
        let any = Needs::Subject("any");
        assert!(violations.since(violations.count(), any).is_err());
        violations.hear(&Event::Connected);
        assert!(violations.since(violations.count(), any).is_ok());
    }

    #[test]
    fn what_has_no_answer_is_told_at_the_next_time() {
        let violations = Violations::default();
        violations.hear(&error(
            "Permissions Violation for Publish to \"rooms.watch.3.duel\"",
        ));
        violations.hear(&error(
            "Permissions Violation for Subscription to \"rooms.view.3.duel\"",
        ));
        assert!(violations.take_publish("rooms.view.3.duel").is_ok());
        assert!(violations.take_publish("rooms.watch.3.duel").is_err());
        assert!(violations.take_publish("rooms.watch.3.duel").is_ok());
        // To each that watches.
        assert!(violations.subscribe("rooms.view.3.duel").is_err());
        assert!(violations.subscribe("rooms.view.3.duel").is_err());
    }

    #[test]
    fn only_the_last_ones_are_kept() {
        let violations = Violations::default();
        for number in 0..KEPT + 2 {
            violations.hear(&error(&format!(
                "Permissions Violation for Publish to \"a.{number}\""
            )));
        }
        assert!(violations.since(0, Needs::Subject("a.1")).is_ok());
        assert!(violations.since(0, Needs::Subject("a.2")).is_err());
        assert!(violations.since(3, Needs::Subject("a.2")).is_ok());
    }
}
