//! What a node tells others, and hears of them: heartbeats, builds, watchers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::node::{Node, Stage, lock};
use crate::builds;
use crate::client::BEGINS;
use crate::entry::{Generation, Player, is_name};
use crate::member::{Heartbeat, Members};

/// How long a room stays watched after its watcher was heard.
const WATCHED: Duration = Duration::from_secs(5);

/// How often a node reads which builds there are.
const BUILDS: Duration = Duration::from_secs(2);

/// How long a watcher hears that there is no room, after it was heard: it may watch a little before
/// the room is opened.
const JUST_NOW: Duration = Duration::from_millis(250);

/// How often it is looked whether watchers are still heard, if none is.
const LOOKS: Duration = Duration::from_millis(200);

/// How many watchers of a shard are remembered, with a name and without one: anybody may say that it watches.
const WATCHERS: usize = 10_000;

/// How many rooms of a shard a player may watch: it may name rooms that are not there.
const ROOMS_OF_PLAYER: usize = 256;

/// Who watches the rooms of a shard.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// By the room, and the player, if it has a name.
    all: BTreeMap<(Arc<str>, Option<Player>), Seen>,
    /// How many rooms each player watches. `None`: those without a name.
    counts: BTreeMap<Option<Player>, usize>,
}

impl Watched {
    /// Hears a watcher. One more than there may be is not heard.
    fn hear(&mut self, room: Arc<str>, player: Option<Player>, begins: bool) {
        let key = (room, player);
        if let Some(seen) = self.all.get_mut(&key) {
            seen.hear(begins);
            return;
        }
        let unnamed = self.counts.get(&None).copied().unwrap_or(0);
        let count = self.counts.get(&key.1).copied().unwrap_or(0);
        let has_place = match key.1 {
            Some(_) => count < ROOMS_OF_PLAYER && self.all.len() - unnamed < WATCHERS,
            None => count < WATCHERS,
        };
        if has_place {
            *self.counts.entry(key.1.clone()).or_default() += 1;
            self.all.insert(key, Seen::new(begins));
        }
    }

    /// Forgets who does not watch any more.
    fn forget(&mut self) {
        self.all.retain(|_, seen| seen.watches());
        self.counts.clear();
        for (_, player) in self.all.keys() {
            *self.counts.entry(player.clone()).or_default() += 1;
        }
    }
}

/// When a watcher was heard last.
#[derive(Debug)]
pub(super) struct Seen {
    at: Instant,
    /// Whether that was since the last frame.
    is_new: bool,
    /// Whether it has begun since then.
    begins: bool,
}

impl Seen {
    fn new(begins: bool) -> Self {
        Seen {
            at: Instant::now(),
            is_new: true,
            begins,
        }
    }

    fn hear(&mut self, begins: bool) {
        *self = Seen::new(begins || self.begins);
    }

    fn watches(&self) -> bool {
        self.at.elapsed() < WATCHED
    }
}

/// A watcher of a room.
#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) room: Arc<str>,
    /// `None` of one that only looks on.
    pub(crate) player: Option<Player>,
    /// Whether it was heard just now.
    pub(crate) is_asked: bool,
    /// Whether it begins to watch: it sees a view that others have seen already.
    pub(crate) begins: bool,
}

impl Node {
    /// Says whether this node can begin a shard of another build.
    pub(crate) fn note_begins(self: &Arc<Self>, shard: u32, can_begin: Option<bool>) {
        let mut begins = lock(&self.begins);
        match can_begin {
            Some(can_begin) => begins.insert(shard, can_begin),
            None => begins.remove(&shard),
        };
        drop(begins);
        let node = self.clone();
        self.handle
            .spawn(async move { node.send_heartbeat().await });
    }

    /// The watchers of a shard.
    pub(crate) fn watchers(&self, shard: u32) -> Vec<Watcher> {
        let mut watched = lock(&self.watched);
        let all = watched.get_mut(&shard).into_iter();
        let all = all.flat_map(|watched| &mut watched.all);
        all.filter(|(_, seen)| seen.watches())
            .map(|((room, player), seen)| Watcher {
                room: room.clone(),
                player: player.clone(),
                is_asked: std::mem::take(&mut seen.is_new) || seen.at.elapsed() < JUST_NOW,
                begins: std::mem::take(&mut seen.begins),
            })
            .collect()
    }

    /// The players who watch rooms of a shard.
    pub(crate) fn watching(&self, shard: u32) -> BTreeSet<(Arc<str>, Player)> {
        let watched = lock(&self.watched);
        let all = watched.get(&shard).into_iter();
        let all = all.flat_map(|watched| &watched.all);
        let all = all.filter(|(_, seen)| seen.watches());
        all.filter_map(|((room, player), _)| Some((room.clone(), player.clone()?)))
            .collect()
    }

    /// Whether each watcher was heard that there is: not in the first seconds, and not after the log was
    /// silent.
    pub(crate) fn hears_all_watchers(&self) -> bool {
        let since = *lock(&self.hears_since);
        self.now() >= since + WATCHED
    }

    pub(super) fn change_members(&self, change: impl FnOnce(&mut Members)) {
        let mut members = lock(&self.members);
        change(Arc::make_mut(&mut members));
    }

    pub(super) fn heartbeat(&self) -> Heartbeat {
        let begins = lock(&self.begins).clone();
        let of = |can_begin: bool| -> Vec<u32> {
            let shards = begins.iter().filter(|it| *it.1 == can_begin);
            shards.map(|(shard, _)| *shard).collect()
        };
        Heartbeat {
            begins: of(true),
            refuses: of(false),
            node: self.me.clone(),
            code: self.code,
            settings: self.settings.clone(),
            build: self.build,
            generation: self.generation.load(Ordering::Relaxed),
            leaves: *self.stage.borrow() >= Stage::Leaves,
        }
    }

    pub(super) async fn send_heartbeat(&self) {
        if let Ok(body) = postcard::to_stdvec(&self.heartbeat()) {
            let _ = self.log.say("nodes", body).await;
        }
    }

    pub(super) async fn send_heartbeats(self: Arc<Self>) {
        loop {
            let now = self.now();
            self.change_members(|members| {
                members.hear(now, self.heartbeat());
                members.forget(now);
            });
            self.forget_watchers();
            self.send_heartbeat().await;
            sleep(self.options.failover_timeout / 3).await;
        }
    }

    /// Follows the generation of the build, which rises if the operator prefers the build.
    pub(super) async fn read_generation(self: Arc<Self>) {
        loop {
            sleep(BUILDS).await;
            let known: Generation = self.generation.load(Ordering::Relaxed);
            // Without an answer, what is known counts.
            if let Ok(generation) = builds::register(&*self.log, self.build, known).await {
                self.generation.fetch_max(generation, Ordering::Relaxed);
            }
        }
    }

    pub(super) async fn receive_heartbeats(self: Arc<Self>) {
        let Ok(mut inbox) = self.log.hear("nodes").await else {
            return;
        };
        let mut has_probe = false;
        while let Some(message) = inbox.next().await {
            if let Ok(heartbeat) = postcard::from_bytes::<Heartbeat>(&message.body)
                && heartbeat.node != self.me
            {
                self.change_members(|members| members.hear(self.now(), heartbeat));
                if self.options.probes && !std::mem::replace(&mut has_probe, true) {
                    let node = self.clone();
                    tokio::spawn(async move { node.probes.prepare().await });
                }
            }
        }
    }

    pub(super) async fn hear_watchers(self: Arc<Self>) {
        let (all, players) = (self.log.hear("watch.*.*"), self.log.hear("watch.*.*.*"));
        let (Ok(mut all), Ok(mut players)) = (all.await, players.await) else {
            return;
        };
        let mut connections = None;
        loop {
            let now = Some(all.connections());
            if connections != now {
                // Some were not heard meanwhile.
                *lock(&self.hears_since) = self.now();
                connections = now;
            }
            let message = tokio::select! {
                message = all.next() => message,
                message = players.next() => message,
                () = sleep(LOOKS) => continue,
            };
            let Some(message) = message else {
                return;
            };
            self.hear_watcher(&message.channel, *message.body == *BEGINS);
        }
    }

    fn hear_watcher(&self, channel: &str, begins: bool) {
        let parts: Vec<&str> = channel.split('.').skip(1).collect();
        let (shard, room, player) = match parts[..] {
            [shard, room] => (shard, room, None),
            [shard, room, player] => match Player::new(player) {
                Some(player) => (shard, room, Some(player)),
                None => return,
            },
            _ => return,
        };
        let shard = shard.parse().ok();
        let Some(shard) = shard.filter(|shard| *shard < self.options.shards) else {
            return;
        };
        if !is_name(room) {
            return;
        }
        let mut watched = lock(&self.watched);
        let watched = watched.entry(shard).or_default();
        watched.hear(room.into(), player, begins);
    }

    /// Forgets who does not watch any more.
    fn forget_watchers(&self) {
        for watchers in lock(&self.watched).values_mut() {
            watchers.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_player_who_says_that_it_watches_everything_keeps_nobody_else_from_watching() {
        let mut watched = Watched::default();
        let (eve, bob) = (Player::new("eve"), Player::new("bob"));
        for number in 0..30_000 {
            watched.hear(format!("room-{number}").into(), eve.clone(), true);
            watched.hear(format!("room-{number}").into(), None, true);
        }
        watched.hear("duel".into(), bob.clone(), true);
        assert_eq!(watched.all.len(), ROOMS_OF_PLAYER + WATCHERS + 1);
        assert!(watched.all.contains_key(&("duel".into(), bob)));
        // Who is known stays heard, and nobody was counted twice.
        watched.hear("room-0".into(), eve.clone(), false);
        watched.forget();
        assert_eq!(watched.counts[&eve], ROOMS_OF_PLAYER);
    }
}
