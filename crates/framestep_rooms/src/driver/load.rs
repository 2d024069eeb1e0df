//! Loading and storing saves.

use std::sync::Arc;

use super::Out;
use super::trial::{mark_try, take_out, taken_out, try_save};
use crate::entry::Position;
use crate::event::ServerEvent;
use crate::log::{Log, LogError};
use crate::probe;
use crate::role::{Event, Loaded};
use crate::saves::{self, SLOTS, Save};
use crate::server::Node;

/// After so many starts of a shard at the same save without an end, its rooms are tried in another
/// process.
const TRIES: u32 = 2;

fn slot_key(shard: u32, slot: usize) -> String {
    format!("{shard}.save.{slot}")
}

/// Stores a save in the slot for it.
pub(super) async fn store(
    log: &dyn Log,
    shard: u32,
    at: &Position,
    bytes: &[u8],
    not_of_this_log: Option<u64>,
    spacing: u64,
) -> Result<Event, LogError> {
    let mut slots = Vec::new();
    for slot in 0..SLOTS {
        let kept = log.kept(&slot_key(shard, slot)).await?;
        slots.push(kept.map_or((0, None), |kept| {
            (kept.revision, saves::of_bytes(&kept.body).map(|(at, _)| at))
        }));
    }
    if let Some((slot, revision)) = saves::slot_for(&slots, at, not_of_this_log, spacing) {
        let revision = log.keep(&slot_key(shard, slot), revision, bytes).await?;
        slots[slot] = (revision, Some(at.clone()));
    }
    Ok(Event::Saved {
        at: at.seq,
        needed: saves::oldest(&slots),
        newest: saves::newest_entry(&slots),
    })
}

/// Replaces all saves of a shard by one without rooms.
pub(crate) async fn replace_saves(
    log: &dyn Log,
    shard: u32,
    at: &Position,
) -> Result<(), LogError> {
    let bytes = saves::to_bytes(at, &[]);
    for slot in 0..SLOTS {
        let key = slot_key(shard, slot);
        let revision = log.kept(&key).await?.map_or(0, |kept| kept.revision);
        log.keep(&key, revision, &bytes).await?;
    }
    Ok(())
}

/// The saves of a shard, the newest one first.
pub(crate) async fn read_saves(log: &dyn Log, shard: u32) -> Result<Vec<Save>, LogError> {
    let mut slots = Vec::new();
    for slot in 0..SLOTS {
        let kept = log.kept(&slot_key(shard, slot)).await?;
        slots.push(kept.map(|kept| kept.body));
    }
    Ok(saves::by_age(slots))
}

/// Reads what a role needs to begin.
pub(super) async fn load(
    node: Arc<Node>,
    shard: u32,
    before: Option<u64>,
) -> Result<(Loaded, Out), LogError> {
    let log = &*node.log;
    loop {
        let save = saves::newest(read_saves(log, shard).await?, before);
        let first = log.ends(shard).await?.first;
        let (_, out) = taken_out(log, shard).await?;
        let is_ours = save
            .as_ref()
            .is_none_or(|(at, _)| at.build == node.build || at.hands_over);
        let unread = match &save {
            Some((_, state)) if !is_ours => try_save(&node, shard, state, &out).await,
            _ => None,
        };
        if before.is_none() && is_ours {
            let at = save.as_ref().map_or(0, |(at, _)| at.seq);
            let tries = mark_try(log, shard, Some(at)).await?;
            if tries >= TRIES && node.options.probes {
                node.tell(shard, ServerEvent::StartsFailed { starts: tries });
                if let Some(found) = probe::try_rooms(&node, shard, save.as_ref(), &out).await? {
                    take_out(&node, shard, &found).await?;
                    continue;
                }
            }
        }
        let loaded = Loaded {
            save,
            first,
            unread,
        };
        return Ok((loaded, out));
    }
}
