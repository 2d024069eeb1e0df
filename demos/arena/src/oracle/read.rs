//! Reading the log of a shard.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::shard::Entry;

/// Reads the log of a shard, and reads anew whenever that breaks.
pub(super) async fn read(
    context: Context,
    shard: u32,
    mut last: u64,
    number: u32,
    sender: mpsc::Sender<(u32, u32, Entry)>,
) {
    loop {
        // Why it has broken does not matter: the next entries are in the log.
        let _ = read_on(&context, shard, &mut last, number, &sender).await;
        if sender.is_closed() {
            return;
        }
        sleep(Duration::from_millis(100)).await;
    }
}

pub(super) async fn read_on(
    context: &Context,
    shard: u32,
    last: &mut u64,
    number: u32,
    sender: &mpsc::Sender<(u32, u32, Entry)>,
) -> Result<(), Box<dyn std::error::Error>> {
    let limit = Duration::from_secs(3);
    let config = pull::Config {
        deliver_policy: DeliverPolicy::ByStartSequence {
            start_sequence: *last + 1,
        },
        ack_policy: AckPolicy::None,
        inactive_threshold: Duration::from_secs(10),
        ..pull::Config::default()
    };
    let consumer = timeout(
        limit,
        context.create_consumer_on_stream(config, format!("LOG_{shard}")),
    )
    .await??;
    let messages = consumer
        .stream()
        .heartbeat(Duration::from_millis(500))
        .expires(Duration::from_secs(5));
    let mut messages = timeout(limit, messages.messages()).await??;
    while let Some(message) = timeout(Duration::from_secs(10), messages.next()).await? {
        let message = message?;
        let info = message.info().map_err(|error| error.to_string())?;
        let entry = Entry {
            seq: info.stream_sequence,
            subject: message
                .subject
                .splitn(3, '.')
                .nth(2)
                .unwrap_or_default()
                .to_owned(),
            body: message.payload.to_vec(),
            at: info.published.unix_timestamp_nanos(),
        };
        if entry.seq <= *last {
            continue;
        }
        if entry.seq != *last + 1 && *last > 0 {
            return Err("an entry has not arrived".into());
        }
        *last = entry.seq;
        if sender.send((shard, number, entry)).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}
