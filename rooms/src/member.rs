//! Which nodes there are, and which of them should run a shard.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::entry::Build;
use framestep_durable::StableHash;

/// What a node says about itself a few times in each `dead_after`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// The node's name, and which of its starts it is.
    pub(crate) node: Arc<str>,
    pub(crate) build: Build,
    /// When it was started, in milliseconds of the wall clock: of two builds, the one that was
    /// started later runs the shards.
    pub(crate) started: u64,
    /// Whether it stops, and others should run its shards.
    pub(crate) leaves: bool,
}

/// The nodes that were heard of lately.
///
/// Two nodes may see different members at the same time. That costs time, never a frame: the log
/// decides who ticks.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    heard: BTreeMap<Arc<str>, (Duration, Hello)>,
    dead_after: Duration,
}

impl Members {
    pub(crate) fn new(dead_after: Duration) -> Self {
        Members {
            heard: BTreeMap::new(),
            dead_after,
        }
    }

    /// Takes what a node says, heard at `now`.
    pub(crate) fn hear(&mut self, now: Duration, hello: Hello) {
        self.heard.insert(hello.node.clone(), (now, hello));
    }

    /// Forgets nodes that were silent for long.
    pub(crate) fn forget(&mut self, now: Duration) {
        let limit = self.dead_after;
        self.heard.retain(|_, (at, _)| now < *at + limit);
    }

    pub(crate) fn get(&self, node: &str) -> Option<&Hello> {
        self.heard.get(node).map(|(_, hello)| hello)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Hello> {
        self.heard.values().map(|(_, hello)| hello)
    }

    /// The place of `node` among the nodes of its build for a shard: 0 should run it, 1 is its first
    /// standby. `None` if the node leaves, or was not heard of.
    pub(crate) fn rank(&self, node: &str, shard: u32) -> Option<usize> {
        let me = self.get(node).filter(|hello| !hello.leaves)?;
        let mine = weight(node, shard);
        let is_before = |it: &&Hello| {
            it.build == me.build
                && !it.leaves
                && (weight(&it.node, shard), &it.node) > (mine, &me.node)
        };
        Some(self.iter().filter(is_before).count())
    }

    /// Whether shards of `build` should be handed to another one: a node of that was started later.
    pub(crate) fn is_superseded(&self, build: Build) -> bool {
        let latest = |of_it: bool| {
            let of = self
                .iter()
                .filter(|it| !it.leaves && (it.build == build) == of_it);
            of.map(|it| (it.started, it.build)).max()
        };
        latest(false) > latest(true)
    }
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
    let shard = StableHash::of(room.as_bytes()) % u64::from(shards);
    u32::try_from(shard).expect("less than a u32")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(node: &str, build: Build, started: u64) -> Hello {
        Hello {
            node: node.into(),
            build,
            started,
            leaves: false,
        }
    }

    #[test]
    fn each_shard_has_one_owner_and_only_the_shards_of_a_lost_node_move() {
        let mut members = Members::new(Duration::from_secs(1));
        let nodes: Vec<String> = (0..5).map(|n| format!("node-{n}")).collect();
        for node in &nodes {
            members.hear(Duration::ZERO, hello(node, 1, 0));
        }
        let owners = |members: &Members| -> Vec<String> {
            let owner = |shard| {
                let of = |node: &&String| members.rank(node, shard) == Some(0);
                let owners: Vec<_> = nodes.iter().filter(of).collect();
                assert_eq!(owners.len(), 1);
                owners[0].clone()
            };
            (0..500).map(owner).collect()
        };
        let before = owners(&members);
        for node in &nodes {
            let has = before.iter().filter(|owner| *owner == node).count();
            assert!((60..140).contains(&has), "{node} has {has} of 500");
        }
        for node in &nodes[..4] {
            members.hear(Duration::from_millis(600), hello(node, 1, 0));
        }
        members.forget(Duration::from_secs(1));
        for (before, now) in before.iter().zip(owners(&members)) {
            assert!(*before == now || before == "node-4");
            assert_ne!(now, "node-4");
        }
    }

    #[test]
    fn a_build_is_superseded_by_one_that_was_started_later_and_does_not_leave() {
        let mut members = Members::new(Duration::from_secs(1));
        members.hear(Duration::ZERO, hello("a", 1, 10));
        assert!(!members.is_superseded(1));
        members.hear(Duration::ZERO, hello("b", 2, 20));
        assert!(members.is_superseded(1) && !members.is_superseded(2));
        assert_eq!(
            (members.rank("a", 3), members.rank("b", 3)),
            (Some(0), Some(0))
        );
        // Back to the first build: one more node of it is started.
        members.hear(Duration::ZERO, hello("c", 1, 30));
        assert!(members.is_superseded(2) && !members.is_superseded(1));
        let leaves = Hello {
            leaves: true,
            ..hello("c", 1, 30)
        };
        members.hear(Duration::ZERO, leaves);
        assert!(members.is_superseded(1) && members.rank("c", 3).is_none());
    }
}
