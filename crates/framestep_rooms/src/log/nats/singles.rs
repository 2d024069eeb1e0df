//! Reading a stream entry by entry, as JSON.
//!
//! A player may send headers and a subject of any bytes. `nats-server` passes them on as they are, and the client
//! cannot read them: it ends the connection, and again when it is sent the same entry again. In JSON, each entry can
//! be read.

use std::str::{FromStr as _, from_utf8};

use async_nats::HeaderName;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::read::topic_of;
use super::{NatsLog, failed};
use crate::entry::Entry;
use crate::log::LogError;

#[derive(Serialize)]
struct Question {
    seq: u64,
    next_by_subj: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    message: Stored,
}

/// An entry, in base64.
#[derive(Deserialize)]
struct Stored {
    subject: String,
    seq: u64,
    #[serde(default)]
    hdrs: String,
    #[serde(default)]
    data: String,
}

impl NatsLog {
    /// The first entry from a place on, and whether the client can read it as a message. `None`: there is no more. The
    /// topic stands behind the first `before` bytes of its subject.
    pub(super) async fn single(
        &self,
        shard: u32,
        before: usize,
        from: u64,
    ) -> Result<Option<(Entry, bool)>, LogError> {
        let stream = self.stream(shard);
        // Its own subjects would do, but servers find no subject with the byte 127 by them.
        let question = Question {
            seq: from,
            next_by_subj: ">",
        };
        let asked = self
            .context
            .request(format!("STREAM.MSG.GET.{stream}"), &question);
        let answer = self.ask(&["STREAM.MSG.GET"], &stream, asked).await?;
        match answer.map_err(|error| failed(&error))? {
            Response::Ok(Answer { message }) => {
                let decoded = |text: &str| STANDARD.decode(text).map_err(|error| failed(&error));
                let entry = Entry {
                    seq: message.seq,
                    topic: topic_of(&message.subject, before),
                    body: decoded(&message.data)?.into(),
                };
                let is_readable = is_readable(&message.subject, &decoded(&message.hdrs)?);
                Ok(Some((entry, is_readable)))
            }
            Response::Err { error } if error.error_code() == ErrorCode::NO_MESSAGE_FOUND => {
                Ok(None)
            }
            Response::Err { error } => Err(failed(&error)),
        }
    }
}

/// Whether the client can read a message with this subject and these headers. If it is not sure: no.
fn is_readable(subject: &str, headers: &[u8]) -> bool {
    // In JSON, bytes that are no text are a character that is not of ASCII.
    if !subject.bytes().all(|byte| byte.is_ascii_graphic()) {
        return false;
    }
    let Ok(headers) = from_utf8(headers) else {
        return false;
    };
    let mut lines = headers.lines();
    let is_header = |line: &str| {
        let name = line.split_once(':').map(|(name, _)| name);
        line.is_empty() || name.is_some_and(|name| HeaderName::from_str(name).is_ok())
    };
    lines
        .next()
        .is_none_or(|first| first.trim_end() == "NATS/1.0")
        && lines.all(is_header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_readable_only_as_clients_write_it() {
        let readable = |headers: &[u8]| is_readable("log.7.room.duel.alice", headers);
        assert!(readable(b"") && readable(b"NATS/1.0\r\nNats-Msg-Id: a-1\r\n\r\n"));
        for headers in [
            &b"\r\n"[..],
            b"garbage\r\n\r\n",
            b"NATS/1.0 abc\r\n\r\n",
            b"NATS/1.0\r\nno colon\r\n\r\n",
            b"NATS/1.0\r\nno: \xff\r\n\r\n",
            b"NATS/1.0\r\na b: c\r\n\r\n",
        ] {
            assert!(!readable(headers), "{}", headers.escape_ascii());
        }
        for subject in ["log.7.room.\u{fffd}.alice", "log.7.room.a\u{a0}b.alice"] {
            assert!(!is_readable(subject, b""), "{subject}");
        }
    }
}
