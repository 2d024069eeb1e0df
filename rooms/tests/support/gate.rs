//! The connection of one node to a log, which can be cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use framestep_rooms::Topic;
use framestep_rooms::log::{
    Batch, Ends, Inbox, Kept, Later, Log, LogError, MemoryLog, Message, Reader,
};

/// A log in memory, as one node reaches it.
#[derive(Clone)]
pub(crate) struct Gate {
    log: MemoryLog,
    is_cut: Arc<AtomicBool>,
}

impl Gate {
    pub(crate) fn to(log: &MemoryLog) -> Self {
        Gate {
            log: log.clone(),
            is_cut: Arc::default(),
        }
    }

    /// From now on, nothing answers.
    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
    }

    fn through<'a, T: 'a>(
        &'a self,
        call: Later<'a, Result<T, LogError>>,
    ) -> Later<'a, Result<T, LogError>> {
        let is_cut = self.is_cut.clone();
        Box::pin(async move {
            if is_cut.load(Ordering::SeqCst) {
                return no_answer().await;
            }
            call.await
        })
    }
}

/// As NATS: the call ends after seconds.
async fn no_answer<T>() -> Result<T, LogError> {
    tokio::time::sleep(Duration::from_secs(3)).await;
    Err(LogError::Unreachable("it is cut".to_owned()))
}

impl Log for Gate {
    fn prepare(&self, shards: u32) -> Later<'_, Result<(), LogError>> {
        self.through(self.log.prepare(shards))
    }

    fn shards(&self) -> Later<'_, Result<u32, LogError>> {
        self.through(self.log.shards())
    }

    fn append<'a>(
        &'a self,
        shard: u32,
        topic: &'a Topic,
        id: &'a str,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>> {
        self.through(self.log.append(shard, topic, id, body))
    }

    fn tick<'a>(
        &'a self,
        shard: u32,
        after: u64,
        id: &'a str,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>> {
        self.through(self.log.tick(shard, after, id, body))
    }

    fn ends(&self, shard: u32) -> Later<'_, Result<Ends, LogError>> {
        self.through(self.log.ends(shard))
    }

    fn read(&self, shard: u32, from: u64) -> Later<'_, Result<Box<dyn Reader>, LogError>> {
        let is_cut = self.is_cut.clone();
        self.through(Box::pin(async move {
            let reader = self.log.read(shard, from).await?;
            Ok(Box::new(Gated(is_cut, reader)) as Box<dyn Reader>)
        }))
    }

    fn trim(&self, shard: u32, before: u64) -> Later<'_, Result<(), LogError>> {
        self.through(self.log.trim(shard, before))
    }

    fn kept<'a>(&'a self, key: &'a str) -> Later<'a, Result<Option<Kept>, LogError>> {
        self.through(self.log.kept(key))
    }

    fn keep<'a>(
        &'a self,
        key: &'a str,
        revision: u64,
        body: &'a [u8],
    ) -> Later<'a, Result<u64, LogError>> {
        self.through(self.log.keep(key, revision, body))
    }

    fn say<'a>(&'a self, channel: &'a str, body: Vec<u8>) -> Later<'a, Result<(), LogError>> {
        self.through(self.log.say(channel, body))
    }

    fn hear<'a>(&'a self, channel: &'a str) -> Later<'a, Result<Box<dyn Inbox>, LogError>> {
        let is_cut = self.is_cut.clone();
        self.through(Box::pin(async move {
            let inbox = self.log.hear(channel).await?;
            Ok(Box::new(Gated(is_cut, inbox)) as Box<dyn Inbox>)
        }))
    }
}

struct Gated<T>(Arc<AtomicBool>, T);

impl Reader for Gated<Box<dyn Reader>> {
    fn next(&mut self, wait: Duration) -> Later<'_, Result<Batch, LogError>> {
        Box::pin(async move {
            let batch = self.1.next(wait).await;
            if self.0.load(Ordering::SeqCst) {
                return no_answer().await;
            }
            batch
        })
    }
}

impl Inbox for Gated<Box<dyn Inbox>> {
    fn next(&mut self) -> Later<'_, Option<Message>> {
        Box::pin(async move {
            loop {
                let message = self.1.next().await?;
                if !self.0.load(Ordering::SeqCst) {
                    return Some(message);
                }
            }
        })
    }
}
