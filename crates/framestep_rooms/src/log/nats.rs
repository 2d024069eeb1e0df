//! A log in NATS `JetStream`: a stream for each shard.

mod connect;
mod read;
mod singles;
mod stream;
mod violations;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy, pull};
use async_nats::jetstream::stream::DirectGetErrorKind;
use async_nats::{Client, ConnectOptions, HeaderMap};
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout};

use super::{Ends, Inbox, Kept, Later, Log, LogError, Reader};
use crate::entry::Topic;
use read::{Consumed, NatsInbox, NatsReader};
use stream::Limits;
use violations::{Needs, Violations};

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(2);
/// How long the answer to a direct read may take, for which there is another way.
const DIRECT: Duration = Duration::from_secs(1);
/// A reader that hears nothing for two of these reads anew.
const HEARTBEAT: Duration = Duration::from_millis(200);
/// How long `prepare` tries: a cluster that has just started refuses streams for a while.
const PREPARE: Duration = Duration::from_secs(30);
/// How many entries are fetched at once.
const BATCH: usize = 500;
/// The key of the number of shards.
const SHARDS: &str = "shards";

/// A log in NATS, for many nodes. It needs a `nats-server` with `JetStream`: `nats-server -js`.
///
/// Each shard is a stream `LOG_7` with the subjects `log.7.>`. Saves and other values are in the
/// stream `ROOMS`, the last message of a subject `kept.>`, and messages on the subjects `rooms.>`. Clones
/// share one connection, which is made anew whenever it breaks.
///
/// # What a player's connection needs
///
/// A [`Client`](crate::Client) of `alice` for the room `duel` publishes on `log.*.room.duel.alice`,
/// `rooms.watch.*.duel.alice` and `$JS.API.DIRECT.GET.ROOMS.kept.shards`, and subscribes to
/// `rooms.view.*.duel`, `rooms.view.*.duel.alice` and its inbox. Give it an inbox of its own by
/// [`connect_with`](Self::connect_with) and `ConnectOptions::custom_inbox_prefix`. That shows it no save
/// and no other room.
///
/// **Players need an account of their own**, which imports these subjects from that of the nodes.
/// Permissions alone do not hold: `JetStream` answers to the subject that a message names, with its own
/// rights, so in the account of the nodes a player could name `$JS.API.STREAM.PURGE.LOG_7`. The
/// `nats.conf` of `demos/arena` has the accounts.
///
/// # What it does not promise
///
/// `nats-server` acknowledges a message when it is with the operating system, and writes it to the
/// disk up to two minutes later. The end of the process loses nothing; a loss of power may lose
/// acknowledged inputs, unless the server has `sync_interval: always` or the streams have
/// [replicas](Self::replicas) on machines that do not lose power together. In any case the nodes notice
/// it, and go on with a save that fits.
#[derive(Clone)]
pub struct NatsLog {
    context: Context,
    client: Client,
    prefix: Arc<str>,
    replicas: Option<usize>,
    bytes: Option<i64>,
    /// The bytes of an entry at most, for messages.
    largest: Arc<AtomicUsize>,
    violations: Violations,
    /// Connects once more.
    again: Arc<Again>,
    /// The connection on which players are heard: what the client cannot read ends it.
    players: Arc<OnceCell<Client>>,
}

/// What a connection was made with.
struct Again {
    urls: Vec<String>,
    options: ConnectOptions,
}

impl fmt::Debug for NatsLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsLog")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl NatsLog {
    /// Puts this before the names of streams and subjects, so that several games can
    /// share a server.
    ///
    /// # Panics
    ///
    /// If it has other characters than letters, digits, `-` and `_`.
    #[must_use]
    #[track_caller]
    pub fn named(mut self, prefix: &str) -> Self {
        assert!(
            crate::is_name(prefix),
            "`{prefix}` has other characters than letters, digits, `-` and `_`"
        );
        self.prefix = prefix.into();
        self
    }

    /// On how many servers of a cluster each stream is. By default on one, or on as many as an existing
    /// log has.
    ///
    /// More than one needs `nats-server` 2.15.1 or later on all servers: on earlier ones, acknowledged
    /// inputs are lost in a cluster. A server does not start on an earlier one, nor if the log exists
    /// with another number; the error says how to change that.
    #[must_use]
    pub fn replicas(mut self, replicas: usize) -> Self {
        self.replicas = Some(replicas);
        self
    }

    /// How many bytes the log of each shard may have, so that a flood of inputs fills no disk. By default a
    /// share of 1 GiB, from 16 to 128 MiB: mostly, some megabytes are used. NATS reserves them. A server sets
    /// it when it starts, also of an existing log.
    ///
    /// A log that is full takes no entries, also no ticks: its rooms stand still, and the node says so.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(i64::try_from(bytes).unwrap_or(i64::MAX));
        self
    }
}

/// The number in a value, 0 without one.
fn number(value: Option<Vec<u8>>) -> u32 {
    let text = value.and_then(|value| String::from_utf8(value).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The header with the number of the last message of the subject.
const LAST: &str = "Nats-Expected-Last-Subject-Sequence";

fn failed(error: &dyn fmt::Display) -> LogError {
    LogError::Unreachable(error.to_string())
}

async fn in_time<F: Future>(future: F) -> Result<F::Output, LogError> {
    timeout(ANSWER, future)
        .await
        .map_err(|_| LogError::Unreachable("no answer in time".to_owned()))
}

impl NatsLog {
    /// Asks `JetStream` for one of these verbs of a stream.
    async fn ask<F: Future>(
        &self,
        verbs: &[&str],
        stream: &str,
        request: F,
    ) -> Result<F::Output, LogError> {
        // Those of the client are large.
        let request = in_time(Box::pin(request));
        self.violations
            .unless(Needs::Api(verbs, stream), request)
            .await?
    }

    /// Lets the server send the entries of a shard from `from` on.
    async fn consume(&self, shard: u32, from: u64) -> Result<Consumed, LogError> {
        let config = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence {
                start_sequence: from,
            },
            ack_policy: AckPolicy::None,
            inactive_threshold: Duration::from_secs(10),
            memory_storage: true,
            num_replicas: 1,
            ..pull::Config::default()
        };
        let stream = self.stream(shard);
        let made = self.context.create_consumer_on_stream(config, &stream);
        let verbs = ["CONSUMER.CREATE", "CONSUMER.DURABLE.CREATE"];
        let made = self.ask(&verbs, &stream, made).await?;
        let consumer: Consumer<pull::Config> = made.map_err(|error| failed(&error))?;
        let pending = consumer.cached_info().num_pending;
        let messages = consumer.stream();
        let messages = messages
            .heartbeat(HEARTBEAT)
            .expires(Duration::from_secs(5));
        let since = self.violations.count();
        let messages = messages.max_messages_per_batch(BATCH).messages();
        let messages = self.ask(&[NEXT], &stream, messages).await?;
        Ok(Consumed {
            messages: messages.map_err(|error| failed(&error))?,
            pending,
            since,
        })
    }
}

/// What a reader asks for.
const NEXT: &str = "CONSUMER.MSG.NEXT";

/// A value in one message, or a list of parts with a checksum.
const WHOLE: u8 = 0;
const PARTS: u8 = 1;

impl Log for NatsLog {
    fn prepare(&self, shards: u32, largest: usize) -> Later<'_, Result<(), LogError>> {
        Box::pin(async move {
            self.check_version(self.replicas.unwrap_or(1))?;
            self.largest.store(largest, Ordering::Relaxed);
            let limits = self.limits(shards, largest);
            let until = Instant::now() + PREPARE;
            let mut has_said = false;
            let mut shard = 0;
            loop {
                let made = async {
                    let any = Limits {
                        message: -1,
                        bytes: -1,
                    };
                    self.make_stream(self.kept_stream(), self.kept_subject(">"), 1, any)
                        .await?;
                    match self.write(SHARDS, 0, shards.to_string().as_bytes()).await {
                        Ok(_) | Err(LogError::Refused) => {}
                        Err(error) => return Err(error),
                    }
                    // A direct answer may come from a replica that does not have it yet.
                    let is = number(self.value(SHARDS).await?.map(|(_, value)| value));
                    if is != shards {
                        return Err(LogError::Failed(format!(
                            "the log was made for {is} shards, not for {shards}: rooms would be searched \
                             for in the wrong one. Use `.shards({is})`, or another name for the log"
                        )));
                    }
                    while shard < shards {
                        self.make_stream(self.stream(shard), self.subject(shard, ">"), -1, limits)
                            .await?;
                        shard += 1;
                    }
                    Ok(())
                };
                match made.await {
                    Err(LogError::Unreachable(why)) if Instant::now() < until => {
                        if !std::mem::replace(&mut has_said, true) {
                            eprintln!(
                                "framestep_rooms: NATS does not make the streams yet: {why}. A cluster that \
                                 has just started takes some seconds"
                            );
                        }
                        tokio::time::sleep(Duration::from_millis(500)).await;
                    }
                    made => return made,
                }
            }
        })
    }

    fn shards(&self) -> Later<'_, Result<u32, LogError>> {
        Box::pin(async {
            // Clients call this, which may read this subject and no other one:
            // `$JS.API.DIRECT.GET.ROOMS.kept.shards`.
            let (kept, subject) = (self.kept_stream(), self.kept_subject(SHARDS));
            let stream = in_time(self.context.get_stream_no_info(&kept)).await?;
            let stream = stream.map_err(|error| failed(&error))?;
            let read = Box::pin(stream.direct_get_last_for_subject(&subject));
            let read = timeout(DIRECT, read);
            let needs = Needs::Api(&["DIRECT.GET"], &kept);
            let read = self.violations.unless(needs, read).await;
            let not_allowed = match read {
                Ok(Ok(Ok(message))) => return Ok(number(Some(message.payload.to_vec()))),
                Ok(Ok(Err(error))) if error.kind() == DirectGetErrorKind::NotFound => return Ok(0),
                Ok(Ok(Err(error))) if error.kind() != DirectGetErrorKind::TimedOut => {
                    return Err(failed(&error));
                }
                Ok(_) => None,
                Err(why) => Some(why),
            };
            // Nobody answers for a stream that was not made yet. A node may ask in another way, too.
            let value = self.value(SHARDS).await;
            value
                .map(|value| number(value.map(|it| it.1)))
                .map_err(|_| {
                    not_allowed.unwrap_or_else(|| LogError::Unreachable(format!(
                        "no answer about the number of shards. Does a server run, and may this user publish on \
                         `$JS.API.DIRECT.GET.{kept}.{subject}` and subscribe to `{}.>`?",
                        self.violations.inbox(),
                    )))
                })
        })
    }

    fn append<'a>(
        &'a self,
        shard: u32,
        topic: &'a Topic,
        id: &'a str,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>> {
        Box::pin(async move {
            let mut headers = HeaderMap::new();
            headers.insert("Nats-Msg-Id", id);
            self.publish(self.subject(shard, &topic.to_subject()), headers, body)
                .await
        })
    }

    fn tick<'a>(
        &'a self,
        shard: u32,
        after: u64,
        id: &'a str,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>> {
        Box::pin(async move {
            let mut headers = HeaderMap::new();
            headers.insert("Nats-Msg-Id", id);
            headers.insert(LAST, after.to_string().as_str());
            self.publish(self.subject(shard, "tick"), headers, body)
                .await
        })
    }

    fn ends(&self, shard: u32) -> Later<'_, Result<Ends, LogError>> {
        Box::pin(async move {
            let name = self.stream(shard);
            let stream = self.context.get_stream(&name);
            let stream = self.ask(&["STREAM.INFO"], &name, stream).await?;
            let stream = stream.map_err(|error| failed(&error))?;
            let state = &stream.cached_info().state;
            Ok(Ends {
                first: state.first_sequence.max(1),
                last: state.last_sequence,
            })
        })
    }

    fn read(&self, shard: u32, from: u64) -> Later<'_, Result<Box<dyn Reader>, LogError>> {
        Box::pin(async move {
            let reader = NatsReader::new(self.clone(), shard, from.max(1)).await?;
            Ok(Box::new(reader) as Box<dyn Reader>)
        })
    }

    fn trim(&self, shard: u32, before: u64) -> Later<'_, Result<(), LogError>> {
        Box::pin(async move {
            let name = self.stream(shard);
            let stream = in_time(self.context.get_stream_no_info(&name)).await?;
            let stream = stream.map_err(|error| failed(&error))?;
            let purged = stream.purge().sequence(before).into_future();
            let purged = self.ask(&["STREAM.PURGE"], &name, purged).await?;
            purged.map(drop).map_err(|error| failed(&error))
        })
    }

    fn kept<'a>(&'a self, key: &'a str) -> Later<'a, Result<Option<Kept>, LogError>> {
        Box::pin(async move {
            let Some((revision, value)) = self.value(key).await? else {
                return Ok(None);
            };
            let body: Arc<[u8]> = match value.split_first() {
                Some((&WHOLE, body)) => body.into(),
                Some((&PARTS, list)) => {
                    let (parts, sum): (u32, u32) = postcard::from_bytes(list).unwrap_or_default();
                    let mut body = Vec::new();
                    for part in 0..parts {
                        let part = self.value(&format!("{key}.{part}")).await?;
                        body.extend_from_slice(&part.map(|(_, part)| part).unwrap_or_default());
                    }
                    // Another node was writing it: as good as none.
                    if crc32fast::hash(&body) == sum {
                        body.into()
                    } else {
                        [].into()
                    }
                }
                _ => [].into(),
            };
            Ok(Some(Kept { revision, body }))
        })
    }

    fn keep<'a>(
        &'a self,
        key: &'a str,
        revision: u64,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>> {
        Box::pin(async move {
            let limit = self.client.server_info().max_payload.clamp(4_096, 1 << 20) / 2;
            if body.len() < limit {
                return self.write(key, revision, &[&[WHOLE], body].concat()).await;
            }
            let mut parts = 0_u32;
            for part in body.chunks(limit) {
                let subject = self.kept_subject(&format!("{key}.{parts}"));
                self.publish(subject, HeaderMap::new(), part).await?;
                parts += 1;
            }
            let list = postcard::to_extend(&(parts, crc32fast::hash(body)), vec![PARTS]);
            self.write(key, revision, &list.map_err(|error| failed(&error))?)
                .await
        })
    }

    fn say<'a>(&'a self, channel: &'a str, body: Vec<u8>) -> Later<'a, Result<(), LogError>> {
        Box::pin(async move {
            let limit = self.client.server_info().max_payload;
            if limit > 0 && body.len() > limit {
                let size = body.len();
                return Err(LogError::TooLarge { size, limit });
            }
            let subject = self.channel(channel);
            let was_allowed = self.violations.take_publish(&subject);
            // Also if the last one was refused: only so it is known whether this one is.
            let said = in_time(self.client.publish(subject, body.into())).await?;
            said.map_err(|error| failed(&error))?;
            was_allowed
        })
    }

    fn hear<'a>(&'a self, channel: &'a str) -> Later<'a, Result<Box<dyn Inbox>, LogError>> {
        Box::pin(async move {
            let subject = self.channel(channel);
            let before = subject.len() - channel.len();
            self.violations.subscribe(&subject)?;
            let since = self.violations.count();
            let client = if channel.starts_with("watch.") {
                self.players().await?
            } else {
                self.client.clone()
            };
            let subscriber = in_time(client.subscribe(subject.clone()))
                .await?
                .map_err(|error| failed(&error))?;
            Ok(Box::new(NatsInbox {
                subscriber,
                subject,
                before,
                since,
                violations: self.violations.clone(),
                client,
            }) as Box<dyn Inbox>)
        })
    }
}
