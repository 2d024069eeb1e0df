//! Reading a stream, and hearing messages.

use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::consumer::pull;
use async_nats::{Client, Subscriber};
use futures_util::StreamExt as _;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::violations::{Needs, Violations};
use super::{BATCH, NEXT, NatsLog};
use crate::entry::{Entry, Topic};
use crate::log::{Batch, Inbox, Later, LogError, Message, Reader};

/// For how long entries are read one by one after one that the client cannot read: there may be more of them, and each
/// would end the connection.
const CAREFUL: Duration = Duration::from_secs(60);
/// How many of them are in a batch.
const SINGLES: usize = 50;
/// How long a reader of single entries waits for the next one.
const PAUSE: Duration = Duration::from_millis(5);

pub(super) struct NatsReader {
    log: NatsLog,
    shard: u32,
    /// The length of what all subjects of the shard begin with.
    before: usize,
    /// The entry that comes next.
    next: u64,
    /// `None`: entries are read one by one.
    consumer: Option<Consumed>,
    /// How many were, since the consumer has ended.
    singles: usize,
    /// When the last one was read that the client cannot read.
    unreadable_at: Option<Instant>,
}

/// What the server sends of a stream.
pub(super) struct Consumed {
    pub(super) messages: pull::Stream,
    /// How many entries the server had after the last one that was read.
    pub(super) pending: u64,
    /// How many violations there were before it was read.
    pub(super) since: usize,
}

impl NatsReader {
    pub(super) async fn new(log: NatsLog, shard: u32, from: u64) -> Result<Self, LogError> {
        Ok(NatsReader {
            consumer: Some(log.consume(shard, from).await?),
            before: log.subject(shard, "").len(),
            log,
            shard,
            next: from,
            singles: 0,
            unreadable_at: None,
        })
    }

    /// The next entries of the consumer. It has to be left if the next one is not among them.
    async fn consumed(&mut self, until: Instant) -> Result<(Batch, bool), LogError> {
        let mut batch = Batch::default();
        let Some(consumer) = &mut self.consumer else {
            return Ok((batch, true));
        };
        loop {
            // What is there already is read with it.
            let next = if batch.entries.is_empty() {
                timeout_at(until, consumer.messages.next()).await
            } else {
                timeout(Duration::ZERO, consumer.messages.next()).await
            };
            match next {
                Ok(Some(Ok(message))) => {
                    let info = message
                        .info()
                        .map_err(|error| LogError::Failed(error.to_string()))?;
                    // The connection has ended with the one before.
                    if info.stream_sequence != self.next {
                        return Ok((batch, true));
                    }
                    self.next += 1;
                    consumer.pending = info.pending;
                    batch.entries.push(Entry {
                        seq: info.stream_sequence,
                        topic: topic_of(&message.subject, self.before),
                        body: message.payload[..].into(),
                    });
                    if batch.entries.len() >= BATCH {
                        break;
                    }
                }
                Ok(Some(Err(_)) | None) => return Ok((batch, true)),
                Err(_) if batch.entries.is_empty() && consumer.pending > 0 => {
                    let stream = self.log.stream(self.shard);
                    let needs = Needs::Api(&[NEXT], &stream);
                    self.log.violations.since(consumer.since, needs)?;
                    return Ok((batch, true));
                }
                Err(_) => break,
            }
        }
        batch.is_end = consumer.pending == 0;
        Ok((batch, false))
    }

    /// The next entries, one by one.
    async fn singles(&mut self, until: Instant) -> Result<Batch, LogError> {
        let mut batch = Batch::default();
        while batch.entries.len() < SINGLES {
            match self.log.single(self.shard, self.before, self.next).await {
                Ok(Some((entry, is_readable))) => {
                    self.next = entry.seq + 1;
                    self.singles += 1;
                    batch.entries.push(entry);
                    if !is_readable {
                        self.unreadable_at = Some(Instant::now());
                    }
                }
                Ok(None) if batch.entries.is_empty() && Instant::now() < until => {
                    sleep(PAUSE).await;
                }
                Ok(None) => {
                    batch.is_end = true;
                    break;
                }
                Err(why) if batch.entries.is_empty() => return Err(why),
                Err(_) => break,
            }
        }
        let is_careful = self.unreadable_at.is_some_and(|at| at.elapsed() < CAREFUL);
        if !is_careful && (batch.is_end || self.singles >= BATCH) {
            // Without a consumer, it goes on as it is.
            self.consumer = self.log.consume(self.shard, self.next).await.ok();
        }
        Ok(batch)
    }
}

impl Reader for NatsReader {
    fn next(&mut self, wait: Duration) -> Later<'_, Result<Batch, LogError>> {
        Box::pin(async move {
            let until = Instant::now() + wait;
            let (batch, is_left) = self.consumed(until).await?;
            if is_left && self.consumer.take().is_some() {
                self.singles = 0;
            }
            if is_left && batch.entries.is_empty() {
                return self.singles(until).await;
            }
            Ok(batch)
        })
    }
}

/// The topic of an entry, which stands behind what all subjects of its shard begin with.
pub(super) fn topic_of(subject: &str, before: usize) -> Option<Topic> {
    subject.get(before..).and_then(Topic::of_subject)
}

pub(super) struct NatsInbox {
    pub(super) subscriber: Subscriber,
    pub(super) subject: String,
    /// The length of the prefix of subjects.
    pub(super) before: usize,
    /// How many violations there were before it subscribed.
    pub(super) since: usize,
    pub(super) violations: Violations,
    pub(super) client: Client,
}

impl Inbox for NatsInbox {
    fn connections(&self) -> u64 {
        let connects = &self.client.statistics();
        connects.connects.load(Ordering::Relaxed)
    }

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
