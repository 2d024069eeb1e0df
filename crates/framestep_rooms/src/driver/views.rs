//! What watchers see, and who watches.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::Driver;
use crate::client::{channel, close_end, close_view};
use crate::entry::{Player, Topic};
use crate::event::ServerEvent;
use crate::log::LogError;
use crate::reminders::{MINUTE, Reminders};
use crate::server::Node;
use crate::shard::{HERE, Shown};

/// How often a view is sent that has not changed: messages may be lost.
const AGAIN: Duration = Duration::from_secs(1);
/// How often a node compares who watches with who is there.
const LOOKS: Duration = Duration::from_millis(200);
/// After how long it tells once more what the room has not heard.
const TELLS: Duration = Duration::from_secs(2);
/// How many messages may wait. More are dropped, and sent again later.
const WAITING: usize = 4_096;

/// A room, and the player whose view it is. `None`: what all see.
type Key = (Arc<str>, Option<Player>);

/// A message to watchers.
struct Letter {
    key: Key,
    body: Vec<u8>,
}

/// What was sent to watchers.
pub(super) struct Views {
    sent: HashMap<Key, (Vec<u8>, Instant)>,
    to: mpsc::Sender<Letter>,
    looked_at: Option<Instant>,
    /// What was told of players, until the room has heard it.
    telling: Reminders<(Arc<str>, Player, bool)>,
}

impl Views {
    /// One task sends all of a shard, so that none overtakes another.
    pub(super) fn new(node: &Arc<Node>, shard: u32) -> Self {
        let (to, letters) = mpsc::channel(WAITING);
        node.handle.spawn(send(node.clone(), shard, letters));
        Views {
            sent: HashMap::new(),
            to,
            looked_at: None,
            telling: Reminders::every(TELLS),
        }
    }

    fn send(&self, key: &Key, body: Vec<u8>) -> bool {
        let key = key.clone();
        self.to.try_send(Letter { key, body }).is_ok()
    }

    /// Sends a view, if somebody waits for it, it has changed, or was not sent for a while. Returns whether it does.
    fn show(&mut self, key: &Key, shown: Shown, last_entry: u64, begins: bool) -> bool {
        let is_due = begins
            || self
                .sent
                .get(key)
                .is_none_or(|(sent, at)| *sent != shown.view || at.elapsed() >= AGAIN);
        let is_sent = is_due && self.send(key, close_view(&shown, last_entry));
        if is_sent {
            self.sent.insert(key.clone(), (shown.view, Instant::now()));
        }
        is_sent
    }
}

async fn send(node: Arc<Node>, shard: u32, mut letters: mpsc::Receiver<Letter>) {
    let mut reminders = Reminders::every(MINUTE);
    while let Some(Letter { key, body }) = letters.recv().await {
        let (room, player) = &key;
        let channel = channel("view", shard, room, player.as_ref());
        // Any other one may be lost.
        if let Err(LogError::TooLarge { size, limit }) = node.log.say(&channel, body).await
            && reminders.is_due(key.clone())
        {
            let event = ServerEvent::ViewTooLarge {
                player: player.clone(),
                size,
                limit,
            };
            node.tell_of_room(shard, room, event);
        }
    }
}

impl Driver {
    /// Shows rooms to those who watch.
    pub(super) fn show(&mut self) {
        let watchers = self.node.watchers(self.number);
        let (over, last_entry) = (self.rooms.take_over(), self.rooms.last_entry());
        // Whether it was sent now: once is enough, however many begin.
        let mut shown = BTreeMap::new();
        for ended in over {
            let is_watched = |player: &Option<Player>| {
                watchers
                    .iter()
                    .any(|it| *it.room == *ended.room && (player.is_none() || it.player == *player))
            };
            let views = ended.views.into_iter();
            for (player, view) in views.filter(|(player, _)| is_watched(player)) {
                let body = close_view(&view, last_entry);
                self.views.send(&(ended.room.clone(), player), body);
            }
            for it in watchers.iter().filter(|it| *it.room == *ended.room) {
                self.show_absence(&ended.room, it.player.as_ref());
            }
        }
        for it in &watchers {
            let own = it.player.clone();
            let own = own.filter(|_| self.rooms.has_own_views(&it.room));
            let key: Key = (it.room.clone(), own);
            if shown
                .get(&key)
                .is_some_and(|is_sent| *is_sent || !it.begins)
            {
                continue;
            }
            if let Some(view) = self.rooms.view(&key.0, key.1.as_ref()) {
                let is_sent = self.views.show(&key, view, last_entry, it.begins);
                shown.insert(key, is_sent);
            } else if it.is_asked {
                self.show_absence(&it.room, it.player.as_ref());
            }
        }
        self.views.sent.retain(|key, _| shown.contains_key(key));
    }

    /// Says that there is no such room, to a player and to all: the kind of a room that is not there is
    /// not known.
    fn show_absence(&self, room: &Arc<str>, player: Option<&Player>) {
        let Some((at, why)) = self.rooms.absence(room) else {
            return;
        };
        let body = close_end(at, &why);
        self.views.send(&(room.clone(), None), body.clone());
        if let Some(player) = player {
            self.views.send(&(room.clone(), Some(player.clone())), body);
        }
    }

    /// Tells rooms which players have come and which are gone, by entries of the log.
    pub(super) fn look_who_is_here(&mut self) {
        let views = &mut self.views;
        if views.looked_at.is_some_and(|at| at.elapsed() < LOOKS) {
            return;
        }
        views.looked_at = Some(Instant::now());
        let watching = self.node.watching(self.number);
        let here = self.rooms.here();
        let come = watching.difference(&here).map(|it| (it, true));
        let gone = here.difference(&watching).map(|it| (it, false));
        let is_sure = self.node.hears_all_watchers();
        let gone = gone.filter(|_| is_sure);
        for ((room, player), is_here) in come.chain(gone) {
            let told = (room.clone(), player.clone(), is_here);
            let may_come = !is_here || self.rooms.may_come(room, player);
            if !may_come || !views.telling.is_due(told) {
                continue;
            }
            let topic = Topic::Presence(room.clone(), player.clone());
            let (node, shard) = (self.node.clone(), self.number);
            self.node.handle.spawn(async move {
                let id = format!("presence-{:x}", crate::random());
                let body = if is_here { HERE } else { b"gone" };
                // It is told again, by the node that runs the room then.
                let _ = node.log.append(shard, &topic, &id, body).await;
            });
        }
    }
}
