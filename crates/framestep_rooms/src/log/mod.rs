//! Logs: where inputs and ticks are, in one order.
//!
//! [`MemoryLog`] and [`FileLog`] are for one process; `NatsLog` is for many, and needs a server. A
//! game begins with one of the first two, and moves to the third by changing one line.

mod file;
mod local;
mod memory;
#[cfg(feature = "nats")]
mod nats;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::entry::{Entry, Topic};

pub use crate::room::Later;
pub use file::FileLog;
pub use memory::MemoryLog;
#[cfg(feature = "nats")]
pub use nats::NatsLog;

/// Why a log has not done something. `Debug` is the same sentence as `Display`: `main` prints it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogError {
    /// The last tick is another one, or a kept value has another revision. Nothing was written.
    Refused,
    /// There was no answer in time, or no connection. It may have been written.
    Unreachable(String),
    /// The user of this connection lacks a right. Nothing was written.
    NotAllowed(
        /// What it may not do, such as "publish on `log.3.open.duel`".
        String,
    ),
    /// It is too large. Nothing was written.
    TooLarge {
        /// Its bytes.
        size: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The log of the shard has as many bytes as it may. Nothing was written.
    Full(String),
    /// The log cannot do this.
    Failed(String),
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogError::Refused => f.write_str("the log has a later one"),
            LogError::Unreachable(why) => write!(f, "the log cannot be reached: {why}"),
            LogError::NotAllowed(what) => write!(f, "NATS does not let this user {what}"),
            LogError::TooLarge { size, limit } => {
                write!(
                    f,
                    "a message of {size} bytes is too large for the log, which takes {limit}"
                )
            }
            LogError::Full(why) => write!(f, "the log is full: {why}"),
            LogError::Failed(why) => write!(f, "the log has failed: {why}"),
        }
    }
}

impl fmt::Debug for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LogError {}

/// A value that a log keeps beside its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Changes with each write. Never 0.
    pub revision: u64,
    /// The value.
    pub body: Arc<[u8]>,
}

/// The ends of the log of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The first entry that is still there. 1 of an empty log.
    pub first: u64,
    /// The last entry, 0 of an empty log.
    pub last: u64,
}

/// A message that is not in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its channel.
    pub channel: String,
    /// Its content.
    pub body: Vec<u8>,
}

/// A log of each shard, a few values beside them, and messages between nodes and clients.
///
/// # Requirements
///
/// - The entries of a shard are numbered from 1, without gaps. All readers read the same ones.
/// - What [`append`](Self::append) and [`tick`](Self::tick) have returned `Ok` for stays, as far as
///   the log promises anything.
/// - An id that was appended lately (two minutes, in NATS) is not appended again: the same number is
///   returned.
/// - `tick` and [`keep`](Self::keep) compare and write in one step.
/// - Each call returns within seconds, with [`LogError::Unreachable`] if there is no answer.
pub trait Log: Send + Sync + 'static {
    /// Makes what is missing for a number of shards. Entries have `largest` bytes at most: a log may refuse
    /// larger ones.
    ///
    /// # Errors
    ///
    /// [`LogError::Failed`] if the log was made for another number.
    fn prepare(&self, shards: u32, largest: usize) -> Later<'_, Result<(), LogError>>;

    /// For how many shards the log was made. 0 if it was not yet.
    fn shards(&self) -> Later<'_, Result<u32, LogError>>;

    /// Appends an entry, and returns its number.
    fn append<'a>(
        &'a self,
        shard: u32,
        topic: &'a Topic,
        id: &'a str,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>>;

    /// Appends a tick, if the last tick is entry `after`, 0 for none.
    fn tick<'a>(
        &'a self,
        shard: u32,
        after: u64,
        id: &'a str,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>>;

    /// The ends of a shard's log.
    fn ends(&self, shard: u32) -> Later<'_, Result<Ends, LogError>>;

    /// Reads the entries from `from` on. If the log does not have it any more, from the first one on.
    fn read(&self, shard: u32, from: u64) -> Later<'_, Result<Box<dyn Reader>, LogError>>;

    /// Entries before this one are not needed any more. The last tick is never among them.
    fn trim(&self, shard: u32, before: u64) -> Later<'_, Result<(), LogError>>;

    /// A value.
    fn kept<'a>(&'a self, key: &'a str) -> Later<'a, Result<Option<Kept>, LogError>>;

    /// Replaces a value of this revision, 0 if there must be none. Returns the new revision.
    fn keep<'a>(
        &'a self,
        key: &'a str,
        revision: u64,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>>;

    /// Sends a message to all that hear this channel. It may be lost.
    fn say<'a>(&'a self, channel: &'a str, body: Vec<u8>) -> Later<'a, Result<(), LogError>>;

    /// Hears a channel. Channels have parts, `view.7.arena`, and `*` is any one part.
    fn hear<'a>(&'a self, channel: &'a str) -> Later<'a, Result<Box<dyn Inbox>, LogError>>;
}

/// Reads a log.
pub trait Reader: Send {
    /// The next entries, in order, as soon as there are some, or none after `wait`.
    ///
    /// # Errors
    ///
    /// If it is not known whether there are more: read anew.
    fn next(&mut self, wait: Duration) -> Later<'_, Result<Batch, LogError>>;
}

/// Entries that follow each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The entries.
    pub entries: Vec<Entry>,
    /// Whether the log had no more when they were read.
    pub is_end: bool,
}

/// Hears messages.
pub trait Inbox: Send {
    /// The next message. `None` if there will be no more: hear anew.
    ///
    /// Cancel safety: no message is lost.
    fn next(&mut self) -> Later<'_, Option<Message>>;

    /// How many connections there were: between two of them, messages are lost. Without connections, it stays 0.
    fn connections(&self) -> u64 {
        0
    }
}

/// How long a call of a log may take, whatever the log promises.
pub(crate) const CALL: Duration = Duration::from_secs(8);

/// Waits for a call, but no longer than it may take.
pub(crate) async fn in_time<T>(
    call: impl Future<Output = Result<T, LogError>>,
) -> Result<T, LogError> {
    let answer = timeout(CALL, call).await;
    answer.unwrap_or_else(|_| Err(LogError::Unreachable("no answer in time".to_owned())))
}

/// The number in an acknowledgement. One without a number is no acknowledgement.
///
/// A server of NATS that is cut off from the others of its cluster answers the second copy of an
/// entry with "duplicate" and 0, although the first copy was never stored.
#[cfg(any(feature = "nats", feature = "simulate", test))]
pub(crate) fn acknowledged(number: u64) -> Result<u64, LogError> {
    match number {
        0 => Err(LogError::Unreachable(
            "an acknowledgement without a number".to_owned(),
        )),
        number => Ok(number),
    }
}

/// Whether a channel fits a pattern, whose parts may be `*`.
fn fits(pattern: &str, channel: &str) -> bool {
    let (mut pattern, mut channel) = (pattern.split('.'), channel.split('.'));
    loop {
        match (pattern.next(), channel.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == "*" || a == b => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_one_part() {
        assert!(fits("watch.*.*", "watch.7.arena") && fits("nodes", "nodes"));
        assert!(
            !fits("watch.*", "watch.7.arena")
                && !fits("watch.*.*", "watch.7")
                && !fits("a.b", "a.c")
        );
    }
}
