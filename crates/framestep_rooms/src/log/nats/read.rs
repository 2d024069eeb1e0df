//! Reading a stream, and hearing messages.

use std::collections::VecDeque;
use std::time::Duration;

use async_nats::Subscriber;
use async_nats::jetstream::consumer::pull;
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout, timeout_at};

use super::violations::{Needs, Violations};
use super::{BATCH, NEXT, failed};
use crate::entry::{Entry, Topic};
use crate::log::{Batch, Inbox, Later, LogError, Message, Reader};

pub(super) struct NatsReader {
    pub(super) messages: pull::Stream,
    /// How many entries the server had after the last one that was read.
    pub(super) pending: u64,
    pub(super) subject: usize,
    /// The name of the stream, and how many violations there were before it was read.
    pub(super) stream: String,
    pub(super) since: usize,
    pub(super) violations: Violations,
}

impl Reader for NatsReader {
    fn next(&mut self, wait: Duration) -> Later<'_, Result<Batch, LogError>> {
        Box::pin(async move {
            let until = Instant::now() + wait;
            let mut entries = VecDeque::new();
            loop {
                // What is there already is read with it.
                let next = if entries.is_empty() {
                    timeout_at(until, self.messages.next()).await
                } else {
                    timeout(Duration::ZERO, self.messages.next()).await
                };
                match next {
                    Ok(Some(Ok(message))) => {
                        let info = message
                            .info()
                            .map_err(|error| LogError::Failed(error.to_string()))?;
                        self.pending = info.pending;
                        entries.push_back(Entry {
                            seq: info.stream_sequence,
                            topic: message
                                .subject
                                .get(self.subject..)
                                .and_then(Topic::of_subject),
                            body: message.payload[..].into(),
                        });
                        if entries.len() >= BATCH {
                            break;
                        }
                    }
                    Ok(Some(Err(error))) => return Err(failed(&error)),
                    Ok(None) => {
                        return Err(LogError::Unreachable("the consumer has ended".to_owned()));
                    }
                    Err(_) if entries.is_empty() && self.pending > 0 => {
                        self.violations
                            .since(self.since, Needs::Api(&[NEXT], &self.stream))?;
                        return Err(LogError::Unreachable(
                            "the log has entries, and does not send them".to_owned(),
                        ));
                    }
                    Err(_) => break,
                }
            }
            Ok(Batch {
                entries: entries.into(),
                is_end: self.pending == 0,
            })
        })
    }
}

pub(super) struct NatsInbox {
    pub(super) subscriber: Subscriber,
    pub(super) subject: String,
    /// The length of the prefix of subjects.
    pub(super) before: usize,
    /// How many violations there were before it subscribed.
    pub(super) since: usize,
    pub(super) violations: Violations,
}

impl Inbox for NatsInbox {
    fn next(&mut self) -> Later<'_, Option<Message>> {
        Box::pin(async move {
            let message = tokio::select! {
                biased;
                message = self.subscriber.next() => message?,
                // The one that hears anew is told why.
                () = self.violations.refuses_to_subscribe(&self.subject, self.since) => return None,
            };
            Some(Message {
                channel: message
                    .subject
                    .get(self.before..)
                    .unwrap_or_default()
                    .to_owned(),
                body: message.payload.to_vec(),
            })
        })
    }
}
