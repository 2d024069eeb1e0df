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

    /// Whether from now on nothing answers.
    pub(crate) fn set_cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
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
    Err(LogError::Unreachable("no answer in time".to_owned()))
}

macro_rules! through {
    ($($name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(fn $name<'a>(&'a self, $($arg: $type),*) -> Later<'a, Result<$answer, LogError>> {
            self.through(self.log.$name($($arg),*))
        })*
    };
}

#[expect(
    clippy::elidable_lifetime_names,
    reason = "some of the functions need the name"
)]
impl Log for Gate {
    through! {
        prepare(shards: u32, largest: usize) -> ();
        shards() -> u32;
        append(shard: u32, topic: &'a Topic, id: &'a str, body: &'a [u8]) -> u64;
        tick(shard: u32, after: u64, id: &'a str, body: &'a [u8]) -> u64;
        ends(shard: u32) -> Ends;
        trim(shard: u32, before: u64) -> ();
        kept(key: &'a str) -> Option<Kept>;
        keep(key: &'a str, revision: u64, body: &'a [u8]) -> u64;
        say(channel: &'a str, body: Vec<u8>) -> ();
    }

    fn read(&self, shard: u32, from: u64) -> Later<'_, Result<Box<dyn Reader>, LogError>> {
        let is_cut = self.is_cut.clone();
        self.through(Box::pin(async move {
            let reader = self.log.read(shard, from).await?;
            Ok(Box::new(Gated(is_cut, reader)) as Box<dyn Reader>)
        }))
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
