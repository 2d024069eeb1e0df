//! A log in the memory of one process, perhaps with a file behind it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::{Batch, Ends, Inbox, Kept, Later, Log, LogError, Message, Reader, fits};
use crate::entry::{Entry, Topic};

/// How many message ids are remembered.
const IDS: usize = 20_000;
/// How many entries are read at once.
const BATCH: usize = 256;
/// How many messages a listener may leave unread, before more are dropped.
const UNREAD: usize = 1_024;

/// Where a local log is written, too. Each call is done when it returns.
pub(super) trait Disk: Send {
    fn append(&mut self, shard: u32, entry: &Entry, id: &str) -> Result<(), String>;
    fn trim(&mut self, shard: u32, before: u64) -> Result<(), String>;
    fn keep(&mut self, key: &str, value: &Kept) -> Result<(), String>;
}

/// The log of a shard.
#[derive(Debug)]
pub(super) struct Stream {
    first: u64,
    entries: VecDeque<Entry>,
    last_tick: u64,
    ids: HashMap<Arc<str>, u64>,
    order: VecDeque<Arc<str>>,
    last: watch::Sender<u64>,
}

impl Stream {
    pub(super) fn new(first: u64) -> Self {
        Stream {
            first,
            entries: VecDeque::new(),
            last_tick: 0,
            ids: HashMap::new(),
            order: VecDeque::new(),
            last: watch::Sender::new(first - 1),
        }
    }

    fn last(&self) -> u64 {
        *self.last.borrow()
    }

    pub(super) fn push(&mut self, entry: Entry, id: &str) {
        let (seq, is_tick) = (entry.seq, entry.is_tick());
        self.entries.push_back(entry);
        if is_tick {
            self.last_tick = seq;
        }
        let id: Arc<str> = id.into();
        self.ids.insert(id.clone(), seq);
        self.order.push_back(id);
        if self.order.len() > IDS
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        self.last.send_replace(seq);
    }

    fn from(&self, from: u64) -> Vec<Entry> {
        let skipped = usize::try_from(from.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.entries
            .iter()
            .skip(skipped)
            .take(BATCH)
            .cloned()
            .collect()
    }
}

#[derive(Default)]
pub(super) struct State {
    pub(super) streams: BTreeMap<u32, Stream>,
    pub(super) kept: BTreeMap<String, Kept>,
    listeners: Vec<(String, mpsc::Sender<Message>)>,
    pub(super) disk: Option<Box<dyn Disk>>,
}

impl State {
    fn stream(&mut self, shard: u32) -> &mut Stream {
        self.streams.entry(shard).or_insert_with(|| Stream::new(1))
    }
}

#[derive(Clone)]
pub(super) struct Local {
    state: Arc<Mutex<State>>,
}

impl Local {
    pub(super) fn new(state: State) -> Self {
        Local {
            state: Arc::new(Mutex::new(state)),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // No call panics halfway through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(
        &self,
        shard: u32,
        topic: &Topic,
        id: &str,
        body: &[u8],
        after: Option<u64>,
    ) -> Result<u64, LogError> {
        let mut state = self.state();
        let state = &mut *state;
        let stream = state.streams.entry(shard).or_insert_with(|| Stream::new(1));
        if let Some(&seq) = stream.ids.get(id) {
            return Ok(seq);
        }
        if after.is_some_and(|after| after != stream.last_tick) {
            return Err(LogError::Refused);
        }
        let entry = Entry {
            seq: stream.last() + 1,
            topic: Some(topic.clone()),
            body: body.into(),
        };
        if let Some(disk) = &mut state.disk {
            disk.append(shard, &entry, id).map_err(LogError::Failed)?;
        }
        let seq = entry.seq;
        stream.push(entry, id);
        Ok(seq)
    }

    fn keep_now(&self, key: &str, revision: u64, body: &[u8]) -> Result<u64, LogError> {
        let mut state = self.state();
        let now = state.kept.get(key).map_or(0, |kept| kept.revision);
        if now != revision {
            return Err(LogError::Refused);
        }
        let kept = Kept {
            revision: now + 1,
            body: body.into(),
        };
        if let Some(disk) = &mut state.disk {
            disk.keep(key, &kept).map_err(LogError::Failed)?;
        }
        state.kept.insert(key.to_owned(), kept);
        Ok(now + 1)
    }
}

/// The key of the number of shards.
const SHARDS: &str = "shards";

fn shards_of(kept: Option<&Kept>) -> u32 {
    let text = kept.and_then(|kept| std::str::from_utf8(&kept.body).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

impl Log for Local {
    fn prepare(&self, shards: u32, _: usize) -> Later<'_, Result<(), LogError>> {
        Box::pin(async move {
            let is = shards_of(self.state().kept.get(SHARDS));
            if is == 0 {
                self.keep_now(SHARDS, 0, shards.to_string().as_bytes())?;
            } else if is != shards {
                return Err(LogError::Failed(format!(
                    "the log was made for {is} shards, not for {shards}: rooms would be searched for in \
                     the wrong one. Use `.shards({is})`, or another log"
                )));
            }
            Ok(())
        })
    }

    fn shards(&self) -> Later<'_, Result<u32, LogError>> {
        Box::pin(async { Ok(shards_of(self.state().kept.get(SHARDS))) })
    }

    fn append<'a>(
        &'a self,
        shard: u32,
        topic: &'a Topic,
        id: &'a str,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>> {
        Box::pin(async move { self.put(shard, topic, id, body, None) })
    }

    fn tick<'a>(
        &'a self,
        shard: u32,
        after: u64,
        id: &'a str,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>> {
        Box::pin(async move { self.put(shard, &Topic::Tick, id, body, Some(after)) })
    }

    fn ends(&self, shard: u32) -> Later<'_, Result<Ends, LogError>> {
        Box::pin(async move {
            let mut state = self.state();
            let stream = state.stream(shard);
            Ok(Ends {
                first: stream.first,
                last: stream.last(),
            })
        })
    }

    fn read(&self, shard: u32, from: u64) -> Later<'_, Result<Box<dyn Reader>, LogError>> {
        Box::pin(async move {
            let last = self.state().stream(shard).last.subscribe();
            let reader = LocalReader {
                log: self.clone(),
                shard,
                from,
                last,
            };
            Ok(Box::new(reader) as Box<dyn Reader>)
        })
    }

    fn trim(&self, shard: u32, before: u64) -> Later<'_, Result<(), LogError>> {
        Box::pin(async move {
            let mut state = self.state();
            let state = &mut *state;
            if let Some(disk) = &mut state.disk {
                disk.trim(shard, before).map_err(LogError::Failed)?;
            }
            let stream = state.stream(shard);
            while stream
                .entries
                .front()
                .is_some_and(|entry| entry.seq < before)
            {
                stream.entries.pop_front();
                stream.first += 1;
            }
            Ok(())
        })
    }

    fn kept<'a>(&'a self, key: &'a str) -> Later<'a, Result<Option<Kept>, LogError>> {
        Box::pin(async move { Ok(self.state().kept.get(key).cloned()) })
    }

    fn keep<'a>(
        &'a self,
        key: &'a str,
        revision: u64,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>> {
        Box::pin(async move { self.keep_now(key, revision, body) })
    }

    fn say<'a>(&'a self, channel: &'a str, body: Vec<u8>) -> Later<'a, Result<(), LogError>> {
        Box::pin(async move {
            let message = Message {
                channel: channel.to_owned(),
                body,
            };
            self.state().listeners.retain(|(pattern, to)| {
                if fits(pattern, channel) {
                    // A listener that is too slow loses messages.
                    !matches!(
                        to.try_send(message.clone()),
                        Err(mpsc::error::TrySendError::Closed(_))
                    )
                } else {
                    !to.is_closed()
                }
            });
            Ok(())
        })
    }

    fn hear<'a>(&'a self, channel: &'a str) -> Later<'a, Result<Box<dyn Inbox>, LogError>> {
        Box::pin(async move {
            let (to, from) = mpsc::channel(UNREAD);
            self.state().listeners.push((channel.to_owned(), to));
            Ok(Box::new(LocalInbox(from)) as Box<dyn Inbox>)
        })
    }
}

struct LocalReader {
    log: Local,
    shard: u32,
    from: u64,
    last: watch::Receiver<u64>,
}

impl Reader for LocalReader {
    fn next(&mut self, wait: Duration) -> Later<'_, Result<Batch, LogError>> {
        Box::pin(async move {
            let from = self.from;
            let more = self.last.wait_for(|last| *last >= from);
            if let Ok(Err(_)) = tokio::time::timeout(wait, more).await {
                return Err(LogError::Failed("the log was dropped".to_owned()));
            }
            let mut state = self.log.state();
            let stream = state.stream(self.shard);
            let entries = stream.from(from);
            if let Some(last) = entries.last() {
                self.from = last.seq + 1;
            }
            Ok(Batch {
                entries,
                is_end: self.from > stream.last(),
            })
        })
    }
}

struct LocalInbox(mpsc::Receiver<Message>);

impl Inbox for LocalInbox {
    fn next(&mut self) -> Later<'_, Option<Message>> {
        Box::pin(self.0.recv())
    }
}

/// Delegates all methods of [`Log`] to a field.
macro_rules! delegate_log {
    ($type:ty, $field:ident) => {
        impl $crate::log::Log for $type {
            fn prepare(
                &self,
                shards: u32,
                largest: usize,
            ) -> $crate::log::Later<'_, Result<(), $crate::log::LogError>> {
                self.$field.prepare(shards, largest)
            }
            fn shards(&self) -> $crate::log::Later<'_, Result<u32, $crate::log::LogError>> {
                self.$field.shards()
            }
            fn append<'a>(
                &'a self,
                shard: u32,
                topic: &'a $crate::Topic,
                id: &'a str,
                body: &'a [u8],
            ) -> $crate::log::Later<'a, Result<u64, $crate::log::LogError>> {
                self.$field.append(shard, topic, id, body)
            }
            fn tick<'a>(
                &'a self,
                shard: u32,
                after: u64,
                id: &'a str,
                body: &'a [u8],
            ) -> $crate::log::Later<'a, Result<u64, $crate::log::LogError>> {
                self.$field.tick(shard, after, id, body)
            }
            fn ends(
                &self,
                shard: u32,
            ) -> $crate::log::Later<'_, Result<$crate::log::Ends, $crate::log::LogError>> {
                self.$field.ends(shard)
            }
            fn read(
                &self,
                shard: u32,
                from: u64,
            ) -> $crate::log::Later<'_, Result<Box<dyn $crate::log::Reader>, $crate::log::LogError>>
            {
                self.$field.read(shard, from)
            }
            fn trim(
                &self,
                shard: u32,
                before: u64,
            ) -> $crate::log::Later<'_, Result<(), $crate::log::LogError>> {
                self.$field.trim(shard, before)
            }
            fn kept<'a>(
                &'a self,
                key: &'a str,
            ) -> $crate::log::Later<'a, Result<Option<$crate::log::Kept>, $crate::log::LogError>>
            {
                self.$field.kept(key)
            }
            fn keep<'a>(
                &'a self,
                key: &'a str,
                revision: u64,
                body: &'a [u8],
            ) -> $crate::log::Later<'a, Result<u64, $crate::log::LogError>> {
                self.$field.keep(key, revision, body)
            }
            fn say<'a>(
                &'a self,
                channel: &'a str,
                body: Vec<u8>,
            ) -> $crate::log::Later<'a, Result<(), $crate::log::LogError>> {
                self.$field.say(channel, body)
            }
            fn hear<'a>(
                &'a self,
                channel: &'a str,
            ) -> $crate::log::Later<'a, Result<Box<dyn $crate::log::Inbox>, $crate::log::LogError>>
            {
                self.$field.hear(channel)
            }
        }
    };
}
pub(super) use delegate_log;
