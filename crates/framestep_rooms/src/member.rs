//! Membership: which nodes there are, by their heartbeats, and which of them should run a shard.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::entry::{Build, Generation};
use framestep_durable::StableHash;

/// What a node sends about itself, three times in each `failover_timeout`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Heartbeat {
    /// The node's name, and which of its starts it is.
    pub(crate) node: Arc<str>,
    pub(crate) build: Build,
    /// The code of the node, whatever its settings are.
    pub(crate) code: u64,
    /// The settings that rooms are computed with, for people.
    pub(crate) settings: Arc<str>,
    /// The generation of the build, as the node has read it in the log.
    pub(crate) generation: Generation,
    /// Whether it stops, and others should run its shards.
    pub(crate) leaves: bool,
    /// Shards of other builds that this node can begin: it has read their saves.
    pub(crate) begins: Vec<u32>,
    /// Shards of other builds whose saves this node cannot read.
    pub(crate) refuses: Vec<u32>,
}

impl Heartbeat {
    fn is_available(&self) -> bool {
        !self.leaves
    }
}

/// The nodes that have sent a heartbeat lately.
///
/// Two nodes may see different members at the same time. That costs time, never a frame: the log
/// decides who ticks.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    heard: BTreeMap<Arc<str>, (Duration, Heartbeat)>,
    failover_timeout: Duration,
    shards: u32,
    /// Of each build, the nodes of each shard, first the one that should run it.
    places: Arc<BTreeMap<Build, Vec<Vec<Arc<str>>>>>,
}

impl Members {
    pub(crate) fn new(failover_timeout: Duration, shards: u32) -> Self {
        Members {
            heard: BTreeMap::new(),
            failover_timeout,
            shards,
            places: Arc::default(),
        }
    }

    /// Takes what a node says, heard at `now`.
    pub(crate) fn hear(&mut self, now: Duration, heartbeat: Heartbeat) {
        let (build, is_available) = (heartbeat.build, heartbeat.is_available());
        let before = self.heard.insert(heartbeat.node.clone(), (now, heartbeat));
        let is_known =
            before.is_some_and(|(_, it)| it.build == build && it.is_available() == is_available);
        if !is_known {
            self.distribute();
        }
    }

    /// Forgets nodes that were silent for long.
    pub(crate) fn forget(&mut self, now: Duration) {
        let limit = self.failover_timeout;
        let before = self.heard.len();
        self.heard.retain(|_, (at, _)| now < *at + limit);
        if self.heard.len() != before {
            self.distribute();
        }
    }

    pub(crate) fn get(&self, node: &str) -> Option<&Heartbeat> {
        self.heard.get(node).map(|(_, heartbeat)| heartbeat)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Heartbeat> {
        self.heard.values().map(|(_, heartbeat)| heartbeat)
    }

    /// Whether a node of this build is a member.
    pub(crate) fn has_build(&self, build: Build) -> bool {
        self.iter().any(|it| it.build == build)
    }

    /// The place of `node` among the nodes of its build for a shard: 0 should run it, 1 is its first
    /// standby. `None` if the node leaves, or is no member.
    pub(crate) fn rank(&self, node: &str, shard: u32) -> Option<usize> {
        let me = self
            .get(node)
            .filter(|heartbeat| heartbeat.is_available())?;
        let nodes = self.places.get(&me.build)?.get(shard as usize)?;
        nodes.iter().position(|it| **it == *node)
    }

    /// The generation of a build, as its nodes know it. 0 if none is a member.
    pub(crate) fn generation(&self, build: Build) -> Generation {
        let of_build = self.iter().filter(|it| it.build == build);
        of_build.map(|it| it.generation).max().unwrap_or(0)
    }

    /// Whether a shard of `build` should be handed to another one: that is of a later generation, and a
    /// node of it can begin the shard.
    pub(crate) fn is_superseded(&self, build: Build, shard: u32) -> bool {
        self.successor(build, |it| it.begins.contains(&shard))
    }

    /// Whether a node of a later build has not said yet that it cannot begin.
    pub(crate) fn may_be_superseded(&self, build: Build, shard: u32) -> bool {
        self.successor(build, |it| !it.refuses.contains(&shard))
    }

    /// As [`is_superseded`](Self::is_superseded), whether or not the other build can begin.
    pub(crate) fn is_superseded_unread(&self, build: Build) -> bool {
        self.successor(build, |_| true)
    }

    fn successor(&self, build: Build, can_begin: impl Fn(&Heartbeat) -> bool) -> bool {
        let mut later = self.later(build);
        later.any(|it| it.is_available() && can_begin(it))
    }

    /// The nodes of builds of later generations.
    fn later(&self, build: Build) -> impl Iterator<Item = &Heartbeat> {
        let own = (self.generation(build), build);
        self.iter()
            .filter(move |it| it.build != build && (it.generation, it.build) > own)
    }

    /// A node of a later build that cannot read the save of a shard.
    pub(crate) fn refusing(&self, build: Build, shard: u32) -> Option<&Heartbeat> {
        self.later(build).find(|it| it.refuses.contains(&shard))
    }

    /// The build that should run the shards, if that is a later one than `build`.
    pub(crate) fn latest(&self, build: Build) -> Option<Build> {
        let latest = self.later(build).max_by_key(|it| (it.generation, it.build));
        latest.map(|it| it.build)
    }

    /// Distributes the shards anew.
    fn distribute(&mut self) {
        let mut builds: BTreeMap<Build, Vec<Arc<str>>> = BTreeMap::new();
        for heartbeat in self.heard.values().map(|(_, heartbeat)| heartbeat) {
            if heartbeat.is_available() {
                builds
                    .entry(heartbeat.build)
                    .or_default()
                    .push(heartbeat.node.clone());
            }
        }
        let places = builds
            .into_iter()
            .map(|(build, nodes)| (build, distributed(&nodes, self.shards)));
        self.places = Arc::new(places.collect());
    }
}

/// The nodes of each shard: first the one that should run it, then its standbys.
///
/// Each node prefers some shards, by its name. So when a node comes or goes, few shards move besides its own.
/// Up to each place, a node has no more shards than its share: of eight shards, three nodes run three,
/// three and two, and as many follow.
fn distributed(nodes: &[Arc<str>], shards: u32) -> Vec<Vec<Arc<str>>> {
    let mut wishes = Vec::with_capacity(nodes.len() * shards as usize);
    for (node, name) in nodes.iter().enumerate() {
        wishes.extend((0..shards).map(|shard| (weight(name, shard), node, shard as usize)));
    }
    wishes.sort_unstable_by(|a, b| b.cmp(a));
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); shards as usize];
    let mut load = vec![0; nodes.len()];
    for place in 0..nodes.len() {
        let share = (shards as usize * (place + 1)).div_ceil(nodes.len());
        // A shard may be left over whose only other nodes have their share: it takes any of them.
        for share in [share, usize::MAX] {
            for &(_, node, shard) in &wishes {
                let is_free = places[shard].len() == place && !places[shard].contains(&node);
                if is_free && load[node] < share {
                    places[shard].push(node);
                    load[node] += 1;
                }
            }
        }
    }
    let named = |places: Vec<usize>| places.into_iter().map(|node| nodes[node].clone()).collect();
    places.into_iter().map(named).collect()
}

/// The weight of rendezvous hashing: when a node comes or goes, only its own shards move.
fn weight(node: &str, shard: u32) -> u64 {
    let mut hash = StableHash::new();
    hash.add(u64::from(shard));
    hash.add_bytes(node.as_bytes());
    hash.finish()
}

/// The shard of a room.
pub(crate) fn shard_of(room: &str, shards: u32) -> u32 {
    let shard = StableHash::digest(room.as_bytes()) % u64::from(shards);
    u32::try_from(shard).expect("less than a u32")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heartbeat(node: &str, build: Build, generation: Generation) -> Heartbeat {
        Heartbeat {
            node: node.into(),
            build,
            generation,
            leaves: false,
            code: build,
            settings: "".into(),
            begins: Vec::new(),
            refuses: Vec::new(),
        }
    }

    fn members(nodes: &[String], shards: u32) -> Members {
        let mut members = Members::new(Duration::from_secs(1), shards);
        for node in nodes {
            members.hear(Duration::ZERO, heartbeat(node, 1, 0));
        }
        members
    }

    /// The node of each shard that has this rank.
    fn of_rank(members: &Members, nodes: &[String], rank: usize) -> Vec<String> {
        let of = |shard| {
            let is_it = |node: &&String| members.rank(node, shard) == Some(rank);
            let found: Vec<_> = nodes.iter().filter(is_it).collect();
            assert_eq!(found.len(), 1);
            found[0].clone()
        };
        (0..members.shards).map(of).collect()
    }

    #[test]
    fn each_node_runs_and_follows_its_share_of_the_shards() {
        for start in 0..200 {
            for (shards, count) in [(8, 3), (8, 2), (8, 5), (3, 3), (2, 4), (64, 7)] {
                let nodes: Vec<_> = (0..count).map(|n| format!("node-{n}.{start}")).collect();
                let members = members(&nodes, shards);
                let loads = |ranks: &[usize]| -> Vec<usize> {
                    let of = |rank: &usize| of_rank(&members, &nodes, *rank);
                    let all: Vec<_> = ranks.iter().flat_map(of).collect();
                    let load = |node| all.iter().filter(|it| *it == node).count();
                    nodes.iter().map(load).collect()
                };
                let share = (shards as usize).div_ceil(count);
                assert!(loads(&[0]).iter().all(|load| *load <= share));
                // What is left over may be one more.
                let both = (shards as usize * 2).div_ceil(count) + 1;
                assert!(
                    loads(&[0, 1]).iter().all(|load| *load <= both),
                    "{:?}",
                    loads(&[0, 1])
                );
            }
        }
    }

    #[test]
    fn few_shards_move_besides_those_of_a_lost_node() {
        let nodes: Vec<String> = (0..5).map(|n| format!("node-{n}")).collect();
        let mut members = members(&nodes, 500);
        let before = of_rank(&members, &nodes, 0);
        for node in &nodes[..4] {
            members.hear(Duration::from_millis(600), heartbeat(node, 1, 0));
        }
        members.forget(Duration::from_secs(1));
        let after = of_rank(&members, &nodes[..4], 0);
        let pairs = before.iter().zip(&after);
        let moved = pairs.filter(|(before, after)| before != after && *before != "node-4");
        assert!(moved.count() < 50);
    }

    #[test]
    fn a_build_is_superseded_by_a_later_one_that_can_begin_and_does_not_leave() {
        let mut members = Members::new(Duration::from_secs(1), 8);
        members.hear(Duration::ZERO, heartbeat("a", 1, 10));
        assert!(!members.is_superseded(1, 3));
        let begins = |node: &str, build, generation| Heartbeat {
            begins: vec![3],
            refuses: vec![4],
            ..heartbeat(node, build, generation)
        };
        members.hear(Duration::ZERO, begins("b", 2, 20));
        assert!(members.is_superseded(1, 3) && !members.is_superseded(2, 3));
        assert!(!members.is_superseded(1, 4) && !members.is_superseded(1, 5));
        let refusing = |shard| members.refusing(1, shard).map(|it| &*it.node);
        assert_eq!((refusing(3), refusing(4)), (None, Some("b")));
        assert_eq!(
            (members.rank("a", 3), members.rank("b", 3)),
            (Some(0), Some(0))
        );
        // A node of the first build restarts: nothing changes.
        members.hear(Duration::ZERO, begins("c", 1, 10));
        assert!(members.is_superseded(1, 3) && !members.is_superseded(2, 3));
        assert_eq!((members.latest(1), members.latest(2)), (Some(2), None));
        // Back to the first build, which the operator prefers: one of its nodes knows that.
        members.hear(Duration::ZERO, begins("c", 1, 30));
        assert!(members.is_superseded(2, 3) && !members.is_superseded(1, 3));
        let leaves = Heartbeat {
            leaves: true,
            ..begins("c", 1, 30)
        };
        members.hear(Duration::ZERO, leaves);
        assert!(!members.is_superseded(1, 3) && members.rank("c", 3).is_none());
        assert!(
            !members.is_superseded(2, 3),
            "no other node of build 1 can begin"
        );
    }
}
